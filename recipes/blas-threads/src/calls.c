/* What a call is known by. Not in calls.h: in some three hundred functions, it would double the time
   that compiling them takes. */
#include "calls.h"

static uint64_t mix(uint64_t key, uint64_t value)
{
    return (key ^ value) * UINT64_C(0x100000001B3);
}

/* The size without the bits after its first four: those that differ by less share what was learnt.
   A program on sequences has another length in each call. */
static uint64_t about(int size)
{
    uint64_t bits = size > 0 ? (uint64_t)size : 0;
    int dropped = 0;
    for (; bits > 15; bits >>= 1)
        dropped++;
    return bits << dropped;
}

uint64_t key_of(const char *name, int letters, int a, int b, int c)
{
    uint64_t key = mix((uint64_t)(uintptr_t)name, (uint64_t)letters);
    return mix(mix(mix(key, about(a)), about(b)), about(c)) | 1;
}

/* Are the upper halves of the vector registers in use? The processor tells: XGETBV with ECX = 1
   (Intel's manual, volume 1, section 13.1) has a bit for each part of its state that is not in its
   initial one. */
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* Bit 2: AVX's upper halves of the first 16; bit 6: AVX-512's of the same. */
#define UPPER (1u << 2 | 1u << 6)

/* 1 or 0, or -1 where the processor does not tell or has none. */
int upper_halves_in_use(void) {
#if defined(__x86_64__)
    unsigned a, b, c, d, low, high;
    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_AVX)) return -1;
    if (!__get_cpuid_count(13, 1, &a, &b, &c, &d) || !(a & 1u << 2)) return -1;
    __asm__ volatile(".byte 0x0f, 0x01, 0xd0" : "=a"(low), "=d"(high) : "c"(1));
    return (low & UPPER) != 0;
#else
    return -1;
#endif
}

/* VZEROUPPER: to be called only where the one above has not returned -1. */
void free_upper_halves(void) {
#if defined(__x86_64__)
    __asm__ volatile(".byte 0xc5, 0xf8, 0x77" ::: "memory");
#endif
}

#ifdef __cplusplus
}
#endif

/* Whether the upper halves of the vector registers are in use: XGETBV with ECX = 1 returns a bit for
   each state component that is not in its initial state (Intel 64 and IA-32 Architectures Software
   Developer's Manual, volume 1, section 13.1). */
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* Of the first 16 registers: bit 2 the upper halves of AVX, bit 6 those of AVX-512. */
#define UPPER (1u << 2 | 1u << 6)

/* Return 1 or 0, or -1 where the processor has no such registers or does not report it. */
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

/* Write to an upper half. Only for processors where the function above does not return -1. */
void use_upper_halves(void) {
#if defined(__x86_64__)
    /* VCMPTRUEPS %ymm0, %ymm0, %ymm0 */
    __asm__ volatile(".byte 0xc5, 0xfc, 0xc2, 0xc0, 0x0f" ::: "xmm0");
#endif
}

/* Run VZEROUPPER. Only for processors where the function above does not return -1. */
void free_upper_halves(void) {
#if defined(__x86_64__)
    __asm__ volatile(".byte 0xc5, 0xf8, 0x77" ::: "memory");
#endif
}

#ifdef __cplusplus
}
#endif

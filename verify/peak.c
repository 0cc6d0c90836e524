/* Fused multiply-adds on independent accumulators: what this processor can do at most.
   Compiled as C or C++; each kernel returns a sum so that no work can be left out. */
#include <time.h>
#if defined(__x86_64__)
#define FOR(isa) __attribute__((target(isa), noinline))
#else
#define FOR(isa) __attribute__((noinline))
#endif
#ifdef __cplusplus
extern "C" {
#endif

#define STEP(r) r = r * a + b;
#define KERNEL(name, isa, type, bytes)                                                       \
    typedef type vector_##name __attribute__((vector_size(bytes)));                          \
    FOR(isa) static double name(long rounds) {                                               \
        vector_##name zero = {0}, a = zero + (type)0.9999, b = zero + (type)0.0001;          \
        vector_##name r0 = zero, r1 = a, r2 = b, r3 = a + b, r4 = a - b, r5 = b - a;         \
        vector_##name r6 = a + a, r7 = b + b, r8 = a * a, r9 = b * b, r10 = a * b, r11 = -a; \
        for (long i = 0; i < rounds; i++) {                                                  \
            STEP(r0) STEP(r1) STEP(r2) STEP(r3) STEP(r4) STEP(r5)                            \
            STEP(r6) STEP(r7) STEP(r8) STEP(r9) STEP(r10) STEP(r11)                          \
        }                                                                                    \
        r0 += r1 + r2 + r3 + r4 + r5 + r6 + r7 + r8 + r9 + r10 + r11;                        \
        return (double)r0[0];                                                                \
    }

#define BOTH(suffix, isa, bytes)               \
    KERNEL(f64_##suffix, isa, double, bytes)   \
    KERNEL(f32_##suffix, isa, float, bytes)

#if defined(__x86_64__)
BOTH(avx512, "avx512f", 64)
BOTH(avx2, "avx2,fma", 32)
BOTH(sse2, "sse2", 16)
#else
BOTH(plain, "", 16)
#endif

typedef double (*kernel)(long);

/* The kernel of instruction set `isa` (2 best, 0 least), or 0 where the processor lacks it;
   `bytes` becomes its vector's size. */
static kernel chosen(int single, int isa, int *bytes) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    *bytes = 16 << isa;
    if (isa == 2 && __builtin_cpu_supports("avx512f")) return single ? f32_avx512 : f64_avx512;
    if (isa == 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return single ? f32_avx2 : f64_avx2;
    if (isa == 0) return single ? f32_sse2 : f64_sse2;
    return 0;
#else
    *bytes = 16;
    return isa ? 0 : single ? f32_plain : f64_plain;
#endif
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Run for about `seconds`; return the best rate of any tenth of that in operations a second,
   or 0 where the processor has no such instructions. */
double best_rate(int single, int isa, double seconds, double *sink) {
    int bytes;
    kernel run = chosen(single, isa, &bytes);
    if (!run) return 0;
    double lanes = bytes / (single ? 4 : 8), best = 0, end = now() + seconds;
    long rounds = 1000;
    for (;;) {
        double start = now();
        *sink += run(rounds);
        double spent = now() - start, rate = 24.0 * lanes * rounds / spent;
        if (spent >= seconds / 20 && rate > best) best = rate;
        if (now() >= end && best > 0) return best;
        if (spent < seconds / 10) rounds *= 2;
    }
}

#ifdef __cplusplus
}
#endif

/* The peak rate of this processor: fused multiply-adds on independent accumulators.
   Compiled as C or C++. Each kernel returns a sum, so that the compiler cannot leave out work. */
#include <time.h>
#if defined(__x86_64__)
#define FOR(isa) __attribute__((target(isa), noinline))
#else
#define FOR(isa) __attribute__((noinline))
#endif
#ifdef __cplusplus
extern "C" {
#endif

/* The numbers depend on `seed`, which is unknown at compile time: the compiler would replace a chain
   that starts from a known number by its result. */
#define STEP(r) r = r * a + b;
#define KERNEL(name, isa, type, bytes)                                                       \
    typedef type vector_##name __attribute__((vector_size(bytes)));                           \
    FOR(isa) static double name(long rounds, double seed) {                                  \
        vector_##name s = {0}, a = s + (type)(0.99 + 1e-3 * seed), b = s + (type)(seed + 1); \
        s += (type)seed;                                                                     \
        vector_##name r0 = s + 1, r1 = s + 2, r2 = s + 3, r3 = s + 4, r4 = s + 5, r5 = s + 6, \
            r6 = s + 7, r7 = s + 8, r8 = s + 9, r9 = s + 10, r10 = s + 11, r11 = s + 12;     \
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
BOTH(avx, "avx", 32)
BOTH(sse2, "sse2", 16)
#else
BOTH(plain, "", 16)
#endif

typedef double (*kernel)(long, double);

/* Return the kernel of instruction set `isa`, from 0 to 3 (best), or 0 where the processor lacks it;
   set `bytes` to the size of its vectors. */
static kernel chosen(int single, int isa, int *bytes) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    *bytes = isa == 3 ? 64 : isa == 0 ? 16 : 32;
    if (isa == 3 && __builtin_cpu_supports("avx512f")) return single ? f32_avx512 : f64_avx512;
    if (isa == 2 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return single ? f32_avx2 : f64_avx2;
    if (isa == 1 && __builtin_cpu_supports("avx")) return single ? f32_avx : f64_avx;
    if (isa == 0) return single ? f32_sse2 : f64_sse2;
    return 0;
#else
    *bytes = 16;
    return isa ? 0 : single ? f32_plain : f64_plain;
#endif
}

/* Processor time of this thread in seconds, so that other programs do not count. */
static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

/* Run for about `seconds`; return the best rate of any tenth of that, in operations per second, or 0
   where the processor lacks the instruction set. */
double best_rate(int single, int isa, double seconds, double seed, double *sink) {
    int bytes;
    kernel run = chosen(single, isa, &bytes);
    if (!run) return 0;
    double lanes = bytes / (single ? 4 : 8), best = 0, end = now() + seconds;
    long rounds = 1000;
    for (;;) {
        double start = now();
        *sink += run(rounds, seed);
        double spent = now() - start, rate = 24.0 * lanes * rounds / spent;
        if (spent >= seconds / 20 && rate > best) best = rate;
        if (now() >= end && best > 0) return best;
        if (spent < seconds / 10) rounds *= 2;
    }
}

#ifdef __cplusplus
}
#endif

/* amdlibm-compat: not AMD LibM, contains no AMD code.
 *
 * The functions that callers see: each array function is the one of the best tier that processor
 * and operating system have, unless AMDLIBM_COMPAT_MAX asks for a lower one; each scalar function
 * is libm's. */
#include <cpuid.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Declared as vectorisable, they would be vectorised here a second time. */
#define AMDLIBM_COMPAT_SIMD
#include "amdlibm.h"

#define SHOWN __attribute__((visibility("default")))

enum { SSE2, AVX2, AVX512, TIERS };
static const char *const names[TIERS] = {"sse2", "avx2", "avx512"};
static int tier;

/* XGETBV tells which registers the operating system saves: 0x6 SSE and AVX, 0xe0 AVX-512. */
static int best_tier(void) {
  unsigned a, b, c, d, saved, high;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) || !(c & bit_FMA)) return SSE2;
  __asm__("xgetbv" : "=a"(saved), "=d"(high) : "c"(0));
  if ((saved & 0x6) != 0x6 || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b & bit_AVX2))
    return SSE2;
  return (b & bit_AVX512F) && (saved & 0xe0) == 0xe0 ? AVX512 : AVX2;
}

/* Before any call: nothing has to be decided while threads run. */
__attribute__((constructor)) static void choose_tier(void) {
  const char *most = getenv("AMDLIBM_COMPAT_MAX");
  tier = best_tier();
  for (int i = 0; most && i < tier; i++)
    if (!strcmp(most, names[i])) tier = i;
}

SHOWN const char *amdlibm_compat_tier(void) { return names[tier]; }
SHOWN const char *amdlibm_compat_about(void) {
  return "amdlibm-compat " VERSION ": not AMD LibM, contains no AMD code; on SLEEF";
}

#define ARRAY(name, parameters, arguments)                                      \
  void sse2_##name parameters;                                                  \
  void avx2_##name parameters;                                                  \
  void avx512_##name parameters;                                                \
  SHOWN void amd_##name parameters {                                            \
    static void (*const chosen[TIERS]) parameters = {                           \
        sse2_##name, avx2_##name, avx512_##name};                               \
    chosen[tier] arguments;                                                     \
  }
#define UNARY(name)                                                             \
  ARRAY(vrsa_##name##f, (int n, float *x, float *z), (n, x, z))                 \
  ARRAY(vrda_##name, (int n, double *x, double *z), (n, x, z))
UNARY(exp)
UNARY(log)
UNARY(log2)
UNARY(log10)
UNARY(sin)
UNARY(cos)
ARRAY(vrsa_powf, (int n, float *x, float *y, float *z), (n, x, y, z))
ARRAY(vrsa_powxf, (int n, float *x, float y, float *z), (n, x, y, z))

#define SCALAR(name)                                                            \
  SHOWN float amd_##name##f(float x) { return name##f(x); }                     \
  SHOWN double amd_##name(double x) { return name(x); }
SCALAR(exp)
SCALAR(log)
SCALAR(log2)
SCALAR(log10)
SCALAR(sin)
SCALAR(cos)
SCALAR(tanh)
SCALAR(log1p)
SCALAR(expm1)
SHOWN float amd_powf(float x, float y) { return powf(x, y); }
SHOWN double amd_pow(double x, double y) { return pow(x, y); }

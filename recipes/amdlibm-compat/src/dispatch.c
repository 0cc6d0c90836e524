/* amdlibm-compat: not AMD LibM, contains no AMD code.
 *
 * The functions that callers see: each array function is the one of the best tier that processor
 * and operating system have, unless AMDLIBM_COMPAT_MAX asks for a lower one; each scalar function
 * is libm's. */
#include <cpuid.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* Bound by the loader to libm's own functions, so that they cost what those cost. */
#define SCALAR(type, name, parameters)                                          \
  static type(*libm_##name(void)) parameters { return name; }                   \
  SHOWN type amd_##name parameters __attribute__((ifunc("libm_" #name)));
#define SCALARS(name)                                                           \
  SCALAR(float, name##f, (float x))                                             \
  SCALAR(double, name, (double x))
SCALARS(exp)
SCALARS(log)
SCALARS(log2)
SCALARS(log10)
SCALARS(sin)
SCALARS(cos)
SCALARS(tanh)
SCALARS(log1p)
SCALARS(expm1)
SCALAR(float, powf, (float x, float y))
SCALAR(double, pow, (double x, double y))

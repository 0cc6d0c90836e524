/* amdlibm.h of amdlibm-compat: not AMD LibM, contains no AMD code.
 *
 * The functions of AMD LibM's C interface that Theano calls under lib.amdlibm, and the scalar ones
 * beside them. Each result is at most 1.0 ULP from the exact one in the array functions; the
 * scalar ones are the C library's.
 *
 * x and z may be the same array, or not overlap at all. Nothing has to be aligned. n <= 0 does
 * nothing. An `int` cannot say more than INT_MAX elements; in C++ the same names take a `long`
 * too, which is what Theano passes, and do any number of elements.
 *
 * AMDLIBM_COMPAT_MAX=sse2|avx2|avx512 in the environment keeps the array functions to that tier;
 * it cannot raise it above what the processor has.
 */
#ifndef AMDLIBM_COMPAT_H
#define AMDLIBM_COMPAT_H

#ifdef __cplusplus
extern "C" {
#endif

const char *amdlibm_compat_about(void); /* the library's name, version and honest description */
const char *amdlibm_compat_tier(void);  /* "sse2", "avx2" or "avx512": what the arrays run on */

void amd_vrsa_expf(int n, float *x, float *z);
void amd_vrsa_logf(int n, float *x, float *z);
void amd_vrsa_log2f(int n, float *x, float *z);
void amd_vrsa_log10f(int n, float *x, float *z);
void amd_vrsa_sinf(int n, float *x, float *z);
void amd_vrsa_cosf(int n, float *x, float *z);
void amd_vrsa_powf(int n, float *x, float *y, float *z);
void amd_vrsa_powxf(int n, float *x, float y, float *z); /* one exponent for all */

void amd_vrda_exp(int n, double *x, double *z);
void amd_vrda_log(int n, double *x, double *z);
void amd_vrda_log2(int n, double *x, double *z);
void amd_vrda_log10(int n, double *x, double *z);
void amd_vrda_sin(int n, double *x, double *z);
void amd_vrda_cos(int n, double *x, double *z);

/* GCC may call the vector versions of these, which the library has as well, from a loop. */
#ifdef AMDLIBM_COMPAT_SIMD
#elif defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__) && defined(__x86_64__)
#define AMDLIBM_COMPAT_SIMD __attribute__((const, simd("notinbranch")))
#else
#define AMDLIBM_COMPAT_SIMD
#endif
#ifdef __cplusplus
#define AMDLIBM_COMPAT_NOTHROW noexcept(true)
#else
#define AMDLIBM_COMPAT_NOTHROW
#endif
#define AMDLIBM_COMPAT_SCALAR(name)                                          \
  AMDLIBM_COMPAT_SIMD float amd_##name##f(float) AMDLIBM_COMPAT_NOTHROW;     \
  AMDLIBM_COMPAT_SIMD double amd_##name(double) AMDLIBM_COMPAT_NOTHROW;
AMDLIBM_COMPAT_SCALAR(exp)
AMDLIBM_COMPAT_SCALAR(log)
AMDLIBM_COMPAT_SCALAR(log2)
AMDLIBM_COMPAT_SCALAR(log10)
AMDLIBM_COMPAT_SCALAR(sin)
AMDLIBM_COMPAT_SCALAR(cos)
AMDLIBM_COMPAT_SCALAR(tanh)
AMDLIBM_COMPAT_SCALAR(log1p)
AMDLIBM_COMPAT_SCALAR(expm1)
AMDLIBM_COMPAT_SIMD float amd_powf(float, float) AMDLIBM_COMPAT_NOTHROW;
AMDLIBM_COMPAT_SIMD double amd_pow(double, double) AMDLIBM_COMPAT_NOTHROW;

#ifdef __cplusplus
} /* extern "C" */
#include "amdlibm_simd.h"
#endif

#endif

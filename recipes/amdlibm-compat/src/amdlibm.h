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

/* One number each: the C library's functions. */
#ifdef __cplusplus
#define AMDLIBM_COMPAT_SCALAR noexcept(true)
#else
#define AMDLIBM_COMPAT_SCALAR
#endif
float amd_expf(float) AMDLIBM_COMPAT_SCALAR;
float amd_logf(float) AMDLIBM_COMPAT_SCALAR;
float amd_log2f(float) AMDLIBM_COMPAT_SCALAR;
float amd_log10f(float) AMDLIBM_COMPAT_SCALAR;
float amd_sinf(float) AMDLIBM_COMPAT_SCALAR;
float amd_cosf(float) AMDLIBM_COMPAT_SCALAR;
float amd_tanhf(float) AMDLIBM_COMPAT_SCALAR;
float amd_log1pf(float) AMDLIBM_COMPAT_SCALAR;
float amd_expm1f(float) AMDLIBM_COMPAT_SCALAR;
float amd_powf(float, float) AMDLIBM_COMPAT_SCALAR;

double amd_exp(double) AMDLIBM_COMPAT_SCALAR;
double amd_log(double) AMDLIBM_COMPAT_SCALAR;
double amd_log2(double) AMDLIBM_COMPAT_SCALAR;
double amd_log10(double) AMDLIBM_COMPAT_SCALAR;
double amd_sin(double) AMDLIBM_COMPAT_SCALAR;
double amd_cos(double) AMDLIBM_COMPAT_SCALAR;
double amd_tanh(double) AMDLIBM_COMPAT_SCALAR;
double amd_log1p(double) AMDLIBM_COMPAT_SCALAR;
double amd_expm1(double) AMDLIBM_COMPAT_SCALAR;
double amd_pow(double, double) AMDLIBM_COMPAT_SCALAR;

#ifdef __cplusplus
} /* extern "C" */
#include "amdlibm_simd.h"
#endif

#endif

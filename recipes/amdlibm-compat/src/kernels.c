/* amdlibm-compat: not AMD LibM, contains no AMD code.
 *
 * One tier (an instruction set) in one precision, on SLEEF's kernels of at most 1.0 ULP. Compiled
 * once for each: with ENABLE_SSE2, ENABLE_AVX, ENABLE_AVX2 or ENABLE_AVX512F, and with SINGLE or
 * not. It gives
 *   - the array functions, which dispatch.c chooses from (it has no use for ENABLE_AVX's);
 *   - the vector functions that GCC calls for a loop over amd_exp and the like, by the names of
 *     the x86-64 vector function ABI (see amdlibm_simd.h).
 */
#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* SLEEF's functions stay inside of this file, so that they are inlined into the loops. */
#include "misc.h"
#undef EXPORT
#define EXPORT static __attribute__((unused))

#define JOIN_(a, b) a##b
#define JOIN(a, b) JOIN_(a, b)

#if defined(ENABLE_SSE2)
#define LETTER b
#define TIER(name) sse2_##name
#elif defined(ENABLE_AVX)
#define LETTER c
#define TIER(name) avx_##name
#elif defined(ENABLE_AVX2)
#define LETTER d
#define TIER(name) avx2_##name
#else
#define LETTER e
#define TIER(name) avx512_##name
#endif

#ifdef SINGLE
#include "sleefsimdsp.c"
typedef float number;
typedef vfloat vector;
#define WIDTH VECTLENSP
#define LOAD vloadu_vf_p
#define STORE vstoreu_v_p_vf
#define ARRAY(name) TIER(vrsa_##name##f)
#define SCALAR(name) name##f
#else
#include "sleefsimddp.c"
typedef double number;
typedef vdouble vector;
#define WIDTH VECTLENDP
#define LOAD vloadu_vd_p
#define STORE vstoreu_v_p_vd
#define ARRAY(name) TIER(vrda_##name)
#define SCALAR(name) name
#endif

#if WIDTH == 2
#define LANES N2
#elif WIDTH == 4
#define LANES N4
#elif WIDTH == 8
#define LANES N8
#else
#define LANES N16
#endif

/* _ZGVdN8v_amd_expf: `d` is AVX2, 8 lanes, one vector argument. */
#define VECTOR(name, arguments) \
  JOIN(JOIN(JOIN(_ZGV, LETTER), LANES), JOIN(arguments, SCALAR(_amd_##name)))

#define SHOWN __attribute__((visibility("default")))

/* Fewer elements than a vector has lanes: they are computed among ones. To fill the lanes through
 * memory would cost more than libm takes for a few elements, so that is done with masks. */
#if defined(ENABLE_AVX512F) && defined(SINGLE)
#define LOAD_FEW(p, n) _mm512_mask_loadu_ps(_mm512_set1_ps(1), (__mmask16)((1 << (n)) - 1), p)
#define STORE_FEW(p, n, v) _mm512_mask_storeu_ps(p, (__mmask16)((1 << (n)) - 1), v)
#elif defined(ENABLE_AVX512F)
#define LOAD_FEW(p, n) _mm512_mask_loadu_pd(_mm512_set1_pd(1), (__mmask8)((1 << (n)) - 1), p)
#define STORE_FEW(p, n, v) _mm512_mask_storeu_pd(p, (__mmask8)((1 << (n)) - 1), v)
#elif defined(ENABLE_AVX2)
static const int32_t lanes[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
#ifdef SINGLE
#define MASK(n) _mm256_loadu_si256((const __m256i *)(lanes + 8 - (n)))
#define LOAD_FEW(p, n) \
  _mm256_blendv_ps(_mm256_set1_ps(1), _mm256_maskload_ps(p, MASK(n)), _mm256_castsi256_ps(MASK(n)))
#define STORE_FEW(p, n, v) _mm256_maskstore_ps(p, MASK(n), v)
#else
#define MASK(n) _mm256_loadu_si256((const __m256i *)(lanes + 8 - 2 * (n)))
#define LOAD_FEW(p, n) \
  _mm256_blendv_pd(_mm256_set1_pd(1), _mm256_maskload_pd(p, MASK(n)), _mm256_castsi256_pd(MASK(n)))
#define STORE_FEW(p, n, v) _mm256_maskstore_pd(p, MASK(n), v)
#endif
#endif

/* From so few on: for less, libm is as fast. */
#ifdef LOAD_FEW
#define FEWEST 2
#else
#define FEWEST WIDTH
#define LOAD_FEW(p, n) LOAD(p)
#define STORE_FEW(p, n, v) STORE(p, v)
#endif

/* The last vector is read before anything is written, so x and z may be the same array. */
#define UNARY(name, kernel)                                                         \
  void ARRAY(name)(int count, const number *x, number *z) {                         \
    ptrdiff_t n = count, i = 0;                                                     \
    if (n >= WIDTH) {                                                               \
      vector last = LOAD(x + n - WIDTH);                                            \
      for (; i + WIDTH <= n; i += WIDTH) STORE(z + i, kernel(LOAD(x + i)));         \
      if (i < n) STORE(z + n - WIDTH, kernel(last));                                \
    } else if (n >= FEWEST) {                                                       \
      STORE_FEW(z, n, kernel(LOAD_FEW(x, n)));                                      \
    } else {                                                                        \
      for (; i < n; i++) z[i] = SCALAR(name)(x[i]);                                 \
    }                                                                               \
  }                                                                                 \
  UNARY_VECTOR(name, kernel)
#define UNARY_VECTOR(name, kernel) \
  SHOWN vector VECTOR(name, v)(vector x) { return kernel(x); }

/* What libm does at least as fast as SLEEF, lane by lane. */
#define UNARY_LIBM(name)                                                            \
  void ARRAY(name)(int n, const number *x, number *z) {                             \
    for (ptrdiff_t i = 0; i < n; i++) z[i] = SCALAR(name)(x[i]);                    \
  }                                                                                 \
  SHOWN vector VECTOR(name, v)(vector x) {                                          \
    for (int i = 0; i < WIDTH; i++) x[i] = SCALAR(name)(x[i]);                      \
    return x;                                                                       \
  }

#ifdef SINGLE
#define KERNEL(name, ending) x##name##f##ending
#else
#define KERNEL(name, ending) x##name##ending
#endif

/* SLEEF carries two numbers for one here; without FMA that takes longer than libm's tables do. */
#if defined(ENABLE_SSE2) || defined(ENABLE_AVX)
#define NO_FMA
#endif

UNARY(exp, KERNEL(exp, ))
UNARY(sin, KERNEL(sin, _u1))
UNARY(cos, KERNEL(cos, _u1))
UNARY(log10, KERNEL(log10, ))
UNARY_VECTOR(tanh, KERNEL(tanh, ))
UNARY_VECTOR(log1p, KERNEL(log1p, ))
UNARY_VECTOR(expm1, KERNEL(expm1, ))
#ifdef NO_FMA
UNARY_LIBM(log)
#else
UNARY(log, KERNEL(log, _u1))
#endif
#if defined(NO_FMA) || (defined(ENABLE_AVX2) && !defined(SINGLE))
UNARY_LIBM(log2)
#else
UNARY(log2, KERNEL(log2, ))
#endif

#ifdef ENABLE_AVX512F
SHOWN vector VECTOR(pow, vv)(vector x, vector y) { return KERNEL(pow, )(x, y); }
#else
SHOWN vector VECTOR(pow, vv)(vector x, vector y) {
  for (int i = 0; i < WIDTH; i++) x[i] = SCALAR(pow)(x[i], y[i]);
  return x;
}
#endif

#ifdef SINGLE
void ARRAY(pow)(int count, const float *x, const float *y, float *z) {
  ptrdiff_t n = count, i = 0;
#ifdef ENABLE_AVX512F
  if (n >= WIDTH) {
    vector last_x = LOAD(x + n - WIDTH), last_y = LOAD(y + n - WIDTH);
    for (; i + WIDTH <= n; i += WIDTH) STORE(z + i, xpowf(LOAD(x + i), LOAD(y + i)));
    if (i < n) STORE(z + n - WIDTH, xpowf(last_x, last_y));
    return;
  }
#endif
  for (; i < n; i++) z[i] = powf(x[i], y[i]);
}

void ARRAY(powx)(int count, const float *x, float y, float *z) {
  ptrdiff_t n = count, i = 0;
#ifdef ENABLE_AVX512F
  if (n >= WIDTH) {
    vector last = LOAD(x + n - WIDTH), exponents = vcast_vf_f(y);
    for (; i + WIDTH <= n; i += WIDTH) STORE(z + i, xpowf(LOAD(x + i), exponents));
    if (i < n) STORE(z + n - WIDTH, xpowf(last, exponents));
    return;
  }
#endif
  for (; i < n; i++) z[i] = powf(x[i], y);
}
#endif

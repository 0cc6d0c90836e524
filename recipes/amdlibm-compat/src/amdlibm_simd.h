/* The C++ part of amdlibm-compat's amdlibm.h, which includes it. */
#ifndef AMDLIBM_COMPAT_SIMD_H
#define AMDLIBM_COMPAT_SIMD_H

#include <cmath>

/* Theano counts in npy_intp, which is a long: arrays of any length, in blocks that an int counts.
 * A block is a whole number of vectors, so it is all the same where one ends. */
#ifndef AMDLIBM_COMPAT_BLOCK
#define AMDLIBM_COMPAT_BLOCK 0x40000000L
#endif
#define AMDLIBM_COMPAT_BLOCKS(call)                                                      \
  for (long done = 0; done < n; done += AMDLIBM_COMPAT_BLOCK) {                          \
    int block = (int)(n - done < AMDLIBM_COMPAT_BLOCK ? n - done : AMDLIBM_COMPAT_BLOCK); \
    call;                                                                                \
  }
#define AMDLIBM_COMPAT_LONG(name, number)                           \
  static inline void name(long n, number *x, number *z) {           \
    AMDLIBM_COMPAT_BLOCKS(name(block, x + done, z + done))          \
  }
#define AMDLIBM_COMPAT_LONGS(name)               \
  AMDLIBM_COMPAT_LONG(amd_vrsa_##name##f, float) \
  AMDLIBM_COMPAT_LONG(amd_vrda_##name, double)
AMDLIBM_COMPAT_LONGS(exp)
AMDLIBM_COMPAT_LONGS(log)
AMDLIBM_COMPAT_LONGS(log2)
AMDLIBM_COMPAT_LONGS(log10)
AMDLIBM_COMPAT_LONGS(sin)
AMDLIBM_COMPAT_LONGS(cos)
static inline void amd_vrsa_powf(long n, float *x, float *y, float *z) {
  AMDLIBM_COMPAT_BLOCKS(amd_vrsa_powf(block, x + done, y + done, z + done))
}
static inline void amd_vrsa_powxf(long n, float *x, float y, float *z) {
  AMDLIBM_COMPAT_BLOCKS(amd_vrsa_powxf(block, x + done, y, z + done))
}

/* With REPLACE_WITH_AMDLIBM, which Theano defines, exp and the like are the library's amd_exp and
 * the like, of which it has vector versions too. So GCC can vectorise the loops over them that no
 * array function serves: sigmoid, tanh, softplus, and what Theano has fused.
 * -DAMDLIBM_COMPAT_NO_SIMD leaves those loops as they are. */
#if defined(REPLACE_WITH_AMDLIBM) && defined(__GNUC__) && !defined(__clang__) && \
    !defined(__CUDACC__) && defined(__x86_64__) && !defined(AMDLIBM_COMPAT_NO_SIMD)

/* What may itself say std::exp has to come before the macros below. */
#include <algorithm>
#include <complex>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

/* As if nobody looked at the processor's exception flags, which nobody does here: else GCC keeps
 * to the branches of a sigmoid, because a division in one of them might raise a flag. No result
 * depends on it.
 * Without the other, GCC 10 leaves VZEROUPPER out at the end of functions that have a target of
 * their own, as they have below; SSE code that comes after them is slower then. */
#pragma GCC optimize("no-trapping-math", "no-ipa-ra")

/* Tuned for Zen 2, for which it takes newer ones, GCC 10 does not combine two conditions on double
 * numbers where it has AVX-512. */
#if defined(__AVX512F__) && defined(__tune_znver2__)
#pragma GCC target("tune=skylake-avx512,prefer-vector-width=512")
#endif

#define AMDLIBM_COMPAT_INLINE static inline __attribute__((always_inline, unused))
#define AMDLIBM_COMPAT_SIMD __attribute__((const, simd("notinbranch")))

/* The C library's own names with other symbols, not names of our own: GCC computes both sides of
 * a condition, and so vectorises it, only where the functions in it are known to it. */
#define AMDLIBM_COMPAT_REPLACE(name)                                                         \
  extern "C" {                                                                               \
  float name##f(float) noexcept(true) __asm__("amd_" #name "f") AMDLIBM_COMPAT_SIMD;         \
  double name(double) noexcept(true) __asm__("amd_" #name) AMDLIBM_COMPAT_SIMD;              \
  }                                                                                          \
  AMDLIBM_COMPAT_INLINE float amdlibm_compat_##name(float x) { return ::name##f(x); }        \
  AMDLIBM_COMPAT_INLINE double amdlibm_compat_##name(double x) { return ::name(x); }         \
  template <class T>                                                                         \
  AMDLIBM_COMPAT_INLINE auto amdlibm_compat_##name(T x)->decltype(std::name(x)) {            \
    return std::name(x);                                                                     \
  }                                                                                          \
  namespace std {                                                                            \
  using ::amdlibm_compat_##name;                                                             \
  }
AMDLIBM_COMPAT_REPLACE(exp)
AMDLIBM_COMPAT_REPLACE(log)
AMDLIBM_COMPAT_REPLACE(log2)
AMDLIBM_COMPAT_REPLACE(log10)
AMDLIBM_COMPAT_REPLACE(sin)
AMDLIBM_COMPAT_REPLACE(cos)
AMDLIBM_COMPAT_REPLACE(tanh)
AMDLIBM_COMPAT_REPLACE(log1p)
AMDLIBM_COMPAT_REPLACE(expm1)
extern "C" {
float powf(float, float) noexcept(true) __asm__("amd_powf") AMDLIBM_COMPAT_SIMD;
double pow(double, double) noexcept(true) __asm__("amd_pow") AMDLIBM_COMPAT_SIMD;
}
AMDLIBM_COMPAT_INLINE float amdlibm_compat_pow(float x, float y) { return ::powf(x, y); }
AMDLIBM_COMPAT_INLINE double amdlibm_compat_pow(double x, double y) { return ::pow(x, y); }
template <class T, class U>
AMDLIBM_COMPAT_INLINE auto amdlibm_compat_pow(T x, U y) -> decltype(std::pow(x, y)) {
  return std::pow(x, y);
}
namespace std {
using ::amdlibm_compat_pow;
}

#define exp amdlibm_compat_exp
#define log amdlibm_compat_log
#define log2 amdlibm_compat_log2
#define log10 amdlibm_compat_log10
#define sin amdlibm_compat_sin
#define cos amdlibm_compat_cos
#define tanh amdlibm_compat_tanh
#define log1p amdlibm_compat_log1p
#define expm1 amdlibm_compat_expm1
#define pow amdlibm_compat_pow

#endif
#endif

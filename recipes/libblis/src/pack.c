/* Panels of A and B. Compiled once for each precision. BLIS looks packing functions up by a panel's
 * width, up to 31, so that float32's panels of A, 32 wide, cannot have one. */
#include <immintrin.h>

#include "zen5.h"

#ifdef SINGLE
typedef float number;
typedef __m128 vector;
#define LOAD _mm_loadu_ps
#define LOAD_SOME _mm_maskz_loadu_ps
#define STORE _mm_storeu_ps
enum { WIDTH = 4, ALL = 0xf };

static inline void turn_rows(vector *row) { _MM_TRANSPOSE4_PS(row[0], row[1], row[2], row[3]); }
#else
typedef double number;
typedef __m512d vector;
#define LOAD _mm512_loadu_pd
#define LOAD_SOME _mm512_maskz_loadu_pd
#define STORE _mm512_storeu_pd
enum { WIDTH = 8, ALL = 0xff };

static inline void turn_rows(vector *row) {
  vector pairs[WIDTH];
#pragma GCC unroll 4
  for (int i = 0; i < WIDTH; i += 2) {
    pairs[i] = _mm512_unpacklo_pd(row[i], row[i + 1]);
    pairs[i + 1] = _mm512_unpackhi_pd(row[i], row[i + 1]);
  }
#pragma GCC unroll 2
  for (int odd = 0; odd < 2; odd++) {
    vector even_upper = _mm512_shuffle_f64x2(pairs[odd], pairs[odd + 2], 0x88);
    vector even_lower = _mm512_shuffle_f64x2(pairs[odd + 4], pairs[odd + 6], 0x88);
    vector odd_upper = _mm512_shuffle_f64x2(pairs[odd], pairs[odd + 2], 0xdd);
    vector odd_lower = _mm512_shuffle_f64x2(pairs[odd + 4], pairs[odd + 6], 0xdd);
    row[odd] = _mm512_shuffle_f64x2(even_upper, even_lower, 0x88);
    row[odd + 2] = _mm512_shuffle_f64x2(odd_upper, odd_lower, 0x88);
    row[odd + 4] = _mm512_shuffle_f64x2(even_upper, even_lower, 0xdd);
    row[odd + 6] = _mm512_shuffle_f64x2(odd_upper, odd_lower, 0xdd);
  }
}
#endif

/* Pack a square: row i, at source + i * across, becomes column i; there may be fewer rows. */
static inline void turn(
    dim_t rows, const number *source, inc_t across, number *packed, inc_t stride) {
  vector row[WIDTH];
#pragma GCC unroll 8
  for (int i = 0; i < WIDTH; i++)
    row[i] = i < rows ? LOAD(source + i * across) : LOAD_SOME(0, source);
  turn_rows(row);
#pragma GCC unroll 8
  for (int i = 0; i < WIDTH; i++) STORE(packed + i * stride, row[i]);
}

static inline __attribute__((always_inline)) void pack(
    dim_t whole, dim_t width, dim_t n, dim_t length, number factor, const number *source,
    inc_t across, inc_t along, number *packed, inc_t stride) {
  dim_t done = 0;
  if (factor == 1 && across == 1) {
    for (; done < n; done++)
      for (dim_t i = 0; i < whole; i += WIDTH) {
        const number *from = source + i + done * along;
        const unsigned some = i >= width ? 0 : width - i < WIDTH ? (1u << (width - i)) - 1 : ALL;
        STORE(packed + i + done * stride, some == ALL ? LOAD(from) : LOAD_SOME(some, from));
      }
  } else if (factor == 1 && along == 1) {
    for (; done + WIDTH <= n; done += WIDTH)
      for (dim_t i = 0; i < whole; i += WIDTH)
        turn(width - i, source + i * across + done, across, packed + i + done * stride, stride);
  }
  for (dim_t j = done; j < length; j++)
    for (dim_t i = 0; i < whole; i++)
      packed[i + j * stride] = i < width && j < n ? factor * source[i * across + j * along] : 0;
}

#ifdef SINGLE
PACK(zen5_spack_b, float) {
  pack(SINGLE_NR, width, n, length, *factor, source, across, along, packed, stride);
}
#else
PACK(zen5_dpack_a, double) {
  pack(DOUBLE_MR, width, n, length, *factor, source, across, along, packed, stride);
}

PACK(zen5_dpack_b, double) {
  pack(DOUBLE_NR, width, n, length, *factor, source, across, along, packed, stride);
}
#endif

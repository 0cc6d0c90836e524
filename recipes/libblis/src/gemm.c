/* One tile of C. Its sums stay in registers: 24 of the 32 that AVX-512 has; so there are eleven
 * loads for 24 multiply-adds in float64, where the tile of BLIS's kernel for skx has 16 for 28.
 * Compiled once for each precision. */
#include <immintrin.h>

#include "zen5.h"

#ifdef SINGLE
#define NAME zen5_sgemm
typedef float number;
typedef __m512 vector;
#define ALL _mm512_set1_ps
#define LOAD _mm512_loadu_ps
#define STORE _mm512_storeu_ps
#define LOAD_SOME _mm512_maskz_loadu_ps
#define STORE_SOME _mm512_mask_storeu_ps
#define TIMES _mm512_mul_ps
#define TIMES_PLUS _mm512_fmadd_ps
enum { MR = SINGLE_MR, NR = SINGLE_NR };
#else
#define NAME zen5_dgemm
typedef double number;
typedef __m512d vector;
#define ALL _mm512_set1_pd
#define LOAD _mm512_loadu_pd
#define STORE _mm512_storeu_pd
#define LOAD_SOME _mm512_maskz_loadu_pd
#define STORE_SOME _mm512_mask_storeu_pd
#define TIMES _mm512_mul_pd
#define TIMES_PLUS _mm512_fmadd_pd
enum { MR = DOUBLE_MR, NR = DOUBLE_NR };
#endif

enum {
  LINE = 64,
  WIDTH = LINE / sizeof(number),
  VECTORS = MR / WIDTH,
  /* A column of the tile begins anywhere in a line. */
  LINES = NR * (VECTORS + 1),
  /* So many steps, of 12 cycles each, take as long as memory does. Measured: 64 to 128 are alike,
   * 16 and 256 slower. */
  LEAD = 96,
};

#define EACH_COLUMN _Pragma("GCC unroll 16") for (int j = 0; j < NR; j++)
#define EACH_VECTOR _Pragma("GCC unroll 4") for (int i = 0; i < VECTORS; i++)

/* Add a column of A times a row of B, and ask for a part of the panel of B that is next. */
#define STEP                                                                   \
  do {                                                                         \
    vector column[VECTORS];                                                    \
    EACH_VECTOR column[i] = LOAD(a + i * WIDTH);                               \
    _mm_prefetch(next_b, _MM_HINT_T0);                                         \
    EACH_COLUMN {                                                              \
      vector element = ALL(b[j]);                                              \
      EACH_VECTOR sum[j][i] = TIMES_PLUS(column[i], element, sum[j][i]);       \
    }                                                                          \
    a += MR, b += NR, next_b += NR * sizeof(number);                           \
  } while (0)

GEMM(NAME, number) {
  const char *next_b = next->b_next;
  const int in_columns = row_stride == 1;
  const dim_t before = !in_columns ? k : k > LINES + LEAD ? k - LINES - LEAD : 0;
  vector sum[NR][VECTORS];
  dim_t p = 0;

  EACH_COLUMN EACH_VECTOR sum[j][i] = ALL(0);
#pragma GCC unroll 4
  for (; p < before; p++) STEP;
  for (int line = 0; in_columns && line < LINES; line++) {
    const dim_t i = line % (VECTORS + 1) * WIDTH, j = line / (VECTORS + 1);
    _mm_prefetch((const char *)(c + j * column_stride + (i < MR ? i : MR - 1)), _MM_HINT_T0);
    if (p < k) {
      STEP;
      p++;
    }
  }
#pragma GCC unroll 4
  for (; p < k; p++) STEP;

  const vector scale = ALL(*alpha), scale_c = ALL(*beta);
  EACH_COLUMN EACH_VECTOR sum[j][i] = TIMES(scale, sum[j][i]);
  if (in_columns && m == MR && n == NR) {
    EACH_COLUMN EACH_VECTOR {
      number *at = c + j * column_stride + i * WIDTH;
      STORE(at, *beta == 0 ? sum[j][i] : TIMES_PLUS(scale_c, LOAD(at), sum[j][i]));
    }
    return;
  }
  number tile[NR][MR] __attribute__((aligned(LINE)));
  EACH_COLUMN EACH_VECTOR STORE(tile[j] + i * WIDTH, sum[j][i]);
  /* Whatever is in C, NaN for one, must not matter where beta is 0. */
  if (in_columns) {
    for (dim_t j = 0; j < n; j++)
      for (dim_t i = 0; i < m; i += WIDTH) {
        number *at = c + j * column_stride + i;
        const unsigned some = m - i < WIDTH ? (1u << (m - i)) - 1 : (1u << WIDTH) - 1;
        vector found = LOAD(tile[j] + i);
        if (*beta != 0) found = TIMES_PLUS(scale_c, LOAD_SOME(some, at), found);
        STORE_SOME(at, some, found);
      }
    return;
  }
  for (dim_t j = 0; j < n; j++)
    for (dim_t i = 0; i < m; i++) {
      number *at = c + i * row_stride + j * column_stride;
      *at = *beta == 0 ? tile[j][i] : *beta * *at + tile[j][i];
    }
}

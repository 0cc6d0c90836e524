/* Gemm for AMD's Zen 5, C := beta C + alpha A B, in the terms of BLIS 0.9.0, which has no kernels of
 * its own for it. A tile of C has MR rows and NR columns; it is the product of a panel of A, packed
 * column by column, and a panel of B, packed row by row. */
#ifndef ZEN5_H
#define ZEN5_H
#include "blis.h"

enum { DOUBLE_MR = 24, DOUBLE_NR = 8, SINGLE_MR = 32, SINGLE_NR = 12 };

/* One tile, of which C has m rows and n columns. k: the length of the panels; next: where the panel
 * of B is that the next call gets. */
#define GEMM(name, type)                                                                      \
  void name(dim_t m, dim_t n, dim_t k, type *alpha, type *a, type *b, type *beta, type *c,    \
            inc_t row_stride, inc_t column_stride, auxinfo_t *next, cntx_t *context)
GEMM(zen5_dgemm, double);
GEMM(zen5_sgemm, float);

/* A panel: `width` of its MR or NR elements across, n of the `length` along it; the others become 0.
 * Element i across and j along is at source[i * across + j * along], and comes, times factor, to
 * packed[i + j * stride]. */
#define PACK(name, type)                                                                      \
  void name(conj_t conjugate, pack_t schema, dim_t width, dim_t n, dim_t length,              \
            type *factor, type *source, inc_t across, inc_t along, type *packed,              \
            inc_t stride, cntx_t *context)
PACK(zen5_dpack_a, double);
PACK(zen5_dpack_b, double);
PACK(zen5_spack_b, float);
#endif

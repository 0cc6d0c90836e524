/* The routines of BLAS that run on several threads, by their C names.

   Arguments: the reference BLAS, https://www.netlib.org/blas. Scalars are values where they are
   real, and addresses where they are complex. */
#include "calls.h"

/* `letters` and the sizes a, b, c are what decides the time of a call. */
#define C(name, parameters, arguments, letters, a, b, c, work, kind)                             \
    void name parameters                                                                         \
    {                                                                                            \
        FUNCTION(void, name, parameters)                                                         \
        struct call call;                                                                        \
        library_begin(&call, key_of(id, letters, a, b, c), work, &kind);                         \
        function arguments;                                                                      \
        library_end(&call);                                                                      \
    }

#define C_DOT(result, name)                                                                      \
    result name(int n, const void *x, int incx, const void *y, int incy)                         \
    {                                                                                            \
        FUNCTION(result, name, (int n, const void *x, int incx, const void *y, int incy))        \
        struct call call;                                                                        \
        library_begin(&call, key_of(id, 0, n, 0, 0), 2.0 * n, &VECTOR);                          \
        result dot = function(n, x, incx, y, incy);                                              \
        library_end(&call);                                                                      \
        return dot;                                                                              \
    }

/* Of complex vectors, whose results have an address. */
#define C_COMPLEX_DOT(name)                                                                      \
    C(name, (int n, const void *x, int incx, const void *y, int incy, void *result),             \
      (n, x, incx, y, incy, result), 0, n, 0, 0, 8.0 * n, VECTOR)

/* Of complex numbers a multiplication and an addition are 4 of each. */
#define REAL 2.0
#define COMPLEX 8.0
#define LEFT 141
#define TWO(a, b) ((a) * 256 + (b))
#define THREE(a, b, c) (TWO(a, b) * 256 + (c))
#define ORDER(side, m, n) ((side) == LEFT ? (m) : (n))

#define SYMMETRIC(name, scalar, per)                                                             \
    C(name,                                                                                      \
      (int order, int side, int uplo, int m, int n, scalar alpha, const void *a, int lda,        \
       const void *b, int ldb, scalar beta, void *c, int ldc),                                   \
      (order, side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc),                            \
      THREE(order, side, uplo), m, n, 0, per * m * n * ORDER(side, m, n), OTHER_PRODUCT)

#define TRIANGULAR(name, scalar, per)                                                            \
    C(name,                                                                                      \
      (int order, int side, int uplo, int t, int diagonal, int m, int n, scalar alpha,           \
       const void *a, int lda, void *b, int ldb),                                                \
      (order, side, uplo, t, diagonal, m, n, alpha, a, lda, b, ldb),                             \
      THREE(order, TWO(side, uplo), t), m, n, 0, per / 2 * m * n * ORDER(side, m, n),            \
      OTHER_PRODUCT)

#define RANK_K(name, scalar, per, kind)                                                          \
    C(name,                                                                                      \
      (int order, int uplo, int t, int n, int k, scalar alpha, const void *a, int lda,           \
       scalar beta, void *c, int ldc),                                                           \
      (order, uplo, t, n, k, alpha, a, lda, beta, c, ldc), THREE(order, uplo, t), n, k, 0,       \
      per / 2 * n * n * k, kind)

#define RANK_2K(name, scalar, scalar2, per)                                                      \
    C(name,                                                                                      \
      (int order, int uplo, int t, int n, int k, scalar alpha, const void *a, int lda,           \
       const void *b, int ldb, scalar2 beta, void *c, int ldc),                                  \
      (order, uplo, t, n, k, alpha, a, lda, b, ldb, beta, c, ldc), THREE(order, uplo, t), n, k,  \
      0, per * n * n * k, OTHER_PRODUCT)

#define PRECISION(p, scalar, per)                                                                \
    C(cblas_##p##gemm,                                                                           \
      (int order, int ta, int tb, int m, int n, int k, scalar alpha, const void *a, int lda,     \
       const void *b, int ldb, scalar beta, void *c, int ldc),                                   \
      (order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc), THREE(order, ta, tb), m, n, \
      k, per * m * n * k, PRODUCT)                                                               \
    C(cblas_##p##gemv,                                                                           \
      (int order, int t, int m, int n, scalar alpha, const void *a, int lda, const void *x,      \
       int incx, scalar beta, void *y, int incy),                                                \
      (order, t, m, n, alpha, a, lda, x, incx, beta, y, incy), TWO(order, t), m, n, 0,           \
      per * m * n, VECTOR)                                                                       \
    C(cblas_##p##axpy, (int n, scalar alpha, const void *x, int incx, void *y, int incy),        \
      (n, alpha, x, incx, y, incy), 0, n, 0, 0, per * n, VECTOR)                                 \
    SYMMETRIC(cblas_##p##symm, scalar, per)                                                      \
    TRIANGULAR(cblas_##p##trmm, scalar, per)                                                     \
    TRIANGULAR(cblas_##p##trsm, scalar, per)                                                     \
    RANK_K(cblas_##p##syrk, scalar, per, PRODUCT)                                                \
    RANK_2K(cblas_##p##syr2k, scalar, scalar, per)

#define HERMITIAN(p, real)                                                                       \
    SYMMETRIC(cblas_##p##hemm, const void *, COMPLEX)                                            \
    RANK_K(cblas_##p##herk, real, COMPLEX, OTHER_PRODUCT)                                        \
    RANK_2K(cblas_##p##her2k, const void *, real, COMPLEX)                                       \
    C_COMPLEX_DOT(cblas_##p##dotu_sub)                                                           \
    C_COMPLEX_DOT(cblas_##p##dotc_sub)

PRECISION(s, float, REAL)
PRECISION(d, double, REAL)
PRECISION(c, const void *, COMPLEX)
PRECISION(z, const void *, COMPLEX)
HERMITIAN(c, float)
HERMITIAN(z, double)
C_DOT(float, cblas_sdot)
C_DOT(double, cblas_ddot)

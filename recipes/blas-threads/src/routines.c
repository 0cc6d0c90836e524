/* The routines of BLAS that run on several threads, by their Fortran and their C names.

   Arguments: the reference BLAS, https://www.netlib.org/blas. The lengths of the strings, which
   Fortran adds at the end, are not read by any of the libraries. */
#include <stdint.h>

#include "library.h"

/* Floating point operations. Below SMALL OpenBLAS runs most routines on one thread by itself, see
   its interface/gemm.c and interface/gemv.c, but not symm, trmm and trsm; to start threads takes
   longer. Above LARGE a call takes several time slices, so that all threads gain beside other
   programs, too: docs/notes.md, "Large products on a busy machine". */
#define MATRIX_SMALL 5e5
#define MATRIX_LARGE 2e9
#define VECTOR_SMALL 2e4
#define VECTOR_LARGE 1e9

static uint64_t mix(uint64_t key, uint64_t value)
{
    return (key ^ value) * UINT64_C(0x100000001B3);
}

/* The size without the bits after its first four: those that differ by less share what was learnt.
   A program on sequences has another length in each call. */
static uint64_t about(int size)
{
    uint64_t bits = size > 0 ? (uint64_t)size : 0;
    int dropped = 0;
    for (; bits > 15; bits >>= 1)
        dropped++;
    return bits << dropped;
}

static uint64_t key_of(const char *name, int letters, int a, int b, int c)
{
    uint64_t key = mix((uint64_t)(uintptr_t)name, (uint64_t)letters);
    return mix(mix(mix(key, about(a)), about(b)), about(c)) | 1;
}

/* Before and after a call: `name`, its parameters, what decides its time (letters, and the sizes a,
   b, c), its work; `alone` as for library_begin. */
#define BEFORE(result, name, parameters, letters, a, b, c, work, small, large, alone)            \
    static const char id[] = #name;                                                              \
    static result(*found) parameters;                                                            \
    result(*function) parameters = __atomic_load_n(&found, __ATOMIC_RELAXED);                    \
    struct call call;                                                                            \
    if (!function) {                                                                             \
        function = (result(*) parameters)library_function(id);                                   \
        __atomic_store_n(&found, function, __ATOMIC_RELAXED);                                    \
    }                                                                                            \
    library_begin(&call, key_of(id, letters, a, b, c), work, small, large, alone);

#define AFTER library_end(&call);

#define MATRICES(name, parameters, arguments, letters, a, b, c, work, alone)                     \
    void name parameters                                                                         \
    {                                                                                            \
        BEFORE(void, name, parameters, letters, a, b, c, work, MATRIX_SMALL, MATRIX_LARGE,       \
               alone)                                                                            \
        function arguments;                                                                      \
        AFTER                                                                                    \
    }

#define VECTORS(name, parameters, arguments, letters, a, b, work)                                \
    void name parameters                                                                         \
    {                                                                                            \
        BEFORE(void, name, parameters, letters, a, b, 0, work, VECTOR_SMALL, VECTOR_LARGE, 1)    \
        function arguments;                                                                      \
        AFTER                                                                                    \
    }

#define DOT(kind, name, parameters, arguments, n)                                                \
    kind name parameters                                                                         \
    {                                                                                            \
        kind result;                                                                             \
        BEFORE(kind, name, parameters, 0, n, 0, 0, 2.0 * n, VECTOR_SMALL, VECTOR_LARGE, 1)       \
        result = function arguments;                                                             \
        AFTER                                                                                    \
        return result;                                                                           \
    }

/* Of complex numbers a multiplication and an addition are 4 of each. */
#define REAL 2.0
#define COMPLEX 8.0
#define LETTER const char *
#define SIZE const int *
#define ORDER(side, m, n) ((side) ? (m) : (n))

#define FORTRAN(p, kind, per)                                                                    \
    MATRICES(p##gemm_,                                                                           \
             (LETTER ta, LETTER tb, SIZE m, SIZE n, SIZE k, const kind *alpha, const kind *a,    \
              SIZE lda, const kind *b, SIZE ldb, const kind *beta, kind *c, SIZE ldc),           \
             (ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc),                             \
             *ta * 256 + *tb, *m, *n, *k, per * *m * *n * *k, 1)                                 \
    MATRICES(p##symm_,                                                                           \
             (LETTER side, LETTER uplo, SIZE m, SIZE n, const kind *alpha, const kind *a,        \
              SIZE lda, const kind *b, SIZE ldb, const kind *beta, kind *c, SIZE ldc),           \
             (side, uplo, m, n, alpha, a, lda, b, ldb, beta, c, ldc), *side * 256 + *uplo, *m,   \
             *n, 0, per * *m * *n * ORDER(*side == 'L' || *side == 'l', *m, *n), 0)              \
    MATRICES(p##syrk_,                                                                           \
             (LETTER uplo, LETTER t, SIZE n, SIZE k, const kind *alpha, const kind *a,           \
              SIZE lda, const kind *beta, kind *c, SIZE ldc),                                    \
             (uplo, t, n, k, alpha, a, lda, beta, c, ldc), *uplo * 256 + *t, *n, *k, 0,          \
             per / 2 * *n * *n * *k, 1)                                                          \
    FORTRAN_TRIANGULAR(p##trmm_, kind, per)                                                      \
    FORTRAN_TRIANGULAR(p##trsm_, kind, per)                                                      \
    VECTORS(p##gemv_,                                                                            \
            (LETTER t, SIZE m, SIZE n, const kind *alpha, const kind *a, SIZE lda,               \
             const kind *x, SIZE incx, const kind *beta, kind *y, SIZE incy),                    \
            (t, m, n, alpha, a, lda, x, incx, beta, y, incy), *t, *m, *n, per * *m * *n)         \
    VECTORS(p##axpy_, (SIZE n, const kind *alpha, const kind *x, SIZE incx, kind *y, SIZE incy), \
            (n, alpha, x, incx, y, incy), 0, *n, 0, per * *n)                                    \
    VECTORS(p##scal_, (SIZE n, const kind *alpha, kind *x, SIZE incx), (n, alpha, x, incx), 0,   \
            *n, 0, per * *n)

#define FORTRAN_TRIANGULAR(name, kind, per)                                                      \
    MATRICES(name,                                                                               \
             (LETTER side, LETTER uplo, LETTER t, LETTER diagonal, SIZE m, SIZE n,               \
              const kind *alpha, const kind *a, SIZE lda, kind *b, SIZE ldb),                    \
             (side, uplo, t, diagonal, m, n, alpha, a, lda, b, ldb),                             \
             (*side * 256 + *uplo) * 256 + *t, *m, *n, 0,                                        \
             per / 2 * *m * *n * ORDER(*side == 'L' || *side == 'l', *m, *n), 0)

/* A rank-1 update, and the symmetric product of a vector, of real numbers. */
#define FORTRAN_REAL(p, kind)                                                                    \
    VECTORS(p##ger_,                                                                             \
            (SIZE m, SIZE n, const kind *alpha, const kind *x, SIZE incx, const kind *y,         \
             SIZE incy, kind *a, SIZE lda),                                                      \
            (m, n, alpha, x, incx, y, incy, a, lda), 0, *m, *n, REAL * *m * *n)                  \
    VECTORS(p##symv_,                                                                            \
            (LETTER uplo, SIZE n, const kind *alpha, const kind *a, SIZE lda, const kind *x,     \
             SIZE incx, const kind *beta, kind *y, SIZE incy),                                   \
            (uplo, n, alpha, a, lda, x, incx, beta, y, incy), *uplo, *n, 0, REAL * *n * *n)      \
    DOT(kind, p##dot_, (SIZE n, const kind *x, SIZE incx, const kind *y, SIZE incy),             \
        (n, x, incx, y, incy), *n)

/* By their C names those that NumPy calls. Scalars are values where they are real, and addresses
   where they are complex. */
#define C(p, kind, scalar, per)                                                                  \
    MATRICES(cblas_##p##gemm,                                                                    \
             (int order, int ta, int tb, int m, int n, int k, scalar alpha, const kind *a,       \
              int lda, const kind *b, int ldb, scalar beta, kind *c, int ldc),                   \
             (order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc),                      \
             (order * 256 + ta) * 256 + tb, m, n, k, per * m * n * k, 1)                         \
    MATRICES(cblas_##p##syrk,                                                                    \
             (int order, int uplo, int t, int n, int k, scalar alpha, const kind *a, int lda,    \
              scalar beta, kind *c, int ldc),                                                    \
             (order, uplo, t, n, k, alpha, a, lda, beta, c, ldc),                                \
             (order * 256 + uplo) * 256 + t, n, k, 0, per / 2 * n * n * k, 1)                    \
    VECTORS(cblas_##p##gemv,                                                                     \
            (int order, int t, int m, int n, scalar alpha, const kind *a, int lda,               \
             const kind *x, int incx, scalar beta, kind *y, int incy),                           \
            (order, t, m, n, alpha, a, lda, x, incx, beta, y, incy), order * 256 + t, m, n,      \
            per * m * n)

#define C_DOT(p, kind)                                                                           \
    DOT(kind, cblas_##p##dot, (int n, const kind *x, int incx, const kind *y, int incy),         \
        (n, x, incx, y, incy), n)

/* Of complex vectors, whose results have an address. */
#define C_COMPLEX_DOT(name)                                                                      \
    VECTORS(name, (int n, const void *x, int incx, const void *y, int incy, void *result),       \
            (n, x, incx, y, incy, result), 0, n, 0, COMPLEX * n)

FORTRAN(s, float, REAL)
FORTRAN(d, double, REAL)
FORTRAN(c, void, COMPLEX)
FORTRAN(z, void, COMPLEX)
FORTRAN_REAL(s, float)
FORTRAN_REAL(d, double)
C(s, float, float, REAL)
C(d, double, double, REAL)
C(c, void, const void *, COMPLEX)
C(z, void, const void *, COMPLEX)
C_DOT(s, float)
C_DOT(d, double)
C_COMPLEX_DOT(cblas_cdotu_sub)
C_COMPLEX_DOT(cblas_cdotc_sub)
C_COMPLEX_DOT(cblas_zdotu_sub)
C_COMPLEX_DOT(cblas_zdotc_sub)

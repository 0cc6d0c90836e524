/* The routines of BLAS and LAPACK that run on several threads, by their Fortran names: a table.

   Arguments: the reference BLAS and LAPACK, https://www.netlib.org. All are addresses; the
   lengths of strings, which gfortran adds at the end, are 1. LAPACK's last argument is `info`.
   Routines that call a function of the program (gees, gges) are left out: it may leave them by
   longjmp, as SciPy's do. What they call has its threads chosen. */
#include <stddef.h>

#include "calls.h"

#define P4 void *a0, void *a1, void *a2, void *a3
#define P5 P4, void *a4
#define P6 P5, void *a5
#define P7 P6, void *a6
#define P8 P7, void *a7
#define P9 P8, void *a8
#define P10 P9, void *a9
#define P11 P10, void *a10
#define P12 P11, void *a11
#define P13 P12, void *a12
#define P14 P13, void *a13
#define P15 P14, void *a14
#define P16 P15, void *a15
#define P17 P16, void *a16
#define P20 P17, void *a17, void *a18, void *a19
#define P21 P20, void *a20
#define P22 P21, void *a21
#define P23 P22, void *a22
#define P24 P23, void *a23
#define A4 a0, a1, a2, a3
#define A5 A4, a4
#define A6 A5, a5
#define A7 A6, a6
#define A8 A7, a7
#define A9 A8, a8
#define A10 A9, a9
#define A11 A10, a10
#define A12 A11, a11
#define A13 A12, a12
#define A14 A13, a13
#define A15 A14, a14
#define A16 A15, a15
#define A17 A16, a16
#define A20 A17, a17, a18, a19
#define A21 A20, a20
#define A22 A21, a21
#define A23 A22, a22
#define A24 A23, a23
#define LENGTHS size_t, size_t, size_t, size_t

/* In a row: the letter or the number that an argument has, by its place. */
#define L(place) (*(const char *)all[place])
#define I(place) (*(const int *)all[place])
#define LL(first, second) (L(first) * 256 + L(second))
#define LLL(first, second, third) (LL(first, second) * 256 + L(third))

#define BLAS(name, per, count, kind, letters, a, b, c, work)                                     \
    void name(P##count)                                                                          \
    {                                                                                            \
        FUNCTION(void, name, (P##count, LENGTHS))                                                \
        const void *all[] = {A##count};                                                          \
        struct call call;                                                                        \
        library_begin(&call, key_of(id, letters, a, b, c), per * (work), &kind);                 \
        function(A##count, 1, 1, 1, 1);                                                          \
        library_end(&call);                                                                      \
    }

/* `lwork`: the place of the workspace's length; -1 asks for it, and takes no time. A call that
   found an error or a singular matrix took less time than its sizes say. */
#define NONE (-1)
#define LAPACK(name, per, count, lwork, letters, a, b, c, work)                                  \
    void name(P##count)                                                                          \
    {                                                                                            \
        FUNCTION(void, name, (P##count, LENGTHS))                                                \
        const void *all[] = {A##count};                                                          \
        int asks = (lwork) >= 0 && I((lwork) < 0 ? 0 : (lwork)) == -1;                           \
        struct call call;                                                                        \
        library_begin(&call, key_of(id, letters, a, b, c), asks ? 0 : per * (work),              \
                      &FACTORISATION);                                                           \
        function(A##count, 1, 1, 1, 1);                                                          \
        if (I(count - 1))                                                                        \
            call.key = 0;                                                                        \
        library_end(&call);                                                                      \
    }

/* Of complex numbers a multiplication and an addition are 4 of each. */
#define REAL(table, name, ...)                                                                   \
    table(s##name##_, 1.0, __VA_ARGS__) table(d##name##_, 1.0, __VA_ARGS__)
#define COMPLEX(table, name, ...)                                                                \
    table(c##name##_, 4.0, __VA_ARGS__) table(z##name##_, 4.0, __VA_ARGS__)
#define ALL(table, name, ...) REAL(table, name, __VA_ARGS__) COMPLEX(table, name, __VA_ARGS__)
#define BOTH(table, real, complex, ...)                                                          \
    REAL(table, real, __VA_ARGS__) COMPLEX(table, complex, __VA_ARGS__)

static inline double least(double a, double b) { return a < b ? a : b; }
static inline double cube(double n) { return n * n * n; }

#define SIDE(m, n) (L(0) == 'L' || L(0) == 'l' ? I(m) : I(n))

/* Products of matrices. */
ALL(BLAS, gemm, 13, PRODUCT, LL(0, 1), I(2), I(3), I(4), 2.0 * I(2) * I(3) * I(4))
ALL(BLAS, symm, 12, OTHER_PRODUCT, LL(0, 1), I(2), I(3), 0, 2.0 * I(2) * I(3) * SIDE(2, 3))
COMPLEX(BLAS, hemm, 12, OTHER_PRODUCT, LL(0, 1), I(2), I(3), 0, 2.0 * I(2) * I(3) * SIDE(2, 3))
ALL(BLAS, syrk, 10, PRODUCT, LL(0, 1), I(2), I(3), 0, 1.0 * I(2) * I(2) * I(3))
COMPLEX(BLAS, herk, 10, OTHER_PRODUCT, LL(0, 1), I(2), I(3), 0, 1.0 * I(2) * I(2) * I(3))
ALL(BLAS, syr2k, 12, OTHER_PRODUCT, LL(0, 1), I(2), I(3), 0, 2.0 * I(2) * I(2) * I(3))
COMPLEX(BLAS, her2k, 12, OTHER_PRODUCT, LL(0, 1), I(2), I(3), 0, 2.0 * I(2) * I(2) * I(3))
ALL(BLAS, trmm, 11, OTHER_PRODUCT, LLL(0, 1, 2), I(4), I(5), 0, 1.0 * I(4) * I(5) * SIDE(4, 5))
ALL(BLAS, trsm, 11, OTHER_PRODUCT, LLL(0, 1, 2), I(4), I(5), 0, 1.0 * I(4) * I(5) * SIDE(4, 5))

/* Of vectors. */
ALL(BLAS, gemv, 11, VECTOR, L(0), I(1), I(2), 0, 2.0 * I(1) * I(2))
ALL(BLAS, axpy, 6, VECTOR, 0, I(0), 0, 0, 2.0 * I(0))
ALL(BLAS, scal, 4, VECTOR, 0, I(0), 0, 0, 2.0 * I(0))
REAL(BLAS, ger, 9, VECTOR, 0, I(0), I(1), 0, 2.0 * I(0) * I(1))
COMPLEX(BLAS, geru, 9, OTHER_VECTOR, 0, I(0), I(1), 0, 2.0 * I(0) * I(1))
COMPLEX(BLAS, gerc, 9, OTHER_VECTOR, 0, I(0), I(1), 0, 2.0 * I(0) * I(1))
BOTH(BLAS, symv, hemv, 10, OTHER_VECTOR, L(0), I(1), 0, 0, 2.0 * I(1) * I(1))
BOTH(BLAS, syr, her, 7, OTHER_VECTOR, L(0), I(1), 0, 0, 1.0 * I(1) * I(1))
BOTH(BLAS, syr2, her2, 9, OTHER_VECTOR, L(0), I(1), 0, 0, 2.0 * I(1) * I(1))
ALL(BLAS, trmv, 8, OTHER_VECTOR, LLL(0, 1, 2), I(3), 0, 0, 1.0 * I(3) * I(3))
ALL(BLAS, trsv, 8, OTHER_VECTOR, LLL(0, 1, 2), I(3), 0, 0, 1.0 * I(3) * I(3))

#define DOT(kind, name)                                                                          \
    kind name(const int *n, void *x, void *incx, void *y, void *incy)                            \
    {                                                                                            \
        FUNCTION(kind, name, (const int *n, void *x, void *incx, void *y, void *incy))           \
        struct call call;                                                                        \
        library_begin(&call, key_of(id, 0, *n, 0, 0), 2.0 * *n, &VECTOR);                        \
        kind result = function(n, x, incx, y, incy);                                             \
        library_end(&call);                                                                      \
        return result;                                                                           \
    }
DOT(float, sdot_)
DOT(double, ddot_)

/* The work of LAPACK's routines is about that of square matrices: it decides between small and
   large only. */

/* Triangular, and positive definite. */
ALL(LAPACK, potrf, 5, NONE, L(0), I(1), 0, 0, cube(I(1)) / 3)
ALL(LAPACK, potri, 5, NONE, L(0), I(1), 0, 0, cube(I(1)) * 2 / 3)
ALL(LAPACK, potrs, 8, NONE, L(0), I(1), I(2), 0, 2.0 * I(1) * I(1) * I(2))
ALL(LAPACK, posv, 8, NONE, L(0), I(1), I(2), 0, cube(I(1)) / 3 + 2.0 * I(1) * I(1) * I(2))
ALL(LAPACK, pstrf, 9, NONE, L(0), I(1), 0, 0, cube(I(1)) / 3)
ALL(LAPACK, lauum, 5, NONE, L(0), I(1), 0, 0, cube(I(1)) / 3)
ALL(LAPACK, trtri, 6, NONE, LL(0, 1), I(2), 0, 0, cube(I(2)) / 3)
ALL(LAPACK, trtrs, 10, NONE, LLL(0, 1, 2), I(3), I(4), 0, 1.0 * I(3) * I(3) * I(4))

/* General, and symmetric. */
ALL(LAPACK, getrf, 6, NONE, 0, I(0), I(1), 0, 2.0 / 3 * I(0) * I(1) * least(I(0), I(1)))
ALL(LAPACK, getri, 7, 5, 0, I(0), 0, 0, cube(I(0)) * 4 / 3)
ALL(LAPACK, getrs, 9, NONE, L(0), I(1), I(2), 0, 2.0 * I(1) * I(1) * I(2))
ALL(LAPACK, gesv, 8, NONE, 0, I(0), I(1), 0, cube(I(0)) * 2 / 3 + 2.0 * I(0) * I(0) * I(1))
ALL(LAPACK, gesvx, 22, NONE, LL(0, 1), I(2), I(3), 0, cube(I(2)) + 6.0 * I(2) * I(2) * I(3))
ALL(LAPACK, sytrf, 8, 6, L(0), I(1), 0, 0, cube(I(1)) / 3)
ALL(LAPACK, sytrs, 9, NONE, L(0), I(1), I(2), 0, 2.0 * I(1) * I(1) * I(2))
ALL(LAPACK, sysv, 11, 9, L(0), I(1), I(2), 0, cube(I(1)) / 3 + 2.0 * I(1) * I(1) * I(2))
COMPLEX(LAPACK, hetrf, 8, 6, L(0), I(1), 0, 0, cube(I(1)) / 3)
COMPLEX(LAPACK, hetrs, 9, NONE, L(0), I(1), I(2), 0, 2.0 * I(1) * I(1) * I(2))
COMPLEX(LAPACK, hesv, 11, 9, L(0), I(1), I(2), 0, cube(I(1)) / 3 + 2.0 * I(1) * I(1) * I(2))

/* Orthogonal. */
#define QR 4.0 / 3 * I(0) * I(1) * least(I(0), I(1))
ALL(LAPACK, geqrf, 8, 6, 0, I(0), I(1), 0, QR)
ALL(LAPACK, gerqf, 8, 6, 0, I(0), I(1), 0, QR)
ALL(LAPACK, gelqf, 8, 6, 0, I(0), I(1), 0, QR)
REAL(LAPACK, geqp3, 9, 7, 0, I(0), I(1), 0, QR)
COMPLEX(LAPACK, geqp3, 10, 7, 0, I(0), I(1), 0, QR)
BOTH(LAPACK, orgqr, ungqr, 9, 7, 0, I(0), I(1), I(2), 4.0 / 3 * I(0) * I(1) * I(2))
BOTH(LAPACK, orgrq, ungrq, 9, 7, 0, I(0), I(1), I(2), 4.0 / 3 * I(0) * I(1) * I(2))
BOTH(LAPACK, orglq, unglq, 9, 7, 0, I(0), I(1), I(2), 4.0 / 3 * I(0) * I(1) * I(2))
BOTH(LAPACK, ormqr, unmqr, 13, 11, LL(0, 1), I(2), I(3), I(4), 4.0 * I(2) * I(3) * I(4))
ALL(LAPACK, gehrd, 9, 7, 0, I(0), 0, 0, cube(I(0)) * 10 / 3)
BOTH(LAPACK, orghr, unghr, 9, 7, 0, I(0), 0, 0, cube(I(0)) * 4 / 3)

/* Least squares. */
#define LEAST_SQUARES(m, n) 4.0 * I(m) * I(n) * least(I(m), I(n))
ALL(LAPACK, gels, 11, 9, L(0), I(1), I(2), I(3), LEAST_SQUARES(1, 2))
REAL(LAPACK, gelsd, 14, 11, 0, I(0), I(1), I(2), LEAST_SQUARES(0, 1))
COMPLEX(LAPACK, gelsd, 15, 11, 0, I(0), I(1), I(2), LEAST_SQUARES(0, 1))
REAL(LAPACK, gelss, 13, 11, 0, I(0), I(1), I(2), LEAST_SQUARES(0, 1))
COMPLEX(LAPACK, gelss, 14, 11, 0, I(0), I(1), I(2), LEAST_SQUARES(0, 1))
REAL(LAPACK, gelsy, 13, 11, 0, I(0), I(1), I(2), LEAST_SQUARES(0, 1))
COMPLEX(LAPACK, gelsy, 14, 11, 0, I(0), I(1), I(2), LEAST_SQUARES(0, 1))

/* Singular values. */
#define SVD(letter, m, n) (L(letter) == 'N' ? 8.0 / 3 : 9.0) * I(m) * I(n) * least(I(m), I(n))
REAL(LAPACK, gesdd, 14, 11, L(0), I(1), I(2), 0, SVD(0, 1, 2))
COMPLEX(LAPACK, gesdd, 15, 11, L(0), I(1), I(2), 0, SVD(0, 1, 2))
REAL(LAPACK, gesvd, 14, 12, LL(0, 1), I(2), I(3), 0, SVD(0, 2, 3))
COMPLEX(LAPACK, gesvd, 15, 12, LL(0, 1), I(2), I(3), 0, SVD(0, 2, 3))

/* Eigenvalues. */
#define EIGEN(letter, n) cube(I(n)) * (L(letter) == 'N' ? 4.0 / 3 : 6)
REAL(LAPACK, syev, 9, 7, LL(0, 1), I(2), 0, 0, EIGEN(0, 2))
COMPLEX(LAPACK, heev, 10, 7, LL(0, 1), I(2), 0, 0, EIGEN(0, 2))
REAL(LAPACK, syevd, 11, 7, LL(0, 1), I(2), 0, 0, EIGEN(0, 2))
COMPLEX(LAPACK, heevd, 13, 7, LL(0, 1), I(2), 0, 0, EIGEN(0, 2))
REAL(LAPACK, syevr, 21, 17, LLL(0, 1, 2), I(3), 0, 0, EIGEN(0, 3))
COMPLEX(LAPACK, heevr, 23, 17, LLL(0, 1, 2), I(3), 0, 0, EIGEN(0, 3))
REAL(LAPACK, syevx, 20, 16, LLL(0, 1, 2), I(3), 0, 0, EIGEN(0, 3))
COMPLEX(LAPACK, heevx, 21, 16, LLL(0, 1, 2), I(3), 0, 0, EIGEN(0, 3))
REAL(LAPACK, sygv, 12, 10, LL(1, 2), I(3), I(0), 0, EIGEN(1, 3))
COMPLEX(LAPACK, hegv, 13, 10, LL(1, 2), I(3), I(0), 0, EIGEN(1, 3))
REAL(LAPACK, sygvd, 14, 10, LL(1, 2), I(3), I(0), 0, EIGEN(1, 3))
COMPLEX(LAPACK, hegvd, 16, 10, LL(1, 2), I(3), I(0), 0, EIGEN(1, 3))
REAL(LAPACK, sygvx, 23, 19, LLL(1, 2, 3), I(4), I(0), 0, EIGEN(1, 4))
COMPLEX(LAPACK, hegvx, 24, 19, LLL(1, 2, 3), I(4), I(0), 0, EIGEN(1, 4))
#define GENERAL(n) cube(I(n)) * (L(0) == 'N' && L(1) == 'N' ? 10 : 25)
REAL(LAPACK, geev, 14, 12, LL(0, 1), I(2), 0, 0, GENERAL(2))
COMPLEX(LAPACK, geev, 14, 11, LL(0, 1), I(2), 0, 0, GENERAL(2))
REAL(LAPACK, ggev, 17, 15, LL(0, 1), I(2), 0, 0, 2 * GENERAL(2))
COMPLEX(LAPACK, ggev, 17, 14, LL(0, 1), I(2), 0, 0, 2 * GENERAL(2))
REAL(LAPACK, hseqr, 14, 12, LL(0, 1), I(2), 0, 0, GENERAL(2))
COMPLEX(LAPACK, hseqr, 13, 11, LL(0, 1), I(2), 0, 0, GENERAL(2))

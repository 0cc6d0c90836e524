/* BLAS with 64-bit integers, by the names that NumPy's wheels call: the 32-bit functions do the
 * work.
 *
 * What does not fit into 32 bits is computed in pieces that do: a vector in parts, a matrix with
 * too many rows or columns in blocks, one whose rows lie too far apart row by row. Memory bounds
 * the number of such rows, so there are few pieces. */

#include <stddef.h>

#include "integers.h"

enum { ROW_MAJOR = 101, COLUMN_MAJOR = 102 };
enum { NO_TRANS = 111, TRANS = 112 };
enum { UPPER = 121, LOWER = 122 };

/* Elements of a piece. */
static const int64_t PIECE = INT64_C(1) << 30;

/* ---- Vectors ---- */

/* The step of a loop over the `n` elements of two vectors: all, a piece, or single elements. */
static int64_t vector_step(int64_t n, int64_t incx, int64_t incy)
{
    if (!fits(incx) || !fits(incy))
        return 1;
    return fits(n) ? n : PIECE;
}

/* The address to hand on for the `count` elements from `first` on, of a vector of `n`. Where the
   increment is negative, a vector begins at its last address in memory. */
static char *part(const void *vector, size_t size, int64_t n, int64_t inc, int64_t first,
                  int64_t count)
{
    return (char *)vector + (int64_t)size * inc * (inc < 0 ? count - n + first : first);
}

#define EACH_PART(size)                                                                          \
    for (int64_t step = vector_step(n, incx, incy), first = 0, count;                            \
         first < n && (count = smaller(step, n - first)); first += step)
#define X part(x, size, n, incx, first, count)
#define Y part(y, size, n, incy, first, count)
/* Of a single element the increment has no meaning. */
#define INC(value) (count == 1 ? 1 : (int)(value))

#define AXPY(name, called, scalar, type)                                                         \
    void called(int n, scalar alpha, const void *x, int incx, void *y, int incy);                \
    void name(int64_t n, scalar alpha, const void *x, int64_t incx, void *y, int64_t incy)       \
    {                                                                                            \
        const size_t size = sizeof(type);                                                        \
        EACH_PART(size)                                                                          \
            called((int)count, alpha, X, INC(incx), Y, INC(incy));                               \
    }

#define DOT(name, called, type)                                                                  \
    type called(int n, const void *x, int incx, const void *y, int incy);                        \
    type name(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy)               \
    {                                                                                            \
        const size_t size = sizeof(type);                                                        \
        type sum = 0;                                                                            \
        EACH_PART(size)                                                                          \
            sum += called((int)count, X, INC(incx), Y, INC(incy));                               \
        return sum;                                                                              \
    }

#define DOT_SUB(name, called, type)                                                              \
    void called(int n, const void *x, int incx, const void *y, int incy, void *result);          \
    void name(int64_t n, const void *x, int64_t incx, const void *y, int64_t incy, void *result) \
    {                                                                                            \
        const size_t size = sizeof(type);                                                        \
        type sum = 0, addend;                                                                    \
        EACH_PART(size)                                                                          \
        {                                                                                        \
            called((int)count, X, INC(incx), Y, INC(incy), &addend);                             \
            sum += addend;                                                                       \
        }                                                                                        \
        *(type *)result = sum;                                                                   \
    }

#define COPY(name, called, type)                                                                 \
    void called(const int *n, const void *x, const int *incx, void *y, const int *incy);         \
    void name(const int64_t *all, const void *x, const int64_t *by_x, void *y,                   \
              const int64_t *by_y)                                                               \
    {                                                                                            \
        const size_t size = sizeof(type);                                                        \
        const int64_t n = *all, incx = *by_x, incy = *by_y;                                      \
        EACH_PART(size)                                                                          \
        {                                                                                        \
            int number = (int)count, one = INC(incx), other = INC(incy);                         \
            called(&number, X, &one, Y, &other);                                                 \
        }                                                                                        \
    }

AXPY(scipy_cblas_saxpy64_, cblas_saxpy, float, float)
AXPY(scipy_cblas_daxpy64_, cblas_daxpy, double, double)
AXPY(scipy_cblas_caxpy64_, cblas_caxpy, const void *, float _Complex)
AXPY(scipy_cblas_zaxpy64_, cblas_zaxpy, const void *, double _Complex)
DOT(scipy_cblas_sdot64_, cblas_sdot, float)
DOT(scipy_cblas_ddot64_, cblas_ddot, double)
DOT_SUB(scipy_cblas_cdotu_sub64_, cblas_cdotu_sub, float _Complex)
DOT_SUB(scipy_cblas_cdotc_sub64_, cblas_cdotc_sub, float _Complex)
DOT_SUB(scipy_cblas_zdotu_sub64_, cblas_zdotu_sub, double _Complex)
DOT_SUB(scipy_cblas_zdotc_sub64_, cblas_zdotc_sub, double _Complex)
COPY(scipy_scopy_64_, scopy_, float)
COPY(scipy_dcopy_64_, dcopy_, double)
COPY(scipy_ccopy_64_, ccopy_, float _Complex)
COPY(scipy_zcopy_64_, zcopy_, double _Complex)

/* ---- Matrices ---- */

/* The product of one type: the size of an element, 1, and Gemm by row-major arguments that fit. */
struct kind {
    size_t size;
    const void *one;
    void (*gemm)(int transa, int transb, int m, int n, int k, const void *alpha, const void *a,
                 int lda, const void *b, int ldb, const void *beta, void *c, int ldc);
};

/* The step of a loop over `count` rows or columns, 0 if none is necessary. `apart`: the distance of
   two of them, 1 where they are neighbours in memory. */
static int64_t matrix_step(int64_t count, int64_t apart)
{
    if (!fits(count))
        return PIECE;
    return count > 1 && !(apart >= 1 && fits(apart));
}

/* A leading dimension to hand on. Of a single row it has no meaning. */
static int leading(int64_t rows, int64_t columns, int64_t ld)
{
    return (int)(rows > 1 ? ld : columns > 1 ? columns : 1);
}

/* c = alpha op(a) op(b) + beta c, all of them by rows. */
static void gemm_in_pieces(const struct kind *kind, int transa, int transb, int64_t m, int64_t n,
                           int64_t k, const void *alpha, const char *a, int64_t lda, const char *b,
                           int64_t ldb, const void *beta, char *c, int64_t ldc)
{
    const int64_t size = (int64_t)kind->size;
    const int a_is = transa != NO_TRANS, b_is = transb != NO_TRANS;
    const int64_t a_down = a_is ? 1 : lda, a_right = a_is ? lda : 1;
    const int64_t b_down = b_is ? 1 : ldb, b_right = b_is ? ldb : 1;
    int64_t step;

    if ((step = matrix_step(m, a_down)) || (step = matrix_step(m, ldc))) {
        for (int64_t i = 0; i < m; i += step)
            gemm_in_pieces(kind, transa, transb, smaller(step, m - i), n, k, alpha,
                           a + size * i * a_down, lda, b, ldb, beta, c + size * i * ldc, ldc);
    } else if ((step = matrix_step(n, b_right))) {
        for (int64_t j = 0; j < n; j += step)
            gemm_in_pieces(kind, transa, transb, m, smaller(step, n - j), k, alpha, a, lda,
                           b + size * j * b_right, ldb, beta, c + size * j, ldc);
    } else if ((step = matrix_step(k, a_right)) || (step = matrix_step(k, b_down))) {
        for (int64_t p = 0; p < k; p += step)
            gemm_in_pieces(kind, transa, transb, m, n, smaller(step, k - p), alpha,
                           a + size * p * a_right, lda, b + size * p * b_down, ldb,
                           p ? kind->one : beta, c, ldc);
    } else {
        kind->gemm(transa, transb, (int)m, (int)n, (int)k, alpha, a,
                   leading(a_is ? k : m, a_is ? m : k, lda), b,
                   leading(b_is ? n : k, b_is ? k : n, ldb), beta, c, leading(m, n, ldc));
    }
}

static void gemm_large(const struct kind *kind, int order, int transa, int transb, int64_t m,
                       int64_t n, int64_t k, const void *alpha, const void *a, int64_t lda,
                       const void *b, int64_t ldb, const void *beta, void *c, int64_t ldc)
{
    if (order == ROW_MAJOR)
        gemm_in_pieces(kind, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    else
        gemm_in_pieces(kind, transb, transa, n, m, k, alpha, b, ldb, a, lda, beta, c, ldc);
}

/* y = alpha op(a) x + beta y, as a product with a matrix of one column. */
static void gemv_large(const struct kind *kind, int order, int trans, int64_t m, int64_t n,
                       const void *alpha, const void *a, int64_t lda, const void *x, int64_t incx,
                       const void *beta, void *y, int64_t incy)
{
    const int64_t rows = trans == NO_TRANS ? m : n, columns = trans == NO_TRANS ? n : m;
    const char *from = x;
    char *to = y;

    if (incx < 0)
        from += (int64_t)kind->size * incx * (1 - columns);
    if (incy < 0)
        to += (int64_t)kind->size * incy * (1 - rows);
    if (order == COLUMN_MAJOR && trans != NO_TRANS && trans != TRANS) {
        /* The conjugate of rows, which no argument of Gemm asks for without the transpose. */
        for (int64_t i = 0; i < rows; i++)
            gemm_in_pieces(kind, trans, NO_TRANS, 1, 1, columns, alpha,
                           (const char *)a + (int64_t)kind->size * i * lda, 1, from, incx, beta,
                           to + (int64_t)kind->size * i * incy, 1);
        return;
    }
    if (order == COLUMN_MAJOR)
        trans = trans == NO_TRANS ? TRANS : NO_TRANS;
    gemm_in_pieces(kind, trans, NO_TRANS, rows, 1, columns, alpha, a, lda, from, incx, beta, to,
                   incy);
}

/* One triangle of c = alpha op(a) op(a)^T + beta c, row by row: the rows of a matrix that is too
   large are few. */
static void syrk_large(const struct kind *kind, int order, int uplo, int trans, int64_t n,
                       int64_t k, const void *alpha, const char *a, int64_t lda, const void *beta,
                       char *c, int64_t ldc)
{
    const int64_t size = (int64_t)kind->size;

    if (order == COLUMN_MAJOR) {
        uplo = uplo == UPPER ? LOWER : UPPER;
        trans = trans == NO_TRANS ? TRANS : NO_TRANS;
    }
    const int64_t down = size * (trans == NO_TRANS ? lda : 1);
    for (int64_t i = 0; i < n; i++) {
        const int64_t first = uplo == UPPER ? i : 0, count = uplo == UPPER ? n - i : i + 1;
        gemm_in_pieces(kind, trans, trans == NO_TRANS ? TRANS : NO_TRANS, 1, count, k, alpha,
                       a + i * down, lda, a + first * down, lda, beta,
                       c + size * (i * ldc + first), ldc);
    }
}

/* `scalar`: how alpha and beta are passed; VALUE and POINTER convert them from and to pointers. */
#define MATRICES(letter, type, scalar, VALUE, POINTER)                                           \
    void cblas_##letter##gemm(int order, int transa, int transb, int m, int n, int k,            \
                              scalar alpha, const void *a, int lda, const void *b, int ldb,      \
                              scalar beta, void *c, int ldc);                                    \
    void cblas_##letter##gemv(int order, int trans, int m, int n, scalar alpha, const void *a,   \
                              int lda, const void *x, int incx, scalar beta, void *y, int incy); \
    void cblas_##letter##syrk(int order, int uplo, int trans, int n, int k, scalar alpha,        \
                              const void *a, int lda, scalar beta, void *c, int ldc);            \
                                                                                                 \
    static void letter##gemm_by_rows(int transa, int transb, int m, int n, int k,                \
                                     const void *alpha, const void *a, int lda, const void *b,   \
                                     int ldb, const void *beta, void *c, int ldc)                \
    {                                                                                            \
        cblas_##letter##gemm(ROW_MAJOR, transa, transb, m, n, k, VALUE(type, alpha), a, lda, b,  \
                             ldb, VALUE(type, beta), c, ldc);                                    \
    }                                                                                            \
    static const type letter##_one = 1;                                                          \
    static const struct kind letter##_kind = {sizeof(type), &letter##_one,                       \
                                              letter##gemm_by_rows};                             \
                                                                                                 \
    void scipy_cblas_##letter##gemm64_(int order, int transa, int transb, int64_t m, int64_t n,  \
                                       int64_t k, scalar alpha, const void *a, int64_t lda,      \
                                       const void *b, int64_t ldb, scalar beta, void *c,         \
                                       int64_t ldc)                                              \
    {                                                                                            \
        if (fits(m) && fits(n) && fits(k) && fits(lda) && fits(ldb) && fits(ldc))                \
            cblas_##letter##gemm(order, transa, transb, (int)m, (int)n, (int)k, alpha, a,        \
                                 (int)lda, b, (int)ldb, beta, c, (int)ldc);                      \
        else                                                                                     \
            gemm_large(&letter##_kind, order, transa, transb, m, n, k, POINTER(alpha), a, lda,   \
                       b, ldb, POINTER(beta), c, ldc);                                           \
    }                                                                                            \
    void scipy_cblas_##letter##gemv64_(int order, int trans, int64_t m, int64_t n, scalar alpha, \
                                       const void *a, int64_t lda, const void *x, int64_t incx,  \
                                       scalar beta, void *y, int64_t incy)                       \
    {                                                                                            \
        if (fits(m) && fits(n) && fits(lda) && fits(incx) && fits(incy))                         \
            cblas_##letter##gemv(order, trans, (int)m, (int)n, alpha, a, (int)lda, x, (int)incx, \
                                 beta, y, (int)incy);                                            \
        else                                                                                     \
            gemv_large(&letter##_kind, order, trans, m, n, POINTER(alpha), a, lda, x, incx,      \
                       POINTER(beta), y, incy);                                                  \
    }                                                                                            \
    void scipy_cblas_##letter##syrk64_(int order, int uplo, int trans, int64_t n, int64_t k,     \
                                       scalar alpha, const void *a, int64_t lda, scalar beta,    \
                                       void *c, int64_t ldc)                                     \
    {                                                                                            \
        if (fits(n) && fits(k) && fits(lda) && fits(ldc))                                        \
            cblas_##letter##syrk(order, uplo, trans, (int)n, (int)k, alpha, a, (int)lda, beta,   \
                                 c, (int)ldc);                                                   \
        else                                                                                     \
            syrk_large(&letter##_kind, order, uplo, trans, n, k, POINTER(alpha), a, lda,         \
                       POINTER(beta), c, ldc);                                                   \
    }

#define REAL_VALUE(type, pointer) (*(const type *)(pointer))
#define REAL_POINTER(value) (&(value))
#define COMPLEX_VALUE(type, pointer) (pointer)
#define COMPLEX_POINTER(value) (value)

MATRICES(s, float, float, REAL_VALUE, REAL_POINTER)
MATRICES(d, double, double, REAL_VALUE, REAL_POINTER)
MATRICES(c, float _Complex, const void *, COMPLEX_VALUE, COMPLEX_POINTER)
MATRICES(z, double _Complex, const void *, COMPLEX_VALUE, COMPLEX_POINTER)

/* LAPACK with 64-bit integers, by the names that NumPy's wheels call: the 32-bit functions do the
 * work.
 *
 * A number that does not fit into 32 bits is an error, which is printed and returned as LAPACK does
 * for a wrong argument. Arrays of integers are filled with 32-bit ones and widened in place. */

#include <stdio.h>

#include "integers.h"

typedef const int64_t integer;

/* More work space than any machine has: a program that asks how much it needs then finds that it
   cannot get it. malloc() refuses so many elements of any type. */
#define TOO_MUCH 1e17
/* gfortran passes the length of each string behind the other arguments. */
#define LENGTH ((size_t)1)

/* Store a number as a 32-bit one; return 0, and set info, if it does not fit. */
static int stored(const char *routine, int argument, const int64_t *value, int *number,
                  int64_t *info)
{
    if (!fits(*value)) {
        fprintf(stderr, "** %s: argument %d is %lld, and this LAPACK takes 32-bit integers\n",
                routine, argument, (long long)*value);
        *info = -argument;
        return 0;
    }
    *number = (int)*value;
    return 1;
}

/* The length of a work array as a 32-bit number: the function may use less than it has. */
static int length(const int64_t *value)
{
    return (int)smaller(*value, INT_MAX);
}

/* Make 64-bit integers of the 32-bit ones that fill the first half of an array. */
static void widen(int64_t *array, int64_t count)
{
    for (int64_t i = count; i-- > 0;) {
        int32_t value;
        memcpy(&value, (char *)array + i * (int64_t)sizeof value, sizeof value);
        array[i] = value;
    }
}

static double maximum(double one, double other)
{
    return one > other ? one : other;
}

/* The work that a query returned: TOO_MUCH if it cannot be told to the function as a 32-bit number.
   `least`: what the function needs at least, by its documentation. */
static double work_of(const char *routine, double returned, double least)
{
    if (returned >= 0 && least <= INT_MAX)
        return returned;
    fprintf(stderr, "** %s: this LAPACK takes 32-bit integers, too few for so large a matrix\n",
            routine);
    return TOO_MUCH;
}

#define ARGUMENT(number, name)                                                                   \
    int name##_32;                                                                               \
    if (!stored(routine, number, name, &name##_32, info))                                        \
    return
#define QUERY (*lwork == -1)
#define RETURN_INFO *info = info_32

/* ---- Linear systems and factorisations ---- */

#define GESV(letter)                                                                             \
    void letter##gesv_(const int *, const int *, void *, const int *, void *, void *,            \
                       const int *, int *);                                                      \
    void scipy_##letter##gesv_64_(integer *n, integer *nrhs, void *a, integer *lda,              \
                                  int64_t *ipiv, void *b, integer *ldb, int64_t *info)           \
    {                                                                                            \
        static const char routine[] = #letter "gesv";                                            \
        int info_32 = 0;                                                                         \
        ARGUMENT(1, n);                                                                          \
        ARGUMENT(2, nrhs);                                                                       \
        ARGUMENT(4, lda);                                                                        \
        ARGUMENT(7, ldb);                                                                        \
        letter##gesv_(&n_32, &nrhs_32, a, &lda_32, ipiv, b, &ldb_32, &info_32);                  \
        if (info_32 >= 0)                                                                        \
            widen(ipiv, n_32);                                                                   \
        RETURN_INFO;                                                                             \
    }

#define GETRF(letter)                                                                            \
    void letter##getrf_(const int *, const int *, void *, const int *, void *, int *);           \
    void scipy_##letter##getrf_64_(integer *m, integer *n, void *a, integer *lda, int64_t *ipiv, \
                                   int64_t *info)                                                \
    {                                                                                            \
        static const char routine[] = #letter "getrf";                                           \
        int info_32 = 0;                                                                         \
        ARGUMENT(1, m);                                                                          \
        ARGUMENT(2, n);                                                                          \
        ARGUMENT(4, lda);                                                                        \
        letter##getrf_(&m_32, &n_32, a, &lda_32, ipiv, &info_32);                                \
        if (info_32 >= 0)                                                                        \
            widen(ipiv, smaller(m_32, n_32));                                                    \
        RETURN_INFO;                                                                             \
    }

#define POTRF(letter)                                                                            \
    void letter##potrf_(const char *, const int *, void *, const int *, int *, size_t);          \
    void scipy_##letter##potrf_64_(const char *uplo, integer *n, void *a, integer *lda,          \
                                   int64_t *info)                                                \
    {                                                                                            \
        static const char routine[] = #letter "potrf";                                           \
        int info_32 = 0;                                                                         \
        ARGUMENT(2, n);                                                                          \
        ARGUMENT(4, lda);                                                                        \
        letter##potrf_(uplo, &n_32, a, &lda_32, &info_32, LENGTH);                               \
        RETURN_INFO;                                                                             \
    }

#define GEQRF(letter, type)                                                                      \
    void letter##geqrf_(const int *, const int *, void *, const int *, void *, type *,           \
                        const int *, int *);                                                     \
    void scipy_##letter##geqrf_64_(integer *m, integer *n, void *a, integer *lda, void *tau,     \
                                   type *work, integer *lwork, int64_t *info)                    \
    {                                                                                            \
        static const char routine[] = #letter "geqrf";                                           \
        int info_32 = 0, lwork_32 = length(lwork);                                               \
        ARGUMENT(1, m);                                                                          \
        ARGUMENT(2, n);                                                                          \
        ARGUMENT(4, lda);                                                                        \
        letter##geqrf_(&m_32, &n_32, a, &lda_32, tau, work, &lwork_32, &info_32);                \
        if (QUERY && !info_32)                                                                   \
            *work = work_of(routine, *work, n_32);                                               \
        RETURN_INFO;                                                                             \
    }

/* Of a complex `type`, the work that a query returns is the real part. */
#define ORGQR(name, type)                                                                        \
    void name##_(const int *, const int *, const int *, void *, const int *, const void *,       \
                 type *, const int *, int *);                                                    \
    void scipy_##name##_64_(integer *m, integer *n, integer *k, void *a, integer *lda,           \
                            const void *tau, type *work, integer *lwork, int64_t *info)          \
    {                                                                                            \
        static const char routine[] = #name;                                                     \
        int info_32 = 0, lwork_32 = length(lwork);                                               \
        ARGUMENT(1, m);                                                                          \
        ARGUMENT(2, n);                                                                          \
        ARGUMENT(3, k);                                                                          \
        ARGUMENT(5, lda);                                                                        \
        name##_(&m_32, &n_32, &k_32, a, &lda_32, tau, work, &lwork_32, &info_32);                \
        if (QUERY && !info_32)                                                                   \
            *work = work_of(routine, *work, n_32);                                               \
        RETURN_INFO;                                                                             \
    }

/* ---- Singular values and least squares ---- */

/* rwork of the complex functions comes before iwork: RPARAMETER, RTYPE and R are empty for the
   real ones. */
#define RPARAMETER void *rwork,
#define RTYPE void *,
#define R rwork,

#define GELSD(letter, type, rparameter, rtype, r)                                                \
    void letter##gelsd_(const int *, const int *, const int *, void *, const int *, void *,      \
                        const int *, void *, const void *, int *, type *, const int *,           \
                        rtype void *, int *);                                                    \
    void scipy_##letter##gelsd_64_(integer *m, integer *n, integer *nrhs, void *a, integer *lda, \
                                   void *b, integer *ldb, void *s, const void *rcond,            \
                                   int64_t *rank, type *work, integer *lwork,                    \
                                   rparameter int64_t *iwork, int64_t *info)                     \
    {                                                                                            \
        static const char routine[] = #letter "gelsd";                                           \
        int info_32 = 0, rank_32 = 0, lwork_32 = length(lwork);                                  \
        ARGUMENT(1, m);                                                                          \
        ARGUMENT(2, n);                                                                          \
        ARGUMENT(3, nrhs);                                                                       \
        ARGUMENT(5, lda);                                                                        \
        ARGUMENT(7, ldb);                                                                        \
        letter##gelsd_(&m_32, &n_32, &nrhs_32, a, &lda_32, b, &ldb_32, s, rcond, &rank_32, work, \
                       &lwork_32, r iwork, &info_32);                                            \
        if (QUERY && !info_32) {                                                                 \
            /* With the depth of its tree at most 32, and 25 rows in its leaves. */              \
            const double rows = (double)smaller(m_32, n_32);                                     \
            *work = work_of(routine, *work, rows * (12 + 2 * 25 + 8 * 32 + (double)nrhs_32));    \
            widen(iwork, 1);                                                                     \
        }                                                                                        \
        *rank = rank_32;                                                                         \
        RETURN_INFO;                                                                             \
    }

#define GESDD(letter, type, squares, rparameter, rtype, r)                                       \
    void letter##gesdd_(const char *, const int *, const int *, void *, const int *, void *,     \
                        void *, const int *, void *, const int *, type *, const int *,           \
                        rtype void *, int *, size_t);                                            \
    void scipy_##letter##gesdd_64_(const char *jobz, integer *m, integer *n, void *a,            \
                                   integer *lda, void *s, void *u, integer *ldu, void *vt,       \
                                   integer *ldvt, type *work, integer *lwork,                    \
                                   rparameter int64_t *iwork, int64_t *info)                     \
    {                                                                                            \
        static const char routine[] = #letter "gesdd";                                           \
        int info_32 = 0, lwork_32 = length(lwork);                                               \
        ARGUMENT(2, m);                                                                          \
        ARGUMENT(3, n);                                                                          \
        ARGUMENT(5, lda);                                                                        \
        ARGUMENT(8, ldu);                                                                        \
        ARGUMENT(10, ldvt);                                                                      \
        letter##gesdd_(jobz, &m_32, &n_32, a, &lda_32, s, u, &ldu_32, vt, &ldvt_32, work,        \
                       &lwork_32, r iwork, &info_32, LENGTH);                                    \
        if (QUERY && !info_32) {                                                                 \
            const double rows = (double)smaller(m_32, n_32);                                     \
            const double longest = maximum(m_32, n_32);                                          \
            const double vectors = squares * rows * rows + 7 * rows;                             \
            *work = work_of(routine, *work, longest + (*jobz == 'N' ? 10 * rows : vectors));     \
        }                                                                                        \
        RETURN_INFO;                                                                             \
    }

/* ---- Eigenvalues ---- */

/* The first element of iwork is a result, and so is that of rwork: the work that it needs. */
#define SYEVD(name, type, squares, rparameters, rtypes, r)                                       \
    void name##_(const char *, const char *, const int *, void *, const int *, void *, type *,   \
                 const int *, rtypes void *, const int *, int *, size_t, size_t);                \
    void scipy_##name##_64_(const char *jobz, const char *uplo, integer *n, void *a,             \
                            integer *lda, void *w, type *work, integer *lwork,                   \
                            rparameters int64_t *iwork, integer *liwork, int64_t *info)          \
    {                                                                                            \
        static const char routine[] = #name;                                                     \
        int info_32 = 0, lwork_32 = length(lwork), liwork_32 = length(liwork);                   \
        ARGUMENT(3, n);                                                                          \
        ARGUMENT(5, lda);                                                                        \
        name##_(jobz, uplo, &n_32, a, &lda_32, w, work, &lwork_32, r iwork, &liwork_32,          \
                &info_32, LENGTH, LENGTH);                                                       \
        if (QUERY && !info_32) {                                                                 \
            const double rows = n_32, vectors = 1 + 6 * rows + squares * rows * rows;            \
            *work = work_of(routine, *work, *jobz == 'N' ? 2 * rows + 1 : vectors);              \
            widen(iwork, 1);                                                                     \
        }                                                                                        \
        RETURN_INFO;                                                                             \
    }

#define GEEV_REAL(letter, type)                                                                  \
    void letter##geev_(const char *, const char *, const int *, void *, const int *, void *,     \
                       void *, void *, const int *, void *, const int *, type *, const int *,    \
                       int *, size_t, size_t);                                                   \
    void scipy_##letter##geev_64_(const char *jobvl, const char *jobvr, integer *n, void *a,     \
                                  integer *lda, void *wr, void *wi, void *vl, integer *ldvl,     \
                                  void *vr, integer *ldvr, type *work, integer *lwork,           \
                                  int64_t *info)                                                 \
    {                                                                                            \
        static const char routine[] = #letter "geev";                                            \
        int info_32 = 0, lwork_32 = length(lwork);                                               \
        ARGUMENT(3, n);                                                                          \
        ARGUMENT(5, lda);                                                                        \
        ARGUMENT(9, ldvl);                                                                       \
        ARGUMENT(11, ldvr);                                                                      \
        letter##geev_(jobvl, jobvr, &n_32, a, &lda_32, wr, wi, vl, &ldvl_32, vr, &ldvr_32, work, \
                      &lwork_32, &info_32, LENGTH, LENGTH);                                      \
        if (QUERY && !info_32)                                                                   \
            *work = work_of(routine, *work, 4.0 * n_32);                                         \
        RETURN_INFO;                                                                             \
    }

void zgeev_(const char *, const char *, const int *, void *, const int *, void *, void *,
            const int *, void *, const int *, double *, const int *, void *, int *, size_t,
            size_t);
void scipy_zgeev_64_(const char *jobvl, const char *jobvr, integer *n, void *a, integer *lda,
                     void *w, void *vl, integer *ldvl, void *vr, integer *ldvr, double *work,
                     integer *lwork, void *rwork, int64_t *info)
{
    static const char routine[] = "zgeev";
    int info_32 = 0, lwork_32 = length(lwork);
    ARGUMENT(3, n);
    ARGUMENT(5, lda);
    ARGUMENT(8, ldvl);
    ARGUMENT(10, ldvr);
    zgeev_(jobvl, jobvr, &n_32, a, &lda_32, w, vl, &ldvl_32, vr, &ldvr_32, work, &lwork_32, rwork,
           &info_32, LENGTH, LENGTH);
    if (QUERY && !info_32)
        *work = work_of(routine, *work, 2.0 * n_32);
    RETURN_INFO;
}

GESV(s)
GESV(d)
GESV(c)
GESV(z)
GETRF(s)
GETRF(d)
GETRF(c)
GETRF(z)
POTRF(s)
POTRF(d)
POTRF(c)
POTRF(z)
GEQRF(d, double)
GEQRF(z, double)
ORGQR(dorgqr, double)
ORGQR(zungqr, double)
GELSD(s, float, , , )
GELSD(d, double, , , )
GELSD(c, float, RPARAMETER, RTYPE, R)
GELSD(z, double, RPARAMETER, RTYPE, R)
GESDD(s, float, 4, , , )
GESDD(d, double, 4, , , )
GESDD(c, float, 1, RPARAMETER, RTYPE, R)
GESDD(z, double, 1, RPARAMETER, RTYPE, R)
GEEV_REAL(s, float)
GEEV_REAL(d, double)
/* dsyevd needs 2 n^2, zheevd as much in rwork. */
#define RPARAMETERS void *rwork, integer *lrwork,
#define RTYPES void *, const int *,
#define LRWORK_32 (&(const int){length(lrwork)})
#define RS rwork, LRWORK_32,
SYEVD(ssyevd, float, 2, , , )
SYEVD(dsyevd, double, 2, , , )
SYEVD(cheevd, float, 2, RPARAMETERS, RTYPES, RS)
SYEVD(zheevd, double, 2, RPARAMETERS, RTYPES, RS)

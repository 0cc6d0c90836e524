/* The functions of BLAS and LAPACK that return a complex number, as gfortran returns one: in
 * registers. MKL's own of these names give theirs through a pointer that comes before all other
 * arguments, so they are called here, and offered by names that no library has. */

typedef float _Complex single_complex;
typedef double _Complex double_complex;

void cblas_cdotc_sub(int n, const void *x, int incx, const void *y, int incy, void *result);
void cblas_cdotu_sub(int n, const void *x, int incx, const void *y, int incy, void *result);
void cblas_zdotc_sub(int n, const void *x, int incx, const void *y, int incy, void *result);
void cblas_zdotu_sub(int n, const void *x, int incx, const void *y, int incy, void *result);
void cladiv_(single_complex *result, const single_complex *x, const single_complex *y);
void zladiv_(double_complex *result, const double_complex *x, const double_complex *y);

#define DOT(name, kind, called)                                                                  \
    kind name(const int *n, const kind *x, const int *incx, const kind *y, const int *incy)      \
    {                                                                                            \
        kind result;                                                                             \
        called(*n, x, *incx, y, *incy, &result);                                                 \
        return result;                                                                           \
    }

#define DIVIDE(name, kind, called)                                                               \
    kind name(const kind *x, const kind *y)                                                      \
    {                                                                                            \
        kind result;                                                                             \
        called(&result, x, y);                                                                   \
        return result;                                                                           \
    }

DOT(cdotcg, single_complex, cblas_cdotc_sub)
DOT(cdotug, single_complex, cblas_cdotu_sub)
DOT(zdotcg, double_complex, cblas_zdotc_sub)
DOT(zdotug, double_complex, cblas_zdotu_sub)
DIVIDE(cladivg, single_complex, cladiv_)
DIVIDE(zladivg, double_complex, zladiv_)

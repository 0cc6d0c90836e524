/* What stands around each call of BLAS or LAPACK: its kind, and what the call is known by. */
#ifndef CALLS_H
#define CALLS_H

#include <stdint.h>

#include "library.h"

/* Floating point operations. Below the first number OpenBLAS runs most routines on one thread by
   itself (its interface/gemm.c and interface/gemv.c), but not symm, trmm and trsm; to start threads
   takes longer. Above the second a product takes several time slices, so that all threads gain
   beside other programs, too: measurements/README.md, "Threads". A routine of LAPACK waits for its
   threads many times, so it gets no more than have a processor; a triangular system of 200 with 5
   right sides gains from a second thread. */
static const struct kind PRODUCT = {.small = 5e5, .large = 2e9, .alone = 1},
                         OTHER_PRODUCT = {.small = 5e5, .large = 2e9},
                         VECTOR = {.small = 2e4, .large = 1e9, .alone = 1},
                         OTHER_VECTOR = {.small = 2e4, .large = 1e9},
                         FACTORISATION = {.small = 1e5, .large = 1e9, .waits = 1};

#pragma GCC visibility push(hidden)

/* Return what a call of a routine, of letters and of sizes is known by; sizes that nearly agree are
   one. */
uint64_t key_of(const char *name, int letters, int a, int b, int c);

#pragma GCC visibility pop

/* Define `function`, which the library has by the name `id`; it is looked up once. */
#define FUNCTION(result, name, parameters)                                                       \
    static const char id[] = #name;                                                              \
    static result(*found) parameters;                                                            \
    result(*function) parameters = __atomic_load_n(&found, __ATOMIC_RELAXED);                    \
    if (!function) {                                                                             \
        function = (result(*) parameters)library_function(id);                                   \
        __atomic_store_n(&found, function, __ATOMIC_RELAXED);                                    \
    }

#endif

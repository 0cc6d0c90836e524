/* The BLAS library behind this one, and its number of threads. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Return the library's function of a name. Ends the program where it has none. */
void *library_function(const char *name);

/* A call that is about to begin: on how many threads it runs, and what is needed at its end. */
struct call {
    uint64_t key;
    int most;    /* threads that the library would use */
    int threads; /* that this call gets */
    int before;  /* what the calling thread had, where each thread has a number of its own */
    double start;
};

/* Prepare a call of `work` floating point operations. `key` stands for its routine and sizes;
   `small` and `large` are the bounds of the work between which the number of threads is chosen:
   below, it is one; above, all threads. `alone`: OpenBLAS by itself runs small work on one thread.
   library_end has to be called after it. */
void library_begin(struct call *call, uint64_t key, double work, double small, double large,
                   int alone);
void library_end(const struct call *call);

#pragma GCC visibility pop

#endif

/* The BLAS library behind this one, and its number of threads. */
#ifndef LIBRARY_H
#define LIBRARY_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Return the library's function of a name. Ends the program where it has none. */
void *library_function(const char *name);

/* A kind of routines: the work, in floating point operations, between whose bounds the number of
   threads is chosen by what calls took before. Below it is one; above, all of this process's. */
struct kind {
    double small, large;
    int alone; /* OpenBLAS by itself runs small work on one thread */
    int waits; /* large work gets no more threads than there are idle processors */
};

/* A call that is about to begin: on how many threads it runs, and what is needed at its end. */
struct call {
    uint64_t key; /* 0: its time is of no use */
    int most;    /* threads that the library would use; 1: nothing is chosen */
    int limit;   /* most that this process's share allows */
    int threads; /* that this call gets */
    int before;  /* what the calling thread had, where each thread has a number of its own */
    int around;  /* threads of the call that this one is part of, or 0 */
    double start; /* seconds; 0: the call is small */
};

/* Prepare a call of `work` floating point operations. `key` stands for its routine and sizes.
   library_end has to be called after it. */
void library_begin(struct call *call, uint64_t key, double work, const struct kind *kind);
void library_end(const struct call *call);

#pragma GCC visibility pop

#endif

/* How many threads a call of BLAS gets: see policy.c. */
#ifndef POLICY_H
#define POLICY_H

#include <stdint.h>

#pragma GCC visibility push(hidden)

/* Return on how many threads, 1 to `most`, the call that `key` stands for should run.
   `now`: seconds of a steady clock. */
int policy_threads(uint64_t key, int most, double now);

/* Tell how many seconds such a call took on `threads` of `most` threads; it ended at `now`. */
void policy_record(uint64_t key, int threads, int most, double seconds, double now);

#pragma GCC visibility pop

#endif

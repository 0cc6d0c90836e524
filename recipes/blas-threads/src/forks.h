/* fork(2) beside calls of BLAS: see forks.c. */
#ifndef FORKS_H
#define FORKS_H

#pragma GCC visibility push(hidden)

/* Around each call of BLAS. A fork waits until each call that began has ended. */
void forks_call_begins(void);
void forks_call_ends(void);

/* Let forks wait from now on. `child` runs in each child; no call is in flight there. `ended`:
   libgomp's threads were ended before, so that the child can start new ones. */
void forks_wait(void (*child)(int ended));

#pragma GCC visibility pop

#endif

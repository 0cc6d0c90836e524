/* fork(2) beside calls of BLAS.

   A child has a copy of the library's locks, and none of the threads that hold them: it waits for
   ever for MKL's memory manager. OpenBLAS ends its threads at a fork, in the parent: a call of
   another thread waits for ever for their part of the work. So a fork waits until no call is in
   flight, and calls wait until it is done.

   libgomp, whose threads BLIS, MKL and Theano's own regions (openmp=True) run on, waits for ever in
   a child for those that stayed in the parent. They belong to the thread that forks, which ends
   them before it does, by OpenMP 5.0's omp_pause_resource_all; they start again when needed. */
#define _GNU_SOURCE
#include "forks.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>

/* Each call reads, a fork writes. A fork comes before the calls that begin after it: else it would
   wait for ever beside threads that do nothing but call. */
static pthread_rwlock_t calls = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
/* Of this thread: BLIS's C names call its Fortran names, through this library. */
static __thread int depth;
static void (*after)(int);
static __thread int ended;

void forks_call_begins(void)
{
    if (!depth++)
        pthread_rwlock_rdlock(&calls);
}

void forks_call_ends(void)
{
    if (!--depth)
        pthread_rwlock_unlock(&calls);
}

static int end_threads_of_libgomp(void *libgomp)
{
    enum { SOFT = 1 };
    int (*pause)(int) = NULL;
    if (libgomp)
        pause = (int (*)(int))dlsym(libgomp, "omp_pause_resource_all");
    return pause && !pause(SOFT);
}

static void before_fork(void)
{
    /* Before the lock: the loader has one of its own. */
    void *libgomp = dlopen("libgomp.so.1", RTLD_LAZY | RTLD_NOLOAD);
    ended = end_threads_of_libgomp(libgomp);
    if (libgomp)
        dlclose(libgomp);
    if (!depth)
        pthread_rwlock_wrlock(&calls);
}

static void after_fork(void)
{
    if (!depth)
        pthread_rwlock_unlock(&calls);
}

static void after_fork_in_child(void)
{
    /* The lock's owner is a thread of the parent. */
    static const pthread_rwlock_t fresh = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
    calls = fresh;
    if (depth)
        pthread_rwlock_rdlock(&calls);
    after(ended);
}

void forks_wait(void (*child)(int))
{
    after = child;
    /* What is registered later runs earlier, so before OpenBLAS ends its threads. */
    pthread_atfork(before_fork, after_fork, after_fork_in_child);
}

/* fork(2) beside calls of BLAS.

   A child has a copy of the library's locks, and none of the threads that hold them: it waits for
   ever for MKL's memory manager. OpenBLAS ends its threads at a fork, in the parent: a call of
   another thread waits for ever for their part of the work. So a fork waits until no call is in
   flight, and calls wait until it is done.

   libgomp, whose threads BLIS, MKL and Theano's own regions (openmp=True) run on, waits for ever in
   a child for those that stayed in the parent. They belong to the thread that forks, which ends
   them before it does, by OpenMP 5.0's omp_pause_resource_all; they start again when needed. A
   wheel may have a libgomp of its own, as scikit-learn's does, which waits in the same way. */
#define _GNU_SOURCE
#include "forks.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <string.h>

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

/* Return whether this thread has no threads any more in a libgomp, if that is loaded. */
static int end_threads_of(const char *libgomp)
{
    enum { SOFT = 1 };
    /* Before the lock: the loader has one of its own. */
    void *library = dlopen(libgomp, RTLD_LAZY | RTLD_NOLOAD);
    int (*pause)(int) = NULL;
    if (library)
        pause = (int (*)(int))dlsym(library, "omp_pause_resource_all");
    int done = pause && !pause(SOFT);
    if (library)
        dlclose(library);
    return done;
}

/* One of the libraries that are loaded by a name with "/libgomp-", as wheels have it. */
struct copy {
    int before; /* how many come first */
    char name[PATH_MAX];
};

static int is_it(struct dl_phdr_info *library, size_t size, void *data)
{
    struct copy *copy = data;
    (void)size;
    if (!strstr(library->dlpi_name, "/libgomp-") || strlen(library->dlpi_name) >= PATH_MAX ||
        copy->before-- > 0)
        return 0;
    strcpy(copy->name, library->dlpi_name);
    return 1;
}

static void before_fork(void)
{
    struct copy copy;
    ended = end_threads_of("libgomp.so.1");
    for (int n = 0; copy.before = n, dl_iterate_phdr(is_it, &copy); n++)
        end_threads_of(copy.name);
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

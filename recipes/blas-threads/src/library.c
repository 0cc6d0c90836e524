#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "forks.h"
#include "policy.h"
#include "share.h"

static pthread_once_t once = PTHREAD_ONCE_INIT, begun = PTHREAD_ONCE_INIT;
/* Guards the policy's tables, and `in_flight`, `reduced` and `most`. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int is_openblas;
static int adapt; /* 0: every call runs as the library decides */

/* OpenBLAS and BLIS have one number for the process, MKL also one for each thread. */
static int (*get)(void);
static void (*set)(int);
static int64_t (*get_wide)(void);
static void (*set_wide)(int64_t);
static int (*set_local)(int);
/* Of BLIS: how many threads divide each of its five loops; -1: the number of threads decides. */
static void (*set_ways)(int64_t, int64_t, int64_t, int64_t, int64_t);

static int in_flight; /* calls whose threads are chosen */
static int reduced;   /* of these, those that have fewer threads than `most` */
static int most;      /* the process's number, while `reduced` is not 0 */
static int quota = INT_MAX; /* processors of a container, if it has fewer than the machine */
/* Threads of this thread's call, while it runs: a routine of LAPACK calls those of BLAS. */
static __thread int around;

static void *open_library(void)
{
    void *handle = dlopen(SERVING, RTLD_LAZY);
    if (!handle) {
        fprintf(stderr, "libblas_threads: %s\n", dlerror());
        abort();
    }
    return handle;
}

void *library_function(const char *name)
{
    void *function = dlsym(open_library(), name);
    /* BLIS has no LAPACK; the reference one stands on it. */
    void *lapack = function ? NULL : dlopen("liblapack.so.3", RTLD_LAZY);
    if (lapack)
        function = dlsym(lapack, name);
    if (!function) {
        fprintf(stderr, "libblas_threads: %s has no function %s\n", SERVING, name);
        abort();
    }
    return function;
}

static int count(void)
{
    return get ? get() : (int)get_wide();
}

static void set_count(int threads)
{
    if (set)
        set(threads);
    else
        set_wide(threads);
}

/* Return whether MKL has loaded its threads, as libmkl_rt does with its first call. */
static int mkl_has_begun(void)
{
    char core[64];
    snprintf(core, sizeof core, "libmkl_core%s", SERVING + strcspn(SERVING, "."));
    return dlopen(core, RTLD_LAZY | RTLD_NOLOAD) != NULL;
}

/* OpenBLAS starts new threads. Those of BLIS and MKL are libgomp's, which waits for ever for those
   that stayed in the parent, where they could not be ended before: one thread is left. A thread's
   own number and the ways come before the number of the process. */
static void after_fork_in_child(int ended)
{
    share_forget();
    around = 0;
    if (ended)
        return;
    if (set_ways)
        set_ways(-1, -1, -1, -1, -1);
    if (set_local && mkl_has_begun())
        set_local(0);
    if (set_wide || (set_local && mkl_has_begun()))
        set_count(1);
}

/* THEANO_STACKS_NUM_THREADS is NAME=NUMBER: what the environment set (_theano_stacks.py). */
static const char *number_given(void)
{
    const char *given = getenv("THEANO_STACKS_NUM_THREADS");
    const char *number = given ? strchr(given, '=') : NULL;
    return number && atoi(number + 1) > 0 ? number + 1 : NULL;
}

static void find_library(void)
{
    const char *wish = getenv("THEANO_STACKS_THREADS");
    void *handle = open_library();
    get = (int (*)(void))dlsym(handle, "openblas_get_num_threads");
    set = (void (*)(int))dlsym(handle, "openblas_set_num_threads");
    is_openblas = get != 0;
    if (!get)
        get = (int (*)(void))dlsym(handle, "MKL_Get_Max_Threads");
    if (!set)
        set = (void (*)(int))dlsym(handle, "MKL_Set_Num_Threads");
    set_local = (int (*)(int))dlsym(handle, "MKL_Set_Num_Threads_Local");
    get_wide = (int64_t (*)(void))dlsym(handle, "bli_thread_get_num_threads");
    set_wide = (void (*)(int64_t))dlsym(handle, "bli_thread_set_num_threads");
    set_ways = (void (*)(int64_t, int64_t, int64_t, int64_t, int64_t))dlsym(
        handle, "bli_thread_set_ways");
    adapt = ((get && set) || (get && set_local) || (get_wide && set_wide)) &&
            !(wish && !strcmp(wish, "fixed"));
    if (number_given())
        quota = atoi(number_given());
}

/* The library's own variable comes before OMP_NUM_THREADS. Where it has the environment's value
   (_theano_stacks.py), which no person has asked for, a program's OMP_NUM_THREADS holds. */
static void heed_omp_num_threads(void)
{
    const char *wish = getenv("OMP_NUM_THREADS");
    const char *given = getenv("THEANO_STACKS_NUM_THREADS"), *number = number_given();
    char name[32];
    if (!wish || atoi(wish) < 1 || !number || !((get && set) || (get_wide && set_wide)))
        return;
    snprintf(name, sizeof name, "%.*s", (int)(number - given) - 1, given);
    const char *own = getenv(name);
    if (!own || strcmp(own, number))
        return;
    /* MKL takes no more than there are cores. Another number is one that the program has set. */
    int before = count(), threads = atoi(wish);
    set_count(atoi(own));
    /* As OpenBLAS does with the variable. */
    int (*processors)(void) = (int (*)(void))dlsym(open_library(), "openblas_get_num_procs");
    if (processors && threads > processors())
        threads = processors();
    set_count(count() == before ? threads : before);
}

/* For the verification: whether it chooses the number of threads. */
__attribute__((visibility("default"))) int blas_threads_adapt(void)
{
    pthread_once(&once, find_library);
    return adapt;
}

/* A program may fork before any call from here: after a routine that this library does not have,
   or after a region of OpenMP of its own. */
__attribute__((constructor)) static void come_first(void)
{
    Dl_info self;
    void *handle = dlopen(SERVING, RTLD_LAZY | RTLD_NOLOAD);
    forks_wait(after_fork_in_child);
    /* MKL makes its symbols global with its first call. What is loaded later would find them
       there, and not here. */
    if (!handle || !dlsym(handle, "MKL_Get_Max_Threads"))
        return;
    if (dladdr(&lock, &self))
        dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
    pthread_once(&once, find_library);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Lower the library's number for a call. */
static void reduce(struct call *call)
{
    if (set_local) {
        call->before = call->threads < call->most ? set_local(call->threads) : -1;
    } else if (call->threads < call->most) {
        most = call->most;
        reduced++;
        set_count(call->threads);
    } else if (reduced) {
        set_count(call->most);
    }
}

/* Choose the number of threads of a call, and set it. */
static void choose(struct call *call, uint64_t key, double work, const struct kind *kind)
{
    pthread_mutex_lock(&lock);
    call->most = call->limit = reduced ? most : count();
    call->threads = 1;
    call->key = 0;
    if (call->most > 1 && work >= kind->small) {
        struct share share = share_now(quota, in_flight++, call->start = now());
        int large = kind->waits ? share.idle : share.fair;
        if (call->limit > share.fair)
            call->limit = share.fair;
        call->key = work < kind->large ? key : 0;
        if (call->key)
            call->threads = policy_threads(key, call->limit, call->start);
        else
            call->threads = call->limit < large ? call->limit : large;
    }
    if (call->most > 1)
        reduce(call);
    pthread_mutex_unlock(&lock);
}

static void finish(const struct call *call)
{
    double end = call->key ? now() : 0;
    pthread_mutex_lock(&lock);
    in_flight -= call->start > 0;
    if (set_local) {
        if (call->before >= 0)
            set_local(call->before);
    } else if (call->threads < call->most && reduced) {
        reduced--;
        if (call->around || !reduced)
            set_count(call->around ? call->around : call->most);
    }
    if (call->key)
        policy_record(call->key, call->threads, call->limit, end - call->start, end);
    pthread_mutex_unlock(&lock);
}

/* Part of a call that has its threads. BLIS starts all of them for small work, too. */
static void choose_within(struct call *call, double work, const struct kind *kind)
{
    if (call->around == 1 || work >= kind->small || is_openblas || set_local)
        return;
    pthread_mutex_lock(&lock);
    call->most = reduced ? most : count();
    call->threads = 1;
    if (call->most > 1)
        reduce(call);
    pthread_mutex_unlock(&lock);
}

void library_begin(struct call *call, uint64_t key, double work, const struct kind *kind)
{
    pthread_once(&once, find_library);
    forks_call_begins();
    pthread_once(&begun, heed_omp_num_threads);
    call->most = 1;
    call->key = 0;
    call->start = 0;
    call->around = around;
    if (!adapt)
        return;
    if (around)
        choose_within(call, work, kind);
    /* BLIS and MKL start all threads for small work, too. */
    else if (!(work < kind->small && kind->alone && is_openblas)) {
        choose(call, key, work, kind);
        around = call->threads;
    }
}

void library_end(const struct call *call)
{
    if (call->most > 1)
        finish(call);
    around = call->around;
    forks_call_ends();
}

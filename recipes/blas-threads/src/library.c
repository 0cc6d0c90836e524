#define _GNU_SOURCE
#include "library.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "forks.h"
#include "policy.h"

static pthread_once_t once = PTHREAD_ONCE_INIT, begun = PTHREAD_ONCE_INIT;
/* Guards the policy's tables, and `reduced` and `most`. */
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

static int reduced; /* calls in flight that have fewer threads than `most` */
static int most;    /* the process's number, while `reduced` is not 0 */

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

/* The threads of BLIS and MKL are libgomp's, which waits for ever for those that stayed in the
   parent: one thread is left. OpenBLAS starts new ones. A thread's own number and the ways come
   before the number of the process. */
static void after_fork_in_child(void)
{
    if (set_ways)
        set_ways(-1, -1, -1, -1, -1);
    if (set_local && mkl_has_begun())
        set_local(0);
    if (set_wide || (set_local && mkl_has_begun()))
        set_count(1);
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
    forks_wait(after_fork_in_child);
}

/* The library's own variable comes before OMP_NUM_THREADS. Where it has the environment's value
   (start_hook.py), which no person has asked for, a program's OMP_NUM_THREADS holds. */
static void heed_omp_num_threads(void)
{
    const char *wish = getenv("OMP_NUM_THREADS");
    const char *given = getenv("THEANO_STACKS_NUM_THREADS"); /* NAME=NUMBER */
    const char *number = given ? strchr(given, '=') : NULL;
    char name[32];
    if (!wish || atoi(wish) < 1 || !number || !((get && set) || (get_wide && set_wide)))
        return;
    snprintf(name, sizeof name, "%.*s", (int)(number - given), given);
    const char *own = getenv(name);
    if (!own || strcmp(own, number + 1))
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

/* MKL makes its symbols global with its first call. What is loaded later would find them there,
   and not here. */
__attribute__((constructor)) static void come_first(void)
{
    Dl_info self;
    void *handle = dlopen(SERVING, RTLD_LAZY | RTLD_NOLOAD);
    if (!handle || !dlsym(handle, "MKL_Get_Max_Threads"))
        return;
    if (dladdr(&lock, &self))
        dlopen(self.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
    /* A program may fork after a routine of LAPACK, before any call from here. */
    pthread_once(&once, find_library);
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Choose the number of threads of a call, and tell the library. */
static void choose(struct call *call, uint64_t key, double work, double small, double large)
{
    pthread_mutex_lock(&lock);
    call->key = work < large && work >= small ? key : 0;
    call->most = reduced ? most : count();
    call->threads = call->most;
    if (call->most > 1) {
        call->start = call->key ? now() : 0;
        if (call->key)
            call->threads = policy_threads(key, call->most, call->start);
        else if (work < small)
            call->threads = 1;
        if (set_local)
            call->before = call->threads < call->most ? set_local(call->threads) : -1;
        else if (call->threads < call->most) {
            most = call->most;
            reduced++;
            set_count(call->threads);
        } else if (reduced)
            set_count(call->most);
    }
    pthread_mutex_unlock(&lock);
}

static void finish(const struct call *call)
{
    double end = call->key ? now() : 0;
    pthread_mutex_lock(&lock);
    if (set_local) {
        if (call->before >= 0)
            set_local(call->before);
    } else if (call->threads < call->most && reduced && !--reduced)
        set_count(call->most);
    if (call->key)
        policy_record(call->key, call->threads, call->most, end - call->start, end);
    pthread_mutex_unlock(&lock);
}

void library_begin(struct call *call, uint64_t key, double work, double small, double large,
                   int alone)
{
    pthread_once(&once, find_library);
    forks_call_begins();
    pthread_once(&begun, heed_omp_num_threads);
    call->most = 1;
    /* BLIS and MKL start all threads for small work, too. */
    if (adapt && !(work < small && alone && is_openblas))
        choose(call, key, work, small, large);
}

void library_end(const struct call *call)
{
    if (call->most > 1)
        finish(call);
    forks_call_ends();
}

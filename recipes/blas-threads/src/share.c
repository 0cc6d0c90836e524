/* How the processes, and the threads of one, that compute at the same time divide the machine.

   Each of them knows the others by a lock: of the byte of /proc/loadavg whose place is its process
   number. That file exists on every machine, and once in each container. The lock is shared, so
   nobody waits for it; the kernel drops it when the process ends, however it ends. So nothing is
   configured, written, or left behind.

   Who takes part is seen by the processor time of the last tenth of a second: a process that
   waits, an idle notebook say, counts as none. Of the others each may have an equal part of the
   processors. What one of them does not use, because its matrices are small, is left to the rest:
   with equal parts of 4 of 16 and others that use 1, 1 and 4, the fourth may have 10. What other
   programs use is known from the kernel's count of all time.

   A process's part is divided again by its own threads that are in calls at the same time, such as
   the chains of a sampler: by one and the mean number of others that are, when a call begins. */
#define _GNU_SOURCE
#include "share.h"

#include <fcntl.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PEERS = 64 }; /* others that are known at once */

#ifndef PROC
#define PROC "/proc"
#endif

static const double LOOK_AGAIN = 0.1; /* seconds */
static const double COMPUTES = 0.5;   /* of what this process uses; less is a process that waits */
static const double WAITS = 0.05;     /* processors in use: less is one that waits in any case */
static const long LAST_PID = 1L << 30;
static const double WEIGHT = 0.0625; /* of a call in the mean of others beside it, at least */
static const double SELDOM = 0.2;    /* so many others in the mean are none */

struct peer {
    long pid;
    double used;   /* seconds of processor time since it began; -1: it has ended */
    double recent; /* processors in use, in the last looks */
};

static struct peer peers[PEERS];
static int known;
static double looked, own_used, all_used;
static struct share current;
static double called, beside; /* at the last call: seconds, and the mean of others */
static int file = -1; /* holds the lock */
static struct stat opened;

static void join(void)
{
    struct flock lock = {.l_type = F_RDLCK, .l_whence = SEEK_SET, .l_len = 1};
    lock.l_start = getpid();
    file = open(PROC "/loadavg", O_RDONLY | O_CLOEXEC);
    if (file >= 0 && !fstat(file, &opened))
        fcntl(file, F_OFD_SETLK, &lock);
}

void share_forget(void)
{
    struct stat found;
    /* The program may have closed it, and opened another file that got its number. */
    if (file >= 0 && !fstat(file, &found) && found.st_ino == opened.st_ino &&
        found.st_dev == opened.st_dev)
        close(file);
    file = -1;
    known = 0;
    looked = 0;
    beside = 0;
}

/* Add those with a lock between two process numbers. */
static void find(long first, long last, struct peer *found, int *count)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    lock.l_start = first;
    lock.l_len = last - first + 1;
    if (first > last || *count == PEERS || fcntl(file, F_OFD_GETLK, &lock) ||
        lock.l_type == F_UNLCK)
        return;
    found[*count].pid = lock.l_start;
    found[(*count)++].used = -1;
    find(first, lock.l_start - 1, found, count);
    find(lock.l_start + 1, last, found, count);
}

/* Return a process's processor time in seconds; -1 where it has none of `mask`, or has ended. */
static double used_by(long pid, const cpu_set_t *mask)
{
    cpu_set_t its;
    char path[sizeof PROC + 32], line[1024] = "";
    unsigned long user, system;
    if (sched_getaffinity((pid_t)pid, sizeof its, &its))
        return -1;
    CPU_AND(&its, &its, mask);
    snprintf(path, sizeof path, PROC "/%ld/stat", pid);
    FILE *stat = CPU_COUNT(&its) ? fopen(path, "re") : NULL;
    if (!stat)
        return -1;
    size_t length = fread(line, 1, sizeof line - 1, stat);
    fclose(stat);
    line[length] = 0;
    /* Fields 14 and 15; the name, field 2, may have brackets of its own: proc_pid_stat(5). */
    const char *rest = strrchr(line, ')');
    if (!rest || sscanf(rest + 1, " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user,
                        &system) != 2)
        return -1;
    return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

/* Return the processor time of everybody on the processors of `mask` in seconds: proc_stat(5). */
static double used_by_all(const cpu_set_t *mask)
{
    char line[512];
    int processor;
    unsigned long long user, nice, system, irq, softirq, total = 0;
    FILE *stat = fopen(PROC "/stat", "re");
    while (stat && fgets(line, sizeof line, stat) && !strncmp(line, "cpu", 3))
        /* The first line, without a number, is the sum. */
        if (line[3] != ' ' &&
            sscanf(line, "cpu%d %llu %llu %llu %*u %*u %llu %llu", &processor, &user, &nice,
                   &system, &irq, &softirq) == 6 &&
            processor < CPU_SETSIZE && CPU_ISSET(processor, mask))
            total += user + nice + system + irq + softirq;
    if (stat)
        fclose(stat);
    return (double)total / (double)sysconf(_SC_CLK_TCK);
}

static double own_time(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int at_least_one(double processors)
{
    return processors < 1 ? 1 : (int)(processors + 0.5);
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/* Look at the machine, `seconds` after the look before; 0: there was none. */
static void look(int quota, double seconds)
{
    struct peer found[PEERS];
    cpu_set_t mask;
    int count = 0, others = 0;
    double by_peers = 0, taken = 0;
    if (sched_getaffinity(0, sizeof mask, &mask))
        return;
    double processors = CPU_COUNT(&mask), own = own_time(), all = used_by_all(&mask);
    /* On a machine with more processes than processors each gets less than one. */
    double own_use = seconds > 0 ? (own - own_used) / seconds : 1;
    double computes = larger(WAITS, COMPUTES * (own_use < 1 ? own_use : 1));
    if (file >= 0)
        find(1, LAST_PID, found, &count);
    for (int i = 0; i < count; i++) {
        double used = 1;
        found[i].used = used_by(found[i].pid, &mask);
        found[i].recent = 0; /* one that has just come is taken to use one processor */
        for (int j = 0; j < known; j++)
            if (peers[j].pid == found[i].pid && peers[j].used >= 0 && seconds > 0) {
                used = (found[i].used - peers[j].used) / seconds;
                /* On a busy machine it may have waited for a processor for all of this time. */
                found[i].recent = peers[j].recent / 2;
            }
        if (found[i].used < 0)
            continue;
        found[i].recent = larger(found[i].recent, used);
        by_peers += used;
        if (found[i].recent < computes)
            continue;
        others++;
        taken += larger(found[i].recent, 1);
    }
    double by_programs = seconds > 0 ? (all - all_used) / seconds - own_use - by_peers : 0;
    double left = processors - larger(by_programs, 0);
    double total = quota < processors ? quota : processors;
    current.fair = at_least_one(larger(total / (1 + others), total - taken));
    current.idle = at_least_one(larger(left / (1 + others), left - taken));
    if (current.idle > current.fair)
        current.idle = current.fair;
    memcpy(peers, found, sizeof *found * (size_t)count);
    known = count;
    own_used = own;
    all_used = all;
}

/* Return the threads that divide this process's part, `others` in calls beside this one. */
static int callers(int others, double now)
{
    double weight = larger(WEIGHT, (now - called) / LOOK_AGAIN);
    beside += (weight < 1 ? weight : 1) * (others - beside);
    called = now;
    return 1 + (int)(beside + 1 - SELDOM);
}

struct share share_now(int quota, int others, double now)
{
    int parts = callers(others, now);
    if (file < 0)
        join();
    if (looked == 0 || now - looked >= LOOK_AGAIN) {
        look(quota, looked == 0 ? 0 : now - looked);
        looked = now;
    }
    return (struct share){at_least_one((double)current.fair / parts),
                          at_least_one((double)current.idle / parts)};
}

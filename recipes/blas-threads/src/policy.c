/* How many threads a call of BLAS gets, by what calls of the same routine and sizes took before.

   A call on several threads takes as long as the slowest of them. Where another program has the
   processor of one, all others wait for it, spinning, a time slice of some milliseconds each: a
   product that one thread computes in 0.4 ms then takes 20. So the first calls of a size run on
   one thread, then on 2, 4 and so on up to all; each count has to beat the one before. The first
   call of a count is not judged: its threads may sleep, and wake only at the kernel's next tick. A
   count that has lost the time of two calls, less what it gained, is left, and tried again after a
   wait of 20 times what the trial cost: trials cost at most 5 % of the time. A call that took many
   times what it should shows that the machine is busy: then all sizes run on at most the count
   below for that wait, and on one thread until the machine has a processor free. A count that is
   kept is left now and then, to measure the one below anew: its time may have been learnt on a
   busy machine, or with cold caches. What is measured while threads of the higher count still
   spin is not learnt: on the same core they slow a call down as much as if it ran on both. */
#include "policy.h"

#include <string.h>

#include "machine.h"

enum {
    LEVELS = 10,  /* 1, 2, 4, ... 512 threads; a machine's last level is all of its threads */
    SIZES = 1024, /* of a program at once */
    PLACES = 8,   /* where a size may be; if all are taken, that in the last is forgotten */
    SAMPLES = 4,  /* before the next count is tried: the first calls of a size are slow */
    SOON = 16,    /* a count is kept at first so many times what measuring the one below takes, */
    SELDOM = 64   /* then twice as many each time, up to this */
};

static const double WAIT_PER_LOSS = 20;
static const double LONGEST_WAIT = 2;     /* seconds: an idle machine is noticed by then */
static const double FORGIVEN = 2;         /* times a call of the lower count may be lost */
static const double TICK = 0.01;          /* seconds: the longest of the kernel's */
static const double BUSY_SECONDS = 0.001; /* many times: more than is forgiven, and than this */
static const double LOOK_AGAIN = 0.05;    /* seconds: after a look at the machine that was busy */
static const double NOTHING = 1e-9;       /* seconds of a wait that are none */
static const double WEIGHT = 0.125;       /* of a new time in the typical one */
static const double SPINNING = 0.1;       /* seconds: OpenBLAS's idle threads spin for 0.05 */

struct size {
    uint64_t key;
    int level;
    int samples[LEVELS];
    double typical[LEVELS]; /* seconds */
    int judged;             /* the level's first call is over */
    double lost;            /* seconds against the level below, less gains, since it was judged */
    double gained;          /* the same the other way round, since the wait was halved */
    double cost;            /* the same with the first call */
    double wait, until;     /* seconds: the last wait, and when a higher level is tried again */
    double learns_from;     /* seconds: threads of a level that was left spin until then */
    double kept;            /* seconds in calls since it was judged */
    int keep;               /* times what it takes to measure the level below */
};

static struct size sizes[SIZES];
static double busy_until;
static int most_if_busy = 1; /* threads of a call until then */
static int free_machine; /* it was, at the last look, and no call has said otherwise since */

static struct size *find(uint64_t key)
{
    uint64_t hash = key * UINT64_C(0x9E3779B97F4A7C15);
    struct size *size = &sizes[hash >> 54];
    for (int next = 1; next < PLACES && size->key && size->key != key; next++)
        size = &sizes[((hash >> 54) + next) % SIZES];
    if (size->key != key) {
        memset(size, 0, sizeof *size);
        size->key = key;
    }
    return size;
}

static int threads_of(int level, int most)
{
    return level < LEVELS - 1 && (1 << level) < most ? 1 << level : most;
}

static int level_of(int threads, int most)
{
    int level = 0;
    while (level < LEVELS - 1 && threads_of(level, most) < threads)
        level++;
    return level;
}

static void change(struct size *size, int level)
{
    size->level = level;
    size->judged = 0;
    size->lost = size->gained = size->cost = 0;
}

static void leave(struct size *size, double now)
{
    size->learns_from = now + SPINNING;
    change(size, size->level - 1);
}

static int is_kept_long_enough(const struct size *size)
{
    double measuring = SPINNING + SAMPLES * size->typical[size->level - 1];
    return size->kept >= size->keep * measuring;
}

int policy_threads(uint64_t key, int most, double now)
{
    struct size *size = find(key);
    /* The program may have lowered the number since. */
    if (size->level > level_of(most, most))
        change(size, level_of(most, most));
    if (now < busy_until) {
        int threads = threads_of(size->level, most);
        return threads < most_if_busy ? threads : most_if_busy;
    }
    if (threads_of(size->level, most) < most && size->samples[size->level] >= SAMPLES &&
        now >= size->until)
        change(size, size->level + 1);
    if (size->level > 0 && !free_machine) {
        free_machine = machine_has_free_processors(1);
        if (!free_machine) {
            busy_until = now + LOOK_AGAIN;
            most_if_busy = 1;
            return 1;
        }
    }
    if (size->level > 0 && size->judged && is_kept_long_enough(size)) {
        size->samples[size->level - 1] = 0;
        leave(size, now);
    }
    return threads_of(size->level, most);
}

static void learn(struct size *size, int level, double seconds)
{
    double *typical = &size->typical[level];
    if (size->samples[level] < SAMPLES) {
        if (!size->samples[level]++ || seconds < *typical)
            *typical = seconds;
        return;
    }
    /* One call that lost its processor must not count as typical. */
    if (seconds > 2 * *typical)
        seconds = 2 * *typical;
    *typical += WEIGHT * (seconds - *typical);
}

static double added(double loss, double more)
{
    return loss + more > 0 ? loss + more : 0;
}

void policy_record(uint64_t key, int threads, int most, double seconds, double now)
{
    struct size *size = find(key);
    int level = level_of(threads, most);
    double lower = level > 0 && size->samples[level - 1] ? size->typical[level - 1] : 0;
    double loss = seconds - lower;
    /* Another thread's call has left this count meanwhile. */
    if (level > size->level)
        return;
    if (lower == 0 || level < size->level) {
        /* Threads that spin on the same core slow a call: it would look as slow as on both. */
        if (now - seconds >= size->learns_from)
            learn(size, level, seconds);
        return;
    }
    size->cost = added(size->cost, loss);
    if (!size->judged && loss < TICK) {
        size->judged = 1;
        size->kept = 0;
        size->keep = size->keep ? 2 * size->keep : SOON;
        if (size->keep > SELDOM)
            size->keep = SELDOM;
        return;
    }
    size->kept += seconds;
    size->lost = added(size->lost, loss);
    size->gained = added(size->gained, -loss);
    if (size->lost <= FORGIVEN * lower) {
        learn(size, level, seconds);
        if (size->gained > FORGIVEN * lower) {
            /* Ever smaller, it would set the processor's flag of an underflow. */
            size->wait = size->wait > NOTHING ? size->wait / 2 : 0;
            size->gained = 0;
        }
        return;
    }
    size->wait *= 2;
    if (size->wait < WAIT_PER_LOSS * size->cost)
        size->wait = WAIT_PER_LOSS * size->cost;
    if (size->wait > LONGEST_WAIT)
        size->wait = LONGEST_WAIT;
    size->until = now + size->wait;
    leave(size, now);
    if (loss > FORGIVEN * lower && loss > BUSY_SECONDS) {
        free_machine = 0;
        most_if_busy = threads_of(level - 1, most);
        if (busy_until < size->until)
            busy_until = size->until;
    }
}

/* How many processors this process may use, beside the others that compute: see share.c. */
#ifndef SHARE_H
#define SHARE_H

#pragma GCC visibility push(hidden)

struct share {
    int fair; /* processors that the other processes with such a library leave to this one */
    int idle; /* of these, those that no other program uses */
};

/* Return a call's share of this process's processors, at most `quota`, beside `others` of its
   threads that are in calls. `now`: seconds of a steady clock. The machine is looked at ten times
   a second at most. */
struct share share_now(int quota, int others, double now);

/* In a forked child: it takes part by itself. */
void share_forget(void);

#pragma GCC visibility pop

#endif

/* What else runs on this machine. */
#ifndef MACHINE_H
#define MACHINE_H

#pragma GCC visibility push(hidden)

/* Return whether `count` processors have nothing to do, besides this thread's own; 1 where the
   system does not tell. Threads of this program that spin count as work. */
int machine_has_free_processors(int count);

#pragma GCC visibility pop

#endif

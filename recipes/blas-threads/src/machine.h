/* What else runs on this machine. */
#ifndef MACHINE_H
#define MACHINE_H

#pragma GCC visibility push(hidden)

/* Return whether `count` processors have nothing to do, besides this thread's own; 1 where the
   system does not tell. Other threads of this program count as nothing: those of the library spin
   after each call. */
int machine_has_free_processors(int count);

#pragma GCC visibility pop

#endif

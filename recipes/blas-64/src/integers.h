/* Integers of 64 bits for libraries that take 32. */
#ifndef INTEGERS_H
#define INTEGERS_H

#include <limits.h>
#include <stdint.h>
#include <string.h>

/* Return whether a number can be handed on. */
static inline int fits(int64_t value)
{
    return value >= INT_MIN && value <= INT_MAX;
}

static inline int64_t smaller(int64_t one, int64_t other)
{
    return one < other ? one : other;
}

#endif

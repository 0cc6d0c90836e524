#define _POSIX_C_SOURCE 200809L
#include "machine.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

int machine_has_free_processors(int count)
{
    char text[128];
    int runnable;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    int file = open("/proc/loadavg", O_RDONLY | O_CLOEXEC);
    ssize_t size = file < 0 ? -1 : read(file, text, sizeof text - 1);
    if (file >= 0)
        close(file);
    if (size <= 0 || processors < 1)
        return 1;
    text[size] = 0;
    /* The fourth field is the number of threads that run or could run, this one among them, and
       of all threads: proc_loadavg(5). */
    if (sscanf(text, "%*s %*s %*s %d/", &runnable) != 1)
        return 1;
    return runnable + count <= processors;
}

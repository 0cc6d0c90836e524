#define _GNU_SOURCE
#include "machine.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Read the beginning of a file; return whether it has any. */
static int has_read(const char *path, char *text, size_t size)
{
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, size - 1);
    if (file >= 0)
        close(file);
    text[length > 0 ? length : 0] = 0;
    return length > 0;
}

/* Return how many of the first other threads of this process run or could run: proc_pid_stat(5).
   To read of one takes 10 microseconds. */
static int own_runnable(void)
{
    char path[64], text[128];
    int count = 0, left = 64;
    long self = syscall(SYS_gettid);
    struct dirent *entry;
    DIR *tasks = opendir("/proc/self/task");
    while (tasks && left > 0 && (entry = readdir(tasks))) {
        if (entry->d_name[0] == '.' || atol(entry->d_name) == self)
            continue;
        left--;
        snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", entry->d_name);
        /* The state follows the name, which may have brackets of its own. */
        if (has_read(path, text, sizeof text) && strrchr(text, ')'))
            count += strrchr(text, ')')[2] == 'R';
    }
    if (tasks)
        closedir(tasks);
    return count;
}

int machine_has_free_processors(int count)
{
    char text[128];
    int runnable;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (processors < 1 || !has_read("/proc/loadavg", text, sizeof text))
        return 1;
    /* The fourth field is the number of threads that run or could run, this one among them, and
       of all threads: proc_loadavg(5). */
    if (sscanf(text, "%*s %*s %*s %d/", &runnable) != 1)
        return 1;
    return runnable + count <= processors || runnable - own_runnable() + count <= processors;
}

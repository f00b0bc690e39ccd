/* SPDX-License-Identifier: Apache-2.0 */
#include "os_inspect.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "posix.h"

enum { PROCESSES_MAX = 1000000, FILES_MAX = 1000000 };

/* Reads a line of the system's information about a process. */
static bool line_of(uint64_t pid, const char *what, char *line, int size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/%s", pid, what);
    FILE *file = posix.fopen(path, "re");
    bool read = file && fgets(line, size, file);
    if (file)
        fclose(file);
    return read;
}

/* A process chooses its own name. */
static void make_safe(char *name)
{
    for (char *c = name; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

void os_program(uint64_t pid, char name[OS_PROGRAM])
{
    char line[OS_PROGRAM + 2];
    name[0] = '\0';
    if (!line_of(pid, "comm", line, sizeof line))
        return;
    line[strcspn(line, "\n")] = '\0';
    snprintf(name, OS_PROGRAM, "%.15s", line);
    make_safe(name);
}

void os_command(uint64_t pid, char command[OS_COMMAND])
{
    if (line_of(pid, "cmdline", command, OS_COMMAND) && command[0]) /* its words end in zeros */
        make_safe(command);
    else
        os_program(pid, command);
}

bool os_is_stopped(uint64_t pid)
{
    char line[128];
    if (!line_of(pid, "stat", line, sizeof line))
        return false;
    const char *end = strrchr(line, ')'); /* the end of the name, which may contain any bytes */
    return end && (!strncmp(end, ") T", 3) || !strncmp(end, ") t", 3));
}

struct search {
    const char *name;
    void (*visit)(void *user, const struct os_opening *opening);
    void *user;
    uint64_t pid;
};

static bool number_of(const char *text, uint64_t *number)
{
    if (text[strspn(text, "0123456789")])
        return false;
    *number = strtoull(text, NULL, 10);
    return true;
}

/* Looks at the name first: querying the descriptor's file may be slow for files on other computers. */
static void look_at_file(void *user, const char *entry)
{
    struct search *search = user;
    struct os_opening opening = {.pid = search->pid};
    struct stat is;
    char path[96], target[PATH_MAX];
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/fd/%.20s", search->pid, entry); /* the entries in that folder are numbers */
    ssize_t length = posix.readlink(path, target, sizeof target - 1);
    if (length < 0)
        return;
    target[length] = '\0';
    const char *slash = strrchr(target, '/');
    if (!slash || strncmp(slash + 1, search->name, strlen(search->name)) != 0 || posix.stat(path, &is))
        return;
    opening.file = (int)strtol(entry, NULL, 10);
    opening.is = (struct os_file_is){.regular = S_ISREG(is.st_mode),
                                     .size = (uint64_t)is.st_size,
                                     .device = (uint64_t)is.st_dev,
                                     .number = (uint64_t)is.st_ino};
    search->visit(search->user, &opening);
}

static void look_at_process(void *user, const char *entry)
{
    struct search *search = user;
    char path[64];
    if (!number_of(entry, &search->pid))
        return;
    snprintf(path, sizeof path, "/proc/%" PRIu64 "/fd", search->pid);
    os_folder_each(path, FILES_MAX, look_at_file, search);
}

bool os_openings_each(const char *name, void (*visit)(void *user, const struct os_opening *opening), void *user)
{
    struct search search = {.name = name, .visit = visit, .user = user};
    if (posix.access("/proc/self/fd", R_OK))
        return false;
    os_folder_each("/proc", PROCESSES_MAX, look_at_process, &search);
    return true;
}

bool os_own_openings_each(const char *name, void (*visit)(void *user, const struct os_opening *opening), void *user)
{
    struct search search = {.name = name, .visit = visit, .user = user};
    char self[24];
    if (posix.access("/proc/self/fd", R_OK))
        return false;
    snprintf(self, sizeof self, "%" PRIu64, os_pid());
    look_at_process(&search, self);
    return true;
}

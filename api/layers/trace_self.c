/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_self.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "posix.h"

uint64_t trace_clock(void)
{
    struct timespec now = {0};
    posix.clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

/* The first line of a small file of /proc; "" if it cannot be read. */
static void first_line(const char *path, char *text, size_t size)
{
    int fd = posix.open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? posix.read(fd, text, size - 1) : -1;
    text[got > 0 ? got : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    if (fd >= 0)
        close(fd);
}

void trace_self(struct json *json, uint64_t clock, int64_t fork_of)
{
    struct utsname host = {0};
    struct tm when = {0};
    char boot[64], program[4096], started[40] = "";
    struct timespec now = {0};
    posix.clock_gettime(CLOCK_REALTIME, &now);
    if (gmtime_r(&now.tv_sec, &when))
        strftime(started, sizeof started, "%Y-%m-%dT%H:%M:%SZ", &when);
    first_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
    ssize_t length = posix.readlink("/proc/self/exe", program, sizeof program - 1);
    program[length > 0 ? length : 0] = '\0';
    uname(&host);
    jsonw_text(json, "host", host.nodename);
    jsonw_text(json, "boot", boot);
    jsonw_int(json, "process", getpid());
    jsonw_int(json, "parent", getppid());
    if (fork_of)
        jsonw_int(json, "fork_of", fork_of);
    jsonw_text(json, "program", program);
    jsonw_text(json, "started", started);
    jsonw_int(json, "clock", (int64_t)clock);
}

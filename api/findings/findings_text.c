/* SPDX-License-Identifier: Apache-2.0 */
#include "findings_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "columns.h"
#include "findings_site.h"
#include "os_environment.h"
#include "os_write.h"
#include "posix.h"

bool findings_setting(const char *name, const char *value)
{
    const char *set = os_environment(name);
    return set && strcmp(set, value) == 0;
}

static const char *log_name(void)
{
    const char *log = os_environment("CUVMM_CHECK_LOG");
    return log && log[0] ? log : NULL;
}

/* Opens the log for each text, because programs close descriptors that they did not open, and reuse their numbers. */
static void say(const char *text, size_t length)
{
    const char *log = log_name();
    int fd = log ? posix.open(log, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : STDERR_FILENO;
    while (fd >= 0 && length) {
        ssize_t wrote = os_write_quietly(fd, text, length);
        if (wrote < 0 && errno == EINTR) /* interrupted by a signal of the program */
            continue;
        if (wrote <= 0)
            break;
        text += wrote;
        length -= (size_t)wrote;
    }
    if (fd > STDERR_FILENO)
        close(fd);
}

static size_t begin(char *text, size_t size)
{
    return (size_t)snprintf(text, size, "[%ld] ", (long)getpid());
}

void findings_write(const vmm_detail *detail, void *const *frames, int depth)
{
    char text[4096];
    size_t length = begin(text, sizeof text), room = sizeof text - length;
    size_t wrote = vmm_detail_text(detail, text + length, room);
    length += wrote < room ? wrote : room - 1;
    site_text(frames, depth, text, length, sizeof text);
    say(text, columns_fold(text, sizeof text, columns_of(log_name() ? -1 : STDERR_FILENO)));
}

void findings_write_sum(const char *sum)
{
    char text[FINDINGS_SUM + 40];
    size_t length = begin(text, sizeof text);
    length += (size_t)snprintf(text + length, sizeof text - length, "cuvmm check: %s\n", sum);
    say(text, length);
}

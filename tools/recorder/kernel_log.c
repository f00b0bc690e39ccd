/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The digits stand in two parts: 0x7f3a_c4000000. Returns what follows the address, NULL where there is none. */
static const char *read_address(const char *text, uint64_t *address)
{
    char digits[32];
    size_t length = 0;
    if (strncmp(text, "0x", 2) != 0)
        return NULL;
    for (text += 2; length < sizeof digits - 1 && (*text == '_' || strchr("0123456789abcdefABCDEF", *text)) && *text; text++)
        if (*text != '_')
            digits[length++] = *text;
    digits[length] = '\0';
    *address = strtoull(digits, NULL, 16);
    return length > 0 && length <= 16 ? text : NULL;
}

bool kernel_log_address(const char *text, uint64_t *address)
{
    static const char *const before[] = {"faulted @ ", "Address "};
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++) {
        const char *at = strstr(text, before[i]);
        if (at)
            return read_address(at + strlen(before[i]), address);
    }
    const char *end = read_address(text, address);
    return end && !*end;
}

bool kernel_log_fault(const char *line, long process, uint64_t *address)
{
    const char *xid = strstr(line, "Xid ("), *pid = xid ? strstr(xid, "pid=") : NULL,
               *at = pid ? strstr(pid, "faulted @ ") : NULL;
    char *end;
    if (!at)
        return false;
    bool quoted = pid[4] == '\'';
    long number = strtol(pid + 4 + quoted, &end, 10);
    return end != pid + 4 + quoted && number == process && read_address(at + 10, address);
}

/* /dev/kmsg gives a record for each read, a file many lines. */
static bool search(char *text, long process, uint64_t *address)
{
    bool found = false;
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        found |= kernel_log_fault(line, process, address);
    }
    return found;
}

bool kernel_log_find(const char *path, long process, uint64_t *address)
{
    char text[8192];
    bool found = false;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    for (ssize_t length = 0; fd >= 0;) {
        length = read(fd, text, sizeof text - 1);
        if (length < 0 && (errno == EPIPE || errno == EINTR)) /* older records were overwritten meanwhile */
            continue;
        if (length <= 0)
            break;
        text[length] = '\0';
        found |= search(text, process, address);
    }
    if (fd >= 0)
        close(fd);
    return found;
}

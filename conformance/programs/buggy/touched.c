/* SPDX-License-Identifier: Apache-2.0 */
/* The program accesses device addresses in place. A wrong access ends the process, so a child makes it, and what the
 * child writes to standard error before its end counts as the report. */
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "buggy.h"
#include "tap.h"
#include "touch.h"

enum { SURVIVED = 42 };

static void touch(vmm_deviceptr address, bool write)
{
    unsigned char seen;
    alarm(20);
    write ? touch_write(address, 1) : touch_read(address, &seen);
    _exit(SURVIVED);
}

/* What the child writes before a signal ends it; "" when none does. */
static void last_words(vmm_deviceptr address, bool write, char *text, size_t size)
{
    int ends[2], status = 0;
    size_t length = 0;
    ssize_t n;
    fflush(NULL);
    if (pipe(ends))
        tap_bail("no pipe");
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        touch(address, write);
    }
    close(ends[1]);
    while (length < size - 1 && (n = read(ends[0], text + length, size - 1 - length)) > 0)
        length += (size_t)n;
    text[length] = '\0';
    close(ends[0]);
    if (child < 0 || waitpid(child, &status, 0) != child)
        tap_bail("no child");
    if (WIFEXITED(status) && WEXITSTATUS(status) == SURVIVED)
        text[0] = '\0';
}

static void reported_by_a_child(struct run *b, vmm_deviceptr address, bool write)
{
    struct reported *reported = &b->reported[b->reports];
    static const char head[] = "error VMM-HOST-ACCESS: host ";
    char place[32];
    if (b->reports >= RUN_REPORTS_MAX)
        return;
    last_words(address, write, reported->text, RUN_TEXT);
    snprintf(place, sizeof place, "at 0x%llx:", (unsigned long long)address);
    if (!strstr(reported->text, head) || !touch_is_named(reported->text, write) || !strstr(reported->text, place))
        return; /* not reported, which the verdict then shows */
    reported->detail = (vmm_detail){.result = VMM_ERROR_ILLEGAL_ADDRESS, .severity = VMM_SEVERITY_ERROR,
                                .rule = "VMM-HOST-ACCESS", .function = write ? "host write" : "host read",
                                .value = address};
    b->result[RUN_REPORTED] = VMM_ERROR_ILLEGAL_ADDRESS;
    b->reports++;
}

unsigned char host_read(struct run *b, int line, vmm_deviceptr address)
{
    unsigned char seen = 0;
    if (b->buggy) {
        reported_by_a_child(b, address, false);
    } else {
        touch_begin();
        run_right(b, line, "the host reads in place", touch_read(address, &seen));
        touch_end();
    }
    return seen;
}

void host_write(struct run *b, int line, vmm_deviceptr address, unsigned char value)
{
    if (b->buggy) {
        reported_by_a_child(b, address, true);
    } else {
        touch_begin();
        run_right(b, line, "the host writes in place", touch_write(address, value));
        touch_end();
    }
}

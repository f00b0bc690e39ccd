/* SPDX-License-Identifier: Apache-2.0 */
/* said_rig.h - what each refusal of a test says, in the order of the test, compared with a file beside the test.
 *
 *     the call as the test writes it
 *         VMM-GRAPH-NODE  nearest 0:0  against 0x0  the text specific to the call
 *
 * Numbers that look like addresses are left out. `X_test --write FILE` writes the file anew. */
#ifndef SIM_SAID_RIG_H
#define SIM_SAID_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "vmm.h"

static char said_text[1 << 17];
static size_t said_used;

static void said_words(const char *text)
{
    while (*text && said_used + 1 < sizeof said_text) {
        size_t digits = strncmp(text, "0x", 2) == 0 ? strspn(text + 2, "0123456789abcdef") : 0;
        const bool address = digits > 5; /* of valgrind's, too, which are low */
        said_text[said_used++] = address ? '#' : *text;
        text += address ? digits + 2 : 1;
    }
}

/* Of the last call, which was refused. */
static inline void said_add(const char *call)
{
    const vmm_detail *detail = vmm_last_detail();
    char text[600];
    snprintf(text, sizeof text, "%s\n    %s  nearest %d:%u  against 0x%llx  %s\n", call, detail->rule ? detail->rule : "no rule",
             (int)detail->nearest.kind, detail->nearest.kind ? (unsigned)detail->nearest.number : 0, (unsigned long long)detail->expected,
             detail->note);
    said_words(text);
}

static inline void said_done(const char *path, int argc, char **argv)
{
    const bool write = argc == 3 && strcmp(argv[1], "--write") == 0;
    char line[700], before[700] = "";
    const char *at = said_text;
    FILE *known = fopen(write ? argv[2] : path, write ? "w" : "r");
    if (!known)
        tap_bail("%s cannot be opened", path);
    if (write)
        fputs(said_text, known);
    while (!write && fgets(line, sizeof line, known) && strncmp(at, line, strlen(line)) == 0) {
        at += strlen(line);
        snprintf(before, sizeof before, "%.*s", (int)strcspn(line, "\n"), line);
    }
    const bool same = write || (!*at && feof(known));
    tap_ok(same, "each refusal says what %s holds (--write FILE)%s%s: %.*s", path, same ? "" : ": behind ", same ? "" : before,
           same ? 0 : (int)strcspn(at, "\n"), at);
    fclose(known);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* debug_lines.h - the debugging information of one file, read by libdw, which is loaded by the first debug_lines_open.
 *
 *     debug_lines_at(lines, 0x11f5)   copy_name at pool.h:8, inlined; grow at pool.c:31
 *
 * Separate files are found as debuggers find them: by build id and by .gnu_debuglink, beside the file and under /usr/lib/debug.
 * Without libdw there is none.
 */
#ifndef CUVMM_TOOLS_DEBUG_LINES_H
#define CUVMM_TOOLS_DEBUG_LINES_H

#include <stdint.h>

struct debug_lines;

/* One place. Texts last until debug_lines_close. */
struct debug_place {
    const char *linkage; /* the mangled name; NULL: none */
    const char *name;    /* NULL: unknown */
    const char *file;    /* NULL: unknown */
    unsigned line;
};

/* NULL: there is none, or memory is out. */
struct debug_lines *debug_lines_open(const char *path);
void debug_lines_close(struct debug_lines *lines);

/* The places of an address of the file, the innermost first; all but the last were inlined. Returns how many, 0 if nothing is
 * known. */
unsigned debug_lines_at(struct debug_lines *lines, uint64_t address, struct debug_place *places, unsigned most);

#endif

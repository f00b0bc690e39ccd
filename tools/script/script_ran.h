/* SPDX-License-Identifier: Apache-2.0 */
/* script_ran.h - runs the lines of a script from memory and keeps what it printed; for tests.
 *
 *     "init\nrelease h\n"   ->   {SCRIPT_FAILED, "> init\n ...", "error VMM-..."}
 */
#ifndef CUVMM_TOOLS_SCRIPT_RAN_H
#define CUVMM_TOOLS_SCRIPT_RAN_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"

/* A script's status and output. */
struct script_ran {
    enum script_status status;
    char *out, *err;
};

/* brief: as in struct script_options. The process ends where there is no memory; the caller frees the result. */
static inline struct script_ran script_ran(const char *lines, bool brief)
{
    struct script_ran ran = {0};
    size_t out_size, err_size;
    struct script_options options = {.out = open_memstream(&ran.out, &out_size), .err = open_memstream(&ran.err, &err_size),
                                     .brief = brief};
    FILE *in = fmemopen((void *)(uintptr_t)lines, strlen(lines), "r");
    if (!options.out || !options.err || !in) {
        puts("Bail out! no memory");
        exit(255);
    }
    struct script *script = script_new(&options, "example");
    script_read(script, in);
    ran.status = script_finish(script);
    fclose(in);
    fclose(options.out);
    fclose(options.err);
    return ran;
}

static inline void script_ran_free(struct script_ran *ran)
{
    free(ran->out);
    free(ran->err);
}

#endif

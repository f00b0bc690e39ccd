/* SPDX-License-Identifier: Apache-2.0 */
/* advice.h - what to type instead, where that follows from the line and from what is in its way.
 *
 *     map r0 2gran h0      refused: VMM-MAP-OVERLAP          type instead  map r0+4MiB 2gran h0
 *     map r0 3MiB h0       refused: VMM-MAP-SIZE-WHOLE       type instead  map r0 h0.size h0
 *     reserve 2MB          mistake: unknown unit "MB"        type instead  reserve 2MiB
 *
 * The rest of the line stays as it was typed. trial.h tries what comes out. First means that the line itself is right and goes through after that one.
 */
#ifndef CUVMM_TOOLS_ADVICE_H
#define CUVMM_TOOLS_ADVICE_H

#include <stdbool.h>

#include "script_state.h"

struct advice {
    struct text lines; /* each ends with a newline; data is NULL where there is nothing to say */
    bool first;        /* before the line, not in place of it */
};

/* The last call of the script was refused, as detail says; line is what was typed. */
struct advice advice_refusal(struct script *script, const vmm_detail *detail, const char *line);

/* The last line was a mistake of the text (script->mistake). */
struct advice advice_mistake(struct script *script, const char *line);

/* A line with a command that could be typed now, for its help: "r1 = reserve 2gran". */
void advice_example(struct script *script, const struct script_command *command, struct text *out);

void advice_free(struct advice *advice);

#endif

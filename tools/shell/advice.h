/* SPDX-License-Identifier: Apache-2.0 */
/* advice.h - suggests what to type instead, if that can be derived from the line and from the reason of the refusal.
 *
 *     map r0 2gran h0      refused: VMM-MAP-OVERLAP          type instead  map r0+4MiB 2gran h0
 *     map r0 3MiB h0       refused: VMM-MAP-SIZE-WHOLE       type instead  map r0 h0.size h0
 *     reserve 2MB          mistake: unknown unit "MB"        type instead  reserve 2MiB
 *
 * The rest of the line stays as it was typed. trial.h tries the result. "first" means that the line
 * itself is right and succeeds after the advised one.
 */
#ifndef CUVMM_TOOLS_ADVICE_H
#define CUVMM_TOOLS_ADVICE_H

#include <stdbool.h>

#include "script_state.h"

struct advice {
    struct text lines; /* each ends with a newline; data is NULL if there is no advice */
    bool first;        /* to be typed before the line, not instead of it */
};

/* The last call of the script was refused for the reason in detail; line is what the user typed. */
struct advice advice_refusal(struct script *script, const vmm_detail *detail, const char *line);

/* The last line was not a valid line of a script (script->mistake). */
struct advice advice_mistake(struct script *script, const char *line);

/* An example of a command that would work now, for its help: "r1 = reserve 2gran". */
void advice_example(struct script *script, const struct script_command *command, struct text *out);

void advice_free(struct advice *advice);

#endif

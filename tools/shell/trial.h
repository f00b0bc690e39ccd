/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - advice is tried before it is shown.
 *
 *     session --session_copy--> its lines on another machine -- the advice's lines --> all of them go: shown
 *                                   |                                             '--> otherwise: nothing is shown
 *                                   '-- a line in place of the last is refused, too: what advice.h says to type instead of that one
 *
 *     h = create 3MB dev0      ->  h = create 3MiB dev0  is no multiple  ->  h = create roundup(3MiB) dev0
 */
#ifndef CUVMM_TOOLS_TRIAL_H
#define CUVMM_TOOLS_TRIAL_H

#include "advice.h"
#include "session.h"

/* What to type instead of line, or before it; ran is what session_run has just returned for the line. If the session
 * cannot be copied because it uses a driver or a layer, this is the untried advice of advice.h. */
struct advice trial_advice(struct session *session, const struct session_line *ran, const char *line);

/* The same for a line that was never run, whose user may have meant wanted: wanted, or what replaces it. */
struct advice trial_of(struct session *session, const char *wanted);

#endif

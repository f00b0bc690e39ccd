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

/* What to type instead of line, or first, which session_run has just answered with ran. Where the session cannot be copied because a
 * driver or a layer takes part in it, the advice of advice.h as it is. */
struct advice trial_advice(struct session *session, const struct session_line *ran, const char *line);

/* The same for a line that was never run, in whose place wanted might be meant: wanted, or what goes in its place. */
struct advice trial_of(struct session *session, const char *wanted);

#endif

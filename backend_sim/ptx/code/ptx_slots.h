/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_slots.h - assigns slots to values: first a separate one to each constant; then values that
 * are live at different times share slots.
 *
 *     a [0, 3]   b [1, 9]   c [3, 5]      slots   0: a, then c     1: b
 *
 * A result may take the slot of an operand that is read for the last time, because every step reads
 * a lane before it writes it; except for steps marked ! in ptx_steps.def.
 */
#ifndef PTX_SLOTS_H
#define PTX_SLOTS_H

#include "ptx_flow.h"

/* Replaces the values in the steps and lists by slots, and stores the frame's size in the routine. */
void ptx_place_values(struct ptx_lower *l, const struct ptx_life *life);

#endif

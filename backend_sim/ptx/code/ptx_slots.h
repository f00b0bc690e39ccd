/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_slots.h - puts values into slots: constants first, each into one of its own, then what is alive at different times into one.
 *
 *     a [0, 3]   b [1, 9]   c [3, 5]      slots   0: a, then c     1: b
 *
 * A result may take the slot of an operand that is read for the last time, since every step reads a lane before it writes it; but not
 * where the step says otherwise (! in ptx_steps.def).
 */
#ifndef PTX_SLOTS_H
#define PTX_SLOTS_H

#include "ptx_flow.h"

/* Writes slots into the steps and their list in the place of values, and what the frame needs into the routine. */
void ptx_place_values(struct ptx_lower *l, const struct ptx_life *life);

#endif

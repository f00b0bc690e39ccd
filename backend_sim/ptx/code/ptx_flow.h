/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_flow.h - live ranges of a function's values: from the first step that may read or write a value to the last.
 *
 *     0  MOV a        a [0, 3]     a loop that carries b keeps it live from its head to its end
 *     1  JOIN
 *     2  ADD b, b, a  b [1, 4]
 *     3  LT p, b, a
 *     4  BRA 1 if p
 *
 * Lanes that diverge keep their own values in the same slots, so a value that one lane's path needs stays live for every lane.
 */
#ifndef PTX_FLOW_H
#define PTX_FLOW_H

#include "ptx_lower.h"

struct ptx_life {
    uint32_t first, last; /* steps; first > last: unused */
};

/* For each value. */
struct ptx_life *ptx_flow_of(struct ptx_lower *l);

/* Calls see for each value that the step reads or writes: its fields, its guard and its list. */
void ptx_flow_each(const struct ptx_op *op, const uint32_t *list, void (*see)(void *data, uint32_t value, bool written), void *data);

#endif

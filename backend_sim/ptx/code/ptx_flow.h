/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_flow.h - when the values of a function are alive: from the first step that may read or write it to the last one.
 *
 *     0  MOV a        a [0, 3]     a loop that b goes round in keeps it alive from its head to its end
 *     1  JOIN
 *     2  ADD b, b, a  b [1, 4]
 *     3  LT p, b, a
 *     4  BRA 1 if p
 *
 * Lanes go their ways one by one, each with values of its own in the same slots, so what one lane's way needs is what every lane needs.
 */
#ifndef PTX_FLOW_H
#define PTX_FLOW_H

#include "ptx_lower.h"

struct ptx_life {
    uint32_t first, last; /* steps; first > last: it is not used */
};

/* For each value. */
struct ptx_life *ptx_flow_of(struct ptx_lower *l);

/* Calls see for each value that the step reads or writes, its own fields, its guard and its list. */
void ptx_flow_each(const struct ptx_op *op, const uint32_t *list, void (*see)(void *data, uint32_t value, bool written), void *data);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_table.h - the supported instructions and their syntax.
 *
 *     row       add    "?@r ?ftz ?sat f32"    "daa"    since PTX 1.0    handler
 *     matches   add.rn.ftz.f32 %f1, %f2, %f3
 *
 * Elements of the modifiers, in their order:   sat        this one
 *                                              a|b|c      one of these
 *                                              ?a|b       one of these or none
 *                                              xorsign+abs both, in this order
 *                                              @r         a list with a name (ptx_table.c)
 * Operands: d destination of the first type, a source of it; b, c source of the second and third type; e destination of the second;
 * D, A of the first type at twice its size; U, u destination and source of 32 bits; p, P predicate, written and read; q an optional
 * predicate behind a bar; i a constant; * any: the handler looks at them.
 */
#ifndef PTX_TABLE_H
#define PTX_TABLE_H

#include "ptx_lower.h"

struct ptx_row {
    uint16_t opcode;
    const char *modifiers, *operands;
    ptx_handler handler;
    uint32_t data;
    uint8_t version, capability; /* of the first PTX and device that have it; 90 for 9.0 */
};

extern const struct ptx_row ptx_rows[];
extern const unsigned ptx_row_count;

/* The row that the modifiers match, and their types; NULL: none. *best: the number of modifiers that the closest row matched. */
const struct ptx_row *ptx_table_find(const struct ptx_instruction *ins, unsigned type[4], unsigned *best);

/* Does the pattern match? *taken: the number of matched modifiers. */
bool ptx_table_match(const char *pattern, const struct ptx_instruction *ins, unsigned *taken);

/* The list behind an @: "rn|rz|rm|rp" for r. */
const char *ptx_table_set(char name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_line.h - the source line of an instruction, from the table of a Python code object.
 *
 *     table of 3.10    (bytes of code, lines)...            {6, 1} {4, 0} {8, -128: no line}
 *     table of 3.11+   a record for some code units each    [kind, units] [lines, columns, as the kind has them]
 */
#ifndef CUVMM_STACKS_LINE_H
#define CUVMM_STACKS_LINE_H

#include <stddef.h>
#include <stdint.h>

/* The line of the code unit (two bytes) at that index; 0 if it has none, or the table is malformed. */
uint32_t python_line_pairs(const unsigned char *table, size_t size, uint32_t first, uint64_t unit);
uint32_t python_line_records(const unsigned char *table, size_t size, uint32_t first, uint64_t unit);

#endif

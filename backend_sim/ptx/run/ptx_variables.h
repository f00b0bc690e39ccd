/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_variables.h - the memory of a program's .global and .const variables, which the caller of ptx_run owns.
 *
 *     ptx_variables_place    ->  an offset for each, and how many bytes all take       [ v0 | v1 .... | v2 ]
 *     ptx_variable_initial   ->  the bytes of one, once all have addresses             values may name each other
 */
#ifndef PTX_VARIABLES_H
#define PTX_VARIABLES_H

#include "ptx_code.h"

/* One behind the other, each at a multiple of its alignment, and of 16. Where that is more than any device has, the rest is left out;
 * managed ones always are. */
uint64_t ptx_variables_place(const struct ptx_program *program, uint64_t *offsets);

/* The initial value of a variable that has one, into its size of bytes. */
void ptx_variable_initial(const struct ptx_global *variable, const uint64_t *addresses, unsigned char *bytes);

#endif

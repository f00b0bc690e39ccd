/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_variables.h - the memory of a program's .global and .const variables, which the caller of ptx_run owns.
 *
 *     ptx_variables_place    ->  an offset for each, and the total size                [ v0 | v1 .... | v2 ]
 *     ptx_variable_initial -> the bytes of one, once all have addresses: initial values may refer to other variables
 */
#ifndef PTX_VARIABLES_H
#define PTX_VARIABLES_H

#include "ptx_code.h"

/* Places them one after the other, each at a multiple of its alignment and of 16. Omits the rest if
 * they exceed the memory of any device; always omits managed ones. */
uint64_t ptx_variables_place(const struct ptx_program *program, uint64_t *offsets);

/* Writes the initial value of a variable that has one into a buffer of the variable's size. */
void ptx_variable_initial(const struct ptx_global *variable, const uint64_t *addresses, unsigned char *bytes);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_program.h - compiles a PTX text into a program.
 *
 *     text -> ptx_parse: a tree -> each function's steps (ptx_lower.h), basic blocks and live ranges -> ptx_code.h
 *
 * unsupported: valid PTX that this simulator cannot run. If the options tolerate such an
 * instruction, a step in its place ends a kernel that reaches it, and the kernel's record names the
 * instruction.
 */
#ifndef PTX_PROGRAM_H
#define PTX_PROGRAM_H

#include "ptx_code.h"

struct ptx_options {
    bool let_unsupported_stay;
    unsigned newest; /* PTX version times 10, such as 90 for 9.0; 0: any */
};

/* NULL: the error has the reason and the position in the text. The text is not needed afterwards. */
struct ptx_program *ptx_program_new(const char *text, size_t size, const struct ptx_options *options, struct ptx_error *error);
void ptx_program_free(struct ptx_program *program);

/* -1: there is no kernel of that name. */
long ptx_program_kernel(const struct ptx_program *program, const char *name);

/* The step's name, for listings and counts. */
const char *ptx_step_name(unsigned step);
const char *ptx_step_fields(unsigned step);

#endif

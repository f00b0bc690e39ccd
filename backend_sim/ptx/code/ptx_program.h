/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_program.h - makes a program of a PTX text.
 *
 *     text  ->  ptx_parse: a tree  ->  of each function its steps (ptx_lower.h), their blocks and registers' lives  ->  ptx_code.h
 *
 * unsupported: what PTX has and this simulator does not run. Where the options let it stay, the step that stands for it ends the
 * kernel that gets there, and the kernel's record says which instruction it has.
 */
#ifndef PTX_PROGRAM_H
#define PTX_PROGRAM_H

#include "ptx_code.h"

struct ptx_options {
    bool let_unsupported_stay;
    unsigned newest; /* version of PTX, 10 times, as 90 for 9.0; 0: any */
};

/* NULL: the error says why, at which place of the text. The text is not needed afterwards. */
struct ptx_program *ptx_program_new(const char *text, size_t size, const struct ptx_options *options, struct ptx_error *error);
void ptx_program_free(struct ptx_program *program);

/* -1: it has no kernel of that name. */
long ptx_program_kernel(const struct ptx_program *program, const char *name);

/* The step's name, for listings and counts. */
const char *ptx_step_name(unsigned step);
const char *ptx_step_fields(unsigned step);

#endif

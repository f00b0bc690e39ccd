/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_parse.h - reads a PTX text (PTX ISA 9.0, "Syntax" and "Directives").
 *
 *     ".version 8.0 ... .entry fill (...) {...}"   ->   a tree (ptx_module.h)
 *                                                  or   line 12, column 5: expected ';', found '%r3'
 *
 * Names are resolved and declarations checked. Whether an instruction exists is found out by its translation.
 */
#ifndef PTX_PARSE_H
#define PTX_PARSE_H

#include "ptx_module.h"

/* The module, which lies in the context as the text's own bytes do not: text must stay as long. NULL: the context's error says
 * what is wrong where. */
struct ptx_module *ptx_parse(struct ptx_context *context, struct ptx_text text);

#endif

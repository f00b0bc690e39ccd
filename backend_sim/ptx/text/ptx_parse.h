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

/* With this line begins a text of several modules that are linked (backend_sim/abi/module/abi_link.h); each of them begins with .version.
 * A name without .visible, .weak, .extern or .common is its module's own. Of weak definitions the first one stays, or the one that is not
 * weak. */
#define PTX_LINKED "// cuvmm: linked modules\n"

/* With a number behind it, a pragma at the end of such a text: the most registers of a thread. */
#define PTX_LINKED_REGISTERS "cuvmm: registers "

/* The module, which lies in the context as the text's own bytes do not: text must stay as long. NULL: the context's error says
 * what is wrong where. */
struct ptx_module *ptx_parse(struct ptx_context *context, struct ptx_text text);

#endif

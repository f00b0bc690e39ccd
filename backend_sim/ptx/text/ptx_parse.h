/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_parse.h - reads a PTX text (PTX ISA 9.0, "Syntax" and "Directives").
 *
 *     ".version 8.0 ... .entry fill (...) {...}"   ->   a tree (ptx_module.h)
 *                                                  or   line 12, column 5: expected ';', found '%r3'
 *
 * Names are resolved and declarations checked. The translation checks whether an instruction exists.
 */
#ifndef PTX_PARSE_H
#define PTX_PARSE_H

#include "ptx_module.h"

/* A text of several linked modules begins with this line (backend_sim/abi/module/abi_link.h); each
 * of the modules begins with .version. A name without .visible, .weak, .extern or .common is local
 * to its module. Of several definitions the first weak one is used, or the one that is not weak. */
#define PTX_LINKED "// cuvmm: linked modules\n"

/* Followed by a number, this pragma at the end of such a text is the maximum number of registers of a thread. */
#define PTX_LINKED_REGISTERS "cuvmm: registers "

/* The module, allocated in the context; it points into the text, which must live as long. NULL: the context's
 * error has the reason and the position. */
struct ptx_module *ptx_parse(struct ptx_context *context, struct ptx_text text);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* verdicts.h - instructions, right and wrong, with what ptxas said to them (verdicts.tsv, which `make ptx-verdicts` makes).
 *
 *     +  both take it      <  taken here, refused by ptxas
 *     -  both refuse it    >  refused here, taken by ptxas
 */
#ifndef PTX_VERDICTS_H
#define PTX_VERDICTS_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

/* The text before the instruction; "\nret;\n}\n" follows it. */
#define VERDICT_HEAD                                                                                                                  \
    ".version 9.0\n.target sm_90a\n.address_size 64\n.extern .shared .align 16 .b8 dyn[];\n.global .align 16 .b8 glob[64];\n"            \
    ".const .align 16 .b8 cons[64];\n.func (.param .b64 res) callee(.param .b64 a) { ret; }\n"                                          \
    ".visible .entry k(.param .u64 par, .param .align 8 .b8 parr[16])\n{\n"                                                             \
    ".reg .b16 %h<10>; .reg .b32 %r<10>; .reg .b64 %rd<10>; .reg .pred %p<10>; .reg .f32 %f<10>; .reg .f64 %fd<10>; .reg .b128 %rq<4>;\n" \
    ".reg .u16 %u16_<4>; .reg .u32 %u32_<4>; .reg .s32 %s32_<4>; .reg .u64 %u64_<4>; .reg .s16 %s16_<4>; .reg .s64 %s64_<4>; "   \
    ".reg .b8 %b8_<4>; .reg .f16 %f16_<4>; .reg .f16x2 %f16x2_<4>;\n.shared .align 16 .b8 shar[64];\n.local .align 16 .b8 loca[64];\n"

struct verdict {
    bool here, ptxas; /* who takes it */
    char line[400];
    const char *instruction;
};

static inline FILE *verdicts_open(void)
{
    FILE *file = fopen("conformance/recorded/ptx/verdicts.tsv", "r");
    if (!file)
        tap_bail("verdicts.tsv cannot be read");
    return file;
}

static inline bool verdict_next(FILE *file, struct verdict *v)
{
    if (!fgets(v->line, sizeof v->line, file))
        return false;
    v->line[strcspn(v->line, "\n")] = '\0';
    v->here = v->line[0] == '+' || v->line[0] == '<';
    v->ptxas = v->line[0] == '+' || v->line[0] == '>';
    v->instruction = v->line + 2;
    return true;
}

#endif

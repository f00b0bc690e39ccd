/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_rule.h - how one frame is left: where the caller's registers are, as the compiler's table says for an address.
 *
 *     grow + 0x31     CFA = sp + 32; return address at CFA - 8; frame pointer at CFA - 16
 *
 *     addresses       | locals of grow | saved fp | return address | locals of main ...
 *                     ^ sp             ^ CFA - 16 ^ CFA - 8        ^ CFA: sp in main
 *
 * Such a rule is a few numbers, and looking it up takes a binary search and the interpretation of a small program, so a capture
 * keeps rules by address (stacks_unwind.c). Frames that no rule can express (other expressions, other registers) are left to
 * the C library.
 */
#ifndef CUVMM_STACKS_RULE_H
#define CUVMM_STACKS_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "stacks_module.h"

/* What a rule is good for. END: the outermost frame. NO_TABLE: nothing is known. OTHER: not in these words. */
enum rule_kind { RULE_STEP, RULE_END, RULE_NO_TABLE, RULE_OTHER };

struct rule {
    uint8_t kind;      /* enum rule_kind */
    bool by_fp;        /* the CFA is relative to the frame pointer, not to the stack pointer */
    bool signal;       /* a signal frame: the return address is that of the interrupted instruction itself */
    bool cfa_stored;   /* the CFA is loaded from there: for realigned frames and signal frames */
    bool fp_saved, ra_saved; /* on the stack; otherwise the register still holds it */
    bool fp_by_sp, ra_by_sp; /* its offset is relative to the stack pointer, not to the CFA */
    int32_t cfa;
    int32_t fp, ra;
};

/* The rule for an instruction in a module or, with NULL, in readable code without a file. Reads the module's memory. */
struct rule rule_for(const struct module *module, uintptr_t address);

#endif

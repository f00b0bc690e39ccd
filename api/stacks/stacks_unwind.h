/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_unwind.h - the native frames of the calling thread, from the inside out.
 *
 *     struct unwind unwind;
 *     unwind_begin(&unwind);
 *     while (unwind_next(&unwind))        unwind.address: in stacks_here, in cuMemCreate, in grow, in main, ..
 *         ...                             unwind.sp .. unwind.next_sp: where the frame lies
 *
 * Rules of frames are cached by address, so a frame costs a few loads. A frame that no rule describes is left to the C library
 * (backtrace), with all frames after it: code that was generated at run time and registered, for example. Code without any
 * table is unwound by its frame pointer, as long as that is valid.
 */
#ifndef CUVMM_STACKS_UNWIND_H
#define CUVMM_STACKS_UNWIND_H

#include <stdbool.h>
#include <stdint.h>

#include "stacks_module.h"

enum { UNWIND_SLOW_MOST = 96, UNWIND_MODULES = 8 };

struct unwind {
    uintptr_t address;           /* of the instruction being executed: the call */
    uintptr_t sp, next_sp;       /* the stack pointer in this frame, and in its caller */
    const struct module *module; /* NULL: code of no file */
    unsigned seen_count;         /* modules that were verified in this capture */
    const struct module *seen[UNWIND_MODULES];
    /* The caller's values, for the next step. */
    uintptr_t pc, fp;
    bool exact;                  /* pc is not a return address */
    bool done;
    /* What the C library's unwinder found; filled in only when needed. */
    unsigned slow, slow_at;
    void *slowly[UNWIND_SLOW_MOST];
};

/* The first frame is the caller's. */
#define unwind_begin(begun)                                                         \
    do {                                                                            \
        struct unwind *begun_ = (begun);                                            \
        begun_->module = NULL;                                                      \
        begun_->exact = true;                                                       \
        begun_->done = false;                                                       \
        begun_->slow = begun_->slow_at = begun_->seen_count = 0;                    \
        UNWIND_REGISTERS(begun_->pc, begun_->next_sp, begun_->fp);                  \
    } while (0)

#if defined(__x86_64__)
#define UNWIND_REGISTERS(pc, sp, fp)                                                             \
    __asm__ volatile("leaq 0(%%rip), %0\n\tmovq %%rsp, %1\n\tmovq %%rbp, %2" : "=&r"(pc), "=&r"(sp), "=&r"(fp))
#elif defined(__aarch64__)
#define UNWIND_REGISTERS(pc, sp, fp) \
    __asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29" : "=&r"(pc), "=&r"(sp), "=&r"(fp))
#else
#define UNWIND_REGISTERS(pc, sp, fp) ((pc) = 1, (sp) = 0, (fp) = 0)
#endif

/* False after the outermost frame. */
bool unwind_next(struct unwind *unwind);

/* Are these bytes of this process readable? Asks the system. */
bool unwind_readable(uintptr_t address, uintptr_t size);

#endif

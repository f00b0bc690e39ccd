/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - what the API keeps for each thread, in one piece.
 *
 *     thread A     [program's calls it is in][numbers taken ahead][detail]
 *     thread B     [program's calls it is in][numbers taken ahead][detail]
 *
 * In a shared library the address of a thread-local is a call of the C library, __tls_get_addr. So a call finds the piece
 * once (vmm_thread) and passes the pointer on. The initial-exec model would need no call, but then all thread-locals of
 * libcuda.so.1 had to fit into what the C library keeps for libraries that are loaded late: glibc keeps some 1.6 KiB for
 * all of them together, musl nothing, and most programs load a driver late.
 */
#ifndef CUVMM_THREAD_H
#define CUVMM_THREAD_H

#include <stdbool.h>

#include "ordinal.h"
#include "vmm.h"
#include "program_call.h"

struct vmm_thread {
    struct vmm_within_calls within;
    struct ordinals_ahead ordinals; /* like the record of errors a thread's own, whatever it belongs to */
    bool in_kernel;                 /* it runs the code of a kernel, which makes no calls (libcuda.so.1) */
    vmm_detail detail;              /* the one piece of global state in the API: like errno, and for the same reason */
};

/* Hidden: the linker knows its place, and the compiler that it lies in the same library. */
#if defined(__GNUC__)
__attribute__((visibility("hidden")))
#endif
extern _Thread_local struct vmm_thread vmm_thread_here;

/* The calling thread's. Unless the pointer hides where it comes from, compilers work it out anew at each use. */
static inline struct vmm_thread *vmm_this_thread(void)
{
    struct vmm_thread *thread = &vmm_thread_here;
#if defined(__GNUC__)
    __asm__("" : "+r"(thread));
#endif
    return thread;
}

/* What the calling thread's calls with that id are noted as (program_call.h). */
static inline uint16_t vmm_reported_call(uint16_t id)
{
    return vmm_reported_in(vmm_within_now(&vmm_this_thread()->within), id);
}

#endif

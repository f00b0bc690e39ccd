/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - the API's state of each thread, in one structure.
 *
 *     thread A     [program's calls it is in][numbers taken ahead][detail]
 *     thread B     [program's calls it is in][numbers taken ahead][detail]
 *
 * In a shared library the address of a thread-local is a call of the C library, __tls_get_addr. So a call looks up the
 * structure once (vmm_thread) and passes the pointer on. The initial-exec model would need no call, but then all
 * thread-locals of libcuda.so.1 would have to fit into the space that the C library reserves for libraries that are
 * loaded late: glibc reserves about 1.6 KiB for all of them together,
 * musl nothing, and most programs load a driver late.
 */
#ifndef CUVMM_THREAD_H
#define CUVMM_THREAD_H

#include <stdbool.h>

#include "ordinal.h"
#include "vmm.h"
#include "program_call.h"

struct vmm_thread {
    struct vmm_within_calls within;
    struct ordinals_ahead ordinals; /* per thread like the error record, whichever system it is used for */
    bool in_kernel;                 /* the thread runs a kernel's code, which makes no calls (libcuda.so.1) */
    uint32_t stack;                 /* of the call in progress (stacks_call.h); 0: not captured */
    vmm_detail detail;              /* the only global state of the API: like errno, and for the same reason */
};

/* Hidden: the linker knows its place, and the compiler knows that it lies in the same library. */
#if defined(__GNUC__)
__attribute__((visibility("hidden")))
#endif
extern _Thread_local struct vmm_thread vmm_thread_here;

/* The calling thread's structure. Unless the pointer hides its origin, compilers compute it again at each use. */
static inline struct vmm_thread *vmm_this_thread(void)
{
    struct vmm_thread *thread = &vmm_thread_here;
#if defined(__GNUC__)
    __asm__("" : "+r"(thread));
#endif
    return thread;
}

/* The id under which the calling thread's calls are reported (program_call.h). */
static inline uint16_t vmm_reported_call(uint16_t id)
{
    return vmm_reported_in(vmm_within_now(&vmm_this_thread()->within), id);
}

#endif

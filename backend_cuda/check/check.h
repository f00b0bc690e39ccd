/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - libcuvmm-check.so, preloaded into a program: puts the shadow layer around the driver that the program loads.
 *
 *     program      libcuvmm-check.so                                            libcuda.so.1
 *     cuMemMap  -> check_enter(row) -> vmm_mem_map(sys, ...) -> shadow layer -> check_backend -> the driver's own cuMemMap
 *                                                               |                                 its answer, unchanged
 *                                                               +-> the same call on a simulator; report where they
 *                                                                   differ (api/findings/findings.h)
 *     cuEventRecord -------- the order of work (check_order.h) ---------------> cuEventRecord
 *     cuGraphClone -----------------------------------------------------------> cuGraphClone
 *
 * The program's arguments are passed on unchanged; the driver writes outputs into the program's memory. The innermost backend
 * only makes the pending driver call. Entry points that the shadow has no rules for are not exported, so the loader binds them to
 * the driver.
 *
 * Programs that look functions up get the same: dlsym (check_dlsym.c) and cuGetProcAddress (check_own.c) return the wrapper in
 * place of the driver's function if checked.def lists it.
 */
#ifndef CUDA_CHECK_H
#define CUDA_CHECK_H

#include <stdbool.h>

#include "vmm.h"

typedef void (*check_function)(void);

enum check_row {
#define CHECK_ENTRY(symbol, name, version, streams, checked, call) CHECK_##symbol,
#include "checked.def"
    CHECK_ROWS
};

/* ---- entry points by name (check_find.c) ---- */

/* The row of a symbol, or CHECK_ROWS if it has none. */
enum check_row check_symbol(const char *symbol);
/* The row of the newest form of that name that is not newer than version, which cuGetProcAddress would choose. */
enum check_row check_newest(const char *base, int version, bool per_thread);
/* The newest version that the table knows; later signatures are not intercepted. */
enum { CHECK_NEWEST = 13000 };

/* The wrapper of a row's function. */
check_function check_wrapper(enum check_row row);
/* The driver's own function; NULL without a driver, or if the driver lacks the function. */
check_function check_driver(enum check_row row);
/* Records the driver's own function, found by other means; the first one stays. */
void check_found(enum check_row row, check_function function);
/* Any of the driver's functions, including those without a wrapper. */
check_function check_driver_symbol(const char *symbol);

/* The C library's dlsym (check_dlsym.c). */
void *check_real_dlsym(void *handle, const char *symbol);

/* ---- a call in progress (check_system.c) ---- */

/* The system on which to make the call. NULL if only the driver gets the call: inside another call, in a forked child, at
 * exit. */
vmm_system *check_enter(enum check_row row);
/* Call it after the call, if check_enter returned a system. */
void check_leave(void);
/* The driver has been called and returned result: the innermost backend has nothing left to do. After check_enter. */
void check_answered(vmm_result result);
/* Reports on a call that only the driver answered. */
void check_alone(enum check_row row, vmm_result result);

/* For code that is not a driver call: false if this process is not checked, or inside a call. *sys is NULL before the first
 * call. */
bool check_hold(vmm_system **sys);
void check_unhold(void);

/* The report of the shadow. */
void check_report(void *user, const vmm_detail *detail);

/* cuvmm_mark of this library (check_mark.c), for dlsym. */
check_function check_mark(void);

/* Reports before the driver's call that it may crash the process. The same finding is not reported again afterwards. */
void check_foreseen(const vmm_detail *detail);

const char *check_name(enum check_row row);
/* Is stream 0 of this form the thread's own default stream? */
bool check_per_thread(enum check_row row);

struct vmm_backend;

/* ---- the innermost backend (check_backend.c) ---- */

/* Sets the calling thread's pending call: one of the driver's functions, or a result that it has already returned. */
void check_wait_function(check_function function);
void check_wait_answer(vmm_result result);
/* NULL when out of memory. */
struct vmm_backend *check_backend(void);

#endif

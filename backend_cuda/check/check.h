/* SPDX-License-Identifier: Apache-2.0 */
/* check.h - libcuvmm-check.so, preloaded into a program: the shadow layer around the driver that the program loads itself.
 *
 *     program      libcuvmm-check.so                                            libcuda.so.1
 *     cuMemMap  -> check_enter(row) -> vmm_mem_map(sys, ...) -> shadow layer -> check_backend -> the driver's own cuMemMap
 *                                                               |                                 its answer, untouched
 *                                                               +-> the same call on a simulator; report where they say
 *                                                                   something (api/findings.h)
 *     cuGraphLaunch ----------------------------------------------------------> cuGraphLaunch
 *
 * The arguments are the program's and go on as they came; outputs are written by the driver into the program's memory. The
 * innermost backend is nothing but the driver's call that is waiting to be made. Entry points that the shadow has no rules for
 * are not exported, so the loader binds them to the driver.
 *
 * Programs that ask for functions get the same: dlsym (check_dlsym.c) and cuGetProcAddress (check_own.c) put the function
 * here in the place of the driver's, where it is one of checked.def.
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

/* The row of a symbol, CHECK_ROWS where there is none. */
enum check_row check_symbol(const char *symbol);
/* The newest one of that name not newer than version, as cuGetProcAddress looks for it. */
enum check_row check_newest(const char *base, int version, bool per_thread);
/* Which versions the table knows: signatures that came later are not touched. */
enum { CHECK_NEWEST = 13000 };

/* What is here in the driver's place. */
check_function check_wrapper(enum check_row row);
/* The driver's own; NULL where there is no driver, or none that has it. */
check_function check_driver(enum check_row row);
/* The driver's own was found otherwise; the first one stays. */
void check_found(enum check_row row, check_function function);
/* Any of the driver's functions, also of those that are not stood before. */
check_function check_driver_symbol(const char *symbol);

/* dlsym as the C library has it (check_dlsym.c). */
void *check_real_dlsym(void *handle, const char *symbol);

/* ---- a call on its way (check_system.c) ---- */

/* Where to make the call: NULL when it goes to the driver alone (inside another one, in a child of fork, at the end). */
vmm_system *check_enter(enum check_row row);
/* After it, where check_enter gave a system. */
void check_leave(void);
/* The driver has been called and answered result: nothing is left for the innermost backend to do. After check_enter. */
void check_answered(vmm_result result);
/* The driver alone was asked, and answered: what there is to say about that. */
void check_alone(enum check_row row, vmm_result result);

/* The shadow says before the driver's call that it may end the process. What it then says again is not told twice. */
void check_foreseen(const vmm_detail *detail);

const char *check_name(enum check_row row);

struct vmm_backend;

/* ---- the innermost backend (check_backend.c) ---- */

/* The calling thread's call that is waiting: one of the driver's functions, or an answer that it gave already. */
void check_wait_function(check_function function);
void check_wait_answer(vmm_result result);
/* NULL when memory is out. */
struct vmm_backend *check_backend(void);

#endif

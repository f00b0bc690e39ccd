/* SPDX-License-Identifier: Apache-2.0 */
/* translate.h - what a device reaches at a range of addresses: the simulated translation with its rights.
 *
 *   range     [------------------ size ------------------)
 *   runs      [ M1 of H1, offset ..)[ M2 of H2 )[ A1 ..    )    one run per mapping or allocation
 *
 * A range is checked as a whole before any byte is moved.
 */
#ifndef SIM_TRANSLATE_H
#define SIM_TRANSLATE_H

#include "process.h"
#include "twin.h"

struct translate_run {
    struct sim_block *block;
    uint64_t offset, length;
};

/* The run that starts at address, at most size bytes; false when nothing is mapped there. */
bool translate_run(const struct sim_process *process, uint64_t address, uint64_t size, struct translate_run *run);

/* Does memory of the host lie there, which the host can look at without a call? */
bool translate_host(const struct sim_process *process, uint64_t address, uint64_t size);

/* The rights that a kernel's use of memory needs: VMM_MEM_ACCESS_FLAGS_PROT_. */
unsigned translate_need(enum twin_use use);

/* What a device may do at an address: VMM_MEM_ACCESS_FLAGS_PROT_. */
unsigned translate_rights(const struct sim_process *process, int device, uint64_t address);

/* The run that starts at address, at most size bytes, when it holds width bytes and device has the rights that are
 * needed there: what a kernel's access finds. */
bool translate_may(const struct sim_process *process, int device, uint64_t address, unsigned width, uint64_t size,
               unsigned need, struct translate_run *run);

/* What a multimem access finds: the replica of each device of the team, all of width bytes. */
struct translate_replicas {
    unsigned count;
    struct translate_run run[TWIN_REPLICAS];
    int missing;         /* the first device without one, where there is such */
    bool missing_abroad; /* it is of another machine */
};

enum translate_multimem {
    TRANSLATE_MULTIMEM_DONE,
    TRANSLATE_MULTIMEM_NOT_ALLOWED, /* nothing is mapped there, or the device lacks rights */
    TRANSLATE_MULTIMEM_ORDINARY,    /* what is mapped is no multicast object */
    TRANSLATE_MULTIMEM_UNBOUND      /* a device of the team has bound nothing there */
};

enum translate_multimem translate_multimem(const struct sim_process *process, int device, uint64_t address, unsigned width,
                                   unsigned need, struct translate_replicas *replicas);

/* What is to be done with the bytes. */
enum translate_use {
    TRANSLATE_TO_HOST,   /* source of a copy to the host */
    TRANSLATE_READ,      /* source of a copy between device addresses */
    TRANSLATE_WRITE,     /* destination of a copy between device addresses */
    TRANSLATE_FROM_HOST, /* destination of a copy from the host */
    TRANSLATE_FILL
};

/* Whether the device or the host moves them is decided at the first byte: the table in translate_table.h. */

/* May device do that with every byte of [address, address + size)? size > 0. On refusal the detail names argument.
 * A range that is refused in part is refused whole. One that passes the end of the address space may be started, and
 * ends in a fault. */
vmm_result translate_check(const struct sim_process *process, int device, uint64_t address, uint64_t size,
                       enum translate_use use, const char *argument);

/* What the two sides of a copy between device addresses, each of which may be reached, do not allow together: where
 * there is memory in both that the host has rights to, the host moves the bytes and must be allowed to read and to write
 * all of them. */
vmm_result translate_check_pair(const struct sim_process *process, int device, uint64_t dst, uint64_t src, uint64_t size,
                            const char *dst_argument, const char *src_argument);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* reach.h - what a device reaches at a range of addresses: the simulated translation with its rights.
 *
 *   range     [------------------ size ------------------)
 *   runs      [ M1 of H1, offset ..)[ M2 of H2 )[ A1 ..    )    one run per mapping or allocation
 *
 * A range is checked as a whole before any byte is moved.
 */
#ifndef SIM_REACH_H
#define SIM_REACH_H

#include "process.h"
#include "twin.h"

struct reach_run {
    struct sim_block *block;
    uint64_t offset, length;
};

/* The run that starts at address, at most size bytes; false when nothing is mapped there. */
bool reach_run(const struct sim_process *process, uint64_t address, uint64_t size, struct reach_run *run);

/* Does memory of the host lie there, which the host can look at without a call? */
bool reach_host(const struct sim_process *process, uint64_t address, uint64_t size);

/* The rights that a kernel's use of memory needs: VMM_MEM_ACCESS_FLAGS_PROT_. */
unsigned reach_need(enum twin_use use);

/* What a device may do at an address: VMM_MEM_ACCESS_FLAGS_PROT_. */
unsigned reach_rights(const struct sim_process *process, int device, uint64_t address);

/* The run that starts at address, at most size bytes, when it holds width bytes and device has the rights that are
 * needed there: what a kernel's access finds. */
bool reach_may(const struct sim_process *process, int device, uint64_t address, unsigned width, uint64_t size,
               unsigned need, struct reach_run *run);

/* What a multimem access finds: the replica of each device of the team, all of width bytes. */
struct reach_replicas {
    unsigned count;
    struct reach_run run[TWIN_REPLICAS];
    int missing;         /* the first device without one, where there is such */
    bool missing_abroad; /* it is of another machine */
};

enum reach_multimem {
    REACH_MULTIMEM_DONE,
    REACH_MULTIMEM_NOT_ALLOWED, /* nothing is mapped there, or the device lacks rights */
    REACH_MULTIMEM_ORDINARY,    /* what is mapped is no multicast object */
    REACH_MULTIMEM_UNBOUND      /* a device of the team has bound nothing there */
};

enum reach_multimem reach_multimem(const struct sim_process *process, int device, uint64_t address, unsigned width,
                                   unsigned need, struct reach_replicas *replicas);

/* What is to be done with the bytes. */
enum reach_use {
    REACH_TO_HOST,   /* source of a copy to the host */
    REACH_READ,      /* source of a copy between device addresses */
    REACH_WRITE,     /* destination of a copy between device addresses */
    REACH_FROM_HOST, /* destination of a copy from the host */
    REACH_FILL
};

/* Whether the device or the host moves them is decided at the first byte: the table in reach_table.h. */

/* May device do that with every byte of [address, address + size)? size > 0. On refusal the detail names argument.
 * A range that is refused in part is refused whole. One that passes the end of the address space may be started, and
 * ends in a fault. */
vmm_result reach_check(const struct sim_process *process, int device, uint64_t address, uint64_t size,
                       enum reach_use use, const char *argument);

/* What the two sides of a copy between device addresses, each of which may be reached, do not allow together: where
 * there is memory in both that the host has rights to, the host moves the bytes and must be allowed to read and to write
 * all of them. */
vmm_result reach_check_pair(const struct sim_process *process, int device, uint64_t dst, uint64_t src, uint64_t size,
                            const char *dst_argument, const char *src_argument);

#endif

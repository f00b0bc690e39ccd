/* SPDX-License-Identifier: Apache-2.0 */
/* translate.h - translates device addresses into bytes, with the rights of a device.
 *
 *   range     [------------------ size ------------------)
 *   runs      [ M1 of H1, offset ..)[ M2 of H2 )[ A1 ..    )    one run per mapping or allocation
 *
 * The whole range is checked before any byte is moved.
 */
#ifndef SIM_TRANSLATE_H
#define SIM_TRANSLATE_H

#include "arrays.h"
#include "process.h"
#include "twin.h"

struct translate_run {
    struct sim_block *block;
    uint64_t offset, length;
};

/* Does the run belong to an array tile without memory? It reads as zeros, and nothing is written there. */
static inline bool translate_is_nothing(const struct translate_run *run)
{
    return run->block == &arrays_nothing;
}

/* The run that starts at address, at most size bytes; returns false if nothing is mapped there. An address of an array's bytes
 * (arrays.h) has a run as well, and nothing below gives rights to it. */
bool translate_run(const struct sim_process *process, uint64_t address, uint64_t size, struct translate_run *run);

/* Does the range contain host memory that the host can read without a call? */
bool translate_host(const struct sim_process *process, uint64_t address, uint64_t size);

/* The rights that this use of memory by a kernel needs: VMM_MEM_ACCESS_FLAGS_PROT_. */
unsigned translate_need(enum twin_use use);

/* The rights of a device at an address: VMM_MEM_ACCESS_FLAGS_PROT_. */
unsigned translate_rights(const struct sim_process *process, int device, uint64_t address);

/* Translates a kernel's access: the run that starts at address, at most size bytes. Returns true if the run holds width bytes and
 * device has the rights in need there. */
bool translate_may(const struct sim_process *process, int device, uint64_t address, unsigned width, uint64_t size,
                   unsigned need, struct translate_run *run);

/* The translation of a multimem access: the replica of each device of the team, each of width bytes. */
struct translate_replicas {
    unsigned count;
    struct translate_run run[TWIN_REPLICAS];
    int missing;         /* the first device without a replica, if any */
    bool missing_abroad; /* that device belongs to another machine */
};

enum translate_multimem {
    TRANSLATE_MULTIMEM_DONE,
    TRANSLATE_MULTIMEM_NOT_ALLOWED, /* nothing is mapped there, or the device lacks rights */
    TRANSLATE_MULTIMEM_ORDINARY,    /* the mapping does not belong to a multicast object */
    TRANSLATE_MULTIMEM_UNBOUND      /* a device of the team has no memory bound there */
};

enum translate_multimem translate_multimem(const struct sim_process *process, int device, uint64_t address, unsigned width,
                                           unsigned need, struct translate_replicas *replicas);

/* The use of the bytes. */
enum translate_use {
    TRANSLATE_TO_HOST,   /* source of a copy to the host */
    TRANSLATE_READ,      /* source of a copy between device addresses */
    TRANSLATE_WRITE,     /* destination of a copy between device addresses */
    TRANSLATE_FROM_HOST, /* destination of a copy from the host */
    TRANSLATE_FILL
};

/* The first byte decides whether the device or the host moves the bytes: see the table in translate_table.h. */

/* Does device have the access for this use to every byte of [address, address + size)? size > 0. On refusal the detail names
 * argument. A range that is refused in part is refused whole. A range past the end of the address space may be accepted; the
 * work then ends in a fault. */
vmm_result translate_check(const struct sim_process *process, int device, uint64_t address, uint64_t size,
                           enum translate_use use, const char *argument);

/* Does a memory pool of the host have this address? Copies treat it as any memory of the host: it can be the host side of a copy
 * but never the device side, whatever rights devices have to it. */
bool translate_host_pool(const struct sim_process *process, uint64_t address);

/* Refuses such an address: the device side of a copy begins there. */
vmm_result translate_check_side(const struct sim_process *process, uint64_t address, const char *argument);

/* If the range begins in a memory pool: does it lie in one allocation? For the call that issues the work; in-flight work may
 * use memory that was freed meanwhile. */
vmm_result translate_check_pool(const struct sim_process *process, uint64_t address, uint64_t size, const char *argument);

/* Checks the two sides of a copy between device addresses together, after translate_check of each: if both contain memory that
 * the host has rights to, the host moves the bytes and needs read and write access to all of them. */
vmm_result translate_check_pair(const struct sim_process *process, int device, uint64_t dst, uint64_t src, uint64_t size,
                                const char *dst_argument, const char *src_argument);

#endif

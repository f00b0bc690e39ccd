/* SPDX-License-Identifier: Apache-2.0 */
/* leak_holders.h - what the report at the end says of memory that several processes share.
 *
 *   leaked import     "...; exported by process 4711 (server): call 5 (cuMemExportToShareableHandle)"
 *   leaked export     "...; also held by process 4712 (worker): call 3 (cuMemImportFromShareableHandle)"
 *   let go of here    a hint [VMM-LEAK-ELSEWHERE] for each block that this machine exported and others still hold
 *   a descriptor      a leak [VMM-LEAK-DESCRIPTOR] instead, where this process itself has one open
 *
 * A hint is no leak of this process: what others hold is theirs to give back.
 */
#ifndef SIM_LEAK_HOLDERS_H
#define SIM_LEAK_HOLDERS_H

#include "process.h"

struct leak_holders {
    vmm_detail *hint;
    uint64_t count, leaks; /* leaks: of these */
};

/* Adds to the notes of these leaks, and makes the hints, which are the caller's to free; where they are only counted, no other
 * process's descriptors are looked for. With the machine's lock. */
struct leak_holders sim_leak_holders(const struct sim_process *process, vmm_detail *leaks, uint64_t count, bool reported);

#endif

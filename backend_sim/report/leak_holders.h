/* SPDX-License-Identifier: Apache-2.0 */
/* leak_holders.h - the part of the final report that covers memory shared by several processes.
 *
 *   leaked import     "...; exported by process 4711 (server): call 5 (cuMemExportToShareableHandle)"
 *   leaked export     "...; also held by process 4712 (worker): call 3 (cuMemImportFromShareableHandle)"
 *   released here     a hint [VMM-LEAK-ELSEWHERE] for each block that this machine exported and other processes still hold
 *   a descriptor      a leak [VMM-LEAK-DESCRIPTOR] instead, where this process itself has a descriptor open
 *
 * A hint is not a leak of this process: the other holders must release their references.
 */
#ifndef SIM_LEAK_HOLDERS_H
#define SIM_LEAK_HOLDERS_H

#include "process.h"

struct leak_holders {
    vmm_detail *hint;
    uint64_t count, leaks; /* of hints; leaks: how many of them are leaks */
};

/* Extends the notes of these leaks and creates the hints; the caller frees the hints. If leaks are counted and not reported, the
 * descriptors of other processes are not searched. Under the machine's lock. */
struct leak_holders sim_leak_holders(const struct sim_process *process, vmm_detail *leaks, uint64_t count, bool reported);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* dry_run.h - runs a kernel without effect, to see what it accesses.
 *
 *     a twin             computes all addresses, and reads and writes nothing
 *     a kernel of PTX    runs on the memory as it is now; what it writes goes to an overlay (ptx_overlay.h)
 *     a plugin's kernel  is not run: it may do anything
 *
 * A kernel of PTX may take long. A dry run ends after DRY_STEPS of its warps, and all of a process's together make one for each
 * DRY_SHARE that its kernels have made by then, since they take a few times as long, and DRY_FIRST more. Call these under the
 * machine's lock.
 */
#ifndef SIM_DRY_RUN_H
#define SIM_DRY_RUN_H

#include "process.h"
#include "queue.h"
#include "twin.h"

#define DRY_STEPS (UINT64_C(1) << 18)
#define DRY_FIRST (UINT64_C(1) << 21)
enum { DRY_SHARE = 4 };

/* memory gets the requests, and memory->ended is called when a kernel of PTX does not come to its end. */
void dry_run(const struct sim_process *process, const struct queue_place *place, struct twin_memory *memory,
             const struct vmm_call_launch *call);

/* What a kernel of PTX has made that ran. */
void dry_run_allow(const struct sim_process *process, uint64_t steps);

/* The part of a launch that a kernel of PTX learns from the machine. */
void dry_run_describe(const struct sim_process *process, const struct queue_place *place, struct twin_memory *memory);

#endif

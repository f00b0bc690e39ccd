/* SPDX-License-Identifier: Apache-2.0 */
/* dry_run.h - runs a kernel without effect, to see what it accesses.
 *
 *     a twin             computes all addresses, and reads and writes nothing
 *     a kernel of PTX    runs on the memory as it is now; what it writes goes to an overlay (ptx_overlay.h)
 *     a plugin's kernel  is not run, because it may do anything
 *
 * A kernel of PTX may take long. A dry run ends after DRY_STEPS steps of its warps. All dry runs of a process together may
 * make DRY_FIRST steps plus one for each DRY_SHARE that its kernels have made, because dry steps take a few times as
 * long. Call these under the
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

/* memory gets the requests, and memory->ended is called if a PTX kernel does not run to its end. */
void dry_run(const struct sim_process *process, const struct queue_place *place, struct twin_memory *memory,
             const struct vmm_call_launch *call);

/* Adds the steps of a PTX kernel that ran. */
void dry_run_allow(const struct sim_process *process, uint64_t steps);

/* The part of a launch that a PTX kernel gets from the machine. */
void dry_run_describe(const struct sim_process *process, const struct queue_place *place, struct twin_memory *memory);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* call_pool.h - the common part of memory pool calls. */
#ifndef SIM_CALL_POOL_H
#define SIM_CALL_POOL_H

#include "pools.h"

/* The live pool for a value that was passed as `argument`; a refusal if there is none. */
vmm_result sim_pool_live(const struct sim_process *process, vmm_memory_pool value, const char *argument, struct sim_pool **pool);

/* The same for a pool that was not imported. */
vmm_result sim_pool_own(const struct sim_process *process, vmm_memory_pool value, struct sim_pool **pool);

#endif

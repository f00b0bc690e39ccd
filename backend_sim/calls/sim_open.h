/* SPDX-License-Identifier: Apache-2.0 */
/* sim_open.h - opens a simulator without vmm_open, on a machine that the caller describes. */
#ifndef SIM_OPEN_H
#define SIM_OPEN_H

#include "backend.h"
#include "open_options.h"
#include "profile.h"

/* As vmm_sim_open. If bytes is false, copies and fills are checked but store nothing, and memory pools take no addresses: the
 * program places those. */
vmm_result sim_open_profile(const struct sim_profile *profile, const struct sim_options *options, bool bytes,
                            struct vmm_backend **backend);

/* Reads the simulator's part of a spec, and CUVMM_MACHINE, without opening anything. */
vmm_result sim_read_spec(const char *args, struct sim_profile *profile, struct sim_options *options);

/* The spec of the machine of a driver's libraries. CUVMM_BACKEND may be meant for libcuvmm in the same process, which sees them
 * as the driver. */
const char *sim_spec_of_environment(void);
/* The simulator's own part of a spec. */
const char *sim_spec_backend(const char *text);

/* Sets the value that objects show for a live handle, pool, array or context: the one that the program knows. */
void sim_show_handle(struct vmm_backend *sim, uint64_t value, uint64_t shown);
void sim_show_pool(struct vmm_backend *sim, uint64_t value, uint64_t shown);
void sim_show_array(struct vmm_backend *sim, uint64_t value, uint64_t shown);
void sim_show_context(struct vmm_backend *sim, uint64_t value, uint64_t shown);

#endif

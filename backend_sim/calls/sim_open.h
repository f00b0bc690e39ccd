/* SPDX-License-Identifier: Apache-2.0 */
/* sim_open.h - a simulator for others than vmm_open: on a machine that is described in place. */
#ifndef SIM_OPEN_H
#define SIM_OPEN_H

#include "backend.h"
#include "open_options.h"
#include "profile.h"

/* As vmm_sim_open. Without bytes, copies and fills are checked and nothing is stored. */
vmm_result sim_open_profile(const struct sim_profile *profile, const struct sim_options *options, bool bytes,
                            struct vmm_backend **backend);

/* Makes objects tell another value for a live handle or context, the one that the program knows it by. */
void sim_show_handle(struct vmm_backend *sim, uint64_t value, uint64_t shown);
void sim_show_context(struct vmm_backend *sim, uint64_t value, uint64_t shown);

#endif

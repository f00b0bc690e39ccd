/* SPDX-License-Identifier: Apache-2.0 */
/* call_fabric.h - export and import of fabric handles, as far as they differ from descriptors.
 *
 *   export   H1 -> its block's name in this node's state, the domain, the channel -> 64 bytes
 *   import   64 bytes -> domain and channel: access? -> the node -> its block
 */
#ifndef SIM_CALL_FABRIC_H
#define SIM_CALL_FABRIC_H

#include "sim.h"

/* The channel through which memory is exported to a fabric. It is chosen before anything is allocated, because the placement
 * of the memory depends on it. */
struct sim_channel {
    int number; /* IMEX_NONE if there is none (see why), or if types has no fabric handle, so that none is needed */
    struct imex_place place;
    char why[SHARE_WHY];
};

/* SUCCESS even if there is no channel: the call refuses that later, in the order of its checks. */
vmm_result sim_fabric_look(struct sim_process *process, struct sim_channel *channel);
static inline vmm_result sim_fabric_channel(struct sim_process *process, uint64_t types, struct sim_channel *channel)
{
    channel->number = IMEX_NONE;
    channel->place = (struct imex_place){0};
    channel->why[0] = '\0';
    return types & VMM_MEM_HANDLE_TYPE_FABRIC ? sim_fabric_look(process, channel) : VMM_SUCCESS;
}

/* Does this process still have access to the memory's channel? */
vmm_result sim_fabric_check_export(const struct sim_process *process, const struct sim_handle *handle);
/* Writes the handle of a block that was created for a fabric to place. */
vmm_result sim_fabric_export(struct sim_machine *machine, struct sim_block *block, void *place);

/* Finds the block that a descriptor names and adds a holder to it (call_share.c). */
vmm_result sim_share_find(struct sim_machine *machine, const void *os_handle, struct sim_block **block);

/* Finds the block that the bytes name and adds a holder to it. */
vmm_result sim_fabric_find(struct sim_process *process, const void *bytes, struct sim_block **block);

#endif

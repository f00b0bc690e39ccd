/* SPDX-License-Identifier: Apache-2.0 */
/* call_fabric.h - export and import of fabric handles: what of those calls differs from descriptors.
 *
 *   export   H1 -> its block's name in this node's state, the domain, the channel -> 64 bytes
 *   import   64 bytes -> domain and channel: may this process? -> the node -> its block
 */
#ifndef SIM_CALL_FABRIC_H
#define SIM_CALL_FABRIC_H

#include "sim.h"

/* Through which channel something goes to a fabric, found before anything is taken: where memory lies depends on that. */
struct sim_channel {
    int number; /* IMEX_NONE: it cannot, and why; or it need not, as no handle of types is for a fabric */
    struct imex_place place;
    char why[SHARE_WHY];
};

/* SUCCESS also where there is none: that is refused by the call, in its turn. */
vmm_result sim_fabric_look(struct sim_process *process, struct sim_channel *channel);
static inline vmm_result sim_fabric_channel(struct sim_process *process, uint64_t types, struct sim_channel *channel)
{
    channel->number = IMEX_NONE;
    channel->place = (struct imex_place){0};
    channel->why[0] = '\0';
    return types & VMM_MEM_HANDLE_TYPE_FABRIC ? sim_fabric_look(process, channel) : VMM_SUCCESS;
}

/* Is the channel of the memory still this process's to use? */
vmm_result sim_fabric_check_export(const struct sim_process *process, const struct sim_handle *handle);
/* Writes the handle of a block that was created for a fabric to place. */
vmm_result sim_fabric_export(struct sim_machine *machine, struct sim_block *block, void *place);

/* The block that the bytes stand for, with one holder more. */
vmm_result sim_fabric_find(struct sim_process *process, const void *bytes, struct sim_block **block);

#endif

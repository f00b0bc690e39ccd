/* SPDX-License-Identifier: Apache-2.0 */
/* Publishes this machine's private use and its holders in the state. */
#include "machine.h"
#include "share_mark.h"
#include "share_parts.h"

void share_publish(struct share *share, const struct sim_machine *machine)
{
    if (!share_joined(share))
        return;
    struct share_use *use = &share->folder.state->slot[share->slot].use;
    for (int i = 0; i < machine->visible.all; i++) {
        int place = machine->visible.place[i];
        atomic_store(&use->device[place], machine->device_used[i]);
        atomic_store(&use->compressed[place], machine->device_compressed[i]);
    }
    for (int i = 0; i < SIM_MAX_NODES; i++)
        atomic_store(&use->node[i], machine->node_used[i]);
}

void share_count(struct share *share, const struct sim_block *block, uint64_t call)
{
    if (share_joined(share))
        share_mark_hold(share->folder.state, block->shared_index, share->slot, call, block->holders);
}

void share_exported_by(struct share *share, const struct sim_block *block, uint64_t call)
{
    struct share_block *entry = &share->folder.state->block[block->shared_index];
    if (share_joined(share) && !atomic_load(&entry->exported))
        atomic_store(&entry->exported, call);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Releases blocks by their last holder, or last watcher, in this machine. */
#include "machine.h"
#include "share_parts.h"
#include "team.h"

void share_drop(struct share *share, struct sim_block *block)
{
    unsigned index = block->shared_index;
    bool own = !block->bytes.borrowed, sound = share_joined(share);
    if (sound)
        share_hold(&share->folder.state->block[index], share->slot, false);
    if (own && block->team)
        team_empty(block->team); /* the next import here reads the team again */
    if (!own && !block->watchers)
        share_forget(share, block);
    if (!sound || !share_lock(share))
        return;
    if (share_is_over(share, &share->folder.state->block[index]))
        share_end_block(share, &share->folder.state->block[index]);
    share_collect(share);
    share_unlock(share);
}

void share_watch(struct sim_block *block)
{
    block->watchers++;
}

void share_unwatch(struct sim_block *block)
{
    struct share *share = block->share;
    if (--block->watchers || block->holders)
        return;
    if (block->bytes.borrowed) {
        share_forget(share, block);
    } else if (share_joined(share) && share_lock(share)) {
        share_collect(share);
        share_unlock(share);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Finds and frees what ended processes left behind, and blocks that no process can reach. */
#include <stdlib.h>

#include "heap.h"
#include "machine.h"
#include "share_event.h"
#include "share_parts.h"
#include "share_team.h"
#include "share_token.h"
#include "team.h"

const char *share_file_of(const struct share *share, const char *kind, uint64_t number, char path[OS_PATH_MAX])
{
    return share_folder_file(&share->folder, kind, number, path);
}

/* Clears the file of an ended process, except for blocks that still have a holder. */
static void trim(const struct share *share, uint64_t home)
{
    struct os_file_is is;
    if (!share_home_blocks(share->folder.state, home, NULL)) {
        share_folder_remove_file(&share->folder, "mem", home);
        return;
    }
    int file = share_folder_open_file(&share->folder, "mem", home, OS_OPEN_WRITE);
    if (file < 0)
        return;
    uint64_t at = 0, end = os_file_look(file, &is) ? is.size : 0;
    while (at < end) {
        uint64_t next = end, after = end;
        for (unsigned i = 0; i < share_blocks(share->folder.state); i++) {
            const volatile struct share_block *block = &share->folder.state->block[i];
            uint64_t place = block->place, size = block->size; /* read once, because it may be forged meanwhile */
            if (atomic_load(&block->number) && block->home == home && place >= at && place < next) {
                next = place;
                after = size < end - next ? next + size : end;
            }
        }
        if (next > at)
            os_file_clear(file, at, next - at);
        at = after > at ? after : end;
    }
    os_file_close(file);
}

static void empty(struct share_use *use)
{
    for (int i = 0; i < VMM_MAX_DEVICES; i++) {
        atomic_store(&use->device[i], 0);
        atomic_store(&use->compressed[i], 0);
    }
    for (int i = 0; i < SIM_MAX_NODES; i++)
        atomic_store(&use->node[i], 0);
}

void share_forget_token(const struct share *share)
{
    uint64_t last = atomic_load(&share->folder.state->numbers);
    for (unsigned i = 0; i < share_blocks(share->folder.state); i++)
        if (atomic_load(&share->folder.state->block[i].number) == last)
            return;
    share_folder_remove_file(&share->folder, "token", last);
}

/* The slot's process has ended. The order matters: a process killed here leaves a slot that the next process clears again. */
void share_clear_slot(const struct share *share, unsigned index)
{
    struct share_slot *slot = &share->folder.state->slot[index];
    for (unsigned i = 0; i < share_blocks(share->folder.state); i++)
        share_hold(&share->folder.state->block[i], index, false);
    share_event_leave(share, index);
    empty(&slot->use);
    share_forget_token(share);
    trim(share, atomic_load(&slot->serial));
    atomic_store(&slot->taken, 0);
}

bool share_is_over(const struct share *share, const struct share_block *block)
{
    char path[OS_PATH_MAX];
    uint64_t number = atomic_load(&block->number);
    return number && !share_is_held(block) && !share_is_bound(share->folder.state, number) &&
           !share_token_is_out(share_file_of(share, "token", number, path));
}

/* Clears at most to the end of the file: the block's offset comes from the state, where any value is possible and may
 * change between reads. */
static void clear_bytes(int file, const volatile struct share_block *block)
{
    struct os_file_is is;
    uint64_t end = os_file_look(file, &is) ? is.size : 0, place = block->place, size = block->size;
    if (place < end && size)
        os_file_clear(file, place, size < end - place ? size : end - place);
}

/* No process can reach the block any more. Its home clears its bytes; if the home has ended, this function does. */
void share_end_block(const struct share *share, struct share_block *block)
{
    uint64_t home = block->home;
    share_folder_remove_file(&share->folder, "token", atomic_load(&block->number));
    if (!block->team && !share_home_lives(share->folder.state, home)) {
        int file = share_folder_open_file(&share->folder, "mem", home, OS_OPEN_WRITE);
        if (file >= 0) {
            clear_bytes(file, block);
            os_file_close(file);
        }
        if (!share_home_blocks(share->folder.state, home, block))
            share_folder_remove_file(&share->folder, "mem", home);
    }
    atomic_store(&block->number, 0);
}

/* Frees the memory of this machine's blocks that have ended and have no holder here. */
void share_collect(struct share *share)
{
    for (struct sim_block **at = &share->blocks; *at;) {
        struct sim_block *block = *at;
        if (block->holders || block->watchers ||
            atomic_load(&share->folder.state->block[block->shared_index].number) == block->shared) {
            at = &block->next_shared;
            continue;
        }
        *at = block->next_shared;
        if (block->team) {
            team_forget(block->team);
            at = &share->blocks; /* the list may have lost more blocks */
        }
        block_data_clear(&block->bytes);
        heap.free(block);
    }
}

static void end_blocks(struct share *share)
{
    for (unsigned i = 0; i < share_blocks(share->folder.state); i++)
        if (share_is_over(share, &share->folder.state->block[i]))
            share_end_block(share, &share->folder.state->block[i]);
}

void share_tidy(struct share *share)
{
    char path[OS_PATH_MAX];
    uint64_t self = os_process_id();
    for (unsigned i = 0; i < share_slots(share->folder.state); i++) {
        const struct share_slot *slot = &share->folder.state->slot[i];
        if (atomic_load(&slot->taken) && atomic_load(&slot->owner) != self &&
            !os_process_alive(share_file_of(share, "slot", i, path)))
            share_clear_slot(share, i);
    }
    end_blocks(share);
    if (share_team_tidy(&share->folder))
        end_blocks(share); /* blocks that were bound to those */
    share_collect(share);
}

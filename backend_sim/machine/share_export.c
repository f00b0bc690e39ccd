/* SPDX-License-Identifier: Apache-2.0 */
/* Exports: a block gets an entry in the state, and a token for its importers. */
#include <stdio.h>
#include <string.h>

#include "machine.h"
#include "share_mark.h"
#include "share_parts.h"
#include "share_team.h"
#include "share_token.h"
#include "team.h"

/* A free entry, with space in the file: an entry gets it before its first use. NULL: `wrong` has the reason. */
static struct share_block *free_block(const struct share *share, unsigned *index, const char **wrong)
{
    struct share_state *state = share->folder.state;
    for (*index = 0; *index < SHARE_BLOCKS; ++*index) {
        if (*index >= share_blocks(state) && !share_mark_block(&share->folder, *index)) {
            *wrong = "there is no space to record the block";
            return NULL;
        }
        if (!atomic_load(&state->block[*index].number))
            return &state->block[*index];
    }
    *wrong = "8192 exported pieces of memory are in use";
    return NULL;
}

/* Moves a block from this process's private use to the use counted for all processes. */
static void count_for_all(struct share *share, struct sim_machine *machine, const struct sim_block *block)
{
    sim_machine_count(machine, block, false);
    share_publish(share, machine);
}

/* Publishes the contents: bytes, or a team. Never reads back what it wrote, because other processes may write there. */
static const char *publish_inside(struct share *share, struct share_block *entry, struct sim_block *block,
                                  struct share_team **team)
{
    entry->team = 0;
    *team = NULL;
    if (!block->team)
        return block_data_open(&block->bytes) ? NULL
            : "the host's memory is exhausted, or there is no space for all bytes of the block";
    *team = share_team_new(share->folder.state, block->team->wanted, block->team->handle_types);
    if (!*team)
        return "256 exported multicast objects are in use";
    entry->team = 1 + (uint32_t)(*team - share->folder.state->team);
    return NULL;
}

static bool make_token(const struct share *share, const struct share_token *token, struct os_file_is *is)
{
    int file = share_folder_open_file(&share->folder, "token", token->number, OS_OPEN_NEW);
    if (file < 0)
        return false;
    bool made = share_token_write(file, token, is);
    os_file_close(file);
    if (!made)
        share_folder_remove_file(&share->folder, "token", token->number);
    return made;
}

static const char *publish_block(struct share *share, struct sim_machine *machine, struct sim_block *block)
{
    unsigned index;
    struct os_file_is is;
    const char *wrong = NULL;
    struct share_block *entry = free_block(share, &index, &wrong);
    struct share_token token = {.machine = share->folder.state->id, .index = index};
    vmm_mem_location place = sim_machine_place(machine, block->prop.location);
    if (!entry)
        return wrong;
    struct share_team *team;
    wrong = publish_inside(share, entry, block, &team);
    if (!wrong && !share_mark_room(&share->folder, index))
        wrong = "there is no space to record the holders of the block";
    if (wrong)
        return wrong;
    share_forget_token(share); /* while its number is the last one */
    token.number = atomic_load(&share->folder.state->numbers) + 1;
    if (!token.number) /* 0 means that the block is not exported */
        return "the machine's state reports that all numbers are used up";
    atomic_store(&share->folder.state->numbers, token.number);
    snprintf(token.name, sizeof token.name, "%s", share->name);
    if (!os_random(token.nonce, sizeof token.nonce) || !make_token(share, &token, &is))
        return "no file can be created for it";
    memcpy(entry->nonce, token.nonce, sizeof entry->nonce);
    entry->file_device = is.device;
    entry->file_number = is.number;
    entry->home = block->team ? 0 : share->serial;
    entry->place = block->team ? 0 : block->bytes.place;
    entry->size = block->size;
    entry->location_type = place.type;
    entry->location_id = place.id;
    entry->compression = block->prop.alloc_flags.compression_type;
    entry->fabric = block->fabric;
    for (unsigned i = 0; i < SHARE_PROCESSES; i++)
        share_hold(entry, i, i == share->slot);
    share_mark_process(&entry->maker);
    atomic_store(&entry->exported, 0);
    if (share_blocks(share->folder.state) <= index)
        atomic_store(&share->folder.state->blocks_seen, index + 1);
    if (team)
        share_team_begin(share->folder.state, team, token.number);
    atomic_store(&entry->number, token.number); /* the block exists from this store on */
    share_list(share, block, token.number, index);
    share_count(share, block, 0);
    if (!block->team)
        count_for_all(share, machine, block);
    return NULL;
}

const char *share_publish_block(struct share *share, struct sim_machine *machine, struct sim_block *block)
{
    return block->shared ? NULL : publish_block(share, machine, block);
}

const char *share_export(struct share *share, struct sim_machine *machine, struct sim_block *block, int *file)
{
    char path[OS_PATH_MAX];
    const char *wrong = share_publish_block(share, machine, block);
    if (wrong)
        return wrong;
    *file = share_token_open(share_file_of(share, "token", block->shared, path));
    return *file >= 0 ? NULL : "this process may open no more files";
}

struct share_label share_label_of(const struct sim_block *block)
{
    const struct share_state *state = block->share->folder.state;
    const struct share_block *entry = &state->block[block->shared_index];
    return (struct share_label){state->id, block->shared, {entry->nonce[0], entry->nonce[1]}, block->shared_index};
}

const char *share_name(struct share *share, struct sim_machine *machine, struct sim_block *block,
                       struct share_label *label)
{
    const char *wrong = share_publish_block(share, machine, block);
    if (!wrong)
        *label = share_label_of(block);
    return wrong;
}

const char *share_name_any(struct share *share, struct sim_machine *machine, struct sim_block *block,
                           struct share_label *label)
{
    bool elsewhere = !block->shared && block->bytes.backing != &share->memory;
    if (elsewhere && !block_data_move(&block->bytes, &share->memory))
        return SHARE_MEMORY_OUT;
    return share_name(share, machine, block, label);
}

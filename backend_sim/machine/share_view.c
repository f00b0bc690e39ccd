/* SPDX-License-Identifier: Apache-2.0 */
/* This machine's view of another machine's block. The entry may be forged, so the view is checked when it is created. */
#include <stdio.h>
#include <stdlib.h>

#include "machine.h"
#include "heap.h"
#include "share_parts.h"
#include "share_team.h"
#include "team.h"

void share_list(struct share *share, struct sim_block *block, uint64_t number, unsigned index)
{
    block->share = share;
    block->shared = number;
    block->shared_index = index;
    block->next_shared = share->blocks;
    share->blocks = block;
}

static struct sim_block *here(const struct share *share, uint64_t number)
{
    struct sim_block *block = share->blocks;
    while (block && block->shared != number)
        block = block->next_shared;
    return block;
}

/* A copy of a block's entry, read once: another process may write there meanwhile, and only checked values may be used. */
struct claim {
    uint64_t home, place, size;
    vmm_mem_location location;
    uint32_t compression, team;
    struct imex_place fabric;
};

static struct claim claim_of(const volatile struct share_block *entry)
{
    return (struct claim){.home = entry->home,
                          .place = entry->place,
                          .size = entry->size,
                          .location = {entry->location_type, entry->location_id},
                          .compression = entry->compression,
                          .team = entry->team,
                          .fabric = {entry->fabric.domain, entry->fabric.channel}};
}

#define IMPOSSIBLE "the machine's state is inconsistent"

/* Checks whether the machine could have such memory, because the state may be forged. Returns NULL, or the reason why not. */
static const char *implausible(const struct sim_machine *machine, const struct claim *claim, const struct backing_file *backing)
{
    const struct sim_profile *profile = &machine->profile;
    struct os_file_is is;
    int nodes = profile->host_nodes ? profile->host_nodes : 1;
    bool device = claim->location.type == VMM_MEM_LOCATION_TYPE_DEVICE, nowhere = claim->location.type == VMM_MEM_LOCATION_TYPE_INVALID;
    if (!device && !nowhere && claim->location.type != VMM_MEM_LOCATION_TYPE_HOST_NUMA)
        return IMPOSSIBLE;
    if (claim->location.id < 0 || claim->location.id >= (device ? machine->visible.all : nowhere ? 1 : nodes))
        return IMPOSSIBLE;
    if (!os_file_look(backing->file, &is))
        return "the system does not report the size of the exporter's file";
    bool sound = is.regular && claim->size && claim->place <= is.size && claim->size <= is.size - claim->place &&
                 claim->place % os_page_size() == 0;
    return sound ? NULL : IMPOSSIBLE;
}

static struct sim_block *new_view(struct sim_machine *machine, const struct claim *claim)
{
    struct sim_block *block = heap.calloc(1, sizeof *block);
    if (!block)
        return NULL;
    block->id = ++machine->blocks;
    block->size = claim->size;
    block->fabric = claim->fabric;
    return block;
}

/* Sets up the view of memory: its bytes are in its exporter's file. own: it belongs to this machine, and not to another of the
 * fabric. */
static const char *view_memory(struct sim_machine *machine, const struct claim *claim, bool own, struct share_memory *memory,
                               struct sim_block **made)
{
    const char *wrong = implausible(machine, claim, &memory->backing);
    if (wrong)
        return wrong;
    struct sim_block *block = backing_file_map(&memory->backing, claim->place, claim->size) ? new_view(machine, claim) : NULL;
    if (!block)
        return SHARE_MEMORY_OUT;
    block->prop.type = VMM_MEM_ALLOCATION_TYPE_PINNED;
    block->prop.location = own ? sim_machine_local(machine, claim->location) : claim->location;
    block->prop.alloc_flags.compression_type = (unsigned char)claim->compression;
    block_data_borrow(&block->bytes, &memory->backing, claim->place, claim->size);
    memory->users++;
    *made = block;
    return NULL;
}

/* Sets up the view of a multicast object: its team, which team_look updates before each use (team_share.h). */
static const char *view_team(struct sim_machine *machine, const struct claim *claim, const struct share_team *shared,
                             struct sim_block **made)
{
    uint64_t unit = sim_profile_multicast(&machine->profile, VMM_MULTICAST_GRANULARITY_MINIMUM);
    uint64_t wanted = shared ? ((const volatile struct share_team *)shared)->wanted : 0;
    if (!unit || !claim->size || claim->size % unit)
        return IMPOSSIBLE;
    /* LCOV_EXCL_BR_START: beyond the most only if another process wrote there after share_team_of read it */
    if (wanted < 2 || wanted > SHARE_MEMBERS)
        return IMPOSSIBLE;
    /* LCOV_EXCL_BR_STOP */
    struct team *team = team_view((unsigned)wanted, shared->handle_types);
    struct sim_block *block = team ? new_view(machine, claim) : NULL;
    if (!block) {
        heap.free(team);
        return SHARE_MEMORY_OUT;
    }
    block->team = team;
    block_data_init(&block->bytes, &machine->backing, 0);
    block->bytes.borrowed = true;
    *made = block;
    return NULL;
}

/* Creates this machine's view of another process's block. */
static enum share_found view(struct share *share, struct sim_machine *machine, unsigned index, uint64_t number,
                             struct sim_block **made, char text[SHARE_WHY])
{
    struct share_block *entry = &share->folder.state->block[index];
    const struct claim claim = claim_of(entry);
    struct share_memory *memory = claim.team ? NULL : share_memory_of(share, claim.home);
    if (!memory && !claim.team) {
        snprintf(text, SHARE_WHY, "the file of the exporter's memory cannot be opened");
        return SHARE_NO_FILE;
    }
    struct sim_block *block;
    const char *wrong = memory ? view_memory(machine, &claim, share->machine != NULL, memory, &block)
                               : view_team(machine, &claim, share_team_of(share->folder.state, entry), &block);
    if (wrong) {
        share_forget_memory(share);
        snprintf(text, SHARE_WHY, "%s", wrong);
        return SHARE_NO_MEMORY;
    }
    share_list(share, block, number, index);
    *made = block;
    return SHARE_FOUND;
}

enum share_found share_see(struct share *share, struct sim_machine *machine, unsigned index, uint64_t number,
                           struct sim_block **block, char text[SHARE_WHY])
{
    *block = here(share, number);
    return *block ? SHARE_FOUND : view(share, machine, index, number, block, text);
}

void share_forget(struct share *share, struct sim_block *block)
{
    struct sim_block **at = &share->blocks;
    while (*at != block)
        at = &(*at)->next_shared;
    *at = block->next_shared;
    if (block->team)
        team_forget(block->team);
    for (struct share_memory *memory = share->others; memory; memory = memory->next)
        memory->users -= block->bytes.backing == &memory->backing;
    block_data_clear(&block->bytes);
    heap.free(block);
    share_forget_memory(share);
}

void share_leave_blocks(struct share *share)
{
    while (share->blocks) {
        share->blocks->bytes.borrowed = true;
        share_forget(share, share->blocks);
    }
}

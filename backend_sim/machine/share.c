/* SPDX-License-Identifier: Apache-2.0 */
#include "share.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "lifecycle.h"
#include "machine.h"
#include "share_mark.h"
#include "share_parts.h"
#include "share_team.h"
#include "share_token.h"
#include "team.h"

#define NO_MEMORY "the host's memory is exhausted"

/* Does this process take part, and can that be touched? A forked child has its parent's part, which it leaves alone. */
static bool joined(const struct share *share)
{
    return share->owner && share->owner == os_process_id() && share_folder_sound(&share->folder) && share_has_slot(share);
}

/* ---- opening and closing ---- */

static int make_memory(void *user)
{
    const struct share *share = user;
    return share_folder_open_file(&share->folder, "mem", share->serial, OS_OPEN_MAKE);
}

/* Made before a folder is, which would have to be taken away again. */
static struct share *new_share(char why[SHARE_WHY])
{
    struct share *share = heap.calloc(1, sizeof *share);
    if (!share)
        snprintf(why, SHARE_WHY, NO_MEMORY);
    return share;
}

static struct share *opened(struct share *share, bool found, const char *name, const struct sim_profile *profile)
{
    if (!found) {
        heap.free(share);
        return NULL;
    }
    share->life = -1;
    share->profile = profile;
    share->stamp = life_stamp();
    share->patience = SHARE_PATIENCE;
    snprintf(share->name, sizeof share->name, "%s", name ? name : share_folder_name(&share->folder));
    frames_init(&share->memory);
    frames_lie_in(&share->memory, make_memory, share);
    return share;
}

struct share *share_open(const char *name, const struct sim_profile *profile, char why[SHARE_WHY])
{
    struct share *share = new_share(why);
    return share ? opened(share, share_folder_open(&share->folder, name, profile, why), name ? name : "", profile) : NULL;
}

struct share *share_open_other(uint64_t id, const struct sim_profile *profile, char why[SHARE_WHY])
{
    struct share *share = new_share(why);
    return share ? opened(share, share_folder_open_other(&share->folder, id, profile, why), NULL, profile) : NULL;
}

struct share *share_open_there(const char *entry, char why[SHARE_WHY])
{
    struct share *share = new_share(why);
    return share ? opened(share, share_folder_open_there(&share->folder, entry, why), NULL, NULL) : NULL;
}

/* A child that was forked before anybody initialised goes on with what its parent opened, and has lost that. */
static const char *open_again(struct share *share)
{
    if (share->stamp == life_stamp())
        return NULL;
    share_folder_close(&share->folder, false);
    share->stamp = life_stamp();
    return share_folder_open(&share->folder, share->name, share->profile, share->text) ? NULL : share->text;
}

static bool open_life(struct share *share, unsigned index)
{
    share->life_own = (struct os_own){.file = &share->life};
    if (os_own_add(&share->life_own))
        share->life = share_folder_open_file(&share->folder, "slot", index, OS_OPEN_MAKE);
    return share->life >= 0;
}

static void close_life(struct share *share)
{
    os_own_remove(&share->life_own);
    if (share->life >= 0)
        os_file_close(share->life);
    share->life = -1;
}

static bool move_in(struct share *share, unsigned index)
{
    struct share_slot *slot = &share->folder.state->slot[index];
    if (atomic_load(&slot->taken))
        return false;
    if (!open_life(share, index) || !os_live(share->life)) {
        close_life(share);
        return false;
    }
    share->slot = index;
    share->owner = os_process_id();
    share->serial = atomic_load(&share->folder.state->serials) + 1;
    atomic_store(&share->folder.state->serials, share->serial);
    atomic_store(&slot->serial, share->serial);
    atomic_store(&slot->owner, share->owner);
    share_mark_process(&slot->who);
    if (share_slots(share->folder.state) <= index)
        atomic_store(&share->folder.state->slots_seen, index + 1);
    atomic_store(&slot->taken, 1);
    return true;
}

const char *share_join(struct share *share)
{
    if (joined(share))
        return NULL;
    if (!os_process_id())
        return "there are no random numbers to be had";
    const char *wrong = open_again(share);
    if (wrong)
        return wrong;
    if (!share_lock(share))
        return share_why(share);
    bool in = false;
    close_life(share); /* of a slot that this process lost, or its parent's */
    share->owner = 0;
    share_tidy(share);
    for (unsigned i = 0; !in && i < SHARE_PROCESSES; i++)
        in = move_in(share, i);
    share_unlock(share);
    return in ? NULL : "256 processes have it open, or this one may open no more files";
}

/* ---- what this machine uses ---- */

void share_publish(struct share *share, const struct sim_machine *machine)
{
    if (!joined(share))
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
    if (joined(share))
        share_mark_hold(share->folder.state, block->shared_index, share->slot, call, block->holders);
}

void share_exported_by(struct share *share, const struct sim_block *block, uint64_t call)
{
    struct share_block *entry = &share->folder.state->block[block->shared_index];
    if (joined(share) && !atomic_load(&entry->exported))
        atomic_store(&entry->exported, call);
}

/* ---- export ---- */

static struct share_block *free_block(const struct share *share, unsigned *index)
{
    for (*index = 0; *index < SHARE_BLOCKS; ++*index)
        if (!atomic_load(&share->folder.state->block[*index].number))
            return &share->folder.state->block[*index];
    return NULL;
}

/* From what this process uses by itself to what is counted for all. */
static void count_for_all(struct share *share, struct sim_machine *machine, const struct sim_block *block)
{
    sim_machine_count(machine, block, false);
    share_publish(share, machine);
}

/* What there is of it: bytes, or a team. What was written is not read again: somebody may write there. */
static const char *publish_inside(struct share *share, struct share_block *entry, struct sim_block *block,
                                  struct share_team **team)
{
    entry->team = 0;
    *team = NULL;
    if (!block->team)
        return bytes_open(&block->bytes) ? NULL : "the host's memory is exhausted, or there is no room for all of its bytes";
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
    struct share_block *entry = free_block(share, &index);
    struct share_token token = {.machine = share->folder.state->id, .index = index};
    vmm_mem_location place = sim_machine_place(machine, block->prop.location);
    if (!entry)
        return "8192 exported pieces of memory are in use";
    struct share_team *team;
    const char *wrong = publish_inside(share, entry, block, &team);
    if (!wrong && !share_mark_room(&share->folder, index))
        wrong = "there is no room to note who holds it";
    if (wrong)
        return wrong;
    share_forget_token(share); /* while it is the last */
    token.number = atomic_load(&share->folder.state->numbers) + 1;
    if (!token.number) /* which says of a block that it is not exported */
        return "the machine's state says that all numbers are used up";
    atomic_store(&share->folder.state->numbers, token.number);
    snprintf(token.name, sizeof token.name, "%s", share->name);
    if (!os_random(token.nonce, sizeof token.nonce) || !make_token(share, &token, &is))
        return "no file can be made for it";
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
    atomic_store(&entry->number, token.number); /* from here on it is there */
    block->share = share;
    block->shared = token.number;
    block->shared_index = index;
    block->next_shared = share->blocks;
    share->blocks = block;
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
    return *file >= 0 ? NULL : "the process may open no more files";
}

const char *share_name(struct share *share, struct sim_machine *machine, struct sim_block *block,
                       struct share_label *label)
{
    const char *wrong = share_publish_block(share, machine, block);
    if (wrong)
        return wrong;
    const struct share_block *entry = &share->folder.state->block[block->shared_index];
    *label = (struct share_label){share->folder.state->id, block->shared, {entry->nonce[0], entry->nonce[1]},
                                  block->shared_index};
    return NULL;
}

/* ---- import ---- */

static struct sim_block *here(const struct share *share, uint64_t number)
{
    struct sim_block *block = share->blocks;
    while (block && block->shared != number)
        block = block->next_shared;
    return block;
}

static struct share_memory *memory_of(struct share *share, uint64_t home)
{
    struct share_memory *memory = share->others;
    while (memory && memory->home != home)
        memory = memory->next;
    if (memory)
        return memory;
    memory = heap.calloc(1, sizeof *memory);
    int file = memory ? share_folder_open_file(&share->folder, "mem", home, OS_OPEN_WRITE) : -1;
    if (file < 0) {
        heap.free(memory);
        return NULL;
    }
    memory->home = home;
    frames_init(&memory->frames);
    memory->frames.file = file;
    memory->next = share->others;
    return share->others = memory;
}

static void forget_memory(struct share *share)
{
    for (struct share_memory **at = &share->others; *at;) {
        struct share_memory *memory = *at;
        if (memory->users) {
            at = &memory->next;
            continue;
        }
        *at = memory->next;
        frames_clear(&memory->frames);
        heap.free(memory);
    }
}

/* What an entry says of its block, read once: what was checked must be what is used, whoever writes there meanwhile. */
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

#define IMPOSSIBLE "the machine's state says what cannot be"

/* Could the machine have such memory? What is read from the state may be anybody's. NULL, or why not. */
static const char *implausible(const struct sim_machine *machine, const struct claim *claim, const struct frames *frames)
{
    const struct sim_profile *profile = &machine->profile;
    struct os_file_is is;
    int nodes = profile->host_nodes ? profile->host_nodes : 1;
    bool device = claim->location.type == VMM_MEM_LOCATION_TYPE_DEVICE;
    if (!device && claim->location.type != VMM_MEM_LOCATION_TYPE_HOST_NUMA)
        return IMPOSSIBLE;
    if (claim->location.id < 0 || claim->location.id >= (device ? machine->visible.all : nodes))
        return IMPOSSIBLE;
    if (!os_file_look(frames->file, &is))
        return "the system does not tell how long the exporter's file is";
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

/* Of memory: its bytes, in the file of who made it. own: it is of this machine, and no other one of the fabric. */
static const char *view_memory(struct sim_machine *machine, const struct claim *claim, bool own, struct share_memory *memory,
                               struct sim_block **made)
{
    const char *wrong = implausible(machine, claim, &memory->frames);
    if (wrong)
        return wrong;
    struct sim_block *block = frames_see(&memory->frames, claim->place, claim->size) ? new_view(machine, claim) : NULL;
    if (!block)
        return NO_MEMORY;
    block->prop.type = VMM_MEM_ALLOCATION_TYPE_PINNED;
    block->prop.location = own ? sim_machine_local(machine, claim->location) : claim->location;
    block->prop.alloc_flags.compression_type = (unsigned char)claim->compression;
    bytes_borrow(&block->bytes, &memory->frames, claim->place, claim->size);
    memory->users++;
    *made = block;
    return NULL;
}

/* Of a multicast object: its team, which is looked at when it is used (team_share.h). */
static const char *view_team(struct sim_machine *machine, const struct claim *claim, const struct share_team *shared,
                             struct sim_block **made)
{
    uint64_t unit = sim_profile_multicast(&machine->profile, VMM_MULTICAST_GRANULARITY_MINIMUM);
    uint64_t wanted = shared ? ((const volatile struct share_team *)shared)->wanted : 0;
    if (!unit || !claim->size || claim->size % unit)
        return IMPOSSIBLE;
    /* LCOV_EXCL_BR_START: beyond the most it is only where somebody wrote there since share_team_of looked */
    if (wanted < 2 || wanted > SHARE_MEMBERS)
        return IMPOSSIBLE;
    /* LCOV_EXCL_BR_STOP */
    struct team *team = team_view((unsigned)wanted, shared->handle_types);
    struct sim_block *block = team ? new_view(machine, claim) : NULL;
    if (!block) {
        heap.free(team);
        return NO_MEMORY;
    }
    block->team = team;
    bytes_init(&block->bytes, &machine->frames, 0);
    block->bytes.borrowed = true;
    *made = block;
    return NULL;
}

/* This machine's view of another's block. */
static enum share_found view(struct share *share, struct sim_machine *machine, unsigned index, uint64_t number,
                             struct sim_block **made, char text[SHARE_WHY])
{
    struct share_block *entry = &share->folder.state->block[index];
    const struct claim claim = claim_of(entry);
    struct share_memory *memory = claim.team ? NULL : memory_of(share, claim.home);
    if (!memory && !claim.team) {
        snprintf(text, SHARE_WHY, "the file of the exporter's memory cannot be opened");
        return SHARE_NO_FILE;
    }
    struct sim_block *block;
    const char *wrong = memory ? view_memory(machine, &claim, share == machine->share, memory, &block)
                               : view_team(machine, &claim, share_team_of(share->folder.state, entry), &block);
    if (wrong) {
        forget_memory(share);
        snprintf(text, SHARE_WHY, "%s", wrong);
        return SHARE_NO_MEMORY;
    }
    block->share = share;
    block->shared = number;
    block->shared_index = index;
    block->next_shared = share->blocks;
    share->blocks = block;
    *made = block;
    return SHARE_FOUND;
}

enum share_found share_see(struct share *share, struct sim_machine *machine, unsigned index, uint64_t number,
                           struct sim_block **block, char text[SHARE_WHY])
{
    *block = here(share, number);
    return *block ? SHARE_FOUND : view(share, machine, index, number, block, text);
}

/* One holder more here, of a block that is there. */
static enum share_found take(struct share *share, struct sim_machine *machine, unsigned index, uint64_t number,
                             struct sim_block **block, char text[SHARE_WHY])
{
    enum share_found found = share_see(share, machine, index, number, block, text);
    if (found != SHARE_FOUND)
        return found;
    (*block)->holders++;
    share_hold(&share->folder.state->block[index], share->slot, true);
    share_count(share, *block, 0);
    return SHARE_FOUND;
}

/* The entry that the token names, if it is the very file that was made for it and says what it said then. */
static bool names(const struct share *share, const struct share_token *token, const struct os_file_is *is)
{
    char name[sizeof token->name] = "";
    memcpy(name, share->name, sizeof share->name);
    if (memcmp(name, token->name, sizeof name) != 0 || token->index >= share_blocks(share->folder.state) ||
        !token->number)
        return false;
    const struct share_block *entry = &share->folder.state->block[token->index];
    return atomic_load(&entry->number) == token->number && !memcmp(entry->nonce, token->nonce, sizeof token->nonce) &&
           entry->file_device == is->device && entry->file_number == is->number;
}

enum share_found share_import(struct share *share, struct sim_machine *machine, int file, struct sim_block **block,
                              char text[SHARE_WHY])
{
    struct share_token token;
    struct os_file_is is;
    text[0] = '\0';
    enum share_token_is read = share_token_read(file, &token, &is);
    if (read == SHARE_TOKEN_UNREAD)
        snprintf(text, SHARE_WHY, SHARE_NOT_TOLD);
    if (read != SHARE_TOKEN)
        return read == SHARE_TOKEN_NONE ? SHARE_NO_TOKEN : SHARE_NO_FILE;
    if (!share || token.machine != share->folder.state->id) {
        snprintf(text, SHARE_WHY, "%s%.40s%s", token.name[0] ? "it belongs to machine=" : "its machine has no name",
                 token.name, "");
        return SHARE_OTHER_MACHINE;
    }
    if (!names(share, &token, &is)) {
        snprintf(text, SHARE_WHY, "it says that it is of this machine, which did not make it");
        return SHARE_UNKNOWN;
    }
    return take(share, machine, (unsigned)token.index, token.number, block, text);
}

enum share_found share_import_named(struct share *share, struct sim_machine *machine, const struct share_label *label,
                                    const struct imex_place *place, struct sim_block **block, char text[SHARE_WHY])
{
    text[0] = '\0';
    if (label->machine != share->folder.state->id || label->index >= share_blocks(share->folder.state) || !label->number)
        return SHARE_UNKNOWN;
    const struct share_block *entry = &share->folder.state->block[label->index];
    if (atomic_load(&entry->number) != label->number || memcmp(entry->nonce, label->nonce, sizeof label->nonce) != 0 ||
        !place->domain || entry->fabric.domain != place->domain || entry->fabric.channel != place->channel)
        return SHARE_UNKNOWN;
    return take(share, machine, label->index, label->number, block, text);
}

/* ---- the end ---- */

static void forget(struct share *share, struct sim_block *block)
{
    struct sim_block **at = &share->blocks;
    while (*at != block)
        at = &(*at)->next_shared;
    *at = block->next_shared;
    if (block->team)
        team_forget(block->team);
    for (struct share_memory *memory = share->others; memory; memory = memory->next)
        memory->users -= block->bytes.frames == &memory->frames;
    bytes_clear(&block->bytes);
    heap.free(block);
    forget_memory(share);
}

void share_drop(struct share *share, struct sim_block *block)
{
    unsigned index = block->shared_index;
    bool own = !block->bytes.borrowed, sound = joined(share);
    if (sound)
        share_hold(&share->folder.state->block[index], share->slot, false);
    if (own && block->team)
        team_empty(block->team); /* it is looked at again by who imports it here */
    if (!own && !block->watchers)
        forget(share, block);
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
        forget(share, block);
    } else if (joined(share) && share_lock(share)) {
        share_collect(share);
        share_unlock(share);
    }
}

/* Nobody else can be reached through it. */
static bool deserted(const struct share *share)
{
    for (unsigned i = 0; i < share_slots(share->folder.state); i++)
        if (atomic_load(&share->folder.state->slot[i].taken))
            return false;
    for (unsigned i = 0; share->name[0] && i < share_blocks(share->folder.state); i++)
        if (atomic_load(&share->folder.state->block[i].number))
            return false;
    return true;
}

/* What others can still reach stays in the file. */
static void leave_blocks(struct share *share)
{
    while (share->blocks) {
        share->blocks->bytes.borrowed = true;
        forget(share, share->blocks);
    }
}

void share_close(struct share *share)
{
    bool last = false, member = joined(share);
    if (member && share_lock_patiently(share)) {
        share_tidy(share);
        leave_blocks(share);
        share_clear_slot(share, share->slot);
        share->owner = 0;
        share_tidy(share);
        last = deserted(share);
        share_unlock(share);
    } else if (!share->owner && share_lock_patiently(share)) {
        share_tidy(share);
        last = deserted(share);
        share_unlock(share);
    }
    leave_blocks(share);
    close_life(share);
    frames_clear(&share->memory);
    share_folder_close(&share->folder, last);
    heap.free(share);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "share_inspect.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "share_mark.h"
#include "share_parts.h"
#include "share_team.h"
#include "share_token.h"

static unsigned cut(uint64_t value, unsigned most)
{
    return value < most ? (unsigned)value : most;
}

static void printable(char *text)
{
    for (char *c = text; *c; c++)
        if (*c < ' ' || *c > '~')
            *c = '?';
}

/* ---- the machine and its processes ---- */

static void read_process(const struct share_state *state, unsigned index, struct share_inspect_process *process)
{
    const struct share_slot *slot = &state->slot[index];
    *process = (struct share_inspect_process){.slot = index};
    process->pid = share_person_read(&slot->who, process->program);
    process->stopped = os_is_stopped(process->pid);
    for (int i = 0; i < VMM_MAX_DEVICES; i++)
        process->device[i] = atomic_load(&slot->use.device[i]);
    for (int i = 0; i < SIM_MAX_NODES; i++)
        process->node[i] = atomic_load(&slot->use.node[i]);
}

bool share_inspect_next(const struct share *share, unsigned *slot, struct share_inspect_process *process)
{
    const struct share_state *state = share->folder.state;
    for (; share_folder_sound(&share->folder) && *slot < share_slots(state); ++*slot)
        if (atomic_load(&state->slot[*slot].taken)) {
            read_process(state, (*slot)++, process);
            return true;
        }
    return false;
}

static void read_machine(struct share_inspect *who, const struct share_state *state)
{
    snprintf(who->profile, sizeof who->profile, "%.*s", (int)sizeof state->profile_name - 1, state->profile_name);
    printable(who->profile);
    who->devices = cut(state->devices, VMM_MAX_DEVICES);
    who->nodes = cut(state->nodes, SIM_MAX_NODES);
    who->device_memory = state->device_memory;
    who->node_memory = state->node_memory;
    for (unsigned i = 0; i < who->devices; i++)
        who->device_used[i] = share_used(state, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, (int)i}, false);
    for (unsigned i = 0; i < who->nodes; i++)
        who->node_used[i] = share_used(state, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, (int)i}, false);
}

/* ---- blocks and holders with handles ---- */

static struct share_inspect_hold *add_hold(struct share_inspect *who)
{
    if (who->hold_count == who->hold_room) {
        struct share_inspect_hold *more = heap_grow(who->hold, &who->hold_room, 16, sizeof *more);
        if (!more)
            return NULL;
        who->hold = more;
    }
    struct share_inspect_hold *hold = &who->hold[who->hold_count++];
    *hold = (struct share_inspect_hold){.file = -1, .slot = SHARE_PROCESSES};
    return hold;
}

static bool read_holders(struct share_inspect *who, const struct share_state *state, unsigned index)
{
    for (unsigned i = 0; i < share_slots(state); i++) {
        if (!atomic_load(&state->slot[i].taken) || !share_holds(&state->block[index], i))
            continue;
        struct share_inspect_hold *hold = add_hold(who);
        if (!hold)
            return false;
        hold->block = who->block_count;
        hold->slot = i;
        hold->pid = share_person_read(&state->slot[i].who, hold->program);
        share_mark_read(state, index, i, &hold->call, &hold->handles);
    }
    return true;
}

/* Binds of ended processes count as well: the object is the holder. */
static bool read_binds(struct share_inspect *who, const struct share_state *state, unsigned index)
{
    for (unsigned i = 0; i < share_binds(state); i++) {
        const struct share_bind *bind = &state->bind[i];
        if (!atomic_load(&bind->number) || bind->block != atomic_load(&state->block[index].number))
            continue;
        struct share_inspect_hold *hold = add_hold(who);
        if (!hold)
            return false;
        hold->block = who->block_count;
        hold->pid = share_person_read(&bind->who, hold->program);
        hold->call = share_call(bind->made, (unsigned)bind->made_by);
        hold->object = bind->object;
    }
    return true;
}

/* Is the exporter of the block still part of the machine? If the block has bytes, their file shows that. */
static bool maker_lives(const struct share_state *state, const struct share_block *entry)
{
    if (!entry->team)
        return share_home_lives(state, entry->home);
    for (unsigned i = 0; i < share_slots(state); i++)
        if (atomic_load(&state->slot[i].taken) &&
            atomic_load(&state->slot[i].who.pid) == atomic_load(&entry->maker.pid))
            return true;
    return false;
}

static bool read_block(struct share_inspect *who, const struct share *share, unsigned index)
{
    const struct share_state *state = share->folder.state;
    const struct share_block *entry = &state->block[index];
    struct share_inspect_block *block = &who->block[who->block_count];
    char path[OS_PATH_MAX];
    if (!read_holders(who, state, index) || !read_binds(who, state, index))
        return false;
    *block = (struct share_inspect_block){.number = atomic_load(&entry->number),
                                      .home = entry->home,
                                      .size = entry->size,
                                      .location = {entry->location_type, entry->location_id},
                                      .fabric = entry->fabric.domain != 0,
                                      .orphan = !maker_lives(state, entry),
                                      .call = atomic_load(&entry->exported),
                                      .file_device = entry->file_device,
                                      .file_number = entry->file_number};
    const struct share_team *team = share_team_of(share->folder.state, entry);
    if (team) {
        block->team = (unsigned)team->wanted;
        block->members = share_team_members(team);
    }
    block->pid = share_person_read(&entry->maker, block->program);
    block->out = share_token_is_out(share_file_of(share, "token", block->number, path));
    who->block_count++;
    return true;
}

/* ---- holders with descriptors ---- */

static void read_opening(void *user, const struct os_opening *opening)
{
    struct share_inspect *who = user;
    for (unsigned i = 0; i < who->block_count; i++) {
        struct share_inspect_block *block = &who->block[i];
        if (!block->out || block->file_device != opening->is.device || block->file_number != opening->is.number)
            continue;
        struct share_inspect_hold *hold = add_hold(who);
        block->found = true;
        if (!hold)
            return;
        hold->block = i;
        hold->pid = opening->pid;
        os_program(opening->pid, hold->program);
        hold->file = opening->file;
        return;
    }
}

/* With the lock held, no process opens a token just to see whether it is still held. */
static void read_openings(struct share_inspect *who, bool own)
{
    bool any = false;
    for (unsigned i = 0; i < who->block_count; i++)
        any |= who->block[i].out;
    who->reported = !any || (own ? os_own_openings_each : os_openings_each)("token.", read_opening, who);
}

/* ---- the whole snapshot ---- */

static bool read_all(struct share_inspect *who, const struct share *share, bool own)
{
    const struct share_state *state = share->folder.state;
    const unsigned slots = share_slots(state), blocks = share_blocks(state); /* read once: the arrays have room for that many */
    who->process = heap.calloc(slots + 1, sizeof *who->process);
    who->block = heap.calloc(blocks + 1, sizeof *who->block);
    if (!who->process || !who->block)
        return false;
    read_machine(who, state);
    for (unsigned slot = 0; who->process_count < slots && share_inspect_next(share, &slot, &who->process[who->process_count]);)
        who->process_count++;
    for (unsigned i = 0; i < blocks; i++)
        if (atomic_load(&state->block[i].number) && !read_block(who, share, i))
            return false;
    read_openings(who, own);
    return true;
}

/* Takes the lock, and frees what ended processes left behind. */
static bool begin(struct share *share)
{
    if (!share_lock_patiently(share))
        return false;
    share_tidy(share);
    return true;
}

static struct share_inspect *look(struct share *share, bool own)
{
    struct share_inspect *who = heap.calloc(1, sizeof *who);
    if (!who || !begin(share)) {
        heap.free(who);
        return NULL;
    }
    bool read = read_all(who, share, own);
    share_unlock(share);
    if (read)
        return who;
    share_inspect_free(who);
    return NULL;
}

struct share_inspect *share_inspect(struct share *share)
{
    return look(share, false);
}

struct share_inspect *share_inspect_own(struct share *share)
{
    return look(share, true);
}

void share_inspect_free(struct share_inspect *who)
{
    if (!who)
        return;
    heap.free(who->process);
    heap.free(who->block);
    heap.free(who->hold);
    heap.free(who);
}

/* ---- the use of one device ---- */

/* The bytes of what the process with that serial exported. */
static uint64_t exported(const struct share_state *state, uint64_t serial, int device)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < share_blocks(state); i++) {
        const struct share_block *block = &state->block[i];
        if (atomic_load(&block->number) && block->home == serial && block->location_type == VMM_MEM_LOCATION_TYPE_DEVICE &&
            block->location_id == device)
            sum += block->size;
    }
    return sum;
}

static void read_use(const struct share_state *state, int device, struct share_inspect_use *use)
{
    const unsigned slots = share_slots(state);
    *use = (struct share_inspect_use){.used = share_used(state, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, device}, false)};
    for (unsigned i = 0; i < slots; i++) {
        const struct share_slot *slot = &state->slot[i];
        uint64_t bytes = atomic_load(&slot->use.device[device]) + exported(state, atomic_load(&slot->serial), device);
        if (!atomic_load(&slot->taken) || !bytes)
            continue;
        use->process[use->processes].pid = atomic_load(&slot->who.pid);
        use->process[use->processes++].bytes = bytes;
    }
}

bool share_inspect_use(struct share *share, int device, struct share_inspect_use *use)
{
    if (!begin(share))
        return false;
    read_use(share->folder.state, device, use);
    share_unlock(share);
    return true;
}

/* ---- text ---- */

const char *share_inspect_call(uint64_t call, char text[SHARE_HOLD_TEXT])
{
    const char *name = share_call_name(call);
    if (name)
        snprintf(text, SHARE_HOLD_TEXT, "call %" PRIu64 " (%s)", share_call_number(call), name);
    else
        snprintf(text, SHARE_HOLD_TEXT, "an unknown call");
    return text;
}

const char *share_inspect_named(uint64_t pid, const char *program, char text[SHARE_HOLD_TEXT])
{
    if (program[0])
        snprintf(text, SHARE_HOLD_TEXT, "process %" PRIu64 " (%.15s)", pid, program);
    else
        snprintf(text, SHARE_HOLD_TEXT, "process %" PRIu64, pid);
    return text;
}

const char *share_inspect_hold_text(const struct share_inspect_hold *hold, char text[SHARE_HOLD_TEXT])
{
    char who[SHARE_HOLD_TEXT], call[SHARE_HOLD_TEXT];
    share_inspect_named(hold->pid, hold->program, who);
    if (hold->file >= 0)
        snprintf(text, SHARE_HOLD_TEXT, "%.50s: descriptor %d", who, hold->file);
    else if (hold->object)
        snprintf(text, SHARE_HOLD_TEXT, "exported object %" PRIu64 ", to which it was bound by %.50s: %.60s", hold->object, who,
                 share_inspect_call(hold->call, call));
    else
        snprintf(text, SHARE_HOLD_TEXT, "%.50s: %.60s", who, share_inspect_call(hold->call, call));
    return text;
}

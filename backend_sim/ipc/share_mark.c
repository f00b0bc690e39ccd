/* SPDX-License-Identifier: Apache-2.0 */
#include "share_mark.h"

#include <stddef.h>
#include <string.h>

#include "call.h"

enum { ID_BITS = 16 };

uint64_t share_call(uint64_t number, unsigned id)
{
    return number << ID_BITS | id;
}

uint64_t share_call_number(uint64_t call)
{
    return call >> ID_BITS;
}

const char *share_call_name(uint64_t call)
{
    unsigned id = (unsigned)(call & ((1U << ID_BITS) - 1));
    return share_call_number(call) && id < VMM_CALL_COUNT ? vmm_call_driver_name((enum vmm_call_id)id) : NULL;
}

void share_mark_process(struct share_person *who)
{
    char program[OS_PROGRAM] = {0};
    uint64_t words[2];
    _Static_assert(sizeof program == sizeof words, "a program's name takes two words");
    uint64_t pid = os_pid();
    os_program(pid, program);
    memcpy(words, program, sizeof words);
    atomic_store(&who->pid, pid);
    atomic_store(&who->program[0], words[0]);
    atomic_store(&who->program[1], words[1]);
}

uint64_t share_person_read(const struct share_person *who, char program[OS_PROGRAM])
{
    uint64_t words[2] = {atomic_load(&who->program[0]), atomic_load(&who->program[1])};
    memcpy(program, words, sizeof words);
    program[OS_PROGRAM - 1] = '\0';
    for (char *c = program; *c; c++) /* the name may be forged */
        if (*c < ' ' || *c > '~')
            *c = '?';
    return atomic_load(&who->pid);
}

static bool room_for(const struct share_folder *folder, const void *part, size_t size)
{
    return os_file_room(folder->file, (uint64_t)((const char *)part - (const char *)folder->state), size);
}

bool share_mark_block(const struct share_folder *folder, unsigned index)
{
    return room_for(folder, &folder->state->block[index], sizeof folder->state->block[index]);
}

bool share_mark_room(const struct share_folder *folder, unsigned index)
{
    return room_for(folder, folder->state->mark[index], sizeof folder->state->mark[index]);
}

/* Serials and numbers start at 1, so a false match needs two holders that are 2^32 apart. */
static uint64_t key_of(const struct share_state *state, unsigned index, unsigned slot)
{
    return atomic_load(&state->slot[slot].serial) << 32 ^ atomic_load(&state->block[index].number);
}

void share_mark_hold(struct share_state *state, unsigned index, unsigned slot, uint64_t call, uint64_t handles)
{
    struct share_mark *mark = &state->mark[index][slot];
    uint64_t key = key_of(state, index, slot);
    if (!handles) {
        atomic_store(&mark->key, 0);
        return;
    }
    if (atomic_load(&mark->key) != key || !atomic_load(&mark->call))
        atomic_store(&mark->call, call);
    atomic_store(&mark->handles, handles);
    atomic_store(&mark->key, key);
}

bool share_mark_read(const struct share_state *state, unsigned index, unsigned slot, uint64_t *call, uint64_t *handles)
{
    const struct share_mark *mark = &state->mark[index][slot];
    bool there = atomic_load(&mark->key) == key_of(state, index, slot);
    *call = there ? atomic_load(&mark->call) : 0;
    *handles = there ? atomic_load(&mark->handles) : 0;
    return there;
}

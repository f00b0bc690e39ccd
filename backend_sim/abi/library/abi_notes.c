/* SPDX-License-Identifier: Apache-2.0 */
/* A small hash table with open addressing; when half full it is rebuilt without the dropped entries. */
#include <stdlib.h>

#include "abi_parts.h"
#include "heap.h"
#include "lifecycle.h"

struct entry {
    uint64_t value; /* 0: free */
    bool dropped;
    struct abi_note note;
};

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static struct entry *table;
static size_t room, used; /* used counts dropped entries, too */

static struct entry *find(struct entry *in, size_t size, uint64_t value)
{
    size_t at = (size_t)(value * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (size - 1);
    while (in[at].value && in[at].value != value)
        at = (at + 1) & (size - 1);
    return &in[at];
}

static bool grow(void)
{
    size_t size = 64, live = 0;
    for (size_t i = 0; i < room; i++)
        live += table[i].value && !table[i].dropped;
    while (size < 4 * (live + 1))
        size *= 2;
    struct entry *bigger = heap.calloc(size, sizeof *bigger);
    if (!bigger)
        return false;
    used = 0;
    for (size_t i = 0; i < room; i++)
        if (table[i].value && !table[i].dropped) {
            *find(bigger, size, table[i].value) = table[i];
            used++;
        }
    heap.free(table);
    table = bigger;
    room = size;
    return true;
}

struct abi_note abi_note_get(uint64_t value)
{
    struct abi_note note = {0};
    life_acquire(&lock);
    if (room && value) {
        const struct entry *entry = find(table, room, value);
        if (entry->value && !entry->dropped)
            note = entry->note;
    }
    life_release(&lock);
    return note;
}

bool abi_note_set(uint64_t value, const struct abi_note *note)
{
    life_acquire(&lock);
    bool there = room && find(table, room, value)->value; /* needs no memory and so cannot fail */
    bool ok = there || 2 * (used + 1) <= room || grow();
    if (ok) {
        struct entry *entry = find(table, room, value);
        used += !entry->value;
        *entry = (struct entry){value, false, *note};
    }
    life_release(&lock);
    return ok;
}

void abi_note_drop(uint64_t value)
{
    life_acquire(&lock);
    if (room) {
        struct entry *entry = find(table, room, value);
        entry->dropped = entry->value != 0;
    }
    life_release(&lock);
}

void abi_notes_close(void)
{
    heap.free(table);
    table = NULL;
    room = used = 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "stacks_depot.h"

#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>

#include "posix.h"

/* A record is a multiple of UNIT bytes, and a reference counts units. */
enum { UNIT = 8, SLOTS = 1 << 20, PROBES = 64 };
enum { ARENA = 96 << 20 };

struct record {
    uint32_t hash;
    uint16_t size, kind; /* of the key */
};

struct depot {
    _Atomic uint32_t slot[SLOTS];
    _Atomic uint64_t used; /* units; refused requests count it past the limit */
    _Alignas(UNIT) unsigned char bytes[];
};

uint64_t depot_limit = ARENA;
static _Atomic(struct depot *) depot;
static _Atomic bool full;

/* The mapping, created by the first call that needs it. Pages that no record touches take no memory. */
static struct depot *depot_here(bool make)
{
    struct depot *there = atomic_load_explicit(&depot, memory_order_acquire);
    if (there || !make)
        return there;
    size_t size = sizeof(struct depot) + ARENA;
    void *made = posix.mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (made == MAP_FAILED)
        return NULL;
    atomic_store_explicit(&((struct depot *)made)->used, 1, memory_order_relaxed); /* 0 is no reference */
    if (atomic_compare_exchange_strong(&depot, &there, made)) /* LCOV_EXCL_BR_LINE: another thread was quicker */
        return made;
    posix.munmap(made, size); /* LCOV_EXCL_LINE: the same */
    return there;             /* LCOV_EXCL_LINE: the same */
}

static uint32_t hash_of(enum depot_kind kind, const unsigned char *key, size_t size)
{
    uint64_t hash = UINT64_C(0x9E3779B97F4A7C15) * (unsigned)kind, word;
    for (; size >= sizeof word; key += sizeof word, size -= sizeof word) {
        memcpy(&word, key, sizeof word);
        hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
        hash ^= hash >> 32;
    }
    word = 0;
    memcpy(&word, key, size);
    hash = (hash ^ word) * UINT64_C(0xD6E8FEB86659FD93);
    return (uint32_t)(hash ^ hash >> 32);
}

static const struct record *at(const struct depot *in, uint32_t ref)
{
    return (const void *)(in->bytes + (uint64_t)ref * UNIT);
}

static bool equal(const struct record *record, uint32_t hash, enum depot_kind kind, const void *key, size_t size)
{
    return record->hash == hash && record->kind == kind && record->size == size && memcmp(record + 1, key, size) == 0;
}

static size_t padded(size_t size)
{
    return (size + UNIT - 1) & ~(size_t)(UNIT - 1);
}

uint32_t depot_find(enum depot_kind kind, const void *key, size_t size)
{
    struct depot *in = depot_here(false);
    uint32_t hash = hash_of(kind, key, size), ref;
    if (!in)
        return 0;
    for (uint32_t i = 0; i < PROBES; i++) {
        ref = atomic_load_explicit(&in->slot[(hash + i) % SLOTS], memory_order_acquire);
        if (!ref || equal(at(in, ref), hash, kind, key, size))
            return ref;
    }
    return 0;
}

/* Creates a record that is not in a slot yet; 0 if there is no room for it. */
static uint32_t write_record(struct depot *in, const struct record *head, const void *key, const void *value, size_t value_size)
{
    uint64_t units = (sizeof *head + padded(head->size) + padded(value_size)) / UNIT;
    uint64_t start = atomic_load_explicit(&in->used, memory_order_relaxed);
    do {
        if (start + units > depot_limit / UNIT)
            return 0;
    } while (!atomic_compare_exchange_weak(&in->used, &start, start + units)); /* LCOV_EXCL_BR_LINE: another thread was quicker */
    unsigned char *to = in->bytes + start * UNIT;
    memcpy(to, head, sizeof *head);
    memcpy(to + sizeof *head, key, head->size);
    if (value_size)
        memcpy(to + sizeof *head + padded(head->size), value, value_size);
    return (uint32_t)start;
}

uint32_t depot_add(enum depot_kind kind, const void *key, size_t size, const void *value, size_t value_size)
{
    struct depot *in = depot_here(true);
    struct record head = {hash_of(kind, key, size), (uint16_t)size, (uint16_t)kind};
    uint32_t made = 0;
    for (uint32_t i = 0; in && i < PROBES; i++) {
        _Atomic uint32_t *slot = &in->slot[(head.hash + i) % SLOTS];
        uint32_t there = atomic_load_explicit(slot, memory_order_acquire);
        if (!there && !made && !(made = write_record(in, &head, key, value, value_size))) /* LCOV_EXCL_BR_LINE: another thread was quicker, and made is there */
            break;
        if (!there && atomic_compare_exchange_strong(slot, &there, made)) /* LCOV_EXCL_BR_LINE: another thread was quicker */
            return made;
        if (equal(at(in, there), head.hash, kind, key, size))
            return there;
    }
    atomic_store_explicit(&full, true, memory_order_relaxed);
    return 0;
}

const void *depot_key(uint32_t ref)
{
    return at(atomic_load_explicit(&depot, memory_order_acquire), ref) + 1;
}

size_t depot_size(uint32_t ref)
{
    return at(atomic_load_explicit(&depot, memory_order_acquire), ref)->size;
}

const void *depot_value(uint32_t ref)
{
    return (const unsigned char *)depot_key(ref) + padded(depot_size(ref));
}

bool depot_is(enum depot_kind kind, uint32_t ref)
{
    const struct depot *in = depot_here(false);
    return in && ref && ref < atomic_load(&in->used) && at(in, ref)->kind == kind;
}

bool depot_full(void)
{
    return atomic_load_explicit(&full, memory_order_relaxed);
}

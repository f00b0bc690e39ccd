/* SPDX-License-Identifier: Apache-2.0 */
#include "alias.h"

#include <inttypes.h>
#include <stdlib.h>

#include "dry_run.h"
#include "heap.h"
#include "kernels.h"
#include "objects.h"
#include "registered.h"
#include "translate.h"
#include "twin.h"

/* Bytes of a block that a kernel uses through a mapping of the block, or of a multicast object to which it is bound. */
struct used {
    const struct sim_mapping *mapping;
    const struct sim_block *block;
    uint64_t first, end; /* offsets in the block */
    uint64_t address;    /* address of the first byte */
};

struct search {
    struct twin_memory memory; /* first: the twin passes this pointer back */
    const struct sim_process *process;
    int device;
    struct used *written;
    size_t count, room;
    bool second; /* this is the second dry run: the first one has found all writes */
    bool fenced; /* a kernel of PTX executed a fence */
    bool hit;
    const struct sim_mapping *through; /* with hit: the other mapping */
    uint64_t address, written_at;      /* with hit: the byte's address in through, and in the writing mapping */
    enum twin_use use;
};

/* Extends an entry that ends where u begins. A multimem write goes to each replica in turn, so the entry may be any of the last
 * TWIN_REPLICAS. */
static bool joined(struct search *s, const struct used *u)
{
    for (size_t i = s->count; i > 0 && s->count - i < TWIN_REPLICAS; i--) {
        struct used *w = &s->written[i - 1];
        if (w->mapping == u->mapping && w->block == u->block && w->end == u->first) {
            w->end = u->end;
            return true;
        }
    }
    return false;
}

static bool note(struct search *s, const struct used *u)
{
    if (joined(s, u))
        return true;
    if (s->count == s->room) {
        struct used *written = heap_grow(s->written, &s->room, 8, sizeof *written);
        if (!written)
            return false;
        s->written = written;
    }
    s->written[s->count++] = *u;
    return true;
}

/* In the order of blocks, mappings and places. */
static int by_place(const void *left, const void *right)
{
    const struct used *a = left, *b = right;
    if (a->block != b->block)
        return (uintptr_t)a->block < (uintptr_t)b->block ? -1 : 1;
    if (a->mapping != b->mapping)
        return (uintptr_t)a->mapping < (uintptr_t)b->mapping ? -1 : 1;
    return a->first < b->first ? -1 : a->first > b->first;
}

/* Sorts what was written, and joins what touches. */
static void settle(struct search *s)
{
    size_t kept = 0;
    if (s->count)
        qsort(s->written, s->count, sizeof *s->written, by_place);
    for (size_t i = 1; i < s->count; i++) {
        struct used *w = &s->written[kept], *next = &s->written[i];
        if (w->block != next->block || w->mapping != next->mapping || next->first > w->end)
            s->written[++kept] = *next;
        else if (next->end > w->end)
            w->end = next->end;
    }
    s->count = s->count ? kept + 1 : 0;
}

/* The first entry that does not precede the position: of a later block or mapping, or ending after it. */
static size_t entry_from(const struct search *s, const struct sim_block *block, const struct sim_mapping *mapping, uint64_t place)
{
    size_t low = 0, high = s->count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct used *w = &s->written[middle];
        const bool before = w->block != block       ? (uintptr_t)w->block < (uintptr_t)block
                            : w->mapping != mapping ? (uintptr_t)w->mapping < (uintptr_t)mapping
                                                    : w->end <= place;
        low = before ? middle + 1 : low;
        high = before ? high : middle;
    }
    return low;
}

/* The byte of u at offset byte is written through the entry's mapping. The lowest one counts. */
static void hit(struct search *s, const struct used *u, const struct used *w, uint64_t byte)
{
    const uint64_t address = u->address + (byte - u->first);
    if (s->hit && s->address <= address)
        return;
    s->hit = true;
    s->through = u->mapping;
    s->address = address;
    s->written_at = w->address + (byte - w->first);
}

/* Returns true if no byte of u is written through another mapping. Otherwise records the lowest address of such a byte. */
static bool is_apart(struct search *s, const struct used *u)
{
    size_t i = entry_from(s, u->block, NULL, 0);
    while (i < s->count && s->written[i].block == u->block) {
        const struct sim_mapping *mapping = s->written[i].mapping;
        const struct used *w = &s->written[entry_from(s, u->block, mapping, u->first)];
        const bool there = w < s->written + s->count && w->block == u->block && w->mapping == mapping && w->first < u->end;
        if (there && mapping != u->mapping)
            hit(s, u, w, w->first > u->first ? w->first : u->first);
        i = entry_from(s, u->block, mapping, UINT64_MAX);
    }
    return !s->hit;
}

/* Notes or checks one access to memory that has other addresses as well. False ends the dry run. */
static bool check_access(struct search *s, const struct sim_mapping *mapping, uint64_t address, const struct translate_run *there,
                         enum twin_use use)
{
    const struct used u = {mapping, there->block, there->offset, there->offset + there->length, address};
    s->use = use;
    if (s->second)
        return is_apart(s, &u);
    return use == TWIN_READ || note(s, &u);
}

static bool dry_access(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
                       unsigned char **bytes)
{
    struct search *s = (struct search *)memory;
    struct translate_run there;
    *bytes = NULL;
    if (memory->fleeting) /* a PTX kernel accesses only what it declares */
        *size = width;
    if (!translate_may(s->process, s->device, address, width, *size, translate_need(use), &there))
        return false; /* the kernel would fault */
    *size = there.length;
    if (memory->fleeting) /* and reads memory as it is */
        *bytes = block_data_run(&there.block->bytes, there.offset, size);
    const struct sim_mapping *mapping = sim_mapping_at(s->process, address);
    if (!mapping || (mapping->handle->maps < 2 && !there.block->binds))
        return true;
    return check_access(s, mapping, address, &there, use);
}

/* An access through a multicast address uses every replica. */
static bool dry_access_all(struct twin_memory *memory, uint64_t address, unsigned width, enum twin_use use,
                           unsigned char *bytes[TWIN_REPLICAS], unsigned *count)
{
    struct search *s = (struct search *)memory;
    struct translate_replicas all;
    (void)bytes;
    *count = 0;
    if (translate_multimem(s->process, s->device, address, width, translate_need(use), &all) != TRANSLATE_MULTIMEM_DONE)
        return false; /* the kernel would fault */
    for (unsigned i = 0; i < all.count; i++)
        if (!check_access(s, sim_mapping_at(s->process, address), address, &all.run[i], use))
            return false;
    return true;
}

static void dry_fence(struct twin_memory *memory)
{
    ((struct search *)memory)->fenced = true;
}

/* A PTX kernel that does not run to its end draws warnings for its accesses so far. */
static void dry_end(struct twin_memory *memory, const struct twin_end *end)
{
    (void)memory;
    (void)end;
}

void alias_warn(const struct sim_process *process, const struct queue_place *place, const struct vmm_call_launch *call)
{
    bool fenced = call->kernel == VMM_KERNEL_ALIAS_WRITE_READ && call->args[3];
    struct search s = {.memory = {.run = dry_access, .replicas = dry_access_all, .fence = dry_fence, .ended = dry_end, .dry = true},
                       .process = process, .device = place->device};
    if (!fenced && (process->aliased || kernels_is_multimem(call->kernel))) /* most processes map nothing twice */
        dry_run(process, place, &s.memory, call);
    s.second = true;
    settle(&s);
    if (s.count && !(s.fenced && kernels_is_registered(call->kernel)))
        dry_run(process, place, &s.memory, call);
    if (s.hit) {
        vmm_object nearest = sim_object_mapping(s.through);
        vmm_detail_warn(VMM_RULE_LAUNCH_ALIAS, s.address, 0, &nearest);
        vmm_detail_note("%s writes at 0x%" PRIx64 " and %s the same memory at 0x%" PRIx64 ", without a fence",
                        vmm_kernel_name(call->kernel), s.written_at, s.use == TWIN_READ ? "reads" : "writes", s.address);
    }
    heap.free(s.written);
}

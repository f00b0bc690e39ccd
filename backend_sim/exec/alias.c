/* SPDX-License-Identifier: Apache-2.0 */
#include "alias.h"

#include <inttypes.h>
#include <stdlib.h>

#include "heap.h"
#include "kernels.h"
#include "objects.h"
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
    bool hit;
    const struct sim_mapping *through; /* with hit: the other mapping */
    uint64_t address, written_at;      /* with hit: the byte's address in through, and in the mapping that writes it */
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

/* True when no byte of u is written through another mapping. Otherwise records the lowest address of such a byte. */
static bool is_apart(struct search *s, const struct used *u)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct used *w = &s->written[i];
        if (w->mapping == u->mapping || w->block != u->block || w->end <= u->first || u->end <= w->first)
            continue;
        uint64_t byte = w->first > u->first ? w->first : u->first, address = u->address + (byte - u->first);
        if (s->hit && s->address <= address)
            continue;
        s->hit = true;
        s->through = u->mapping;
        s->address = address;
        s->written_at = w->address + (byte - w->first);
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
    if (!translate_may(s->process, s->device, address, width, *size, translate_need(use), &there))
        return false; /* the kernel would fault */
    *size = there.length;
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

void alias_warn(const struct sim_process *process, int device, const struct vmm_call_launch *call)
{
    bool fenced = call->kernel == VMM_KERNEL_ALIAS_WRITE_READ && call->args[3];
    struct search s = {.memory = {.run = dry_access, .replicas = dry_access_all, .dry = true}, .process = process,
                       .device = device};
    if (!fenced && (process->aliased || kernels_is_multimem(call->kernel))) /* most processes map nothing twice */
        twin_of(call->kernel)(&s.memory, call->args);
    s.second = true;
    if (s.count)
        twin_of(call->kernel)(&s.memory, call->args);
    if (s.hit) {
        vmm_object nearest = sim_object_mapping(s.through);
        vmm_detail_warn(VMM_RULE_LAUNCH_ALIAS, s.address, 0, &nearest);
        vmm_detail_note("%s writes at 0x%" PRIx64 " and %s the same memory at 0x%" PRIx64 ", without a fence",
                        vmm_kernel_name(call->kernel), s.written_at, s.use == TWIN_READ ? "reads" : "writes", s.address);
    }
    heap.free(s.written);
}

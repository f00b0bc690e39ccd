#include "alias.h"

#include <inttypes.h>
#include <stdlib.h>

#include "kernels.h"
#include "reach.h"
#include "twin.h"

/* Bytes of a memory that are written through a mapping. */
struct written {
    const struct sim_mapping *mapping;
    uint64_t first, end; /* within the memory */
};

struct search {
    struct twin_memory memory; /* first: the twin hands this back */
    const struct sim_process *process;
    int device;
    struct written *written;
    size_t count, room;
    bool second; /* the second run: the writes are known */
    const struct written *hit;
    const struct sim_mapping *through; /* with hit: the other mapping */
    uint64_t address;
    enum twin_use use;
};

static bool note(struct search *s, const struct sim_mapping *mapping, uint64_t first, uint64_t size)
{
    struct written *last = s->count ? &s->written[s->count - 1] : NULL;
    if (last && last->mapping == mapping && last->end == first) {
        last->end += size;
        return true;
    }
    if (s->count == s->room) {
        size_t room = s->room ? 2 * s->room : 8;
        struct written *written = realloc(s->written, room * sizeof *written);
        if (!written)
            return false;
        s->written = written;
        s->room = room;
    }
    s->written[s->count++] = (struct written){mapping, first, first + size};
    return true;
}

/* True when the bytes are not among those written through another mapping; else the first that are is kept. */
static bool is_apart(struct search *s, const struct sim_mapping *mapping, uint64_t first, uint64_t size)
{
    for (size_t i = 0; i < s->count; i++) {
        const struct written *w = &s->written[i];
        if (w->mapping == mapping || w->mapping->handle->block != mapping->handle->block || w->end <= first ||
            first + size <= w->first)
            continue;
        uint64_t address = mapping->start + ((w->first > first ? w->first : first) - mapping->offset);
        if (s->hit && s->address <= address)
            continue;
        s->hit = w;
        s->through = mapping;
        s->address = address;
    }
    return !s->hit;
}

static bool go(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
               unsigned char **bytes)
{
    struct search *s = (struct search *)memory;
    struct reach_run there;
    unsigned need = use == TWIN_READ ? VMM_MEM_ACCESS_FLAGS_PROT_READ : VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    *bytes = NULL;
    if (!reach_may(s->process, s->device, address, width, *size, need, &there))
        return false; /* the kernel would fault */
    *size = there.length;
    const struct sim_mapping *mapping = sim_mapping_at(s->process, address);
    if (!mapping || mapping->handle->maps < 2)
        return true;
    s->use = use;
    if (s->second)
        return is_apart(s, mapping, there.offset, *size);
    return use == TWIN_READ || note(s, mapping, there.offset, *size);
}

void alias_warn(const struct sim_process *process, int device, const struct vmm_call_launch *call)
{
    bool fenced = call->kernel == VMM_KERNEL_ALIAS_WRITE_READ && call->args[3];
    struct search s = {.memory = {.run = go, .dry = true}, .process = process, .device = device};
    if (!fenced && process->aliased) /* most processes map nothing twice */
        twin_of(call->kernel)(&s.memory, call->args);
    s.second = true;
    if (s.count)
        twin_of(call->kernel)(&s.memory, call->args);
    if (s.hit) {
        vmm_object nearest = sim_object_mapping(s.through);
        uint64_t first = s.hit->mapping->start + (s.address - s.through->start + s.through->offset) -
                         s.hit->mapping->offset;
        vmm_detail_warn(VMM_RULE_LAUNCH_ALIAS, s.address, 0, &nearest);
        vmm_detail_note("%s writes at 0x%" PRIx64 " and %s the same memory at 0x%" PRIx64 ", without a fence",
                        vmm_kernel_name(call->kernel), first, s.use == TWIN_READ ? "reads" : "writes", s.address);
    }
    free(s.written);
}

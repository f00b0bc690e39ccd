/* SPDX-License-Identifier: Apache-2.0 */
#include "translate_table.h"

#include "arrays.h"
#include "objects.h"
#include "rights.h"
#include "team.h"

/* What an address belongs to: a mapping, an allocation, a chunk of a memory pool, bytes of an array or nothing. Work issued
 * before a stream-ordered free still uses the memory, so a chunk counts as a whole, whichever parts are allocated. */
struct found {
    const struct sim_mapping *mapping;
    const struct sim_allocation *allocation;
    const struct mempool_chunk *chunk;
    const struct sim_array *array;
};

static inline struct found find(const struct sim_process *process, uint64_t address)
{
    if (arrays_have(address))
        return (struct found){.array = sim_array_at(process, address)};
    const struct sim_mapping *m = sim_mapping_at(process, address);
    const struct mempool_chunk *chunk = m ? NULL : sim_chunk_at(process, address);
    return (struct found){m, m || chunk ? NULL : sim_allocation_at(process, address), chunk, NULL};
}

static inline bool run_in(struct found found, uint64_t address, uint64_t size, struct translate_run *run)
{
    const struct sim_mapping *m = found.mapping;
    const struct sim_allocation *a = found.allocation;
    const struct mempool_chunk *c = found.chunk;
    uint64_t room;
    if (found.array) {
        const struct array_run there = sim_array_run(found.array, address, size);
        *run = (struct translate_run){there.block, there.offset, there.length};
        return there.block != NULL;
    }
    if (!m && !a && !c)
        return false;
    if (c) {
        room = c->size - (address - c->start);
        *run = (struct translate_run){.block = c->block, .offset = address - c->start};
    } else if (m) {
        room = m->size - (address - m->start);
        *run = (struct translate_run){.block = m->handle->block, .offset = m->offset + (address - m->start)};
    } else {
        room = a->size - (address - a->start);
        *run = (struct translate_run){.block = a->block, .offset = address - a->start};
    }
    run->length = size < room ? size : room;
    return true;
}

bool translate_run(const struct sim_process *process, uint64_t address, uint64_t size, struct translate_run *run)
{
    return run_in(find(process, address), address, size, run);
}

/* The rights at an address: those of the device that does the work, and the host's. */
struct rights {
    unsigned device, host;
    bool host_memory;
    bool host_latest; /* for device 0 only: the host's rights were granted after the device's */
    bool copied_anyway; /* memory of cuMemAlloc: copies between devices may use another device's, fills may not */
    bool multicast; /* only multimem instructions may access it */
};

/* Measured: fills need the device's rights, even in host memory. */
static struct rights pooled_rights(const struct mempool_chunk *chunk, int device)
{
    const struct sim_pool *pool = sim_pool_of(chunk->pool);
    return (struct rights){.device = sim_access_of(pool->access, (unsigned)device),
                           .host_memory = sim_on_host(pool->props.location)};
}

static inline struct rights rights_in(const struct sim_process *process, struct found found, int device)
{
    const struct sim_mapping *m = found.mapping;
    if (m)
        return (struct rights){sim_access_of(m->access, (unsigned)device), sim_access_of(m->access, SIM_HOST_SLOT),
                               sim_on_host(m->handle->prop.location), device == 0 && m->host_latest,
                               false, m->handle->block->team != NULL};
    if (found.chunk)
        return pooled_rights(found.chunk, device);
    const struct sim_allocation *a = found.allocation;
    bool own = a && sim_allocation_open(process, a, device);
    return (struct rights){own ? VMM_MEM_ACCESS_FLAGS_PROT_READWRITE : VMM_MEM_ACCESS_FLAGS_PROT_NONE, 0, false,
                           false, a != NULL, false};
}

static struct rights rights_of(const struct sim_process *process, int device, uint64_t address)
{
    return rights_in(process, find(process, address), device);
}

/* Both, by one look. */
static inline bool run_with_rights(const struct sim_process *process, int device, uint64_t address, uint64_t size,
                                   struct translate_run *run, struct rights *rights)
{
    struct found found = find(process, address);
    *rights = rights_in(process, found, device);
    return run_in(found, address, size, run);
}

bool translate_host(const struct sim_process *process, uint64_t address, uint64_t size)
{
    struct translate_run run;
    for (; size && translate_run(process, address, size, &run); address += run.length, size -= run.length)
        if (sim_on_host(run.block->prop.location))
            return true;
    return false;
}

unsigned translate_need(enum twin_use use)
{
    return use == TWIN_READ ? VMM_MEM_ACCESS_FLAGS_PROT_READ : VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

unsigned translate_rights(const struct sim_process *process, int device, uint64_t address)
{
    return rights_of(process, device, address).device;
}

bool translate_may(const struct sim_process *process, int device, uint64_t address, unsigned width, uint64_t size,
                   unsigned need, struct translate_run *run)
{
    struct rights have;
    return run_with_rights(process, device, address, size, run, &have) && run->length >= width && !run->block->team &&
           (have.device & need) == need;
}

/* Finds the member's replica of width bytes. Returns false if the member has bound nothing there. */
static bool replica_of(const struct team_member *member, uint64_t offset, unsigned width, struct translate_run *run)
{
    const struct team_bind *bind = team_member_bind(member, offset, width);
    if (!bind || offset < bind->offset || width > bind->offset + bind->size - offset)
        return false;
    *run = (struct translate_run){bind->block, bind->at + (offset - bind->offset), width};
    return true;
}

enum translate_multimem translate_multimem(const struct sim_process *process, int device, uint64_t address, unsigned width,
                                           unsigned need, struct translate_replicas *replicas)
{
    struct translate_run run;
    *replicas = (struct translate_replicas){.count = 0};
    if (!translate_run(process, address, width, &run) || run.length < width ||
        (translate_rights(process, device, address) & need) != need)
        return TRANSLATE_MULTIMEM_NOT_ALLOWED;
    const struct team *team = run.block->team;
    if (!team)
        return TRANSLATE_MULTIMEM_ORDINARY;
    for (unsigned i = 0; i < team->members; i++) {
        replicas->missing = team->member[i].device;
        replicas->missing_abroad = team->member[i].machine != TEAM_THIS_MACHINE;
        if (!replica_of(&team->member[i], run.offset, width, &replicas->run[replicas->count++]))
            return TRANSLATE_MULTIMEM_UNBOUND;
    }
    return TRANSLATE_MULTIMEM_DONE;
}

static unsigned needed(enum translate_use use)
{
    return use == TRANSLATE_READ || use == TRANSLATE_TO_HOST ? VMM_MEM_ACCESS_FLAGS_PROT_READ
                                                     : VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

static enum translate_mover mover_of(struct rights first, enum translate_use use, uint64_t size)
{
    enum translate_first row = translate_first_of(first.host_memory, first.device, first.host);
    return (enum translate_mover)translate_movers[row][translate_kind_of(use, size)];
}

static bool moved_by_host(enum translate_mover mover)
{
    return mover == TRANSLATE_MOVER_HOST || mover == TRANSLATE_MOVER_HOST_ALONE;
}

/* The rule by which the device has no access, or VMM_RULE_COUNT. */
static enum vmm_rule_id device_forbids(enum translate_mover mover, struct rights have, enum translate_use use, bool is_first)
{
    unsigned need = needed(use);
    if (have.multicast)
        return VMM_RULE_COPY_MULTICAST;
    if (mover == TRANSLATE_MOVER_HOST_ALONE || (have.copied_anyway && use != TRANSLATE_FILL))
        return VMM_RULE_COUNT;
    if (need & ~have.device)
        return need == VMM_MEM_ACCESS_FLAGS_PROT_READ ? VMM_RULE_COPY_NO_READ : VMM_RULE_COPY_NO_WRITE;
    bool hosts = have.host_memory && have.host && have.host_latest;
    return use == TRANSLATE_FILL && !is_first && hosts ? VMM_RULE_SET_INTO_HOST : VMM_RULE_COUNT;
}

/* The rule by which the mover cannot continue here, or VMM_RULE_COUNT. device_forbids has already checked fills. */
static enum vmm_rule_id mover_fails(enum translate_mover mover, struct rights have, enum translate_use use)
{
    unsigned need = needed(use);
    if (moved_by_host(mover))
        return have.host_memory && (have.host & need) == need ? VMM_RULE_COUNT : VMM_RULE_COPY_HOST_RIGHTS;
    bool apart = mover == TRANSLATE_MOVER_DEVICE_APART && use != TRANSLATE_FILL;
    return apart && have.host_memory && have.host ? VMM_RULE_COPY_MIXED : VMM_RULE_COUNT;
}

static vmm_result refuse(const struct sim_process *process, enum vmm_rule_id rule, uint64_t at, uint64_t address,
                         const char *argument, int device)
{
    static const char *const may[] = {"has no access to", "has only read access to", "(never given)",
                                      "has read and write access to"};
    struct translate_run run;
    struct rights have = rights_of(process, device, at);
    vmm_object nearest = sim_object_nearest(process, at);
    vmm_result result = vmm_detail_refuse(rule, address, 0, &nearest);
    vmm_detail_argument(argument);
    if (rule == VMM_RULE_COPY_MIXED || rule == VMM_RULE_SET_INTO_HOST)
        vmm_detail_note("host memory begins %llu bytes into the range, and the host %s it",
                        (unsigned long long)(at - address), may[have.host]);
    else if (!translate_run(process, at, 1, &run))
        vmm_detail_note("nothing is mapped at 0x%llx, %llu bytes into the range", (unsigned long long)at,
                        (unsigned long long)(at - address));
    else if (rule == VMM_RULE_COPY_MULTICAST)
        vmm_detail_note("0x%llx, %llu bytes into the range, is a multicast address", (unsigned long long)at,
                        (unsigned long long)(at - address));
    else if (rule == VMM_RULE_COPY_HOST_RIGHTS)
        vmm_detail_note("%llu bytes into the range, device %d %s the memory, and the host %s it",
                        (unsigned long long)(at - address), device, may[have.device], may[have.host]);
    else
        vmm_detail_note("device %d %s 0x%llx, %llu bytes into the range", device, may[have.device],
                        (unsigned long long)at, (unsigned long long)(at - address));
    return result;
}

/* Refuses a range past the end of the address space that the host moves: the host stops at the first unmapped byte. */
static vmm_result refuse_host_run(const struct sim_process *process, int device, uint64_t address, const char *argument)
{
    struct translate_run run;
    uint64_t at = address;
    for (; translate_run(process, at, UINT64_MAX - at, &run); at += run.length)
        ;
    return refuse(process, VMM_RULE_COPY_HOST_RIGHTS, at, address, argument, device);
}

/* Checks a range past the end of the address space: only its start, as measured. */
static vmm_result check_start(const struct sim_process *process, int device, uint64_t address, enum translate_use use,
                              const char *argument)
{
    struct translate_run run;
    struct rights first = rights_of(process, device, address);
    if (!translate_run(process, address, 1, &run))
        return refuse(process, VMM_RULE_COPY_NOT_MAPPED, address, address, argument, device);
    enum translate_mover mover = mover_of(first, use, UINT64_MAX);
    enum vmm_rule_id rule = device_forbids(mover, first, use, true);
    if (rule != VMM_RULE_COUNT)
        return refuse(process, rule, address, address, argument, device);
    return moved_by_host(mover) ? refuse_host_run(process, device, address, argument) : VMM_SUCCESS;
}

/* The rule for an unmapped byte: the device checks before it starts, the host while it moves bytes. */
static enum vmm_rule_id unmapped(enum translate_mover mover, bool is_first)
{
    if (is_first)
        return VMM_RULE_COPY_NOT_MAPPED;
    return mover == TRANSLATE_MOVER_HOST_ALONE ? VMM_RULE_COPY_HOST_RIGHTS : VMM_RULE_COPY_RUNS_PAST;
}

vmm_result translate_check(const struct sim_process *process, int device, uint64_t address, uint64_t size,
                           enum translate_use use, const char *argument)
{
    struct translate_run run;
    struct rights have;
    if (size > UINT64_MAX - address)
        return check_start(process, device, address, use, argument);
    enum translate_mover mover = mover_of(rights_of(process, device, address), use, size);
    enum vmm_rule_id rule;
    bool in_host = false;
    for (uint64_t at = address, left = size; left; at += run.length, left -= run.length) {
        if (!run_with_rights(process, device, at, left, &run, &have))
            return refuse(process, unmapped(mover, at == address), at, address, argument, device);
        in_host |= have.host_memory;
        rule = device_forbids(mover, have, use, at == address);
        if (rule != VMM_RULE_COUNT)
            return refuse(process, rule, at, address, argument, device);
    }
    for (uint64_t at = address, left = in_host ? size : 0; left; at += run.length, left -= run.length) {
        run_with_rights(process, device, at, left, &run, &have);
        rule = mover_fails(mover, have, use);
        if (rule != VMM_RULE_COUNT)
            return refuse(process, rule, at, address, argument, device);
    }
    return VMM_SUCCESS;
}

/* Does the range contain host memory to which the host has rights? */
static bool host_somewhere(const struct sim_process *process, int device, uint64_t address, uint64_t size)
{
    struct translate_run run = {.length = size};
    /* analysers: clang-analyzer-core.uninitialized.Assign is wrong: translate_check found the whole range mapped */
    for (uint64_t at = address, left = size; left; at += run.length, left -= run.length) {
        struct rights have = rights_of(process, device, at);
        if (have.host_memory && have.host)
            return true;
        translate_run(process, at, left, &run);
    }
    return false;
}

/* Checks the host's rights on a range that the host moves. */
static vmm_result host_moves(const struct sim_process *process, int device, uint64_t address, uint64_t size,
                             unsigned need, const char *argument)
{
    struct translate_run run = {.length = size};
    /* analysers: clang-analyzer-core.uninitialized.Assign is wrong: translate_check found the whole range mapped */
    for (uint64_t at = address, left = size; left; at += run.length, left -= run.length) {
        struct rights have = rights_of(process, device, at);
        if (!have.host_memory || (have.host & need) != need)
            return refuse(process, VMM_RULE_COPY_HOST_RIGHTS, at, address, argument, device);
        translate_run(process, at, left, &run);
    }
    return VMM_SUCCESS;
}

static bool hosts(const struct sim_process *process, int device, uint64_t address)
{
    struct rights have = rights_of(process, device, address);
    return have.host_memory && have.host;
}

/* Checks two ranges past the end of the address space: refuses when the host has rights to either start. */
static vmm_result check_starts(const struct sim_process *process, int device, uint64_t dst, uint64_t src,
                               const char *dst_argument, const char *src_argument)
{
    if (hosts(process, device, dst))
        return refuse_host_run(process, device, dst, dst_argument);
    return hosts(process, device, src) ? refuse_host_run(process, device, src, src_argument) : VMM_SUCCESS;
}

vmm_result translate_check_pair(const struct sim_process *process, int device, uint64_t dst, uint64_t src, uint64_t size,
                                const char *dst_argument, const char *src_argument)
{
    if (size > UINT64_MAX - dst || size > UINT64_MAX - src)
        return check_starts(process, device, dst, src, dst_argument, src_argument);
    if (!host_somewhere(process, device, dst, size) || !host_somewhere(process, device, src, size))
        return VMM_SUCCESS;
    vmm_result result = host_moves(process, device, dst, size, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, dst_argument);
    return result == VMM_SUCCESS
               ? host_moves(process, device, src, size, VMM_MEM_ACCESS_FLAGS_PROT_READ, src_argument)
               : result;
}

bool translate_host_pool(const struct sim_process *process, uint64_t address)
{
    const struct mempool_chunk *chunk = process->chunks.count ? sim_chunk_at(process, address) : NULL;
    return chunk && sim_on_host(sim_pool_of(chunk->pool)->props.location);
}

vmm_result translate_check_side(const struct sim_process *process, uint64_t address, const char *argument)
{
    if (!translate_host_pool(process, address))
        return VMM_SUCCESS;
    vmm_object nearest = sim_object_nearest(process, address);
    vmm_result result = vmm_detail_refuse(VMM_RULE_POOL_COPY_HOST, address, 0, &nearest);
    vmm_detail_argument(argument);
    return result;
}

vmm_result translate_check_pool(const struct sim_process *process, uint64_t address, uint64_t size, const char *argument)
{
    if (!process->chunks.count || !sim_chunk_at(process, address))
        return VMM_SUCCESS;
    const struct sim_allocation *a = sim_allocation_at(process, address);
    if (a && size <= a->size - (address - a->start))
        return VMM_SUCCESS;
    uint64_t at = a ? a->start + a->size : address;
    vmm_object nearest = a ? sim_object_allocation(a) : sim_object_nearest(process, address);
    vmm_result result = vmm_detail_refuse(a ? VMM_RULE_COPY_RUNS_PAST : VMM_RULE_COPY_NOT_MAPPED, address, 0, &nearest);
    vmm_detail_argument(argument);
    vmm_detail_note("a memory pool has allocated nothing at 0x%llx, %llu bytes into the range", (unsigned long long)at,
                    (unsigned long long)(at - address));
    return result;
}

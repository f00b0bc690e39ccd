/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of machine.h: the holders of each block, and the use of all blocks, in budgets and in files. */
#include <inttypes.h>

#include "checks.h"
#include "machine.h"
#include "team.h"

static void add_place(struct machine_sum *sum, const struct sim_block *block)
{
    block_data_use(&block->bytes, &sum->machine->backing, &sum->backing);
    if (sum->machine->share)
        block_data_use(&block->bytes, &sum->machine->share->memory, &sum->memory);
}

/* The state counts a block that another process may have created (share.h). Its space is counted in the list of
 * exported blocks, where it stays while another process holds it. */
static const char *add(struct machine_sum *sum, const struct sim_block *block)
{
    const vmm_mem_location at = block->prop.location;
    bool on_device = at.type == VMM_MEM_LOCATION_TYPE_DEVICE;
    if (!block->shared)
        add_place(sum, block);
    if (block->shared || block->team || block->foreign || at.type == VMM_MEM_LOCATION_TYPE_INVALID)
        return NULL;
    if (at.id < 0 || at.id >= (on_device ? VMM_MAX_DEVICES : SIM_MAX_NODES))
        return check_say("block %" PRIu64 " lies at location %d:%d", block->id, at.type, at.id);
    *(on_device ? &sum->device[at.id] : &sum->node[at.id]) += block->size;
    if (on_device && block->prop.alloc_flags.compression_type)
        sum->compressed[at.id] += block->size;
    return NULL;
}

static const char *compare(const struct sim_block *block)
{
    if (block->counted != block->holders)
        return check_say("block %" PRIu64 " has %" PRIu32 " holders, but holders is %" PRIu32, block->id, block->counted,
                         block->holders);
    if (block->counted_binds != block->binds)
        return check_say("block %" PRIu64 " has %" PRIu32 " binds, but binds is %" PRIu32, block->id, block->counted_binds,
                         block->binds);
    return NULL;
}

/* Visits the block behind a bind: the bind holds the block, unless a bind in the state does. */
static const char *visit_bind(struct machine_sum *sum, enum machine_pass pass, const struct team_bind *bind)
{
    struct sim_block *block = bind->block;
    const char *said = NULL;
    if (pass == MACHINE_CLEAR)
        block->counted = block->counted_binds = 0;
    if (pass == MACHINE_COMPARE)
        return compare(block);
    if (pass == MACHINE_COUNT && !block->counted && !block->counted_binds)
        said = add(sum, block);
    sum->binds += pass == MACHINE_COUNT;
    block->counted_binds += pass == MACHINE_COUNT;
    block->counted += pass == MACHINE_COUNT && !bind->shared;
    return said;
}

/* Visits the binds of an object, at the object's first holder. */
static const char *visit_binds(struct machine_sum *sum, enum machine_pass pass, const struct sim_block *object)
{
    const char *said = check_in(team_check(object->team, object->size), "object %" PRIu64, object->id);
    for (unsigned i = 0; !said && i < object->team->members; i++)
        for (const struct team_bind *bind = object->team->member[i].binds; bind && !said; bind = bind->next)
            said = visit_bind(sum, pass, bind);
    return said;
}

const char *machine_check_holder(struct machine_sum *sum, enum machine_pass pass, struct sim_block *block)
{
    const char *said = NULL;
    if (!block->holders || block->id > sum->machine->blocks)
        return check_say("block %" PRIu64 " of %" PRIu64 " has a holder, but holders is %" PRIu32, block->id,
                         sum->machine->blocks, block->holders);
    if (pass == MACHINE_CLEAR)
        block->counted = block->counted_binds = 0;
    bool first = pass != MACHINE_COUNT || (!block->counted && !block->counted_binds);
    if (first && block->team)
        said = visit_binds(sum, pass, block);
    if (said)
        return said;
    if (pass == MACHINE_COMPARE)
        return compare(block);
    if (pass == MACHINE_COUNT && first)
        said = add(sum, block);
    block->counted += pass == MACHINE_COUNT;
    return said;
}

static const char *check_use(const char *what, int index, uint64_t counted, uint64_t used)
{
    if (counted == used)
        return NULL;
    return check_say("the blocks of %s %d have 0x%" PRIx64 " bytes, but 0x%" PRIx64 " are charged", what, index, used,
                     counted);
}

static const char *check_files(struct machine_sum *sum)
{
    const struct share *share = sum->machine->share;
    unsigned exported = 0;
    for (const struct sim_block *block = share ? share->blocks : NULL; block; block = block->next_shared) {
        if (++exported > SHARE_BLOCKS)
            return check_say("more than %d exported blocks are listed", SHARE_BLOCKS);
        add_place(sum, block);
    }
    const char *said = check_in(backing_file_check(&sum->machine->backing, &sum->backing), "backing file");
    if (!said && share)
        said = check_in(backing_file_check(&share->memory, &sum->memory), "backing file of exportable memory");
    return said;
}

const char *machine_check(struct machine_sum *sum)
{
    const struct sim_machine *machine = sum->machine;
    const char *said = NULL;
    for (int i = 0; i < VMM_MAX_DEVICES && !said; i++)
        said = check_use("device", i, machine->device_used[i], sum->device[i]);
    for (int i = 0; i < VMM_MAX_DEVICES && !said; i++)
        said = check_use("compressible memory of device", i, machine->device_compressed[i], sum->compressed[i]);
    for (int i = 0; i < SIM_MAX_NODES && !said; i++)
        said = check_use("node", i, machine->node_used[i], sum->node[i]);
    unsigned spares = 0;
    for (const struct sim_block *spare = machine->spare; spare && spares <= machine->spares; spare = spare->next_shared)
        spares++;
    if (!said && spares != machine->spares)
        said = check_say("spares is %u, but there are %s spare blocks", machine->spares,
                         spares > machine->spares ? "more" : "fewer");
    return said ? said : check_files(sum);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of team.h. */
#include <inttypes.h>

#include "checks.h"
#include "team.h"

static bool inside(uint64_t offset, uint64_t size, uint64_t whole)
{
    return size && offset <= whole && size <= whole - offset;
}

static const char *check_bind(const struct team_member *member, const struct team_bind *bind, uint64_t end, uint64_t size)
{
    const struct sim_block *block = bind->block;
    if (bind->offset < end || !inside(bind->offset, bind->size, size))
        return check_say("0x%" PRIx64 " bytes bound at 0x%" PRIx64 " do not fit between 0x%" PRIx64 " and 0x%" PRIx64, bind->size,
                         bind->offset, end, size);
    if (!block || !block->binds)
        return check_say("the bind at 0x%" PRIx64 " %s", bind->offset, block ? "has a block with binds = 0" : "has no block");
    if (block->team || !inside(bind->at, bind->size, block->size))
        return check_say("the bind at 0x%" PRIx64 " refers to 0x%" PRIx64 " in %s of 0x%" PRIx64 " bytes", bind->offset, bind->at,
                         block->team ? "an object" : "memory", block->size);
    if (block->prop.location.type != VMM_MEM_LOCATION_TYPE_DEVICE || block->prop.location.id != member->device)
        return check_say("memory of location %d:%d is bound for device %d", block->prop.location.type, block->prop.location.id,
                         member->device);
    return NULL;
}

static const char *check_binds(const struct team *team, const struct team_member *member, uint64_t size, uint32_t *count)
{
    uint64_t end = 0;
    bool latest = !member->latest;
    for (const struct team_bind *bind = member->binds; bind; bind = bind->next) {
        const char *said = check_bind(member, bind, end, size);
        if (said)
            return said;
        if (++*count > team->count)
            return check_say("count is %" PRIu32 ", but the members have more binds", team->count);
        end = bind->offset + bind->size;
        latest = latest || bind == member->latest;
    }
    return latest ? NULL : check_say("the latest bind of device %d is not among its binds", member->device);
}

const char *team_check(const struct team *team, uint64_t size)
{
    uint32_t count = 0;
    if (team->members > team->wanted || team->wanted > TEAM_MEMBERS)
        return check_say("%u of %u devices are in the team", team->members, team->wanted);
    for (unsigned i = 0; i < team->members; i++) {
        const struct team_member *member = &team->member[i], *before = i ? member - 1 : NULL;
        if (before && (member->machine < before->machine ||
                       (member->machine == before->machine && member->device <= before->device)))
            return check_say("device %d of machine %" PRIu64 " is listed after device %d of machine %" PRIu64, member->device,
                             member->machine, before->device, before->machine);
        const char *said = check_binds(team, member, size, &count);
        if (said)
            return said;
    }
    return count == team->count ? NULL
        : check_say("count is %" PRIu32 ", but the members have %" PRIu32 " binds", team->count, count);
}

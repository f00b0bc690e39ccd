/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast objects: their properties, the devices of their team, and the memory bound to them. No driver was measured: the
 * order of the checks is this project's choice, arguments first, then the team, then the memory. */
#include <stdlib.h>

#include "call_fabric.h"
#include "in_flight.h"
#include "in_flight_hazards.h"
#include "launch.h"
#include "sim.h"
#include "team_share.h"
#include "team_wait.h"

static uint64_t unit_of(const struct sim_process *process)
{
    return sim_profile_multicast(&process->machine->profile, VMM_MULTICAST_GRANULARITY_MINIMUM);
}

uint64_t sim_handle_unit(const struct sim_process *process, const struct sim_handle *handle)
{
    return handle->team_size
               ? unit_of(process)
               : sim_granularity(process, handle->prop.location.type, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
}

static bool attribute(const struct sim_process *process, vmm_device_attribute number)
{
    return sim_profile_has(&process->machine->profile, number);
}

static vmm_result refuse(enum vmm_rule_id rule, uint64_t value, uint64_t expected)
{
    return vmm_detail_refuse(rule, value, expected, NULL);
}

static vmm_result refuse_argument(enum vmm_rule_id rule, const char *argument, uint64_t value, uint64_t expected,
                                  const vmm_object *nearest)
{
    vmm_result result = vmm_detail_refuse(rule, value, expected, nearest);
    vmm_detail_argument(argument);
    return result;
}

static vmm_result refuse_near(enum vmm_rule_id rule, uint64_t value, uint64_t expected, const struct sim_handle *handle)
{
    vmm_object nearest = sim_object_handle(handle);
    return vmm_detail_refuse(rule, value, expected, &nearest);
}

/* ---- the object ---- */

/* Does this machine support exports of these handle types? */
static bool can_share(const struct sim_process *process, uint64_t types)
{
    if ((types & VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) &&
        !attribute(process, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED))
        return false;
    return !(types & VMM_MEM_HANDLE_TYPE_FABRIC) ||
           attribute(process, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED);
}

/* Checks all properties but the size, which a query for the granularity need not know. */
static vmm_result check_prop(const struct sim_process *process, const vmm_multicast_object_prop *prop)
{
    const uint64_t known = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR | VMM_MEM_HANDLE_TYPE_FABRIC;
    bool fabric = prop->handle_types & VMM_MEM_HANDLE_TYPE_FABRIC; /* the team may include devices of other machines */
    unsigned devices = fabric ? TEAM_MEMBERS
        : (unsigned)process->machine->visible.all; /* also devices that only other processes see */
    if (!attribute(process, VMM_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED)) {
        vmm_object nearest = sim_object_device(process, 0);
        return vmm_detail_refuse(VMM_RULE_MULTICAST_UNSUPPORTED, 0, 0, &nearest);
    }
    if (prop->num_devices < 2 || prop->num_devices > devices)
        return refuse(VMM_RULE_MULTICAST_NUM_DEVICES, prop->num_devices, devices);
    if (prop->flags)
        return refuse(VMM_RULE_MULTICAST_FLAGS, prop->flags, 0);
    if (prop->handle_types & ~known)
        return refuse(VMM_RULE_MULTICAST_HANDLE_TYPES, prop->handle_types, known);
    return can_share(process, prop->handle_types)
               ? VMM_SUCCESS
               : refuse(VMM_RULE_MULTICAST_TYPES_UNSUPPORTED, prop->handle_types, 0);
}

vmm_result sim_multicast_get_granularity(struct sim_process *process,
                                         const struct vmm_call_multicast_get_granularity *call)
{
    if (!call->granularity)
        return refuse(VMM_RULE_MULTICAST_GRANULARITY_NULL, 0, 0);
    if (!call->prop)
        return refuse(VMM_RULE_MULTICAST_NULL_PROP, 0, 0);
    if (call->option != VMM_MULTICAST_GRANULARITY_MINIMUM && call->option != VMM_MULTICAST_GRANULARITY_RECOMMENDED)
        return refuse(VMM_RULE_MULTICAST_GRANULARITY_OPTION, (uint64_t)(int64_t)call->option,
                      VMM_MULTICAST_GRANULARITY_RECOMMENDED);
    vmm_result result = check_prop(process, call->prop);
    if (result == VMM_SUCCESS)
        *call->granularity = sim_profile_multicast(&process->machine->profile, call->option);
    return result;
}

static vmm_result make(struct sim_process *process, const struct vmm_call_multicast_create *call,
                       const struct sim_channel *channel)
{
    struct sim_handle *handle = sim_handle_ready(process);
    struct sim_block *block = handle ? team_new(process->machine, call->prop) : NULL;
    if (!block) {
        sim_handle_drop(process, handle);
        return sim_out_of_host_memory();
    }
    block->fabric = channel->place;
    sim_handle_begin(process, handle, block, sim_origin(&call->head));
    *call->mc_handle = handle->value;
    return VMM_SUCCESS;
}

vmm_result sim_multicast_create(struct sim_process *process, const struct vmm_call_multicast_create *call)
{
    uint64_t unit = unit_of(process);
    if (!call->mc_handle)
        return refuse(VMM_RULE_MULTICAST_NULL_HANDLE, 0, 0);
    if (!call->prop)
        return refuse(VMM_RULE_MULTICAST_NULL_PROP, 0, 0);
    vmm_result result = check_prop(process, call->prop);
    if (result != VMM_SUCCESS)
        return result;
    if (!call->prop->size)
        return refuse(VMM_RULE_MULTICAST_SIZE_ZERO, 0, unit);
    if (call->prop->size % unit)
        return refuse(VMM_RULE_MULTICAST_SIZE_GRANULARITY, call->prop->size, unit);
    struct sim_channel channel;
    result = sim_fabric_channel(process, call->prop->handle_types, &channel);
    if (result != VMM_SUCCESS)
        return result;
    if ((call->prop->handle_types & VMM_MEM_HANDLE_TYPE_FABRIC) && channel.number == IMEX_NONE) {
        result = refuse(VMM_RULE_MULTICAST_FABRIC_IMEX, call->prop->handle_types, 0);
        vmm_detail_note("%s", channel.why);
        return result;
    }
    return make(process, call, &channel);
}

/* ---- the devices of its team ---- */

/* Finds a live multicast object and brings its team up to date. */
static vmm_result find_object(const struct sim_process *process, uint64_t value, struct sim_handle **object)
{
    *object = sim_handle_live(process, value, VMM_RULE_MULTICAST_HANDLE_STALE, VMM_RULE_MULTICAST_HANDLE);
    if (!*object)
        return VMM_ERROR_INVALID_VALUE;
    if (!(*object)->team_size)
        return refuse_near(VMM_RULE_MULTICAST_HANDLE_MEMORY, value, 0, *object);
    const char *wrong = team_look(process->machine, (*object)->block);
    return wrong ? sim_machine_unreachable(wrong) : VMM_SUCCESS;
}

static vmm_result check_device(const struct sim_process *process, int device)
{
    return sim_device_valid(process, device)
               ? VMM_SUCCESS
               : refuse(VMM_RULE_MULTICAST_DEVICE_ID, (uint64_t)(int64_t)device,
                        (uint64_t)process->machine->profile.devices);
}

static enum team_answer add(struct sim_machine *machine, struct sim_block *object, int device, char why[SHARE_WHY])
{
    if (object->shared)
        return team_join(machine, object, device, why);
    if (team_has(object->team, device))
        return TEAM_TWICE;
    if (team_is_complete(object->team))
        return TEAM_FULL;
    team_add(object->team, TEAM_THIS_MACHINE, device);
    return TEAM_DONE;
}

vmm_result sim_multicast_add_device(struct sim_process *process, const struct vmm_call_multicast_add_device *call)
{
    struct sim_handle *object;
    vmm_result result = find_object(process, call->mc_handle, &object);
    if (result == VMM_SUCCESS)
        result = check_device(process, call->dev);
    if (result != VMM_SUCCESS)
        return result;
    char why[SHARE_WHY];
    switch (add(process->machine, object->block, call->dev, why)) {
    case TEAM_TWICE: return refuse_near(VMM_RULE_MULTICAST_DEVICE_TWICE, (uint64_t)call->dev, 0, object);
    case TEAM_FULL: return refuse_near(VMM_RULE_MULTICAST_TEAM_FULL, (uint64_t)call->dev, 0, object);
    case TEAM_LOST: return sim_machine_unreachable(why);
    default: return VMM_SUCCESS;
    }
}

/* ---- binds ---- */

/* A bind as either of the two calls requests it. */
struct request {
    const struct vmm_call *call;
    struct sim_handle *object;
    uint64_t mc_offset, size, flags;
    struct sim_handle *memory; /* NULL until it is looked up */
    uint64_t at;               /* in the memory's block */
    uint64_t room;             /* bytes from there to the end of the memory, or of the mapping */
    uint64_t given;            /* the argument that gives the offset in the memory, and its name */
    const char *where;
    uint64_t named;            /* the argument that names the memory, and its name */
    const char *which;
};

/* Checks the range in the object: size, mc_offset and a third number are multiples of the unit, and the range lies inside. */
static vmm_result check_range(const struct sim_process *process, const struct sim_handle *object, uint64_t mc_offset,
                              uint64_t size, uint64_t third, const char *third_name)
{
    uint64_t unit = unit_of(process);
    if (!size)
        return refuse(VMM_RULE_BIND_SIZE_ZERO, 0, unit);
    if (size % unit)
        return refuse_argument(VMM_RULE_BIND_GRANULARITY, "size", size, unit, NULL);
    if (mc_offset % unit)
        return refuse_argument(VMM_RULE_BIND_GRANULARITY, "mcOffset", mc_offset, unit, NULL);
    if (third % unit)
        return refuse_argument(VMM_RULE_BIND_GRANULARITY, third_name, third, unit, NULL);
    if (mc_offset > object->size || size > object->size - mc_offset)
        return refuse_near(VMM_RULE_BIND_RANGE, size, object->size, object);
    return VMM_SUCCESS;
}

static vmm_result check_bind_arguments(const struct sim_process *process, const struct request *r)
{
    if (r->flags)
        return refuse(VMM_RULE_BIND_FLAGS, r->flags, 0);
    vmm_result result = check_range(process, r->object, r->mc_offset, r->size, r->given, r->where);
    if (result == VMM_SUCCESS && r->size > r->room)
        return refuse_near(VMM_RULE_BIND_MEMORY_RANGE, r->size, r->room, r->memory);
    return result;
}

/* Is the memory another node's? Its device number then refers to a different device than here. */
static bool is_abroad(const struct sim_process *process, const struct sim_block *memory)
{
    return memory->shared && memory->share != process->machine->share;
}

/* Can the memory be shared in each way that the object can? For imported memory only the handle type of its import is known. */
static bool may_be_shared(const struct team *team, const struct sim_handle *memory)
{
    int types = memory->block->fabric.domain ? VMM_MEM_HANDLE_TYPE_FABRIC : 0;
    types |= memory->prop.requested_handle_types | (memory->imported ? VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : 0);
    return !team->handle_types || (types && (!(team->handle_types & VMM_MEM_HANDLE_TYPE_FABRIC) ||
                                             (types & VMM_MEM_HANDLE_TYPE_FABRIC)));
}

/* Checks whether this memory can be bound to this object. */
static vmm_result check_memory(const struct sim_process *process, const struct request *r)
{
    const struct team *team = r->object->block->team;
    vmm_mem_location location = r->memory->block->prop.location;
    vmm_object nearest = sim_object_handle(r->memory);
    if (location.type != VMM_MEM_LOCATION_TYPE_DEVICE)
        return refuse_argument(VMM_RULE_BIND_HOST, r->which, r->named, 0, &nearest);
    if (is_abroad(process, r->memory->block) || !team_has(team, location.id))
        return refuse_argument(VMM_RULE_BIND_DEVICE, r->which, r->named, 0, &nearest);
    if (!may_be_shared(team, r->memory))
        return refuse_argument(VMM_RULE_BIND_SHARED, r->which, r->named, 0, &nearest);
    return VMM_SUCCESS;
}

static vmm_result refuse_overlap(const struct request *r)
{
    const struct team_bind *other =
        team_bind_in(r->object->block->team, r->memory->block->prop.location.id, r->mc_offset, r->size);
    vmm_object nearest = sim_object_bind(r->object, other);
    return vmm_detail_refuse(VMM_RULE_BIND_OVERLAP, r->mc_offset, 0, &nearest);
}

/* Adds the bind to the device's list: in this process, or in the shared state when the object is shared. */
static enum team_answer add_bind(struct sim_process *process, const struct request *r, const struct team_bind *bind,
                                 char why[SHARE_WHY])
{
    struct sim_block *object = r->object->block;
    int device = bind->block->prop.location.id;
    if (team_bind_in(object->team, device, bind->offset, bind->size))
        return TEAM_OVERLAP;
    if (object->shared)
        return team_attach(process->machine, object, device, bind, why);
    struct team_member *member = team_member_of(object->team, TEAM_THIS_MACHINE, device);
    return team_bind(object->team, member, bind) ? TEAM_DONE : TEAM_NO_MEMORY;
}

static vmm_result make_bind(struct sim_process *process, const struct request *r)
{
    char why[SHARE_WHY];
    const struct team_bind bind = {.offset = r->mc_offset, .size = r->size, .block = r->memory->block, .at = r->at,
                                   .made = r->call->number, .made_by = r->call->id, .made_stack = call_stack(),
                                   .number = process->numbers[VMM_OBJECT_BIND] + 1};
    vmm_result result;
    switch (add_bind(process, r, &bind, why)) {
    case TEAM_DONE: break;
    case TEAM_OVERLAP: return refuse_overlap(r);
    case TEAM_NO_MEMORY: return sim_out_of_host_memory();
    case TEAM_NO_ROOM:
        result = refuse_near(VMM_RULE_BIND_RESOURCES, r->size, 0, r->object);
        vmm_detail_note("%s", why);
        return result;
    default: return sim_machine_unreachable(why);
    }
    sim_process_number(process, VMM_OBJECT_BIND);
    return VMM_SUCCESS;
}

static vmm_result bind(struct sim_process *process, const struct request *r, struct team_wait *wait)
{
    vmm_result result = check_bind_arguments(process, r);
    if (result != VMM_SUCCESS)
        return result;
    if (!team_is_complete(r->object->block->team))
        return team_wait_for(wait, process, r->object) ? VMM_SUCCESS
                                                        : team_wait_refuse(wait, VMM_RULE_BIND_INCOMPLETE, r->object);
    result = check_memory(process, r);
    return result == VMM_SUCCESS ? make_bind(process, r) : result;
}

static vmm_result bind_mem(struct sim_process *process, const struct vmm_call_multicast_bind_mem *call,
                           struct team_wait *wait)
{
    struct request r = {.call = &call->head, .mc_offset = call->mc_offset, .size = call->size, .flags = call->flags,
                        .at = call->mem_offset, .given = call->mem_offset, .where = "memOffset",
                        .named = call->mem_handle, .which = "memHandle"};
    vmm_result result = find_object(process, call->mc_handle, &r.object);
    if (result != VMM_SUCCESS)
        return result;
    r.memory = sim_handle_live(process, call->mem_handle, VMM_RULE_BIND_MEMORY_STALE, VMM_RULE_BIND_MEMORY);
    if (!r.memory)
        return VMM_ERROR_INVALID_VALUE;
    if (r.memory->team_size)
        return refuse_near(VMM_RULE_BIND_MULTICAST, call->mem_handle, 0, r.memory);
    r.room = call->mem_offset < r.memory->size ? r.memory->size - call->mem_offset : 0;
    return bind(process, &r, wait);
}

vmm_result sim_multicast_bind_mem(struct sim_process *process, const struct vmm_call_multicast_bind_mem *call)
{
    struct team_wait wait = {0};
    vmm_result result;
    do
        result = bind_mem(process, call, &wait);
    while (team_wait_again(&wait, process));
    return result;
}

static vmm_result bind_addr(struct sim_process *process, const struct vmm_call_multicast_bind_addr *call,
                            struct team_wait *wait)
{
    struct request r = {.call = &call->head, .mc_offset = call->mc_offset, .size = call->size, .flags = call->flags,
                        .given = call->memptr, .where = "memptr", .named = call->memptr, .which = "memptr"};
    vmm_result result = find_object(process, call->mc_handle, &r.object);
    if (result != VMM_SUCCESS)
        return result;
    const struct sim_mapping *mapping = sim_mapping_at(process, call->memptr);
    if (!mapping) {
        vmm_object nearest = sim_object_nearest(process, call->memptr);
        return vmm_detail_refuse(VMM_RULE_BIND_ADDRESS, call->memptr, 0, &nearest);
    }
    r.memory = mapping->handle;
    if (r.memory->team_size) {
        vmm_object nearest = sim_object_mapping(mapping);
        return refuse_argument(VMM_RULE_BIND_MULTICAST, "memptr", call->memptr, 0, &nearest);
    }
    r.at = mapping->offset + (call->memptr - mapping->start);
    r.room = mapping->size - (call->memptr - mapping->start);
    return bind(process, &r, wait);
}

vmm_result sim_multicast_bind_addr(struct sim_process *process, const struct vmm_call_multicast_bind_addr *call)
{
    struct team_wait wait = {0};
    vmm_result result;
    do
        result = bind_addr(process, call, &wait);
    while (team_wait_again(&wait, process));
    return result;
}

static vmm_result end_bind(struct sim_process *process, struct sim_block *object, int device,
                           const struct team_bind *bound)
{
    char why[SHARE_WHY];
    if (object->shared)
        return team_detach(process->machine, object, device, bound, why) == TEAM_DONE ? VMM_SUCCESS
                                                                                      : sim_machine_unreachable(why);
    team_unbind(process->machine, object->team, team_member_of(object->team, TEAM_THIS_MACHINE, device), bound);
    return VMM_SUCCESS;
}

vmm_result sim_multicast_unbind(struct sim_process *process, const struct vmm_call_multicast_unbind *call)
{
    struct sim_handle *object;
    vmm_result result = find_object(process, call->mc_handle, &object);
    if (result != VMM_SUCCESS)
        return result;
    struct team *team = object->block->team;
    result = check_device(process, call->dev);
    if (result == VMM_SUCCESS && !team_has(team, call->dev))
        result = refuse_near(VMM_RULE_UNBIND_DEVICE, (uint64_t)call->dev, 0, object);
    if (result == VMM_SUCCESS)
        result = check_range(process, object, call->mc_offset, call->size, 0, "");
    if (result != VMM_SUCCESS)
        return result;
    const struct team_bind *bound = team_bind_in(team, call->dev, call->mc_offset, call->size);
    if (!bound)
        return refuse_near(VMM_RULE_UNBIND_NOTHING, call->mc_offset, 0, object);
    if (bound->offset != call->mc_offset || bound->size != call->size) {
        vmm_object nearest = sim_object_bind(object, bound);
        bool start = bound->offset != call->mc_offset;
        return refuse_argument(VMM_RULE_UNBIND_MATCH, start ? "mcOffset" : "size", start ? call->mc_offset : call->size,
                               start ? bound->offset : bound->size, &nearest);
    }
    if (in_flight_any(process->in_flight))
        in_flight_unbinding(process, object, call->mc_offset, call->size);
    return end_bind(process, object->block, call->dev, bound);
}

void sim_warn_of_binds(const struct sim_handle *handle)
{
    if (handle->block->team && !handle->block->team->count)
        return;
    vmm_object nearest = sim_object_handle(handle);
    vmm_detail_warn(handle->team_size ? VMM_RULE_RELEASE_TEAM_BOUND : VMM_RULE_RELEASE_MEMORY_BOUND, handle->value, 0,
                    &nearest);
}

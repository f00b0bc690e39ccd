/* SPDX-License-Identifier: Apache-2.0 */
/* The checks of the calls that create, describe and destroy arrays. The arrays themselves: arrays.h. */
#include <inttypes.h>

#include "arrays.h"
#include "in_flight.h"
#include "launch.h"
#include "order_feed.h"
#include "pools.h"
#include "sim.h"

static uint64_t value_of(const void *array)
{
    return (uint64_t)(uintptr_t)array;
}

static vmm_result refuse_null(const char *argument)
{
    vmm_result result = vmm_detail_refuse(VMM_RULE_ARRAY_NULL, 0, 0, NULL);
    vmm_detail_argument(argument);
    return result;
}

/* ---- creation ---- */

static enum vmm_rule_id rule_of(enum array_wrong wrong)
{
    static const enum vmm_rule_id rules[] = {
        [ARRAY_RIGHT] = VMM_RULE_COUNT,
        [ARRAY_WRONG_SURFACE] = VMM_RULE_ARRAY_SURFACE, [ARRAY_WRONG_FORMAT] = VMM_RULE_ARRAY_FORMAT,
        [ARRAY_WRONG_FLAGS] = VMM_RULE_ARRAY_FLAGS,     [ARRAY_WRONG_SHAPE] = VMM_RULE_ARRAY_SHAPE,
        [ARRAY_WRONG_SPARSE] = VMM_RULE_ARRAY_SPARSE,   [ARRAY_WRONG_SIZE] = VMM_RULE_ARRAY_SIZE,
    };
    return rules[wrong];
}

static vmm_result refuse_descriptor(enum vmm_rule_id rule, const vmm_array3d_descriptor *asked)
{
    const bool format = rule == VMM_RULE_ARRAY_FORMAT, sizes = rule == VMM_RULE_ARRAY_SHAPE || rule == VMM_RULE_ARRAY_SIZE;
    vmm_result result = vmm_detail_refuse(rule, format ? (uint64_t)(unsigned)asked->format : sizes ? asked->width : asked->flags, 0, NULL);
    vmm_detail_argument("pAllocateArray");
    vmm_detail_note("%" PRIu64 " by %" PRIu64 " by %" PRIu64 " elements of format 0x%x with %u channels, flags 0x%x", asked->width, asked->height,
                    asked->depth, (unsigned)asked->format, asked->num_channels, asked->flags);
    return result;
}

/* The common arguments of the two creating calls. */
struct creation {
    const struct vmm_call *head;
    const vmm_array3d_descriptor *asked;
    uint64_t *value; /* NULL: none */
    unsigned levels;
    bool mipmapped;
};

static vmm_result check_creation(struct sim_process *process, const struct creation *creation, vmm_array3d_descriptor *is,
                                 const struct sim_context **context)
{
    *context = sim_current(process);
    vmm_result result = *context ? sim_context_check(process, *context, false) : sim_no_context(process);
    if (result != VMM_SUCCESS)
        return result;
    if (!creation->value)
        return refuse_null("pHandle");
    if (!creation->asked)
        return refuse_null("pAllocateArray");
    *is = array_taken(creation->asked);
    const enum vmm_rule_id rule = rule_of(array_check(is, creation->mipmapped));
    return rule == VMM_RULE_COUNT ? VMM_SUCCESS : refuse_descriptor(rule, creation->asked);
}

/* With the state's lock. */
static vmm_result check_room(struct sim_process *process, const struct creation *creation, const vmm_array3d_descriptor *is,
                             const struct sim_context *context)
{
    const uint64_t wanted = sim_array_takes(process, is, creation->levels, creation->mipmapped, context);
    const uint64_t left = sim_pools_room(process, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, context->device}, wanted);
    if (wanted <= left)
        return VMM_SUCCESS;
    vmm_object device = sim_object_device(process, context->device);
    vmm_result result = vmm_detail_refuse(VMM_RULE_ARRAY_MEMORY, wanted, left, &device);
    vmm_detail_argument("pAllocateArray");
    return result;
}

static vmm_result make(struct sim_process *process, const struct creation *creation, const vmm_array3d_descriptor *is,
                       const struct sim_context *context)
{
    vmm_result result = check_room(process, creation, is, context);
    if (result != VMM_SUCCESS || process->check_only)
        return result;
    struct sim_array *array = sim_array_new(process, is, creation->levels, creation->mipmapped, context, sim_origin(creation->head));
    if (!array)
        return sim_out_of_host_memory();
    if (array->block && process->in_flight->order)
        order_feed_created(process, array->block);
    *creation->value = array->value;
    return VMM_SUCCESS;
}

static vmm_result create(struct sim_process *process, const struct creation *creation)
{
    const struct sim_context *context;
    vmm_array3d_descriptor is;
    vmm_result result = check_creation(process, creation, &is, &context);
    if (result != VMM_SUCCESS)
        return result;
    if (!sim_machine_begin(process->machine))
        return sim_machine_unreachable(share_why(process->machine->share));
    result = make(process, creation, &is, context);
    sim_machine_end(process->machine);
    return result;
}

vmm_result sim_array_3d_create(struct sim_process *process, const struct vmm_call_array_3d_create *call)
{
    uint64_t value = 0;
    const struct creation creation = {&call->head, call->p_allocate_array, call->p_handle ? &value : NULL, 1, false};
    vmm_result result = create(process, &creation);
    if (result == VMM_SUCCESS && !process->check_only)
        *call->p_handle = (vmm_array)(uintptr_t)value;
    return result;
}

vmm_result sim_mipmapped_array_create(struct sim_process *process, const struct vmm_call_mipmapped_array_create *call)
{
    uint64_t value = 0;
    const struct creation creation = {&call->head, call->p_mipmapped_array_desc, call->p_handle ? &value : NULL,
                                      call->num_mipmap_levels, true};
    vmm_result result = create(process, &creation);
    if (result == VMM_SUCCESS && !process->check_only)
        *call->p_handle = (vmm_mipmapped_array)(uintptr_t)value;
    return result;
}

/* ---- queries ---- */

static vmm_result refuse_array(enum vmm_rule_id rule, uint64_t value, const struct sim_array *array, const char *argument)
{
    vmm_object object = array ? sim_object_array(array) : (vmm_object){0};
    vmm_result result = vmm_detail_refuse(rule, value, 0, &object);
    vmm_detail_argument(argument);
    return result;
}

/* Finds an array of that kind. The driver follows the value as a pointer to find the array's context. */
static vmm_result find(const struct sim_process *process, uint64_t value, bool mipmapped, const char *argument,
                       struct sim_array **array)
{
    if (!value)
        return refuse_array(VMM_RULE_ARRAY_HANDLE, 0, NULL, argument);
    const enum slot_state state = sim_array_find(process, value, array);
    if (state != SLOT_LIVE)
        return refuse_array(state == SLOT_STALE ? VMM_RULE_ARRAY_ENDED : VMM_RULE_ARRAY_FORGED, value, *array, argument);
    return (*array)->mipmapped == mipmapped ? VMM_SUCCESS : refuse_array(VMM_RULE_ARRAY_UNKNOWN, value, *array, argument);
}

vmm_result sim_array_3d_get_descriptor(struct sim_process *process, const struct vmm_call_array_3d_get_descriptor *call)
{
    struct sim_array *array;
    vmm_result result = find(process, value_of(call->h_array), false, "hArray", &array);
    if (result != VMM_SUCCESS)
        return result;
    if (!call->p_array_descriptor)
        return refuse_null("pArrayDescriptor");
    *call->p_array_descriptor = array->is;
    return VMM_SUCCESS;
}

vmm_result sim_array_get_plane(struct sim_process *process, const struct vmm_call_array_get_plane *call)
{
    struct sim_array *array;
    vmm_result result = find(process, value_of(call->h_array), false, "hArray", &array);
    if (result != VMM_SUCCESS)
        return result;
    return refuse_array(VMM_RULE_ARRAY_PLANE, value_of(call->h_array), array, "hArray");
}

/* Finds a complete array with the flag; values that are not arrays have no flag. */
static vmm_result find_with(const struct sim_process *process, uint64_t value, bool mipmapped, unsigned flag,
                            const char *argument, struct sim_array **array)
{
    const enum slot_state state = sim_array_find(process, value, array);
    if (state == SLOT_STALE)
        return refuse_array(VMM_RULE_ARRAY_UNKNOWN, value, *array, argument);
    if (state == SLOT_LIVE && (*array)->mipmapped == mipmapped && (*array)->whole == *array && sim_array_has(*array, flag))
        return VMM_SUCCESS;
    return refuse_array(flag == VMM_ARRAY3D_SPARSE ? VMM_RULE_ARRAY_NOT_SPARSE : VMM_RULE_ARRAY_NOT_DEFERRED, value, *array, argument);
}

/* Other fields of the structure are not changed. */
static vmm_result get_sparse(const struct sim_process *process, uint64_t value, bool mipmapped, const char *argument,
                             vmm_array_sparse_properties *properties)
{
    struct sim_array *array;
    if (!properties)
        return refuse_null("sparseProperties");
    vmm_result result = find_with(process, value, mipmapped, VMM_ARRAY3D_SPARSE, argument, &array);
    if (result == VMM_SUCCESS)
        array_sparse_properties(&array->layout, mipmapped, properties);
    return result;
}

vmm_result sim_array_get_sparse_properties(struct sim_process *process, const struct vmm_call_array_get_sparse_properties *call)
{
    return get_sparse(process, value_of(call->array), false, "array", call->sparse_properties);
}

vmm_result sim_mipmapped_array_get_sparse_properties(struct sim_process *process,
                                                     const struct vmm_call_mipmapped_array_get_sparse_properties *call)
{
    return get_sparse(process, value_of(call->mipmap), true, "mipmap", call->sparse_properties);
}

static vmm_result get_requirements(const struct sim_process *process, uint64_t value, bool mipmapped, const char *argument,
                                   vmm_array_memory_requirements *requirements)
{
    struct sim_array *array;
    if (!requirements)
        return refuse_null("memoryRequirements");
    vmm_result result = find_with(process, value, mipmapped, VMM_ARRAY3D_DEFERRED_MAPPING, argument, &array);
    if (result == VMM_SUCCESS)
        *requirements = (vmm_array_memory_requirements){.size = array->layout.need, .alignment = ARRAY_TILE};
    return result;
}

/* Measured: the device is not checked. */
vmm_result sim_array_get_memory_requirements(struct sim_process *process, const struct vmm_call_array_get_memory_requirements *call)
{
    return get_requirements(process, value_of(call->array), false, "array", call->memory_requirements);
}

vmm_result sim_mipmapped_array_get_memory_requirements(struct sim_process *process,
                                                       const struct vmm_call_mipmapped_array_get_memory_requirements *call)
{
    return get_requirements(process, value_of(call->mipmap), true, "mipmap", call->memory_requirements);
}

vmm_result sim_mipmapped_array_get_level(struct sim_process *process, const struct vmm_call_mipmapped_array_get_level *call)
{
    struct sim_array *array;
    vmm_result result = find(process, value_of(call->h_mipmapped_array), true, "hMipmappedArray", &array);
    if (result != VMM_SUCCESS)
        return result;
    if (!call->p_level_array)
        return refuse_null("pLevelArray");
    if (call->level >= array->layout.levels) {
        vmm_object object = sim_object_array(array);
        return vmm_detail_refuse(VMM_RULE_ARRAY_LEVEL, call->level, array->layout.levels, &object);
    }
    struct sim_array *level = sim_array_level(process, array, call->level, sim_origin(&call->head));
    if (!level)
        return sim_out_of_host_memory();
    *call->p_level_array = (vmm_array)(uintptr_t)level->value;
    return VMM_SUCCESS;
}

/* ---- destruction ---- */

/* Waits for the device's work, like a free of memory. A level cannot be destroyed separately from its array. */
static vmm_result destroy(struct sim_process *process, const struct vmm_call *head, uint64_t value, bool mipmapped,
                          const char *argument)
{
    struct sim_array *array;
    if (sim_array_find(process, value, &array) == SLOT_STALE)
        return refuse_array(VMM_RULE_ARRAY_UNKNOWN, value, array, argument);
    vmm_result result = find(process, value, mipmapped, argument, &array);
    if (result != VMM_SUCCESS || process->check_only || array->whole != array)
        return result;
    struct queue_place place = {.device = array->device};
    result = in_flight_wait(process, &place, QUEUE_DEVICE);
    if (result != VMM_SUCCESS)
        return result;
    result = find(process, value, mipmapped, argument, &array);
    if (result == VMM_SUCCESS)
        sim_array_end(process, array, sim_origin(head));
    return result;
}

/* The driver takes an ordinary mipmapped array for an array and destroys nothing; a sparse one ends the process. */
static bool is_mipmapped(const struct sim_process *process, uint64_t value, struct sim_array **array)
{
    return sim_array_find(process, value, array) == SLOT_LIVE && (*array)->mipmapped && !sim_array_has(*array, VMM_ARRAY3D_SPARSE);
}

vmm_result sim_array_destroy(struct sim_process *process, const struct vmm_call_array_destroy *call)
{
    struct sim_array *array;
    if (is_mipmapped(process, value_of(call->h_array), &array)) {
        vmm_object object = sim_object_array(array);
        return sim_warn_or_refuse(process, VMM_RULE_ARRAY_KIND, array->value, 0, &object) ? VMM_SUCCESS : VMM_ERROR_INVALID_VALUE;
    }
    return destroy(process, &call->head, value_of(call->h_array), false, "hArray");
}

vmm_result sim_mipmapped_array_destroy(struct sim_process *process, const struct vmm_call_mipmapped_array_destroy *call)
{
    return destroy(process, &call->head, value_of(call->h_mipmapped_array), true, "hMipmappedArray");
}

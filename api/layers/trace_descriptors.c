/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "trace_descriptors.h"

#include <sys/stat.h>

#include "fnv.h"
#include "heap.h"
#include "posix.h"
#include "trace_value.h"

void trace_descriptors_free(struct trace_descriptors *descriptors)
{
    spans_clear(&descriptors->index);
    heap.free(descriptors->entry);
    *descriptors = (struct trace_descriptors){0};
}

static bool is_one(enum vmm_param_kind kind)
{
    return kind == VMM_PARAM_FD || kind == VMM_PARAM_OUT_FD || kind == VMM_PARAM_IPC_HANDLE || kind == VMM_PARAM_OUT_IPC_HANDLE;
}

/* The call has such a parameter: the layer checks its traits first. */
static const struct vmm_param *param_of(enum vmm_call_id id)
{
    size_t count = 0;
    const struct vmm_param *param = vmm_call_params(id, &count);
    while (!is_one(param->kind))
        param++;
    return param;
}

/* ---- values ---- */

#define HANDLE (UINT64_C(1) << 63) /* the value of a handle, which is not a descriptor */

uint64_t trace_fabric(const void *bytes)
{
    return fnv1a(FNV1A, bytes, VMM_FABRIC_HANDLE_SIZE) | HANDLE;
}

/* The file that the number refers to now; 0 if it is not open in this process. */
static uint64_t file_of(uint64_t value)
{
    struct stat status;
    if (posix.fstat((int)(uint32_t)value, &status) != 0) /* a driver uses only the lower half of the value */
        return 0;
    return fnv1a_word(fnv1a_word(FNV1A, (uint64_t)status.st_dev), (uint64_t)status.st_ino) | 1;
}

static const void *pointer_of(const struct vmm_call *call, const struct vmm_param *param)
{
    return (const void *)(uintptr_t)vmm_call_scalar(call, param);
}

/* A value is known to be a fabric handle once a call with it has succeeded. */
static bool taken(const struct trace_event *event, const struct vmm_param *param, uint64_t *value)
{
    *value = vmm_call_scalar(event->call, param);
    if (param->kind != VMM_PARAM_IPC_HANDLE && (!*value || !trace_is_fabric(event->call)))
        return *value != 0;
    if (param->kind != VMM_PARAM_IPC_HANDLE && !trace_event_done(event))
        return false;
    *value = trace_fabric(pointer_of(event->call, param));
    return true;
}

static bool made(const struct trace_event *event, const struct vmm_param *param, uint64_t *value)
{
    int fd;
    if (!trace_event_done(event) || event->call->id == VMM_CALL_mem_get_handle_for_address_range) /* a dma-buf has no name */
        return false;
    if (param->kind == VMM_PARAM_OUT_IPC_HANDLE || trace_is_fabric(event->call)) {
        *value = trace_fabric(pointer_of(event->call, param));
        return true;
    }
    memcpy(&fd, pointer_of(event->call, param), sizeof fd);
    *value = (uint64_t)fd;
    return fd >= 0;
}

/* ---- their numbers ---- */

static struct trace_descriptor *find(struct trace_descriptors *descriptors, uint64_t value)
{
    const struct span *span = spans_at(&descriptors->index, value);
    return span ? &descriptors->entry[span->value] : NULL;
}

/* A new entry; NULL when memory is exhausted. */
static struct trace_descriptor *add(struct trace_descriptors *descriptors, uint64_t value)
{
    if (descriptors->count == descriptors->room) {
        const size_t room = descriptors->room ? 2 * descriptors->room : 16;
        struct trace_descriptor *entry = heap.realloc(descriptors->entry, room * sizeof *entry);
        if (!entry)
            return NULL;
        descriptors->entry = entry;
        descriptors->room = room;
    }
    return spans_put(&descriptors->index, value, 1, descriptors->count) ? &descriptors->entry[descriptors->count++] : NULL;
}

/* A descriptor is new, because its number was free; the same handle may be exported twice. Descriptor 0 is counted but gets no
 * name, because 0 stands for "none". */
static void learn(struct trace_descriptors *descriptors, uint64_t value)
{
    struct trace_descriptor *entry = find(descriptors, value);
    if (entry && value & HANDLE)
        return;
    const uint32_t number = ++descriptors->last;
    if (value && !entry)
        entry = add(descriptors, value);
    if (entry)
        *entry = (struct trace_descriptor){value & HANDLE ? 0 : file_of(value), number};
}

/* Every descriptor that a driver exports refers to the same device file. */
static bool is_one_of_many(uint64_t value)
{
    struct stat status;
    return !(value & HANDLE) && (posix.fstat((int)(uint32_t)value, &status) != 0 || S_ISCHR(status.st_mode));
}

static bool is_negative(uint64_t value)
{
    return value >> 31 == UINT64_MAX >> 31; /* an int, sign-extended */
}

void trace_descriptors_note(struct trace_descriptors *descriptors, struct trace_event *event, bool shared)
{
    const struct vmm_param *param = param_of((enum vmm_call_id)event->call->id);
    uint64_t value;
    const bool out = trace_is_out(param->kind), known = out ? made(event, param, &value) : taken(event, param, &value);
    const bool handle = known && value & HANDLE && !is_negative(value);
    const uint64_t file = known && !handle ? file_of(value) : 0;
    event->closed = param->kind == VMM_PARAM_FD && known && !handle && !file;
    if (!known)
        return;
    if (out)
        learn(descriptors, value);
    const struct trace_descriptor *entry = find(descriptors, value);
    if (entry && entry->file == file)
        event->descriptor = entry->number;
    if (shared && trace_event_done(event) && (handle || !is_one_of_many(value)))
        event->shared = handle ? value : file;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* ------------------------------------------------------------------------------------------------- verdict of a test */

void fix_failed(struct fix *f, const char *file, int line, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    f->root->failures++;
    tap_note("  %s:%d: %s", file, line, text);
}

void fix_skip(struct fix *f, const char *reason)
{
    f->root->skip = reason;
    longjmp(*f->out, 1);
}

void fix_need_at(struct fix *f, const char *file, int line, vmm_result result, const char *what)
{
    if (result == VMM_SUCCESS)
        return;
    const vmm_detail *detail = vmm_last_detail();
    fix_failed(f, file, line, "%s: %s %s %s", what, vmm_result_name(result), detail->rule ? detail->rule : "",
               detail->note);
    longjmp(*f->out, 1);
}

/* ------------------------------------------------------------------------------------------------- what there is */

int fix_attribute(struct fix *f, vmm_device_attribute attribute)
{
    int value = 0;
    return vmm_device_get_attribute(f->sys, &value, attribute, 0) == VMM_SUCCESS ? value : 0;
}

void fix_need_devices(struct fix *f, int count)
{
    if (f->devices < count)
        fix_skip(f, count == 2 ? "needs 2 devices" : "needs more devices");
}

void fix_need_simulator(struct fix *f, const char *why)
{
    if (!f->simulator)
        fix_skip(f, why);
}

void fix_need_attribute(struct fix *f, vmm_device_attribute attribute, const char *reason)
{
    if (!f->profile && fix_attribute(f, attribute) != 1)
        fix_skip(f, reason);
}

void fix_need_no_attribute(struct fix *f, vmm_device_attribute attribute, const char *reason)
{
    if (!f->profile && fix_attribute(f, attribute) != 0)
        fix_skip(f, reason);
}

void fix_need_parts(struct fix *f, bool wanted)
{
    if (!f->profile && fix_partial(f) != wanted)
        fix_skip(f, wanted ? "needs a machine that maps parts of memory" : "needs a machine that maps whole memory only");
}

void fix_need_link(struct fix *f, bool wanted)
{
    int can = 0;
    if (f->profile)
        return;
    fix_need_devices(f, 2);
    fix_need(f, vmm_device_can_access_peer(f->sys, &can, 1, 0));
    if ((can == 1) != wanted)
        fix_skip(f, wanted ? "needs 2 devices with a link" : "needs 2 devices without a link");
}

void fix_need_fabric(struct fix *f, bool wanted)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    vmm_mem_generic_allocation_handle handle = 0;
    if (f->profile)
        return;
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, "needs fabric handles (attribute 128)");
    prop.requested_handle_types = VMM_MEM_HANDLE_TYPE_FABRIC;
    vmm_result result = vmm_mem_create(f->sys, &handle, f->g, &prop, 0);
    if (result == VMM_SUCCESS)
        fix_need(f, vmm_mem_release(f->sys, handle));
    if ((result == VMM_SUCCESS) != wanted)
        fix_skip(f, wanted ? "needs an IMEX channel" : "needs a machine without an IMEX channel");
}

void fix_need_host(struct fix *f)
{
    if (fix_attribute(f, VMM_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) != 1)
        fix_skip(f, "needs HOST memory (attribute 145)");
}

void fix_need_numa(struct fix *f)
{
    if (fix_attribute(f, VMM_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED) != 1)
        fix_skip(f, "needs HOST_NUMA memory (attribute 141)");
}

int fix_numa_node(struct fix *f)
{
    int node = fix_attribute(f, VMM_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
    return node < 0 ? 0 : node;
}

uint64_t fix_host_unit(struct fix *f)
{
    vmm_mem_allocation_prop prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0);
    uint64_t unit = 0;
    fix_need(f, vmm_mem_get_allocation_granularity(f->sys, &unit, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM));
    return unit > f->g ? unit : f->g;
}

bool fix_partial(struct fix *f)
{
    vmm_deviceptr ptr = fix_reserve(f, f->g);
    vmm_mem_generic_allocation_handle handle = fix_create(f, 2 * f->g);
    vmm_result result = vmm_mem_map(f->sys, ptr, f->g, 0, handle, 0);
    if (result == VMM_SUCCESS)
        fix_need(f, vmm_mem_unmap(f->sys, ptr, f->g));
    fix_release(f, handle);
    fix_address_free(f, ptr, f->g);
    return result == VMM_SUCCESS;
}

/* --------------------------------------------------------------------------------------------------- making things */

vmm_mem_location fix_at(vmm_mem_location_type type, int id)
{
    return (vmm_mem_location){.type = type, .id = id};
}

vmm_mem_allocation_prop fix_prop_at(vmm_mem_location_type type, int id)
{
    vmm_mem_allocation_prop prop;
    memset(&prop, 0, sizeof prop);
    prop.type = VMM_MEM_ALLOCATION_TYPE_PINNED;
    prop.location = fix_at(type, id);
    return prop;
}

vmm_mem_allocation_prop fix_prop(int device)
{
    return fix_prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, device);
}

void fix_note(struct fix *f, enum fix_kind kind, uint64_t value, uint64_t size)
{
    if (f->things == FIX_THINGS) {
        fix_failed(f, __FILE__, __LINE__, "the test makes more than %d objects", FIX_THINGS);
        longjmp(*f->out, 1);
    }
    f->thing[f->things++] = (struct fix_thing){.kind = kind, .value = value, .size = size};
}

void fix_forget(struct fix *f, enum fix_kind kind, uint64_t value, uint64_t size)
{
    unsigned kept = 0;
    bool found = false;
    for (unsigned i = 0; i < f->things; i++) {
        struct fix_thing *t = &f->thing[i];
        bool same = t->kind == kind && (kind == FIX_MAPPING ? t->value - value < size : t->value == value && !found);
        found = found || same;
        if (!same)
            f->thing[kept++] = *t;
    }
    f->things = kept;
}

vmm_mem_generic_allocation_handle fix_create_prop(struct fix *f, uint64_t size, const vmm_mem_allocation_prop *prop)
{
    vmm_mem_generic_allocation_handle handle = 0;
    fix_need(f, vmm_mem_create(f->sys, &handle, size, prop, 0));
    fix_note(f, FIX_HANDLE, handle, size);
    return handle;
}

vmm_mem_generic_allocation_handle fix_create(struct fix *f, uint64_t size)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    return fix_create_prop(f, size, &prop);
}

vmm_deviceptr fix_reserve_at(struct fix *f, uint64_t size, uint64_t alignment, vmm_deviceptr hint)
{
    vmm_deviceptr ptr = 0;
    fix_need(f, vmm_mem_address_reserve(f->sys, &ptr, size, alignment, hint, 0));
    fix_note(f, FIX_RESERVATION, ptr, size);
    return ptr;
}

vmm_deviceptr fix_reserve(struct fix *f, uint64_t size)
{
    return fix_reserve_at(f, size, 0, 0);
}

void fix_map(struct fix *f, vmm_deviceptr ptr, uint64_t size, vmm_mem_generic_allocation_handle handle)
{
    fix_need(f, vmm_mem_map(f->sys, ptr, size, 0, handle, 0));
    fix_note(f, FIX_MAPPING, ptr, size);
}

void fix_settle(struct fix *f)
{
    /* Without a context there is nothing to wait for. */
    if (!f->simulator && vmm_ctx_synchronize(f->sys) == VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED)
        fix_failed(f, __FILE__, __LINE__, "a helper of the fixture waited for the context during a capture, which is now "
                                          "invalid");
}

void fix_access_at(struct fix *f, vmm_deviceptr ptr, uint64_t size, vmm_mem_location location,
                   vmm_mem_access_flags flags)
{
    vmm_mem_access_desc desc = {.location = location, .flags = flags};
    fix_settle(f);
    fix_need(f, vmm_mem_set_access(f->sys, ptr, size, &desc, 1));
}

void fix_access(struct fix *f, vmm_deviceptr ptr, uint64_t size, vmm_mem_access_flags flags)
{
    fix_access_at(f, ptr, size, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0), flags);
}

vmm_deviceptr fix_mapped(struct fix *f, uint64_t size, vmm_mem_access_flags flags,
                         vmm_mem_generic_allocation_handle *handle)
{
    vmm_deviceptr ptr = fix_reserve(f, size);
    vmm_mem_generic_allocation_handle made = fix_create(f, size);
    fix_map(f, ptr, size, made);
    if (flags != VMM_MEM_ACCESS_FLAGS_PROT_NONE)
        fix_access(f, ptr, size, flags);
    if (handle)
        *handle = made;
    return ptr;
}

vmm_deviceptr fix_mapped_twice(struct fix *f)
{
    vmm_mem_generic_allocation_handle handle = fix_create(f, f->g);
    vmm_deviceptr p = fix_reserve(f, 4 * f->g);
    fix_map(f, p, f->g, handle);
    fix_map(f, p + f->g, f->g, handle);
    fix_map(f, p + 2 * f->g, f->g, fix_create(f, f->g));
    fix_access(f, p, 3 * f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    return p;
}

vmm_deviceptr fix_free_range(struct fix *f, uint64_t size)
{
    vmm_deviceptr ptr = fix_reserve(f, size);
    fix_address_free(f, ptr, size);
    return ptr;
}

vmm_deviceptr fix_adjacent(struct fix *f, uint64_t first, uint64_t second)
{
    vmm_deviceptr ptr = fix_free_range(f, first + second);
    vmm_deviceptr a = fix_reserve_at(f, first, 0, ptr), b = fix_reserve_at(f, second, 0, ptr + first);
    if (a != ptr || b != ptr + first)
        fix_skip(f, "needs two reservations side by side (a hint was not taken)");
    return ptr;
}

vmm_deviceptr fix_alloc(struct fix *f, uint64_t size)
{
    vmm_deviceptr ptr = 0;
    fix_need(f, vmm_mem_alloc(f->sys, &ptr, size));
    fix_note(f, FIX_ALLOCATION, ptr, size);
    return ptr;
}

vmm_context fix_context(struct fix *f, int device)
{
    vmm_context ctx = NULL;
    fix_need(f, vmm_ctx_create(f->sys, &ctx, 0, device));
    fix_note(f, FIX_CONTEXT, (uintptr_t)ctx, 0);
    return ctx;
}

vmm_stream fix_stream(struct fix *f)
{
    vmm_stream stream = NULL;
    fix_need(f, vmm_stream_create(f->sys, &stream, VMM_STREAM_NON_BLOCKING));
    fix_note(f, FIX_STREAM, (uintptr_t)stream, 0);
    return stream;
}

vmm_event fix_event(struct fix *f)
{
    vmm_event event = NULL;
    fix_need(f, vmm_event_create(f->sys, &event, VMM_EVENT_DISABLE_TIMING));
    fix_note(f, FIX_EVENT, (uintptr_t)event, 0);
    return event;
}

void fix_unmap(struct fix *f, vmm_deviceptr ptr, uint64_t size)
{
    fix_settle(f);
    fix_need(f, vmm_mem_unmap(f->sys, ptr, size));
    fix_forget(f, FIX_MAPPING, ptr, size);
}

void fix_release(struct fix *f, vmm_mem_generic_allocation_handle handle)
{
    fix_need(f, vmm_mem_release(f->sys, handle));
    fix_forget(f, FIX_HANDLE, handle, 0);
}

void fix_address_free(struct fix *f, vmm_deviceptr ptr, uint64_t size)
{
    fix_need(f, vmm_mem_address_free(f->sys, ptr, size));
    fix_forget(f, FIX_RESERVATION, ptr, 0);
}

void fix_context_destroy(struct fix *f, vmm_context ctx)
{
    fix_need(f, vmm_ctx_destroy(f->sys, ctx));
    fix_forget(f, FIX_CONTEXT, (uintptr_t)ctx, 0);
}

void fix_stream_destroy(struct fix *f, vmm_stream stream)
{
    fix_need(f, vmm_stream_destroy(f->sys, stream));
    fix_forget(f, FIX_STREAM, (uintptr_t)stream, 0);
}

void fix_event_destroy(struct fix *f, vmm_event event)
{
    fix_need(f, vmm_event_destroy(f->sys, event));
    fix_forget(f, FIX_EVENT, (uintptr_t)event, 0);
}

void fix_mem_free(struct fix *f, vmm_deviceptr ptr)
{
    fix_settle(f);
    fix_need(f, vmm_mem_free(f->sys, ptr));
    fix_forget(f, FIX_ALLOCATION, ptr, 0);
}

/* ------------------------------------------------------------------------------------------------- looking at things */

uint64_t fix_free_memory(struct fix *f)
{
    uint64_t free_bytes = 0;
    fix_need(f, vmm_mem_get_info(f->sys, &free_bytes, NULL));
    return free_bytes;
}

uint64_t fix_rights(struct fix *f, vmm_deviceptr ptr, vmm_mem_location_type type, int id)
{
    vmm_mem_location location = fix_at(type, id);
    uint64_t flags = FIX_UNTOUCHED;
    fix_need(f, vmm_mem_get_access(f->sys, &flags, &location, ptr));
    return flags;
}

void fix_fill(struct fix *f, vmm_deviceptr ptr, unsigned char value, uint64_t size)
{
    fix_need(f, vmm_memset_d8(f->sys, ptr, value, size));
    fix_settle(f);
}

unsigned char fix_peek(struct fix *f, vmm_deviceptr ptr)
{
    unsigned char byte = 0;
    fix_need(f, vmm_memcpy_dtoh(f->sys, &byte, ptr, 1));
    return byte;
}

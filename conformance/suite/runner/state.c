/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a fixture as text: "nothing changed" is one comparison, and a difference is readable. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "house.h"

#define GRANULES_SHOWN 24 /* of one reservation; tests that need more make smaller ones */

static void write_object(void *user, const vmm_object *o)
{
    fprintf(user,
            "object %d #%" PRIu32 " 0x%" PRIx64 "+0x%" PRIx64 " value 0x%" PRIx64 " handle 0x%" PRIx64 " of H%" PRIu32
            " offset 0x%" PRIx64 " at %d/%d access 0x%" PRIx64 " refs %" PRIu32 " maps %" PRIu32 " block %" PRIu64
            " team %" PRIu32 "/0x%" PRIx32 " binds %" PRIu32 " made %" PRIu64 " ended %" PRIu64 "\n",
            (int)o->kind, o->number, o->start, o->size, o->value, o->handle, o->handle_number, o->offset,
            o->location.type, o->location.id, o->access, o->references, o->mappings, o->block, o->team, o->devices,
            o->binds, o->created, o->ended);
}

static void write_rights(struct fix *f, FILE *out, vmm_deviceptr ptr)
{
    for (int device = 0; device < f->devices && device < 4; device++) {
        vmm_mem_location location = fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, device);
        uint64_t flags = FIX_UNTOUCHED;
        vmm_result result = vmm_mem_get_access(f->sys, &flags, &location, ptr);
        fprintf(out, " dev%d:%d/%" PRIu64, device, (int)result, flags);
    }
    vmm_mem_location host = fix_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0);
    uint64_t flags = FIX_UNTOUCHED;
    vmm_result result = vmm_mem_get_access(f->sys, &flags, &host, ptr);
    fprintf(out, " host:%d/%" PRIu64, (int)result, flags);
}

static void write_pointer(struct fix *f, FILE *out, vmm_deviceptr ptr)
{
    static const vmm_pointer_attribute asked[] = {
        VMM_POINTER_ATTRIBUTE_MEMORY_TYPE,     VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR, VMM_POINTER_ATTRIBUTE_RANGE_SIZE,
        VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, VMM_POINTER_ATTRIBUTE_MAPPING_SIZE,
        VMM_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        uint64_t value = 0; /* narrower attributes fill only part of it */
        vmm_result result = vmm_pointer_get_attribute(f->sys, &value, asked[i], ptr);
        fprintf(out, " %d:%d/%" PRIx64, asked[i], (int)result, value);
    }
    /* Reads only where the device has access: a driver may copy host memory on the CPU, and crashes where the host has
     * no rights. */
    unsigned int flags = 0;
    uint64_t bytes = 0;
    vmm_result result = vmm_pointer_get_attribute(f->sys, &flags, VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS, ptr);
    if (result == VMM_SUCCESS && (flags & VMM_MEM_ACCESS_FLAGS_PROT_READ))
        result = vmm_memcpy_dtoh(f->sys, &bytes, ptr, sizeof bytes);
    fprintf(out, " access:%u bytes:%d/%" PRIx64 "\n", flags, (int)result, bytes);
}

static void write_range(struct fix *f, FILE *out, const struct fix_thing *t)
{
    for (uint64_t at = 0, n = 0; at < t->size && n < GRANULES_SHOWN; at += f->g, n++) {
        fprintf(out, "granule 0x%" PRIx64, t->value + at);
        write_rights(f, out, t->value + at);
        write_pointer(f, out, t->value + at);
    }
}

static void write_thing(struct fix *f, FILE *out, const struct fix_thing *t)
{
    vmm_mem_allocation_prop prop;
    memset(&prop, 0, sizeof prop);
    switch (t->kind) {
    case FIX_HANDLE:
        fprintf(out, "handle 0x%" PRIx64 ": %d", t->value,
                (int)vmm_mem_get_allocation_properties_from_handle(f->sys, &prop, t->value));
        fprintf(out, " type %d shared %d at %d/%d\n", prop.type, prop.requested_handle_types, prop.location.type,
                prop.location.id);
        break;
    case FIX_MAPPING:
    case FIX_RESERVATION:
    case FIX_ALLOCATION:
        write_range(f, out, t);
        break;
    case FIX_STREAM:
    case FIX_EVENT:
    case FIX_CONTEXT:
        break; /* listed by vmm_visit where the backend supports it */
    }
}

char *fix_state(struct fix *f)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return NULL;
    if (f->house && f->house->brief) {
        fclose(out);
        return text;
    }
    uint64_t free_bytes = 0, total = 0;
    vmm_context ctx = NULL;
    vmm_result result = vmm_mem_get_info(f->sys, &free_bytes, &total);
    f->seen_free = free_bytes;
    fprintf(out, "memory %d free %" PRIu64 " of %" PRIu64 "\n", (int)result, f->simulator ? free_bytes : 0, total);
    result = vmm_ctx_get_current(f->sys, &ctx);
    fprintf(out, "context %d %d\n", (int)result, ctx != NULL);
    for (unsigned i = 0; i < f->things; i++)
        write_thing(f, out, &f->thing[i]);
    if (f->simulator)
        vmm_visit(f->sys, write_object, out);
    fclose(out);
    return text;
}

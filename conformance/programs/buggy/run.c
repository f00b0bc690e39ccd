/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one form of a program in its own system and collects all reports. */
#include <stdio.h>
#include <string.h>

#include "buggy.h"
#include "tap.h"

static void gather(struct reported *reported, unsigned *count, const vmm_detail *detail)
{
    if (*count < RUN_REPORTS_MAX) {
        reported[*count].detail = *detail;
        reported[*count].detail.fault = NULL; /* valid only now; the text has everything */
        vmm_detail_text(detail, reported[*count].text, RUN_TEXT);
    }
    ++*count;
}

static void on_report(void *user, const vmm_detail *detail)
{
    struct run *b = user;
    gather(b->reported, &b->reports, detail);
}

static void on_left(void *user, const vmm_detail *detail)
{
    struct run *b = user;
    const vmm_object *object = &detail->nearest;
    if (object->kind != VMM_OBJECT_CONTEXT || object->value != (uintptr_t)b->context) /* that one is ours */
        gather(b->left, &b->lefts, detail);
}

static void failed(struct run *b, int line, const char *what, const char *how)
{
    tap_note("%s:%d: %s under %s, corrected: %s: %s", b->program->file, line, b->program->name, b->schedule, what, how);
    b->failures++;
}

void run_call(struct run *b, enum run_mark mark, int line, const char *what, vmm_result result)
{
    b->call[mark] = vmm_last_detail()->call;
    b->result[mark] = result;
    if (!b->buggy && result != VMM_SUCCESS)
        failed(b, line, what, vmm_result_name(result));
}

void run_value(struct run *b, uint64_t value)
{
    b->value = value;
    b->value_noted = true;
}

void run_near(struct run *b, uint64_t start)
{
    b->near = start;
}

void run_right(struct run *b, int line, const char *what, bool holds)
{
    b->rights++;
    b->wrongs += !holds;
    if (!b->buggy && !holds)
        failed(b, line, what, "does not hold");
}

/* ---- what most programs need ---- */

vmm_mem_allocation_prop pinned(vmm_mem_location location)
{
    return (vmm_mem_allocation_prop){.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = location};
}

vmm_handle create_at(struct run *b, uint64_t size, vmm_mem_location location)
{
    vmm_handle memory = 0;
    vmm_mem_allocation_prop prop = pinned(location);
    DO(vmm_mem_create(S, &memory, size, &prop, 0));
    return memory;
}

vmm_handle create(struct run *b, uint64_t size)
{
    return create_at(b, size, DEVICE(0));
}

vmm_deviceptr reserve(struct run *b, uint64_t size)
{
    vmm_deviceptr p = 0;
    DO(vmm_mem_address_reserve(S, &p, size, 0, 0, 0));
    return p;
}

vmm_result grant(struct run *b, vmm_deviceptr p, uint64_t size, vmm_mem_location location, vmm_mem_access_flags flags)
{
    vmm_mem_access_desc desc = {location, flags};
    return vmm_mem_set_access(S, p, size, &desc, 1);
}

vmm_deviceptr mapped(struct run *b, uint64_t size, vmm_mem_access_flags flags, vmm_handle *memory)
{
    vmm_deviceptr p = reserve(b, size);
    *memory = create(b, size);
    DO(vmm_mem_map(S, p, size, 0, *memory, 0));
    if (flags != NONE)
        DO(grant(b, p, size, DEVICE(0), flags));
    return p;
}

void give_back(struct run *b, vmm_deviceptr p, uint64_t size, vmm_handle memory)
{
    DO(vmm_mem_unmap(S, p, size));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, size));
}

vmm_deviceptr mapped_below_free(struct run *b, vmm_handle *memory)
{
    vmm_deviceptr p = reserve(b, 2 * G);
    *memory = create(b, G);
    DO(vmm_mem_map(S, p, G, 0, *memory, 0));
    DO(grant(b, p, G, DEVICE(0), RW));
    return p;
}

void give_back_below_free(struct run *b, vmm_deviceptr p, vmm_handle memory)
{
    DO(vmm_mem_unmap(S, p, G));
    DO(vmm_mem_release(S, memory));
    DO(vmm_mem_address_free(S, p, 2 * G));
}

vmm_deviceptr chunks(struct run *b, unsigned count, vmm_mem_access_flags flags)
{
    vmm_deviceptr p = reserve(b, count * G);
    for (unsigned i = 0; i < count; i++) {
        vmm_handle memory = create(b, G);
        DO(vmm_mem_map(S, p + i * G, G, 0, memory, 0));
        DO(vmm_mem_release(S, memory)); /* the mapping keeps it */
    }
    if (flags != NONE)
        DO(grant(b, p, count * G, DEVICE(0), flags));
    return p;
}

void give_chunks_back(struct run *b, vmm_deviceptr p, unsigned count)
{
    DO(vmm_mem_unmap(S, p, count * G));
    DO(vmm_mem_address_free(S, p, count * G));
}

unsigned char byte_at(struct run *b, vmm_deviceptr p)
{
    unsigned char byte = 0;
    DO(vmm_memcpy_dtoh(S, &byte, p, 1));
    return byte;
}

vmm_stream stream(struct run *b)
{
    vmm_stream made = NULL;
    DO(vmm_stream_create(S, &made, VMM_STREAM_NON_BLOCKING));
    return made;
}

/* ---- a run ---- */

static void open_system(struct run *b)
{
    char spec[512];
    const vmm_mem_allocation_prop prop = pinned(DEVICE(0));
    if (b->driver)
        snprintf(spec, sizeof spec, "%s", b->driver);
    else
        snprintf(spec, sizeof spec, "%s,schedule=%s", b->program->machine ? b->program->machine : "sim:h100", b->schedule);
    if (vmm_open(spec, &b->sys) != VMM_SUCCESS)
        tap_bail("%s cannot be opened", spec);
    b->g = UINT64_C(2) << 20;
    if (!b->program->bare &&
        (vmm_init(S, 0) != VMM_SUCCESS || vmm_device_primary_ctx_retain(S, &b->context, 0) != VMM_SUCCESS ||
         vmm_ctx_set_current(S, b->context) != VMM_SUCCESS ||
         vmm_mem_get_allocation_granularity(S, &b->g, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM) != VMM_SUCCESS))
        tap_bail("%s cannot be set up", spec);
    vmm_set_report(S, on_report, b);
}

static void run_on(struct run *b, const struct program *program, bool buggy, const char *schedule, const char *driver)
{
    memset(b, 0, sizeof *b);
    b->program = program;
    b->buggy = buggy;
    b->schedule = schedule;
    b->driver = driver;
    open_system(b);
    program->run(b);
    vmm_set_report(S, NULL, NULL);
    vmm_leaks(S, on_left, b);
    vmm_close(S);
    b->sys = NULL;
}

void run_program(struct run *b, const struct program *program, bool buggy, const char *schedule)
{
    run_on(b, program, buggy, schedule, NULL);
}

void run_on_driver(struct run *b, const struct program *program, bool buggy, const char *driver)
{
    run_on(b, program, buggy, "the driver's order", driver);
}

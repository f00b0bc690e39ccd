/* SPDX-License-Identifier: Apache-2.0 */
/* The stacks of objects and of work: the calls that made, ended or issued it; none if stacks are off. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "process.h"
#include "stacks.h"
#include "stacks_module.h"
#include "system.h"
#include "tap.h"

#define G (UINT64_C(2) << 20)
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

static const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
static const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
static vmm_system *sys;

static void must(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("a call failed: %s", vmm_result_name(result));
}

/* Each of these functions makes one call and appears on its stack. */
#define PLACE __attribute__((noinline)) static

PLACE vmm_deviceptr reserve(uint64_t size)
{
    vmm_deviceptr at = 0;
    must(vmm_mem_address_reserve(sys, &at, size, 0, 0, 0));
    return at;
}

PLACE vmm_mem_generic_allocation_handle create(void)
{
    vmm_mem_generic_allocation_handle handle = 0;
    must(vmm_mem_create(sys, &handle, G, &prop, 0));
    return handle;
}

PLACE void map(vmm_deviceptr at, vmm_mem_generic_allocation_handle handle)
{
    const vmm_mem_access_desc desc = {device, RW};
    must(vmm_mem_map(sys, at, G, 0, handle, 0));
    must(vmm_mem_set_access(sys, at, G, &desc, 1));
}

PLACE void unmap(vmm_deviceptr at, uint64_t size)
{
    must(vmm_mem_unmap(sys, at, size));
}

PLACE void release(vmm_mem_generic_allocation_handle handle)
{
    must(vmm_mem_release(sys, handle));
}

PLACE void fill(vmm_deviceptr at)
{
    must(vmm_memset_d8_async(sys, at, 1, G, NULL));
}

/* Is the function on the stack? Functions here are less than 400 bytes long. */
static bool is_on(uint32_t stack, void (*function)(void))
{
    struct stacks_frame frames[STACKS_MOST];
    unsigned count = stacks_frames(stack, frames, STACKS_MOST), found = 0;
    uintptr_t start;
    static uintptr_t bias;
    memcpy(&start, &function, sizeof start);
    if (!bias) {
        const struct module *program = module_of(start);
        bias = program ? program->bias : 0;
    }
    for (unsigned i = 0; i < count; i++)
        found += frames[i].offset + bias - start < 400;
    return found > 0;
}
#define IS_ON(stack, function) is_on(stack, (void (*)(void))(function))

static vmm_object seen[VMM_OBJECT_ARRAY + 1];

static void note(void *user, const vmm_object *object)
{
    (void)user;
    seen[object->kind] = *object;
}

static void look(void)
{
    memset(seen, 0, sizeof seen);
    must(vmm_visit(sys, note, NULL));
}

static unsigned leaks_with_stack;

static void note_leak(void *user, const vmm_detail *detail)
{
    leaks_with_stack += detail->nearest.created_stack != 0;
    *(unsigned *)user += 1;
}

static void test_objects(void)
{
    unsigned leaks = 0;
    const vmm_deviceptr at = reserve(4 * G);
    vmm_mem_generic_allocation_handle handle = create();
    map(at, handle);
    look();
    tap_ok(IS_ON(seen[VMM_OBJECT_HANDLE].created_stack, create) && !IS_ON(seen[VMM_OBJECT_HANDLE].created_stack, map) &&
               !seen[VMM_OBJECT_HANDLE].ended_stack,
           "a handle has the stack of its creation");
    tap_ok(IS_ON(seen[VMM_OBJECT_MAPPING].created_stack, map), "a mapping has that of the map");
    tap_ok(IS_ON(seen[VMM_OBJECT_RESERVATION].created_stack, reserve), "a reservation has one");
    leaks_with_stack = 0;
    vmm_leaks(sys, note_leak, &leaks);
    tap_ok(leaks >= 3 && leaks_with_stack == leaks, "%u leaks have one each", leaks);
    unmap(at, G);
    unsigned char byte = 0;
    tap_ok(vmm_memcpy_dtoh(sys, &byte, at, 1) != VMM_SUCCESS && IS_ON(vmm_last_detail()->nearest.ended_stack, unmap) &&
               IS_ON(vmm_last_detail()->nearest.created_stack, map),
           "an unmapped range has both stacks");
    release(handle);
    tap_ok(vmm_mem_map(sys, at, G, 0, handle, 0) != VMM_SUCCESS && IS_ON(vmm_last_detail()->nearest.ended_stack, release),
           "a released handle has that of the release");
    must(vmm_mem_address_free(sys, at, 4 * G));
}

static void test_work(void)
{
    vmm_deviceptr at = 0;
    must(vmm_mem_address_reserve(sys, &at, G, 0, 0, 0));
    vmm_mem_generic_allocation_handle handle = create();
    map(at, handle);
    fill(at);
    unmap(at, G);
    const vmm_detail *detail = vmm_last_detail();
    tap_ok(detail->rule && detail->issued.function && strcmp(detail->issued.function, "cuMemsetD8Async") == 0 &&
               detail->issued.call && IS_ON(detail->issued.stack, fill) && IS_ON(detail->nearest.created_stack, map),
           "a hazard names the work's call and its place: %s", detail->rule ? detail->rule : "none");
    tap_ok(vmm_ctx_synchronize(sys) != VMM_SUCCESS, "the work faults");
    detail = vmm_last_detail();
    tap_ok(detail->fault && detail->fault->launch == detail->issued.call && IS_ON(detail->fault->launch_stack, fill) &&
               detail->issued.stack == detail->fault->launch_stack,
           "and so does the fault");
    tap_ok(vmm_mem_create(sys, &handle, 1, &prop, 0) != VMM_SUCCESS && !vmm_last_detail()->issued.function,
           "a refusal without work names none");
}

PLACE vmm_mem_generic_allocation_handle retain(vmm_deviceptr at)
{
    vmm_mem_generic_allocation_handle handle = 0;
    must(vmm_mem_retain_allocation_handle(sys, &handle, at));
    return handle;
}

static void test_retained(void)
{
    vmm_deviceptr at = 0;
    must(vmm_mem_address_reserve(sys, &at, G, 0, 0, 0));
    vmm_mem_generic_allocation_handle handle = create();
    map(at, handle);
    look();
    tap_ok(!seen[VMM_OBJECT_HANDLE].retained && !seen[VMM_OBJECT_HANDLE].retained_by, "a handle with the reference of its creation");
    retain(at);
    look();
    tap_ok(seen[VMM_OBJECT_HANDLE].retained > seen[VMM_OBJECT_HANDLE].created && IS_ON(seen[VMM_OBJECT_HANDLE].retained_stack, retain) &&
               strcmp(seen[VMM_OBJECT_HANDLE].retained_by, "cuMemRetainAllocationHandle") == 0,
           "has the call that added another one");
    unmap(at, G);
    release(handle);
    release(handle);
    must(vmm_mem_address_free(sys, at, G));
}

/* One capture for a call that ends many objects. */
static void test_many(void)
{
    enum { MANY = 32 };
    vmm_deviceptr at = 0;
    must(vmm_mem_address_reserve(sys, &at, MANY * G, 0, 0, 0));
    vmm_mem_generic_allocation_handle handle = create();
    for (unsigned i = 0; i < MANY; i++)
        map(at + i * G, handle);
    unmap(at, MANY * G);
    uint32_t first = 0;
    bool same = true;
    for (unsigned i = 0; i < MANY; i++) {
        unsigned char byte;
        same = vmm_memcpy_dtoh(sys, &byte, at + i * G, 1) != VMM_SUCCESS && same;
        uint32_t stack = vmm_last_detail()->nearest.ended_stack;
        first = first ? first : stack;
        same = same && stack && stack == first;
    }
    tap_ok(same, "%d mappings were ended by one call", MANY);
    release(handle);
    must(vmm_mem_address_free(sys, at, MANY * G));
}

static void *make_and_forget(void *user)
{
    *(vmm_mem_generic_allocation_handle *)user = create();
    return NULL;
}

static void test_thread(void)
{
    vmm_mem_generic_allocation_handle handle = 0;
    pthread_t thread;
    if (pthread_create(&thread, NULL, make_and_forget, &handle) || pthread_join(thread, NULL))
        tap_bail("no thread");
    look();
    tap_ok(IS_ON(seen[VMM_OBJECT_HANDLE].created_stack, make_and_forget), "a thread that has ended");
    release(handle);
}

static void test_off(void)
{
    stacks_set(STACKS_NONE);
    vmm_mem_generic_allocation_handle handle = create();
    look();
    tap_ok(!seen[VMM_OBJECT_HANDLE].created_stack, "without the setting there is no stack");
    release(handle);
    tap_ok(vmm_mem_release(sys, handle) != VMM_SUCCESS && !vmm_last_detail()->nearest.ended_stack, "for what ended neither");
}

int main(void)
{
    vmm_context context;
    stacks_set(STACKS_FULL);
    must(vmm_open("sim:h100,schedule=late", &sys));
    must(vmm_init(sys, 0));
    must(vmm_device_primary_ctx_retain(sys, &context, 0));
    must(vmm_ctx_set_current(sys, context));
    test_objects();
    test_retained();
    test_many();
    test_thread();
    test_off();
    /* the engine, which is a part of this program, takes all of a short stack where no call is inlined */
    stacks_set(STACKS_FULL);
    test_work();
    vmm_close(sys);
    return tap_done();
}

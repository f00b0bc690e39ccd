/* SPDX-License-Identifier: Apache-2.0 */
/* inject_calls.h - steps of inject_test.c: calls that every program makes. A life is
 *
 *   open, initialise -> query -> contexts  ->  memory and addresses  ->  copies, boxes, in-flight work  ->  free, close
 */
#ifndef SIM_INJECT_CALLS_H
#define SIM_INJECT_CALLS_H

#include <sys/mman.h>

#include "inject_steps.h"

#define G RIG_G
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC

typedef vmm_mem_generic_allocation_handle handle_t;

static char channels[96]; /* the folder of the fabric's channels */

static vmm_mem_allocation_prop prop_at(vmm_mem_location_type type, int id, int types)
{
    return (vmm_mem_allocation_prop){.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                     .requested_handle_types = types,
                                     .location = {type, id}};
}

static bool shares(const char *spec)
{
    return strstr(spec, "machine=") != NULL;
}

static vmm_system *opened(const char *spec)
{
    vmm_system *sys = NULL;
    STEP_TO(&sys, sizeof sys, "vmm_open", vmm_open(spec, &sys));
    steps_add(sys);
    STEP(init, sys, 0);
    return sys;
}

static vmm_result closing(vmm_system *sys)
{
    vmm_close(sys);
    return VMM_SUCCESS;
}

/* The added systems, the last one first. */
static void close_all(void)
{
    steps_watch(NULL, 0, 0);
    while (steps.systems) {
        vmm_system *sys = steps_take();
        steps_expect(!vmm_leaks(sys, NULL, NULL), "nothing is held at the end");
        STEP_TO(NULL, 0, "vmm_close", closing(sys));
    }
}

/* ---- queries ---- */

static void ask(vmm_system *sys)
{
    const vmm_multicast_object_prop team = {.num_devices = 2, .size = G};
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0, 0);
    int number = 0, teams = 0;
    uint64_t size = 0;
    char name[64] = "";
    GET(number, driver_get_version, sys, &number);
    GET(number, device_get_count, sys, &number);
    GET(number, device_get, sys, &number, 0);
    GET(name, device_get_name, sys, name, sizeof name, 0);
    GET(teams, device_get_attribute, sys, &teams, VMM_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, 0);
    GET(size, device_total_mem, sys, &size, 0);
    GET(number, device_can_access_peer, sys, &number, 0, 0);
    GET(size, mem_get_allocation_granularity, sys, &size, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    if (teams)
        GET(size, multicast_get_granularity, sys, &size, &team, VMM_MULTICAST_GRANULARITY_MINIMUM);
}

static void only_ask(const char *spec)
{
    ask(opened(spec));
    close_all();
}

static void ask_about(vmm_system *sys, vmm_deviceptr at, handle_t handle)
{
    const vmm_pointer_attribute wanted[2] = {VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, VMM_POINTER_ATTRIBUTE_MAPPED};
    vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    vmm_mem_allocation_prop prop;
    int type = 0, mapped = 0;
    void *data[2] = {&type, &mapped};
    uint64_t value = 0, free_bytes = 0;
    vmm_deviceptr base = 0;
    memset(&prop, 0, sizeof prop);
    GET(free_bytes, mem_get_info, sys, &free_bytes, &value);
    GET(prop, mem_get_allocation_properties_from_handle, sys, &prop, handle);
    GET(value, mem_get_access, sys, &value, &device, at);
    GET(type, pointer_get_attribute, sys, &type, VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, at);
    GET(mapped, pointer_get_attributes, sys, 2, wanted, data, at);
    GET(base, mem_get_address_range, sys, &base, &value, at);
}

static void contexts(vmm_system *sys)
{
    enum { MANY = 6 }; /* the stack of the thread grows */
    vmm_context ctx[MANY] = {NULL}, other = NULL, primary = NULL;
    vmm_device device = -1;
    for (int i = 0; i < MANY; i++)
        GET(ctx[i], ctx_create, sys, &ctx[i], 0, 0);
    GET(primary, device_primary_ctx_retain, sys, &primary, 0);
    STEP(ctx_set_current, sys, primary);
    GET(other, ctx_get_current, sys, &other);
    GET(device, ctx_get_device, sys, &device);
    STEP(device_primary_ctx_reset, sys, 0);
    STEP(device_primary_ctx_release, sys, 0);
    for (int i = MANY; i-- > 0;)
        STEP(ctx_destroy, sys, ctx[i]);
    STEP(ctx_set_current, sys, NULL);
}

/* ---- memory and addresses ---- */

/* A range for other devices: writes a descriptor on success, and -1 otherwise, as on the driver. */
static vmm_result hand_on(vmm_system *sys, vmm_deviceptr at, uint64_t size)
{
    int fd = -7;
    vmm_result result = vmm_mem_get_handle_for_address_range(sys, &fd, at, size, VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
    bool made = fd >= 0 && !close(fd);
    steps.seen[VMM_CALL_mem_get_handle_for_address_range] = true;
    return made == (result == VMM_SUCCESS) && (made || fd == -1) ? result : VMM_ERROR_UNKNOWN;
}

struct memory {
    vmm_deviceptr at;
    handle_t handle[3];
};

/* [device 2 MiB][device 2 MiB][host 2 MiB], and rights for both over two of them at once */
static struct memory made(vmm_system *sys)
{
    struct memory m = {0, {0}};
    vmm_mem_allocation_prop prop[3] = {prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0, 0), prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0, 0),
                                       prop_at(VMM_MEM_LOCATION_TYPE_HOST, 0, 0)};
    vmm_mem_access_desc both[2] = {{prop[0].location, RW}, {prop[2].location, RW}};
    vmm_deviceptr large = 0, hinted = 0;
    GET(m.at, mem_address_reserve, sys, &m.at, 3 * G, 0, 0, 0);
    GET(large, mem_address_reserve, sys, &large, 100 * G, 0, 0, 0);
    GET(hinted, mem_address_reserve, sys, &hinted, G, 0, large + 1000 * G, 0);
    for (int i = 0; i < 3; i++) {
        GET(m.handle[i], mem_create, sys, &m.handle[i], G, &prop[i], 0);
        STEP(mem_map, sys, m.at + (uint64_t)i * G, G, 0, m.handle[i], 0);
    }
    STEP(mem_set_access, sys, m.at, 2 * G, both, 1);
    STEP(mem_set_access, sys, m.at + 2 * G, G, both, 2);
    STEP(mem_address_free, sys, large, 100 * G);
    STEP(mem_address_free, sys, hinted, G);
    return m;
}

static void given_back(vmm_system *sys, struct memory m)
{
    STEP(mem_unmap, sys, m.at + G, G);
    STEP(mem_unmap, sys, m.at, G);
    STEP(mem_unmap, sys, m.at + 2 * G, G);
    for (int i = 0; i < 3; i++)
        STEP(mem_release, sys, m.handle[i]);
    STEP(mem_address_free, sys, m.at, 3 * G);
}

/* The byte at an address as the host sees it; -1 if it has no access, for example because opening could not reserve
 * the addresses. */
static int seen_there(vmm_deviceptr at)
{
    unsigned char byte = 0;
    int ends[2], seen = -1;
    void *page = (void *)(uintptr_t)(at - at % os_page_size());
    if (posix_madvise(page, os_page_size(), POSIX_MADV_NORMAL)) /* nothing is mapped; valgrind reports a write from there */
        return -1;
    if (pipe(ends))
        tap_bail("no pipe");
    if (write(ends[1], (const void *)(uintptr_t)at, 1) == 1 && read(ends[0], &byte, 1) == 1)
        seen = byte;
    close(ends[0]);
    close(ends[1]);
    return seen;
}

/* Host memory mapped for the host: if it has access, it keeps it regardless of failures. */
static void in_place(vmm_system *sys, struct memory m)
{
    vmm_mem_access_desc read = {{VMM_MEM_LOCATION_TYPE_HOST, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READ};
    vmm_deviceptr last = m.at + 2 * G + 4095;
    bool shown = seen_there(last) >= 0;
    steps_expect(shown || !steps.first, "the host sees its memory in place");
    STEP(memset_d8, sys, m.at + 2 * G, 0x5a, 4096);
    steps_expect(seen_there(last) == (shown ? 0x5a : -1), "the host sees what a device filled");
    STEP(mem_set_access, sys, m.at + 2 * G, G, &read, 1);
    steps_expect(seen_there(last) == (shown ? 0x5a : -1), "and still may read");
}

static void copies(vmm_system *sys, struct memory m)
{
    static unsigned char bytes[3 * 4096], back[sizeof bytes];
    handle_t again = 0;
    vmm_deviceptr allocated = 0;
    memset(bytes, 0x33, sizeof bytes);
    STEP(memset_d16, sys, m.at, 0x4142, 4096);
    steps_watch(sys, m.at + G - 8192, 2 * 8192);
    STEP(memcpy_htod, sys, m.at + G - 4096, bytes, sizeof bytes);
    GET(back[0], memcpy_dtoh, sys, back, m.at + G - 4096, sizeof back);
    steps_expect(!memcmp(bytes, back, sizeof bytes), "what was copied there comes back");
    STEP(memcpy_dtod, sys, m.at + G - 8192, m.at + G, 4096);
    STEP(memset_d8, sys, m.at + G - 100, 1, 200);
    STEP(memset_d32, sys, m.at + G - 64, 2, 32);
    STEP_TO(NULL, 0, "mem_get_handle_for_address_range", hand_on(sys, m.at, 2 * G));
    GET(allocated, mem_alloc, sys, &allocated, 100);
    STEP(memset_d8, sys, allocated, 1, 100);
    STEP(mem_free, sys, allocated);
    GET(again, mem_retain_allocation_handle, sys, &again, m.at + 5);
    STEP(mem_release, sys, again);
    steps_watch(NULL, 0, 0);
}

/* ---- work ---- */

static vmm_result launched(vmm_system *sys, vmm_stream stream, vmm_kernel kernel, uint64_t a, uint64_t b, uint64_t c, uint64_t d,
                           uint64_t e)
{
    static const uint64_t counts[] = {[VMM_KERNEL_FILL] = 3, [VMM_KERNEL_COPY] = 3, [VMM_KERNEL_RANDOM_READ] = 5,
                                      [VMM_KERNEL_ALIAS_WRITE_READ] = 5, [VMM_KERNEL_MULTIMEM_STORE] = 3};
    const uint64_t args[] = {a, b, c, d, e};
    steps.seen[VMM_CALL_launch] = true;
    return vmm_launch(sys, kernel, 1, 32, args, counts[kernel], stream);
}

#define KERNEL(kernel, stream, a, b, c, d, e) \
    STEP_TO(NULL, 0, "launch " #kernel, launched(sys, stream, VMM_KERNEL_##kernel, a, b, c, d, e))

static void count(void *user)
{
    ++*(unsigned *)user;
}

/* Two rows of a copy, with a gap between those that are read. */
static vmm_memcpy3d box_of(vmm_deviceptr at)
{
    return (vmm_memcpy3d){.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = at + 2 * G, .src_pitch = 64,
                          .dst_memory_type = VMM_MEMORYTYPE_DEVICE, .dst_device = at + 1024, .width_in_bytes = 16, .height = 2,
                          .depth = 1};
}

/* Synchronous calls. */
static void boxes(vmm_system *sys, vmm_deviceptr at)
{
    const vmm_memcpy3d box = box_of(at);
    vmm_memcpy3d_peer peer;
    memcpy(&peer, &box, sizeof peer);
    STEP(memcpy_3d, sys, &box);
    STEP(memcpy_3d_peer, sys, &peer);
}

/* Asynchronous work, done at a wait in stream order; a refused wait has dropped the work that it could not do. */
static void in_flight(vmm_system *sys, vmm_deviceptr at)
{
    const vmm_stream_batch_mem_op_params list[] = {
        {.write_value = {VMM_STREAM_MEM_OP_WRITE_VALUE_32, at + 256, {.value = 11}, 0, 0}},
        {.wait_value = {VMM_STREAM_MEM_OP_WAIT_VALUE_32, at + 256, {.value = 11}, VMM_STREAM_WAIT_VALUE_EQ, 0}}};
    vmm_stream stream = NULL, other = NULL;
    vmm_event event = NULL;
    const vmm_memcpy3d box = box_of(at);
    const vmm_memcpy3d_batch_op batch_box = {.src = {.type = VMM_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = at},
                                             .dst = {.type = VMM_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = at + G},
                                             .extent = {16, 2, 2}, .src_access_order = VMM_MEMCPY_SRC_ACCESS_ORDER_ANY};
    vmm_memcpy3d_peer peer_box;
    static char bytes[8192];
    unsigned called = 0;
    memcpy(&peer_box, &box, sizeof peer_box);
    GET(stream, stream_create, sys, &stream, 0);
    GET(other, stream_create, sys, &other, VMM_STREAM_NON_BLOCKING);
    GET(event, event_create, sys, &event, 0);
    KERNEL(FILL, stream, at, 3 * 4096, 7, 0, 0);
    KERNEL(COPY, stream, at, at + G, 4096, 0, 0);
    KERNEL(RANDOM_READ, NULL, at, 2 * G, 50, 1, at + 2 * G);
    STEP(memset_d32_async, sys, at + 64, 5, 1000, stream);
    STEP(memset_d16_async, sys, at + 64, 5, 1000, stream);
    STEP(memset_d8_async, sys, at + 64, 5, 1000, stream);
    STEP(memcpy_htod_async, sys, at + G - 4096, bytes, sizeof bytes, stream);
    STEP(memcpy_dtoh_async, sys, bytes, at + G - 4096, sizeof bytes, stream);
    STEP(memcpy_dtod_async, sys, at + 512, at + 2 * G, 512, stream);
    STEP(memcpy_3d_async, sys, &box, stream);
    STEP(memcpy_3d_peer_async, sys, &peer_box, stream);
    STEP(memcpy_batch_async, sys, (const vmm_deviceptr[]){at, at + 4096}, (const vmm_deviceptr[]){at + G, (uintptr_t)bytes},
         (const uint64_t[]){64, 64}, 2, &(const vmm_memcpy_attributes){.src_access_order = VMM_MEMCPY_SRC_ACCESS_ORDER_STREAM},
         (const uint64_t[]){0}, 1, stream);
    STEP(memcpy_batch_async_v1, sys, (const vmm_deviceptr[]){at}, (const vmm_deviceptr[]){at + G}, (const uint64_t[]){64}, 1,
         &(const vmm_memcpy_attributes){.src_access_order = VMM_MEMCPY_SRC_ACCESS_ORDER_ANY}, (const uint64_t[]){0}, 1, NULL, stream);
    STEP(memcpy_3d_batch_async, sys, 1, &batch_box, 0, stream);
    STEP(memcpy_3d_batch_async_v1, sys, 1, &batch_box, NULL, 0, stream);
    STEP(stream_write_value32, sys, stream, at + 256, 9, 0);
    STEP(stream_wait_value32, sys, stream, at + 256, 9, VMM_STREAM_WAIT_VALUE_EQ);
    STEP(stream_write_value64, sys, stream, at + 256, 10, 0);
    STEP(stream_wait_value64, sys, stream, at + 256, 10, VMM_STREAM_WAIT_VALUE_GEQ);
    STEP(stream_batch_mem_op, sys, stream, 2, list, 0);
    STEP(launch_host_func, sys, stream, count, &called);
    STEP(event_record, sys, event, stream);
    STEP(stream_wait_event, sys, other, event, 0);
    STEP(event_record, sys, event, other);
    STEP(event_synchronize, sys, event);
    STEP(event_query, sys, event);
    STEP(event_destroy, sys, event);
    STEP(stream_synchronize, sys, stream);
    STEP(stream_query, sys, stream);
    steps_expect(called == 1, "a host function is called once");
    STEP(stream_destroy, sys, other);
    STEP(ctx_synchronize, sys);
    STEP(stream_destroy, sys, stream);
}

static void life(const char *spec)
{
    vmm_system *sys = opened(spec), *peer = NULL;
    vmm_context ctx = NULL;
    ask(sys);
    contexts(sys);
    GET(ctx, ctx_create, sys, &ctx, 0, 0);
    struct memory m = made(sys);
    ask_about(sys, m.at, m.handle[0]);
    in_place(sys, m);
    copies(sys, m);
    boxes(sys, m.at);
    in_flight(sys, m.at);
    STEP_TO(&peer, sizeof peer, "vmm_attach", vmm_attach(sys, &peer));
    steps_add(peer);
    given_back(sys, m);
    STEP(ctx_destroy, sys, ctx);
    close_all();
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of the API, with every request that it makes for memory or to the operating system failing once: the call says
 * so and has changed nothing, or does without and has the effect that it always has; and in the end nothing is left. */
#define _GNU_SOURCE /* memfd_create, fallocate */
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

/* Those that were added, the last first. */
static void close_all(void)
{
    steps_watch(NULL, 0, 0);
    while (steps.systems) {
        vmm_system *sys = steps_take();
        steps_expect(!vmm_leaks(sys, NULL, NULL), "nothing is held at the end");
        STEP_TO(NULL, 0, "vmm_close", closing(sys));
    }
}

/* ---- what is asked ---- */

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

/* A range for other devices: a descriptor is written when there is one, and -1 otherwise, as on the driver. */
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

/* The byte at an address as the host itself sees it; -1 where it cannot look, as where opening did without the addresses. */
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

/* Bytes of the host that are mapped for it: where it sees them, it sees them whatever failed. */
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

/* The calls that are done when they return. */
static void boxes(vmm_system *sys, vmm_deviceptr at)
{
    const vmm_memcpy3d box = box_of(at);
    vmm_memcpy3d_peer peer;
    memcpy(&peer, &box, sizeof peer);
    STEP(memcpy_3d, sys, &box);
    STEP(memcpy_3d_peer, sys, &peer);
}

/* Done when it is waited for, and in the order of streams; a wait that is refused has thrown away what it could not do. */
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

static void pool_values(vmm_system *sys, vmm_memory_pool pool)
{
    uint64_t value = 0;
    int flags = 0;
    const vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    GET(value, mem_pool_get_attribute, sys, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &value);
    STEP(mem_pool_set_attribute, sys, pool, VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD, &(uint64_t){UINT64_MAX});
    STEP(mem_pool_set_access, sys, pool, &desc, 1);
    GET(flags, mem_pool_get_access, sys, &flags, pool, &desc.location);
}

static void current_pools(vmm_system *sys, vmm_memory_pool pool)
{
    const vmm_mem_location at = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    vmm_memory_pool own = NULL, current = NULL;
    GET(own, device_get_default_mem_pool, sys, &own, 0);
    GET(own, mem_get_default_mem_pool, sys, &own, &at, VMM_MEM_ALLOCATION_TYPE_PINNED);
    STEP(device_set_mem_pool, sys, 0, pool);
    GET(current, device_get_mem_pool, sys, &current, 0);
    STEP(mem_set_mem_pool, sys, &at, VMM_MEM_ALLOCATION_TYPE_PINNED, own);
    GET(current, mem_get_mem_pool, sys, &current, &at, VMM_MEM_ALLOCATION_TYPE_PINNED);
}

/* One stream's memory goes to another's, and back to the device. */
static void pools(vmm_system *sys)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_stream one = NULL, two = NULL;
    vmm_event event = NULL;
    vmm_memory_pool pool = NULL;
    vmm_deviceptr a = 0, b = 0, c = 0;
    GET(one, stream_create, sys, &one, VMM_STREAM_NON_BLOCKING);
    GET(two, stream_create, sys, &two, VMM_STREAM_NON_BLOCKING);
    GET(event, event_create, sys, &event, 0);
    GET(pool, mem_pool_create, sys, &pool, &props);
    current_pools(sys, pool);
    GET(a, mem_alloc_from_pool_async, sys, &a, 40 * G, pool, one);
    GET(b, mem_alloc_async, sys, &b, 4096, one);
    STEP(memset_d8_async, sys, a, 7, 4096, one);
    STEP(mem_free_async, sys, a, one);
    STEP(event_record, sys, event, one);
    STEP(stream_wait_event, sys, two, event, 0);
    STEP(ctx_synchronize, sys);
    GET(c, mem_alloc_from_pool_async, sys, &c, 4096, pool, two);
    STEP(memset_d8_async, sys, c, 7, 4096, two);
    STEP(mem_free_async, sys, c, two);
    STEP(mem_free_async, sys, b, one);
    STEP(ctx_synchronize, sys);
    pool_values(sys, pool);
    STEP(mem_pool_trim_to, sys, pool, 0);
    STEP(mem_pool_destroy, sys, pool);
    STEP(event_destroy, sys, event);
    STEP(stream_destroy, sys, two);
    STEP(stream_destroy, sys, one);
}

/* A life of its own, so that the other's runs stay as many. */
static void life_of_pools(const char *spec)
{
    vmm_context ctx = NULL;
    vmm_system *sys = opened(spec);
    GET(ctx, ctx_create, sys, &ctx, 0, 0);
    pools(sys);
    STEP(ctx_destroy, sys, ctx);
    close_all();
}

/* A pool, and memory of two of its chunks, for this process again. */
static void shared_pools(const char *spec)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0},
                                      .handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR};
    const vmm_mem_pool_props host = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_HOST, 0}};
    vmm_context ctx = NULL;
    vmm_memory_pool pool = NULL, import = NULL;
    vmm_deviceptr a = 0, b = 0;
    vmm_mem_pool_ptr_export_data data = {{0}};
    int fd = -1;
    vmm_system *sys = opened(spec);
    GET(ctx, ctx_create, sys, &ctx, 0, 0);
    GET(pool, mem_pool_create, sys, &pool, &host);
    GET(a, mem_alloc_from_pool_async, sys, &a, 4096, pool, NULL);
    STEP(mem_free_async, sys, a, NULL);
    STEP(ctx_synchronize, sys);
    STEP(mem_pool_destroy, sys, pool);
    GET(pool, mem_pool_create, sys, &pool, &props);
    GET(fd, mem_pool_export_to_shareable_handle, sys, &fd, pool, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    GET(import, mem_pool_import_from_shareable_handle, sys, &import, (void *)(intptr_t)fd, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
    close(fd);
    a = 0; /* which a refused call writes, as measured */
    GET(a, mem_alloc_from_pool_async, sys, &a, 40 * G, pool, NULL);
    GET(data, mem_pool_export_pointer, sys, &data, a);
    GET(b, mem_pool_import_pointer, sys, &b, import, &data);
    STEP(mem_free_async, sys, b, NULL);
    STEP(mem_free_async, sys, a, NULL);
    STEP(ctx_synchronize, sys);
    STEP(mem_pool_destroy, sys, import);
    STEP(mem_pool_destroy, sys, pool);
    STEP(ctx_destroy, sys, ctx);
    close_all();
}

/* A pool that cannot grow: an allocation waits for another stream's free, and frees one after the other stand behind one mark. */
static void full_pool(const char *spec)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0},
                                      .max_size = 16 * G};
    vmm_context ctx = NULL;
    vmm_stream one = NULL, two = NULL;
    vmm_memory_pool pool = NULL;
    vmm_deviceptr first = 0, a = 0, b = 0, c = 0;
    vmm_system *sys = opened(spec);
    GET(ctx, device_primary_ctx_retain, sys, &ctx, 0);
    STEP(ctx_set_current, sys, ctx);
    GET(first, mem_alloc_async, sys, &first, 4096, NULL); /* the first to ask for the device's pools */
    GET(one, stream_create, sys, &one, VMM_STREAM_NON_BLOCKING);
    GET(two, stream_create, sys, &two, VMM_STREAM_NON_BLOCKING);
    GET(pool, mem_pool_create, sys, &pool, &props);
    GET(a, mem_alloc_from_pool_async, sys, &a, 8 * G, pool, one);
    GET(b, mem_alloc_from_pool_async, sys, &b, 8 * G, pool, one);
    STEP(memset_d8_async, sys, a, 7, 4096, one);
    STEP(mem_free_async, sys, a, one);
    STEP(mem_free_async, sys, b, one);
    GET(c, mem_alloc_from_pool_async, sys, &c, 8 * G, pool, two);
    steps_expect(c == a || c == b, "the other stream's memory is used again");
    STEP(mem_free_async, sys, c, two);
    STEP(mem_free_async, sys, first, NULL);
    STEP(ctx_synchronize, sys);
    STEP(mem_pool_destroy, sys, pool);
    STEP(stream_destroy, sys, two);
    STEP(stream_destroy, sys, one);
    STEP(device_primary_ctx_release, sys, 0);
    close_all();
}

/* ---- captures and graphs ---- */

static void call_me(void *user)
{
    ++*(unsigned *)user;
}

static void capture(vmm_system *sys, vmm_deviceptr p, vmm_graph *graph)
{
    vmm_stream one = NULL, two = NULL;
    vmm_event event = NULL, back = NULL;
    vmm_stream_capture_status status = 0;
    vmm_graph_node listed = NULL;
    static uint64_t word = 5;
    const uint64_t args[] = {p, 64, 9};
    const vmm_memcpy3d box = {.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = p, .dst_memory_type = VMM_MEMORYTYPE_DEVICE,
                              .dst_device = p + 1024, .width_in_bytes = 8, .height = 2, .depth = 1};
    GET(one, stream_create, sys, &one, VMM_STREAM_NON_BLOCKING);
    GET(two, stream_create, sys, &two, VMM_STREAM_NON_BLOCKING);
    GET(event, event_create, sys, &event, 0);
    GET(back, event_create, sys, &back, 0);
    STEP(stream_begin_capture, sys, one, VMM_STREAM_CAPTURE_MODE_RELAXED);
    GET(status, stream_is_capturing, sys, one, &status);
    GET(*graph, stream_end_capture, sys, one, graph);
    GET(listed, graph_add_empty_node, sys, &listed, *graph, NULL, 0);
    STEP(stream_begin_capture_to_graph, sys, one, *graph, NULL, NULL, 0, VMM_STREAM_CAPTURE_MODE_RELAXED);
    STEP(memset_d8_async, sys, p, 1, 64, one);
    STEP(memcpy_htod_async, sys, p, &word, sizeof word, one);
    STEP(memcpy_3d_async, sys, &box, one);
    STEP(launch, sys, VMM_KERNEL_FILL, 1, 32, args, 3, one);
    STEP(stream_update_capture_dependencies, sys, one, &listed, NULL, 1, VMM_STREAM_ADD_CAPTURE_DEPENDENCIES);
    STEP(event_record, sys, event, one);
    STEP(stream_wait_event, sys, two, event, 0);
    STEP(memcpy_dtod_async, sys, p + 64, p, 64, two);
    STEP(event_record, sys, back, two);
    STEP(stream_wait_event, sys, one, back, 0);
    GET(*graph, stream_end_capture, sys, one, graph);
    STEP(event_destroy, sys, back);
    STEP(event_destroy, sys, event);
    STEP(stream_destroy, sys, two);
    STEP(stream_destroy, sys, one);
}

static void nodes(vmm_system *sys, vmm_deviceptr p, vmm_graph graph, vmm_event event, unsigned *calls)
{
    vmm_graph_node first = NULL, fill = NULL, host = NULL, kernel = NULL, none = NULL, child = NULL, record = NULL, wait = NULL,
                   copy = NULL;
    const vmm_memcpy3d box = {.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = p, .dst_memory_type = VMM_MEMORYTYPE_DEVICE,
                              .dst_device = p + 1024, .width_in_bytes = 8, .height = 2, .depth = 1};
    vmm_memcpy3d held = {.depth = 0};
    vmm_graph inner = NULL;
    vmm_graph_node_type type = 0;
    const uint64_t args[] = {p, 64, 9};
    const vmm_memset_node_params rows = {.dst = p, .pitch = 128, .value = 3, .element_size = 4, .width = 16, .height = 2};
    const vmm_host_node_params call = {call_me, calls};
    const vmm_kernel_node_params launch = {VMM_KERNEL_FILL, 1, 32, args, 3};
    GET(first, graph_add_memset_node, sys, &first, graph, NULL, 0, &rows, NULL);
    GET(copy, graph_add_memcpy_node, sys, &copy, graph, &first, 1, &box, NULL);
    GET(host, graph_add_host_node, sys, &host, graph, &first, 1, &call);
    GET(kernel, graph_add_kernel_node, sys, &kernel, graph, &host, 1, &launch);
    GET(none, graph_add_empty_node, sys, &none, graph, NULL, 0);
    GET(record, graph_add_event_record_node, sys, &record, graph, &kernel, 1, event);
    GET(wait, graph_add_event_wait_node, sys, &wait, graph, &record, 1, event);
    GET(inner, graph_create, sys, &inner, 0);
    GET(fill, graph_add_memset_node, sys, &fill, inner, NULL, 0, &rows, NULL);
    GET(child, graph_add_child_graph_node, sys, &child, graph, NULL, 0, inner);
    GET(type, graph_node_get_type, sys, fill, &type);
    STEP(graph_destroy, sys, inner);
    const vmm_graph_node from[] = {none, none, none}, to[] = {host, kernel, child};
    STEP(graph_add_dependencies, sys, graph, from, to, NULL, 3);
    STEP(graph_remove_dependencies, sys, graph, from, to, NULL, 1);
    GET(type, graph_node_get_type, sys, child, &type);
    steps_expect(type == VMM_GRAPH_NODE_TYPE_GRAPH, "the node holds a graph");
    STEP(graph_destroy_node, sys, none);
    GET(inner, graph_child_graph_node_get_graph, sys, child, &inner);
    STEP(graph_memset_node_set_params, sys, first, &rows);
    STEP(graph_memcpy_node_set_params, sys, copy, &box);
    GET(held.depth, graph_memcpy_node_get_params, sys, copy, &held);
    STEP(graph_kernel_node_set_params, sys, kernel, &launch);
    STEP(graph_host_node_set_params, sys, host, &call);
    STEP(graph_event_record_node_set_event, sys, record, event);
    STEP(graph_event_wait_node_set_event, sys, wait, event);
    GET(event, graph_event_record_node_get_event, sys, record, &event);
    GET(event, graph_event_wait_node_get_event, sys, wait, &event);
    GET(inner, graph_clone, sys, &inner, graph);
    GET(none, graph_node_find_in_clone, sys, &none, host, inner);
    STEP(graph_destroy, sys, inner);
    vmm_graph_exec exec = NULL;
    unsigned enabled = 0;
    GET(exec, graph_instantiate, sys, &exec, graph, 0);
    STEP(graph_exec_memset_node_set_params, sys, exec, first, &rows, NULL);
    STEP(graph_exec_memcpy_node_set_params, sys, exec, copy, &box, NULL);
    STEP(graph_exec_kernel_node_set_params, sys, exec, kernel, &launch);
    STEP(graph_exec_host_node_set_params, sys, exec, host, &call);
    STEP(graph_exec_event_record_node_set_event, sys, exec, record, event);
    STEP(graph_exec_event_wait_node_set_event, sys, exec, wait, event);
    GET(inner, graph_child_graph_node_get_graph, sys, child, &inner);
    STEP(graph_exec_child_graph_node_set_params, sys, exec, child, inner);
    STEP(graph_node_set_enabled, sys, exec, first, 1);
    GET(enabled, graph_node_get_enabled, sys, exec, first, &enabled);
    STEP(graph_exec_destroy, sys, exec);
}

static void graphs(const char *spec)
{
    vmm_context ctx = NULL;
    vmm_deviceptr p = 0;
    vmm_graph graph = NULL, clone = NULL;
    vmm_graph_exec exec = NULL;
    vmm_event event = NULL;
    uint64_t flags = 0;
    unsigned calls = 0;
    vmm_system *sys = opened(spec);
    GET(ctx, ctx_create, sys, &ctx, 0, 0);
    GET(p, mem_alloc, sys, &p, 4096);
    GET(event, event_create, sys, &event, 0);
    capture(sys, p, &graph);
    nodes(sys, p, graph, event, &calls);
    GET(clone, graph_clone, sys, &clone, graph);
    GET(exec, graph_instantiate, sys, &exec, clone, 0);
    GET(flags, graph_exec_get_flags, sys, exec, &flags);
    STEP(graph_destroy, sys, graph);
    STEP(graph_destroy, sys, clone);
    STEP(graph_upload, sys, exec, NULL);
    STEP(graph_launch, sys, exec, NULL);
    STEP(ctx_synchronize, sys);
    steps_expect(calls, "the host function of the graph was called");
    STEP(graph_exec_destroy, sys, exec);
    STEP(event_destroy, sys, event);
    STEP(mem_free, sys, p);
    STEP(ctx_destroy, sys, ctx);
    close_all();
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

/* ---- two addresses of one memory ---- */

/* [M1 of H][M2 of H]: old bytes of what a kernel writes are kept where the spec says so. Without room for them the work is
 * done all the same: its last byte is there through either address. */
static void aliases(const char *spec)
{
    enum { FILLED = 5000, WORDS = 8, COUNTED = 8192, OUT = 16384, USED = 3 * 8192 };
    static unsigned char bytes[COUNTED + 8 * WORDS];
    vmm_system *sys = opened(spec);
    vmm_context ctx = NULL;
    vmm_mem_allocation_prop device = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0, 0);
    vmm_mem_access_desc desc = {device.location, RW};
    handle_t handle = 0;
    vmm_deviceptr p = 0;
    unsigned lost = 0;
    GET(ctx, ctx_create, sys, &ctx, 0, 0);
    GET(p, mem_address_reserve, sys, &p, 2 * G, 0, 0, 0);
    GET(handle, mem_create, sys, &handle, G, &device, 0);
    STEP(mem_map, sys, p, G, 0, handle, 0);
    STEP(mem_map, sys, p + G, G, 0, handle, 0);
    STEP(mem_release, sys, handle);
    STEP(mem_set_access, sys, p, 2 * G, &desc, 1);
    STEP(memset_d8, sys, p, 1, USED); /* which takes the room that zeros need not */
    STEP(memset_d8, sys, p, 0, USED);
    KERNEL(FILL, NULL, p, FILLED, 7, 0, 0);
    KERNEL(ALIAS_WRITE_READ, NULL, p + COUNTED, p + G + COUNTED, 8 * WORDS, 0, p + OUT);
    STEP(ctx_synchronize, sys);
    STEP(memcpy_dtoh, sys, bytes, p + G, sizeof bytes);
    for (unsigned i = 0; i < sizeof bytes; i++)
        lost += bytes[i] != (i < FILLED ? 7 : i >= COUNTED && i % 8 == 0);
    steps_expect(!lost, "bytes that kernels wrote are there through either address");
    STEP(mem_unmap, sys, p, 2 * G);
    STEP(mem_address_free, sys, p, 2 * G);
    STEP(ctx_destroy, sys, ctx);
    close_all();
}

/* ---- memory for others ---- */

static vmm_result imported(vmm_system *sys, int *fd, handle_t *copy)
{
    steps.seen[VMM_CALL_mem_import_from_shareable_handle] = true;
    return rig_import(sys, *fd, copy);
}

/* A machine without a name has a folder from its first export on, also where that comes to nothing. */
static void first_export(vmm_system *sys)
{
    handle_t handle = 0;
    if (rig_create(sys, G, &handle) != VMM_SUCCESS || close(rig_export(sys, handle)) ||
        vmm_mem_release(sys, handle) != VMM_SUCCESS)
        tap_bail("nothing is exported: %s", vmm_last_detail()->note);
}

/* Memory of cuMemAlloc in another process. */
static void by_name(vmm_system *sys, vmm_system *other)
{
    vmm_context ctx = NULL;
    vmm_ipc_mem_handle handle;
    vmm_ipc_event_handle name;
    vmm_event event = NULL, opened = NULL;
    vmm_deviceptr at = 0, there = 0;
    memset(&handle, 0, sizeof handle);
    GET(ctx, ctx_create, other, &ctx, 0, 0);
    GET(at, mem_alloc, sys, &at, G);
    GET(handle, ipc_get_mem_handle, sys, &handle, at);
    GET(there, ipc_open_mem_handle, other, &there, handle, VMM_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
    STEP(ipc_close_mem_handle, other, there);
    memset(&name, 0, sizeof name);
    GET(event, event_create, sys, &event, VMM_EVENT_INTERPROCESS | VMM_EVENT_DISABLE_TIMING);
    GET(name, ipc_get_event_handle, sys, &name, event);
    GET(opened, ipc_open_event_handle, other, &opened, name);
    STEP(memset_d8_async, sys, at, 1, 4096, NULL);
    STEP(event_record, sys, event, NULL);
    STEP(stream_wait_event, other, NULL, opened, 0);
    STEP(event_synchronize, sys, event); /* nobody else does the work of a machine object; nor, without a thread, enters the record */
    STEP(event_synchronize, other, opened);
    STEP(event_destroy, other, opened);
    STEP(event_destroy, sys, event);
    STEP(mem_free, sys, at);
    STEP(ctx_destroy, other, ctx);
}

/* Exported by one process, imported by itself and by another, which uses it when its maker has let go. */
static void share(const char *spec)
{
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0, RIG_FD);
    vmm_mem_access_desc desc = {prop.location, RW};
    vmm_system *sys = opened(spec), *other = NULL;
    vmm_context ctx = NULL;
    handle_t handle = 0, copy = 0;
    vmm_deviceptr p = 0;
    unsigned char byte = 0;
    int fd = -1;
    if (shares(spec)) {
        other = opened(spec);
    } else {
        STEP_TO(&other, sizeof other, "vmm_attach", vmm_attach(sys, &other));
        steps_add(other);
        STEP(init, other, 0);
        first_export(sys);
    }
    GET(ctx, ctx_create, sys, &ctx, 0, 0);
    by_name(sys, other);
    GET(handle, mem_create, sys, &handle, G, &prop, 0);
    GET(p, mem_address_reserve, sys, &p, 2 * G, 0, 0, 0);
    STEP(mem_map, sys, p, G, 0, handle, 0);
    STEP(mem_set_access, sys, p, G, &desc, 1);
    STEP(memset_d8, sys, p, 0x42, 4096);
    steps_watch(sys, p, 4096);
    GET(fd, mem_export_to_shareable_handle, sys, &fd, handle, RIG_FD, 0);
    STEP_TO(&copy, sizeof copy, "import", imported(sys, &fd, &copy));
    STEP(mem_map, sys, p + G, G, 0, copy, 0);
    STEP(mem_set_access, sys, p + G, G, &desc, 1);
    STEP(memset_d8, sys, p + G + 4, 0x43, 4);
    GET(byte, memcpy_dtoh, sys, &byte, p + 4, 1);
    steps_expect(byte == 0x43, "an import shows the same bytes");
    steps_watch(NULL, 0, 0);
    STEP(mem_release, sys, copy);
    copy = 0;
    STEP_TO(&copy, sizeof copy, "import", imported(other, &fd, &copy));
    close(fd);
    STEP(mem_unmap, sys, p, 2 * G);
    STEP(mem_release, sys, handle);
    STEP(mem_address_free, sys, p, 2 * G);
    STEP(ctx_destroy, sys, ctx);
    GET(p, mem_address_reserve, other, &p, G, 0, 0, 0);
    STEP(mem_map, other, p, G, 0, copy, 0);
    STEP(mem_unmap, other, p, G);
    STEP(mem_address_free, other, p, G);
    STEP(mem_release, other, copy);
    close_all();
}

/* A team of two, memory of both behind the object, and a store that reaches them. */
static void multicast(const char *spec)
{
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = G, .handle_types = shares(spec) ? RIG_FD : 0};
    vmm_system *sys = opened(spec);
    vmm_context ctx = NULL;
    handle_t object = 0, copy = 0, memory[2] = {0};
    int fd = -1;
    vmm_mem_access_desc desc[2];
    vmm_deviceptr p = 0;
    uint64_t word[2] = {0};
    GET(ctx, ctx_create, sys, &ctx, 0, 0);
    GET(object, multicast_create, sys, &object, &prop);
    GET(p, mem_address_reserve, sys, &p, 3 * G, 0, 0, 0);
    for (int i = 0; i < 2; i++) {
        vmm_mem_allocation_prop device = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, i, (int)prop.handle_types);
        desc[i] = (vmm_mem_access_desc){device.location, RW};
        STEP(multicast_add_device, sys, object, i);
        GET(memory[i], mem_create, sys, &memory[i], G, &device, 0);
        STEP(mem_map, sys, p + (uint64_t)i * G, G, 0, memory[i], 0);
    }
    STEP(multicast_bind_mem, sys, object, 0, memory[0], 0, G, 0);
    if (shares(spec)) { /* with what is bound, and then goes on as everybody's */
        GET(fd, mem_export_to_shareable_handle, sys, &fd, object, RIG_FD, 0);
        STEP_TO(&copy, sizeof copy, "import", imported(sys, &fd, &copy));
        close(fd);
    }
    STEP(multicast_bind_addr, sys, object, 0, p + G, G, 0);
    STEP(mem_map, sys, p + 2 * G, G, 0, object, 0);
    STEP(mem_set_access, sys, p, 3 * G, desc, 1);
    STEP(memset_d8, sys, p + 65536, 7, 8);
    KERNEL(MULTIMEM_STORE, NULL, p + 2 * G, p + 65536, 8, 0, 0);
    STEP(ctx_synchronize, sys);
    STEP(memcpy_dtoh, sys, &word[0], p, 8);
    STEP(memcpy_dtoh, sys, &word[1], p + G, 8);
    steps_expect(word[0] == word[1], "a store reaches all replicas or none");
    for (int i = 0; i < 2; i++) {
        STEP(multicast_unbind, sys, object, i, 0, G);
        STEP(mem_release, sys, memory[i]);
    }
    STEP(mem_unmap, sys, p, 3 * G);
    if (shares(spec))
        STEP(mem_release, sys, copy);
    STEP(mem_release, sys, object);
    STEP(mem_address_free, sys, p, 3 * G);
    STEP(ctx_destroy, sys, ctx);
    close_all();
}

/* Two nodes of a domain: 64 bytes go from the one to the other. */
static void fabric(const char *spec)
{
    vmm_mem_allocation_prop prop = prop_at(VMM_MEM_LOCATION_TYPE_DEVICE, 0, FABRIC);
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE] = {0};
    vmm_system *one = opened(spec), *two = opened("sim:max");
    handle_t handle = 0, copy = 0;
    vmm_deviceptr p = 0;
    GET(handle, mem_create, one, &handle, G, &prop, 0);
    GET(bytes, mem_export_to_shareable_handle, one, bytes, handle, FABRIC, 0);
    GET(copy, mem_import_from_shareable_handle, two, &copy, bytes, FABRIC);
    STEP(mem_release, one, handle);
    GET(p, mem_address_reserve, two, &p, G, 0, 0, 0);
    STEP(mem_map, two, p, G, 0, copy, 0);
    STEP(mem_release, two, copy);
    STEP(mem_unmap, two, p, G);
    STEP(mem_address_free, two, p, G);
    close_all();
}

/* ---- layers ---- */

static void layers(void)
{
    steps_all("a trace", life, "trace=/dev/null|sim:h100", 80);
    steps_all("a shadow", life, "shadow|sim:h100", 80);
    steps_all("faults by the spec", life, "fault=mem_alloc:99|sim:h100", 80);
}

static void channel_there(bool there)
{
    char path[160];
    snprintf(channels, sizeof channels, "%s.channels", rig_root);
    snprintf(path, sizeof path, "%s/channel0", channels);
    if (!there) {
        unlink(path);
        rmdir(channels);
        return;
    }
    setenv("CUVMM_IMEX", channels, 1);
    if (mkdir(channels, 0700) || close(open(path, O_CREAT | O_RDWR, 0600)))
        tap_bail("no channel can be made");
}

/* From some request on there is no memory at all: what gives back what was taken needs none. */
static void for_good(void)
{
    inject_for_good = true;
    steps_all("no memory from then on", life, "sim:h100", 70);
    steps_all("no memory from then on, on a shared machine", share, "sim:h100,machine=inject,arena=none", 45);
    steps_all("no memory from then on, with a team", multicast, "sim:h200x2,machine=inject", 38);
    steps_all("no memory from then on, with a fabric", fabric, "sim:max,machine=one", 32);
    steps_all("no memory from then on, with old bytes", aliases, "sim:h100,alias=stale:1", 30);
}

static void every_call_was_made(void)
{
    for (unsigned id = 0; id < VMM_CALL_COUNT; id++)
        if (!steps.seen[id])
            tap_ok(false, "%s was made", vmm_call_name((enum vmm_call_id)id));
}

int main(void)
{
    rig_begin();
    tap_note("each request of each call fails once");
    steps_all("a life", life, "sim:h100", 80);
    steps_all("memory pools", life_of_pools, "sim:h100", 20);
    steps_all("memory pools on a shared machine", life_of_pools, "sim:h100,machine=inject", 40);
    steps_all("shared memory pools", shared_pools, "sim:h100,machine=inject", 40);
    steps_all("captures and graphs", graphs, "sim:h100", 60);
    steps_all("a full memory pool", full_pool, "sim:h100", 20);
    steps_all("a life on a shared machine", life, "sim:h100,machine=inject", 86);
    steps_all("old bytes", aliases, "sim:h100,alias=stale:1", 30);
    steps_all("asking", only_ask, "sim:h200x2", 7);
    steps_all("a team", multicast, "sim:h200x2", 32);
    steps_all("a shared team", multicast, "sim:h200x2,machine=inject", 56);
    /* without an arena: the stack of the thread that enters records may take what the run before had there */
    steps_all("export and import", share, "sim:h100,arena=none", 50);
    steps_all("export and import on a shared machine", share, "sim:h100,machine=inject,arena=none", 75);
    layers();
    channel_there(true);
    steps_all("a fabric", fabric, "sim:max,machine=one", 58);
    every_call_was_made();
    for_good();
    channel_there(false);
    rig_end();
    return tap_done();
}

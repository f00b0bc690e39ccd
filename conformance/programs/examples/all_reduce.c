/* SPDX-License-Identifier: Apache-2.0 */
/* All devices of a machine add up their vectors by multicast: each loads the sums of one slice from all replicas and
 * stores them to all. Afterwards every device has the whole result, held here against a plain loop.
 *
 *     all_reduce                          four devices
 *     all_reduce sim:eight.profile 5001   base = gb200x4, devices = 8; and so many words */
#include <cuvmm/vmm.h>
#include <stdio.h>
#include <stdlib.h>

#define TRY(call)                                                  \
    do {                                                           \
        if ((call) != VMM_SUCCESS) {                               \
            char text[1024];                                       \
            vmm_detail_text(vmm_last_detail(), text, sizeof text); \
            printf("%s", text);                                    \
            exit(1);                                               \
        }                                                          \
    } while (0)

enum { MOST = 16 };

static vmm_system *sys;
static int devices;
static uint64_t count, size; /* words of a vector, bytes of what holds it */
static vmm_mem_generic_allocation_handle object;
static vmm_deviceptr mc; /* all replicas at once */
static struct member {
    vmm_context context;
    vmm_deviceptr own, sums; /* its replica, and room for the sums of its slice */
} team[MOST];

/* Addresses of memory or of the object, for the devices from first to last. */
static vmm_deviceptr map(vmm_mem_generic_allocation_handle what, uint64_t unit, int first, int last)
{
    vmm_deviceptr at = 0;
    TRY(vmm_mem_address_reserve(sys, &at, size, unit, 0, 0));
    TRY(vmm_mem_map(sys, at, size, 0, what, 0));
    for (int device = first; device <= last; device++) {
        vmm_mem_access_desc rights = {{VMM_MEM_LOCATION_TYPE_DEVICE, device}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
        TRY(vmm_mem_set_access(sys, at, size, &rights, 1));
    }
    return at;
}

/* Memory of the device at addresses of its own; the mapping holds it, and what is bound does. */
static vmm_deviceptr memory(int device, uint64_t unit, int bound)
{
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, device}};
    TRY(vmm_mem_create(sys, &handle, size, &prop, 0));
    vmm_deviceptr at = map(handle, unit, device, device);
    if (bound)
        TRY(vmm_multicast_bind_mem(sys, object, 0, handle, 0, size, 0));
    TRY(vmm_mem_release(sys, handle));
    return at;
}

static uint64_t word_of(int device, uint64_t i)
{
    return (i + 1) * UINT64_C(0x9e3779b97f4a7c15) * (uint64_t)(device + 1); /* large, so that the sums wrap */
}

static void launch(vmm_kernel kernel, vmm_deviceptr to, vmm_deviceptr from, uint64_t bytes)
{
    const uint64_t args[] = {to, from, bytes};
    TRY(vmm_launch(sys, kernel, 32, 128, args, 3, NULL));
}

static uint64_t wrong_words(const uint64_t *words)
{
    uint64_t wrong = 0;
    for (uint64_t i = 0; i < count; i++) {
        uint64_t sum = 0;
        for (int device = 0; device < devices; device++)
            sum += word_of(device, i);
        wrong += words[i] != sum;
    }
    return wrong;
}

static void set_up(uint64_t *words)
{
    uint64_t unit = 0;
    vmm_multicast_object_prop prop = {.num_devices = (unsigned)devices, .size = 8 * count};
    TRY(vmm_multicast_get_granularity(sys, &unit, &prop, VMM_MULTICAST_GRANULARITY_MINIMUM));
    size = prop.size = (8 * count + unit - 1) / unit * unit;
    TRY(vmm_multicast_create(sys, &object, &prop));
    for (int device = 0; device < devices; device++)
        TRY(vmm_multicast_add_device(sys, object, device));
    for (int device = 0; device < devices; device++) {
        TRY(vmm_ctx_create(sys, &team[device].context, 0, device)); /* and it is current */
        team[device].own = memory(device, unit, 1);
        team[device].sums = memory(device, unit, 0);
        for (uint64_t i = 0; i < count; i++)
            words[i] = word_of(device, i);
        TRY(vmm_memcpy_htod(sys, team[device].own, words, 8 * count)); /* there for all when it returns */
    }
    mc = map(object, unit, 0, devices - 1);
}

/* No other device reads a device's slice, so wait only when all are on their way. */
static void all_reduce(void)
{
    for (int device = 0; device < devices; device++) {
        uint64_t first = count * (uint64_t)device / (uint64_t)devices,
                 last = count * (uint64_t)(device + 1) / (uint64_t)devices;
        TRY(vmm_ctx_set_current(sys, team[device].context));
        launch(VMM_KERNEL_MULTIMEM_LOAD_REDUCE, team[device].sums, mc + 8 * first, 8 * (last - first));
        launch(VMM_KERNEL_MULTIMEM_STORE, mc + 8 * first, team[device].sums, 8 * (last - first));
    }
    for (int device = 0; device < devices; device++) {
        TRY(vmm_ctx_set_current(sys, team[device].context));
        TRY(vmm_ctx_synchronize(sys));
    }
}

static uint64_t compare(uint64_t *words)
{
    uint64_t wrong = 0;
    for (int device = 0; device < devices; device++) {
        TRY(vmm_ctx_set_current(sys, team[device].context));
        TRY(vmm_memcpy_dtoh(sys, words, team[device].own, 8 * count));
        wrong += wrong_words(words);
    }
    return wrong;
}

static void unmap(vmm_deviceptr at)
{
    TRY(vmm_mem_unmap(sys, at, size));
    TRY(vmm_mem_address_free(sys, at, size));
}

static void tear_down(void)
{
    unmap(mc);
    for (int device = 0; device < devices; device++) {
        unmap(team[device].own);
        unmap(team[device].sums);
        TRY(vmm_multicast_unbind(sys, object, device, 0, size));
    }
    TRY(vmm_mem_release(sys, object));
    for (int device = 0; device < devices; device++)
        TRY(vmm_ctx_destroy(sys, team[device].context));
    vmm_close(sys);
}

int main(int argc, char **argv)
{
    count = argc > 2 ? strtoull(argv[2], NULL, 10) : 100003;
    TRY(vmm_open(argc > 1 ? argv[1] : "sim:gb200x4", &sys));
    TRY(vmm_init(sys, 0));
    TRY(vmm_device_get_count(sys, &devices));
    uint64_t *words = malloc(8 * count);
    if (devices < 2 || devices > MOST || !count || !words) {
        printf("2 to %d devices and a word or more are needed\n", MOST);
        return 1;
    }
    set_up(words);
    all_reduce();
    uint64_t wrong = compare(words);
    tear_down();
    free(words);
    printf("%d devices, %llu words each: %llu of %llu sums are wrong\n", devices, (unsigned long long)count,
           (unsigned long long)wrong, (unsigned long long)count * (unsigned long long)devices);
    return wrong != 0;
}

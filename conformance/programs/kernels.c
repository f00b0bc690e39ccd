/* SPDX-License-Identifier: Apache-2.0 */
/* kernels - kernels that access memory without rights, each in a child process; and how fast memory is verified.
 *
 *   kernels [--backend SPEC] [--bytes N]     SPEC as for vmm_open, else CUVMM_BACKEND, else sim:h100
 *
 *     parent: [ share a page ][ wait .................. ][ compare, write TAP ]
 *     child:                  [ open, map, launch, wait, ask what still works ]
 *
 * A fault takes the device from the whole process, so no process makes two. N is the size of the memory that is written,
 * verified and copied for time: 0 for none, which is the default on the simulator; elsewhere 4 GiB.
 */
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lockstep_child.h"
#include "tap.h"

enum { PATIENCE = 60 };

#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE
#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define NOBODY (-1) /* rights that were never set */

/* The range that a case works on, in units of G: [0 mapped][1 mapped][2 nothing][3 mapped]. out is at 4. */
#define G_OUT 4

enum { AFTER = 32 };

struct outcome {
    const char *failed; /* what of the set-up failed, or NULL */
    vmm_result why, launch, sync;
    vmm_result after[AFTER];
    char said[sizeof vmm_last_detail()->note]; /* with sync */
    bool finished;
};

struct world {
    const char *spec;
    vmm_system *sys;
    uint64_t g;
    vmm_context before, ctx;
    vmm_deviceptr p;
    vmm_mem_generic_allocation_handle handle[5];
    vmm_stream stream;
    vmm_deviceptr old; /* of cuMemAlloc */
};

/* ---- set-up ---- */

static bool need(struct outcome *outcome, vmm_result result, const char *what)
{
    if (result == VMM_SUCCESS)
        return true;
    outcome->failed = what;
    outcome->why = result;
    return false;
}

static bool map_at(struct world *w, struct outcome *o, unsigned place, int rights)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {1, 0}};
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, rights};
    vmm_deviceptr at = w->p + place * w->g;
    return need(o, vmm_mem_create(w->sys, &w->handle[place], w->g, &prop, 0), "memory") &&
           need(o, vmm_mem_map(w->sys, at, w->g, 0, w->handle[place], 0), "a mapping") &&
           (rights == NOBODY || need(o, vmm_mem_set_access(w->sys, at, w->g, &desc, 1), "rights"));
}

static bool set_up(struct world *w, struct outcome *o, int rights)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {1, 0}};
    alarm(PATIENCE);
    return need(o, vmm_open(w->spec, &w->sys), "vmm_open") && need(o, vmm_init(w->sys, 0), "vmm_init") &&
           need(o, vmm_ctx_create(w->sys, &w->before, 0, 0), "a first context") &&
           need(o, vmm_ctx_create(w->sys, &w->ctx, 0, 0), "a context") &&
           need(o, vmm_mem_get_allocation_granularity(w->sys, &w->g, &prop, 0), "the granularity") &&
           need(o, vmm_mem_address_reserve(w->sys, &w->p, 8 * w->g, 0, 0, 0), "addresses") &&
           map_at(w, o, 0, rights) && map_at(w, o, 1, rights) && map_at(w, o, 3, rights) &&
           map_at(w, o, G_OUT, RW) && need(o, vmm_memset_d8(w->sys, w->p + G_OUT * w->g, 0, 4096), "a fill") &&
           need(o, vmm_stream_create(w->sys, &w->stream, VMM_STREAM_NON_BLOCKING), "a stream") &&
           need(o, vmm_mem_alloc(w->sys, &w->old, 4096), "old memory") &&
           need(o, vmm_ctx_synchronize(w->sys), "synchronising");
}

/* ---- rights and places ---- */

struct item {
    const char *name;
    int rights;
    vmm_kernel kernel;
    uint64_t units, bytes; /* where: units * G + bytes */
    bool before;           /* bytes are subtracted instead */
    uint64_t rest[3];      /* arguments after the address; SIZE + n is n bytes up to and past G */
    bool faults;
};

#define SIZE (UINT64_C(1) << 40)
#define OUT (UINT64_C(1) << 41)

static const struct item items[] = {
    {"rw: read", RW, VMM_KERNEL_TOUCH, 0, 0, false, {0, 8, OUT}, false},
    {"rw: write", RW, VMM_KERNEL_TOUCH, 0, 0, false, {1, 8, OUT}, false},
    {"rw: add", RW, VMM_KERNEL_ATOMIC_ADD, 0, 0, false, {5}, false},
    {"rw: over a seam", RW, VMM_KERNEL_FILL, 1, 8, true, {16, 1}, false},
    {"rw: up to the end", RW, VMM_KERNEL_FILL, 1, 0, false, {SIZE, 1}, false},
    {"rw: one byte past the end", RW, VMM_KERNEL_FILL, 1, 0, false, {SIZE + 1, 1}, true},
    {"rw: one word past the end", RW, VMM_KERNEL_PATTERN_WRITE, 1, 0, false, {SIZE + 8, 1}, true},
    {"rw: verifying one word past the end", RW, VMM_KERNEL_PATTERN_VERIFY, 1, 0, false, {SIZE + 8, 1, OUT}, true},
    {"reserved: read", RW, VMM_KERNEL_TOUCH, 2, 0, false, {0, 1, OUT}, true},
    {"reserved: write", RW, VMM_KERNEL_TOUCH, 2, 0, false, {1, 1, OUT}, true},
    {"unreserved: read", RW, VMM_KERNEL_TOUCH, 1 << 17, 0, false, {0, 1, OUT}, true},
    {"no rights: read", NOBODY, VMM_KERNEL_TOUCH, 0, 0, false, {0, 4, OUT}, true},
    {"no rights: write", NOBODY, VMM_KERNEL_TOUCH, 0, 0, false, {1, 4, OUT}, true},
    {"no rights: add", NOBODY, VMM_KERNEL_ATOMIC_ADD, 0, 0, false, {5}, true},
    {"none: read", NONE, VMM_KERNEL_TOUCH, 0, 0, false, {0, 4, OUT}, true},
    {"read: read", READ, VMM_KERNEL_TOUCH, 0, 0, false, {0, 4, OUT}, false},
    {"read: sum", READ, VMM_KERNEL_SUM, 0, 0, false, {SIZE, OUT}, false},
    {"read: write", READ, VMM_KERNEL_TOUCH, 0, 0, false, {1, 4, OUT}, true},
    {"read: add", READ, VMM_KERNEL_ATOMIC_ADD, 0, 0, false, {5}, true},
};

struct job {
    struct world world;
    const struct item *item;
    struct outcome *outcome;
    void (*ask)(const struct world *w, vmm_result *reported); /* what works afterwards, or NULL */
};

static uint64_t argument(const struct world *w, uint64_t value)
{
    if (value >= OUT)
        return w->p + G_OUT * w->g;
    return value >= SIZE ? w->g + (value - SIZE) : value;
}

static vmm_result launch(const struct world *w, const struct item *item)
{
    uint64_t args[4], offset = item->units * w->g;
    args[0] = w->p + (item->before ? offset - item->bytes : offset + item->bytes);
    for (int i = 0; i < 3; i++)
        args[i + 1] = argument(w, item->rest[i]);
    return vmm_launch(w->sys, item->kernel, 4, 128, args, vmm_kernel_arguments(item->kernel), NULL);
}

/* ---- what works afterwards ---- */

/* A query, and the answer of driver 580.159.04 on an H100. Each process runs one list. */
struct question {
    const char *name;
    vmm_result want;
};

#define ILLEGAL VMM_ERROR_ILLEGAL_ADDRESS

static const struct question in_context[] = {
    {"cuCtxSynchronize", ILLEGAL},
    {"cuStreamQuery", ILLEGAL},
    {"cuMemAlloc", ILLEGAL},
    {"cuMemcpyDtoH", ILLEGAL},
    {"cuMemsetD8", ILLEGAL},
    {"cuStreamCreate", ILLEGAL},
    {"cuLaunchKernel", ILLEGAL},
    {"cuMemGetInfo", ILLEGAL},
    {"cuMemFree", ILLEGAL},
    {"cuMemFree of 0", ILLEGAL},
    {"cuStreamDestroy", ILLEGAL},
    {"cuMemsetD8 of nothing", ILLEGAL},
    {"cuCtxGetDevice", VMM_SUCCESS},
    {"cuMemGetAddressRange", ILLEGAL},
    {"cuPointerGetAttribute DEVICE_POINTER", VMM_SUCCESS},
    {"cuMemAddressReserve", VMM_SUCCESS},
    {"cuMemCreate", VMM_SUCCESS},
    {"cuMemMap", VMM_SUCCESS},
    {"cuMemSetAccess", VMM_SUCCESS},
    {"cuMemGetAccess", VMM_SUCCESS},
    {"cuMemUnmap", VMM_SUCCESS},
    {"cuMemRelease", VMM_SUCCESS},
    {"cuMemAddressFree", VMM_SUCCESS},
    {"cuDeviceGetCount", VMM_SUCCESS},
    {"cuMemFree of garbage", ILLEGAL},
    {NULL, 0},
};

static void ask_in_context(const struct world *w, vmm_result *reported)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {1, 0}};
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW};
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr ptr = 0, out = w->p + G_OUT * w->g;
    vmm_stream stream;
    char bytes[8];
    uint64_t number;
    int count;
    *reported++ = vmm_ctx_synchronize(w->sys);
    *reported++ = vmm_stream_query(w->sys, w->stream);
    *reported++ = vmm_mem_alloc(w->sys, &ptr, 4096);
    *reported++ = vmm_memcpy_dtoh(w->sys, bytes, out, 8);
    *reported++ = vmm_memset_d8(w->sys, out, 1, 8);
    *reported++ = vmm_stream_create(w->sys, &stream, 0);
    *reported++ = vmm_launch(w->sys, VMM_KERNEL_FILL, 1, 32, (const uint64_t[]){out, 8, 1}, 3, NULL);
    *reported++ = vmm_mem_get_info(w->sys, &number, NULL);
    *reported++ = vmm_mem_free(w->sys, w->old);
    *reported++ = vmm_mem_free(w->sys, 0);
    *reported++ = vmm_stream_destroy(w->sys, w->stream);
    *reported++ = vmm_memset_d8(w->sys, out, 1, 0);
    *reported++ = vmm_ctx_get_device(w->sys, &count);
    *reported++ = vmm_mem_get_address_range(w->sys, &ptr, &number, out);
    *reported++ = vmm_pointer_get_attribute(w->sys, &number, VMM_POINTER_ATTRIBUTE_DEVICE_POINTER, out);
    *reported++ = vmm_mem_address_reserve(w->sys, &ptr, w->g, 0, 0, 0);
    *reported++ = vmm_mem_create(w->sys, &handle, w->g, &prop, 0);
    *reported++ = vmm_mem_map(w->sys, ptr, w->g, 0, handle, 0);
    *reported++ = vmm_mem_set_access(w->sys, ptr, w->g, &desc, 1);
    *reported++ = vmm_mem_get_access(w->sys, &number, &desc.location, ptr);
    *reported++ = vmm_mem_unmap(w->sys, ptr, w->g);
    *reported++ = vmm_mem_release(w->sys, handle);
    *reported++ = vmm_mem_address_free(w->sys, ptr, w->g);
    *reported++ = vmm_device_get_count(w->sys, &count);
    *reported = vmm_mem_free(w->sys, w->p + 12345);
}

/* Other contexts of the process: one made before the fault, the primary one, one made after it. */
static const struct question in_others[] = {
    {"cuCtxSetCurrent to a context made before", VMM_SUCCESS},
    {"cuCtxSynchronize there", ILLEGAL},
    {"cuMemsetD8 there", ILLEGAL},
    {"cuMemAlloc there", ILLEGAL},
    {"cuDevicePrimaryCtxRetain", ILLEGAL},
    {"cuCtxCreate", ILLEGAL},
    {"cuCtxDestroy of the broken context", VMM_SUCCESS},
    {"cuCtxDestroy of the one made before", VMM_SUCCESS},
    {"cuDevicePrimaryCtxReset", VMM_SUCCESS},
    {"cuDevicePrimaryCtxRelease", VMM_ERROR_INVALID_CONTEXT},
    {"cuDevicePrimaryCtxRetain after all that", ILLEGAL},
    {"cuCtxCreate after all that", ILLEGAL},
    {"cuCtxSynchronize without a context", VMM_ERROR_INVALID_CONTEXT},
    {"cuInit", VMM_SUCCESS},
    {NULL, 0},
};

static void ask_in_others(const struct world *w, vmm_result *reported)
{
    vmm_context made = NULL;
    vmm_deviceptr ptr;
    *reported++ = vmm_ctx_set_current(w->sys, w->before);
    *reported++ = vmm_ctx_synchronize(w->sys);
    *reported++ = vmm_memset_d8(w->sys, w->p + G_OUT * w->g, 1, 16);
    *reported++ = vmm_mem_alloc(w->sys, &ptr, 4096);
    *reported++ = vmm_device_primary_ctx_retain(w->sys, &made, 0);
    *reported++ = vmm_ctx_create(w->sys, &made, 0, 0);
    *reported++ = vmm_ctx_destroy(w->sys, w->ctx);
    *reported++ = vmm_ctx_destroy(w->sys, w->before);
    *reported++ = vmm_device_primary_ctx_reset(w->sys, 0);
    *reported++ = vmm_device_primary_ctx_release(w->sys, 0);
    *reported++ = vmm_device_primary_ctx_retain(w->sys, &made, 0);
    *reported++ = vmm_ctx_create(w->sys, &made, 0, 0);
    vmm_ctx_set_current(w->sys, NULL);
    vmm_ctx_set_current(w->sys, NULL); /* the previous one becomes current again, so one is not enough */
    *reported++ = vmm_ctx_synchronize(w->sys);
    *reported = vmm_init(w->sys, 0);
}

static void work(void *user)
{
    struct job *job = user;
    struct outcome *o = job->outcome;
    if (!set_up(&job->world, o, job->item->rights))
        return;
    o->launch = launch(&job->world, job->item);
    o->sync = vmm_ctx_synchronize(job->world.sys);
    memcpy(o->said, vmm_last_detail()->note, sizeof o->said);
    if (job->ask)
        job->ask(&job->world, o->after);
    o->finished = true;
}

/* One case in a child; false when it has no outcome to check. */
static bool run(const char *spec, const struct item *item,
                void (*ask)(const struct world *w, vmm_result *reported), struct outcome *o)
{
    struct job job = {{.spec = spec}, item, o, ask};
    memset(o, 0, sizeof *o);
    int died = child_run(work, &job);
    if (o->failed)
        tap_ok(false, "%s: %s: %s", item->name, o->failed, vmm_result_name(o->why));
    else if (died || !o->finished)
        tap_ok(false, "%s: the child comes to its end (%d)", item->name, died);
    return !o->failed && !died && o->finished;
}

static void test_items(const char *spec, struct outcome *o)
{
    for (size_t i = 0; i < sizeof items / sizeof items[0]; i++) {
        vmm_result want = items[i].faults ? VMM_ERROR_ILLEGAL_ADDRESS : VMM_SUCCESS;
        if (!run(spec, &items[i], NULL, o))
            continue;
        tap_result(o->launch, VMM_SUCCESS, "%s: the launch", items[i].name);
        tap_result(o->sync, want, "%s: its end", items[i].name);
        if (o->said[0])
            tap_note("%s", o->said);
    }
}

static void test_after(const char *spec, const struct question *question,
                       void (*ask)(const struct world *w, vmm_result *reported), struct outcome *o)
{
    static const struct item fault = {"afterwards", READ, VMM_KERNEL_FILL, 0, 0, false, {64, 1}, true};
    if (!run(spec, &fault, ask, o))
        return;
    for (int i = 0; question[i].name; i++)
        tap_result(o->after[i], question[i].want, "afterwards: %s", question[i].name);
}

/* ---- time ---- */

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* The best of a few rounds, so that a clock that is still ramping up does not count. */
static double rate(const struct world *w, vmm_kernel kernel, unsigned grid, unsigned block, const uint64_t *args,
                   uint64_t bytes)
{
    enum { ROUNDS = 5, TIMES = 4 };
    double best = 0;
    for (int round = 0; round < ROUNDS; round++) {
        double start = now();
        for (int i = 0; i < TIMES; i++)
            if (kernel < 0)
                vmm_memcpy_dtod_async(w->sys, args[0], args[1], bytes, NULL);
            else
                vmm_launch(w->sys, kernel, grid, block, args, vmm_kernel_arguments(kernel), NULL);
        if (vmm_ctx_synchronize(w->sys) != VMM_SUCCESS)
            return 0;
        double took = (double)bytes * TIMES / (now() - start) / 1e9;
        best = took > best ? took : best;
    }
    return best;
}

static void measure(const struct world *w, vmm_deviceptr p, uint64_t half)
{
    static const struct {
        unsigned blocks, threads; /* blocks of each multiprocessor */
    } shapes[] = {{2, 1024}, {4, 512}, {8, 256}, {16, 256}, {32, 256}, {16, 128}};
    int units = 1;
    double best = 0;
    vmm_device_get_attribute(w->sys, &units, VMM_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0);
    vmm_deviceptr out = w->p + G_OUT * w->g;
    double copy = 2 * rate(w, -1, 0, 0, (const uint64_t[]){p, p + half}, half);
    tap_note("the driver's copy moves %.0f GB/s (read and written)", copy);
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        unsigned grid = shapes[i].blocks * (unsigned)units, block = shapes[i].threads;
        double write = rate(w, VMM_KERNEL_PATTERN_WRITE, grid, block, (const uint64_t[]){p, 2 * half, 1}, 2 * half);
        vmm_memset_d8(w->sys, out, 0, 64);
        double verify =
            rate(w, VMM_KERNEL_PATTERN_VERIFY, grid, block, (const uint64_t[]){p, 2 * half, 1, out}, 2 * half);
        double sum = rate(w, VMM_KERNEL_SUM, grid, block, (const uint64_t[]){p, 2 * half, out + 64}, 2 * half);
        uint64_t wrong = 1;
        vmm_memcpy_dtoh(w->sys, &wrong, out, 8);
        tap_note("%u x %u: write %.0f, verify %.0f (%.2f of the copy), sum %.0f GB/s", grid, block, write, verify,
                 verify / copy, sum);
        tap_u64(wrong, 0, "%u x %u: the pattern is there", grid, block);
        best = verify > best ? verify : best;
    }
    tap_ok(best >= 0.85 * copy, "verifying runs at 85%% of the bandwidth of a copy, or more: %.0f%%",
           100 * best / copy);
}

static void test_speed(const char *spec, uint64_t bytes)
{
    struct world w = {.spec = spec};
    struct outcome o = {0};
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {1, 0}};
    vmm_mem_access_desc desc = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW};
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr p;
    if (!set_up(&w, &o, RW) || !need(&o, vmm_mem_create(w.sys, &handle, bytes, &prop, 0), "much memory") ||
        !need(&o, vmm_mem_address_reserve(w.sys, &p, bytes, 0, 0, 0), "many addresses") ||
        !need(&o, vmm_mem_map(w.sys, p, bytes, 0, handle, 0), "a large mapping") ||
        !need(&o, vmm_mem_set_access(w.sys, p, bytes, &desc, 1), "its rights")) {
        tap_ok(false, "speed: %s: %s", o.failed, vmm_result_name(o.why));
        return;
    }
    measure(&w, p, bytes / 2);
    vmm_ctx_destroy(w.sys, w.ctx);
    vmm_mem_unmap(w.sys, p, bytes);
    vmm_mem_release(w.sys, handle);
    vmm_mem_address_free(w.sys, p, bytes);
    vmm_close(w.sys);
    alarm(0);
}

int main(int argc, char **argv)
{
    const char *spec = getenv("CUVMM_BACKEND"), *bytes = NULL;
    for (int i = 1; i < argc; i += 2) {
        const char **option = strcmp(argv[i], "--backend") == 0 ? &spec : strcmp(argv[i], "--bytes") == 0 ? &bytes : NULL;
        if (!option || i + 1 == argc)
            tap_bail("usage: %s [--backend SPEC] [--bytes N]", argv[0]);
        *option = argv[i + 1];
    }
    spec = spec ? spec : "sim:h100";
    struct outcome *outcome = child_share(sizeof *outcome);
    test_items(spec, outcome);
    test_after(spec, in_context, ask_in_context, outcome);
    test_after(spec, in_others, ask_in_others, outcome);
    uint64_t size = bytes ? strtoull(bytes, NULL, 0) : strncmp(spec, "sim", 3) == 0 ? 0 : UINT64_C(4) << 30;
    if (size)
        test_speed(spec, size);
    else
        tap_skip("time says nothing here", "verifying runs at 85%% of the bandwidth of a copy");
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Bugs found by failing each request of each call (inject_test.c), by name. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include <errno.h>

#include "in_flight.h"
#include "process.h"
#include "share_rig.h"
#include "system.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC

typedef vmm_mem_generic_allocation_handle handle_t;

static const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}, host = {VMM_MEM_LOCATION_TYPE_HOST, 0};

/* The call with the nth request to a function failing. */
#define WITHOUT(function, nth, call) (inject_arm_at(function, nth), disarmed(call))

static vmm_result disarmed(vmm_result result)
{
    if (!inject_disarm())
        tap_bail("no request failed");
    return result;
}

static vmm_system *opened(const char *spec)
{
    vmm_system *sys = NULL;
    if (vmm_open(spec, &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS)
        tap_bail("%s does not open: %s", spec, vmm_last_detail()->note);
    return sys;
}

static vmm_result create(vmm_system *sys, vmm_mem_location location, int types, handle_t *handle)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .requested_handle_types = types,
                                          .location = location};
    return vmm_mem_create(sys, handle, RIG_G, &prop, 0);
}

/* A scenario's inputs, created objects and result. */
static struct {
    vmm_system *sys, *other;
    vmm_result result;
    bool team;
    vmm_context ctx, first;
    vmm_deviceptr at, lowest;
    handle_t handle;
    vmm_event event;
    unsigned way;
    int byte;
    unsigned char fabric[VMM_FABRIC_HANDLE_SIZE];
} made;

static bool is_out_of_memory(void)
{
    return made.result == VMM_ERROR_OUT_OF_MEMORY;
}

static bool is_out_of_something(void)
{
    return made.result == VMM_ERROR_OUT_OF_MEMORY || made.result == VMM_ERROR_OPERATING_SYSTEM;
}

/* No request is done without. */
static bool answers_each(void)
{
    return made.result == (inject_what ? VMM_ERROR_OUT_OF_MEMORY : VMM_SUCCESS);
}

static void open_h100(void)
{
    made.sys = opened("sim:h100");
}

static bool create_context(void)
{
    made.result = vmm_ctx_create(made.sys, &made.ctx, 0, 0);
    return made.result == VMM_SUCCESS;
}

/* Creates a context, at the second try if the first was refused, and then addresses. */
static bool reserve_after(void)
{
    bool each = answers_each();
    if (made.result != VMM_SUCCESS && !create_context())
        tap_bail("a context answers %s", vmm_result_name(made.result));
    vmm_mem_address_reserve(made.sys, &made.at, RIG_G, 0, 0, 0);
    rig_close(made.sys);
    return each;
}

static bool is_as_the_first(void)
{
    bool each = reserve_after();
    return tap_ok(each && made.ctx == made.first && made.at == made.lowest,
                  "a context that is refused its request %lu uses up no value and no addresses", inject_nth);
}

static void nothing_is_used_up(void)
{
    const struct inject_case refused = {.name = "a context",
                                        .least = 6,
                                        .begin = open_h100,
                                        .call = create_context,
                                        .reported = is_out_of_memory,
                                        .end = is_as_the_first};
    open_h100();
    create_context();
    reserve_after();
    made.first = made.ctx;
    made.lowest = made.at;
    inject_try(&refused);
}

static void see_handle(void *user, const vmm_object *object)
{
    if (object->kind == VMM_OBJECT_HANDLE)
        *(vmm_object *)user = *object;
}

static bool create_either(void)
{
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = RIG_G};
    made.result = made.team ? vmm_multicast_create(made.sys, &made.handle, &prop) : create(made.sys, device, 0, &made.handle);
    return made.result == VMM_SUCCESS;
}

static bool is_answered(void)
{
    return tap_result(made.result, inject_what ? VMM_ERROR_OUT_OF_MEMORY : VMM_SUCCESS, "request %lu", inject_nth);
}

/* Memory or an object (team), each of its requests failing once before it succeeds. */
static void first_number(bool team)
{
    const struct inject_case refused = {.name = team ? "an object" : "memory",
                                        .least = 2,
                                        .call = create_either,
                                        .reported = is_out_of_memory,
                                        .end = is_answered};
    vmm_object seen = {0};
    made.sys = opened("sim:h200x2");
    made.team = team;
    inject_try(&refused);
    vmm_visit(made.sys, see_handle, &seen);
    tap_ok(seen.number == 1 && seen.block == 1 && seen.value == made.handle,
           "a create that was refused %lu times used up no number and no memory's id", inject_nth - 2);
    rig_close(made.sys);
}

static void no_number_is_used_up(void)
{
    first_number(false);
    first_number(true);
}

/* Device memory that gets a handle but no block, because another process of the machine has taken the last ones. */
static void no_handle_is_kept(void)
{
    enum { MANY = 4 };
    const struct inject_case refused = {
        .name = "more memory", .least = 1, .call = create_either, .reported = is_out_of_memory, .end = is_answered};
    vmm_system *other = NULL;
    handle_t handle = 0;
    made.sys = opened("sim:h100");
    made.team = false;
    if (vmm_attach(made.sys, &other) != VMM_SUCCESS || vmm_init(other, 0) != VMM_SUCCESS)
        tap_bail("no other process: %s", vmm_last_detail()->note);
    for (size_t i = 1; i <= MANY; i++) {
        create(other, device, 0, &handle);
        inject_try(&refused);
        tap_ok(!pool_check(&((struct sim_process *)made.sys->top)->handle_pool, i), "memory %zu has the one handle", i);
    }
    rig_close(other);
    rig_close(made.sys);
}

/* [7 7 7 ...] released while it can neither be freed in its file nor written: that location is not allocated again. */
static void old_bytes_are_nobodys(void)
{
    const vmm_mem_access_desc rw = {device, RW};
    vmm_system *sys = rig_open(NULL);
    handle_t handle = 0;
    vmm_deviceptr at = 0;
    unsigned char bytes[4096] = {0}, old = 0;
    vmm_mem_address_reserve(sys, &at, RIG_G, 0, 0, 0);
    for (int i = 0; i < 2; i++) {
        create(sys, device, 0, &handle);
        vmm_mem_map(sys, at, RIG_G, 0, handle, 0);
        vmm_mem_set_access(sys, at, RIG_G, &rw, 1);
        if (i == 0)
            vmm_memset_d8(sys, at, 7, RIG_G);
        else
            vmm_memset_d8(sys, at, 1, 1); /* the rest of its chunk shows the file's contents */
        vmm_memcpy_dtoh(sys, bytes, at, sizeof bytes);
        vmm_mem_unmap(sys, at, RIG_G);
        inject_arm_both("fallocate", 1, i == 0 ? "pwrite" : NULL);
        tap_result(disarmed(vmm_mem_release(sys, handle)), VMM_SUCCESS, "memory is released although it cannot be cleared");
    }
    for (size_t i = 1; i < sizeof bytes; i++)
        old |= bytes[i];
    tap_ok(bytes[0] == 1 && !old, "the next memory reads as zeros");
    rig_close(sys);
}

/* Neither a location in the file nor private memory: a fill needs one of them, and succeeds when it is repeated. */
static void no_bytes_at_all(void)
{
    vmm_system *sys = rig_open(NULL);
    handle_t handle = 0;
    create(sys, device, 0, &handle);
    vmm_deviceptr at = rig_map(sys, handle, RIG_G);
    inject_arm_both("memfd_create", 1, "mmap");
    tap_result(disarmed(vmm_memset_d8(sys, at, 7, 1)), VMM_ERROR_OUT_OF_MEMORY, "bytes without any room");
    tap_ok(rig_reported("VMM-SYSTEM-HOST-MEMORY") && rig_byte(sys, at) == 0, "are not filled");
    tap_ok(vmm_memset_d8(sys, at, 7, 1) == VMM_SUCCESS && rig_byte(sys, at) == 7, "until there is room for them");
    rig_close(sys);
}

/* On a shared machine, space is allocated once, before it is written to. */
static void room_is_taken_once(void)
{
    vmm_system *sys = rig_open("found");
    handle_t handle = 0;
    rig_create(sys, RIG_G, &handle);
    vmm_deviceptr at = rig_map(sys, handle, RIG_G);
    tap_result(WITHOUT("fallocate", 1, vmm_memset_d8(sys, at, 7, 1)), VMM_ERROR_OUT_OF_MEMORY, "there is no room for a byte");
    tap_ok(vmm_memset_d8(sys, at, 7, 1) == VMM_SUCCESS && rig_byte(sys, at) == 7, "now there is");
    inject_arm_at("fallocate", 1);
    vmm_result again = vmm_memset_d8(sys, at, 8, 2);
    tap_ok(!inject_disarm() && again == VMM_SUCCESS && rig_byte(sys, at + 1) == 8, "and that is not requested again");
    rig_close(sys);
}

/* A value that a stream writes to untouched memory needs space as well. */
static void no_room_for_a_value(void)
{
    vmm_system *sys = rig_open("found");
    handle_t handle = 0;
    rig_create(sys, RIG_G, &handle);
    vmm_deviceptr at = rig_map(sys, handle, RIG_G);
    for (int wide = 0; wide < 2; wide++) {
        const vmm_deviceptr to = at + (wide ? RIG_G / 2 : 0);
        vmm_result result = wide ? vmm_stream_write_value64(sys, NULL, to, 5, 0) : vmm_stream_write_value32(sys, NULL, to, 5, 0);
        tap_result(result, VMM_SUCCESS, "a write is issued");
        tap_result(WITHOUT("fallocate", 1, vmm_ctx_synchronize(sys)), VMM_ERROR_OUT_OF_MEMORY, "there is no room for the value");
        tap_ok(rig_reported("VMM-SYSTEM-HOST-MEMORY") && rig_byte(sys, to) == 0, "nothing was written");
        vmm_stream_write_value32(sys, NULL, to, 6, 0);
        tap_ok(vmm_ctx_synchronize(sys) == VMM_SUCCESS && rig_byte(sys, to) == 6, "the next value finds room");
    }
    rig_close(sys);
}

enum { BY_CONTEXT, BY_STREAM, BY_EVENT, WAYS };

static void issue(void)
{
    const uint64_t args[] = {made.at, 8, (uint64_t)++made.byte};
    vmm_launch(made.sys, VMM_KERNEL_FILL, 1, 32, args, 3, NULL);
    vmm_event_record(made.sys, made.event, NULL);
}

static bool waited(void)
{
    made.result = made.way == BY_CONTEXT  ? vmm_ctx_synchronize(made.sys)
                  : made.way == BY_STREAM ? vmm_stream_synchronize(made.sys, NULL)
                                          : vmm_event_synchronize(made.sys, made.event);
    return made.result == VMM_SUCCESS;
}

static bool is_done_or_given_up(void)
{
    bool failed = inject_what != NULL;
    return tap_ok(made.result == VMM_ERROR_OUT_OF_MEMORY ? failed : rig_byte(made.sys, made.at + 7) == made.byte,
                  "a kernel without room for old bytes is given up with a report, or is done");
}

/* Old bytes for which there is no memory: the work is abandoned, or done without them, whichever call waits for it. */
static void no_old_bytes(void)
{
    static const char *const waits[WAYS] = {"a wait for a context", "a wait for a stream", "a wait for an event"};
    struct inject_case wait = {.function = "malloc",
                               .least = 1,
                               .begin = issue,
                               .call = waited,
                               .reported = is_out_of_memory,
                               .end = is_done_or_given_up};
    const vmm_mem_access_desc rw = {device, RW};
    vmm_system *sys = NULL;
    handle_t handle = 0;
    vmm_deviceptr at = 0;
    if (vmm_open("sim:h100,alias=stale:1", &sys) || vmm_init(sys, 0) || vmm_ctx_create(sys, &made.ctx, 0, 0) ||
        vmm_event_create(sys, &made.event, 0))
        tap_bail("no machine: %s", vmm_last_detail()->note);
    create(sys, device, 0, &handle);
    vmm_mem_address_reserve(sys, &at, 2 * RIG_G, 0, 0, 0);
    vmm_mem_map(sys, at, RIG_G, 0, handle, 0);
    vmm_mem_map(sys, at + RIG_G, RIG_G, 0, handle, 0);
    vmm_mem_set_access(sys, at, 2 * RIG_G, &rw, 1);
    made.sys = sys;
    made.at = at;
    for (made.way = 0; made.way < WAYS; made.way++) {
        wait.name = waits[made.way];
        inject_try(&wait);
    }
    rig_close(sys);
}

static void *set_current(void *user)
{
    vmm_context *ctx = user, now = NULL;
    vmm_system *sys = (vmm_system *)(void *)ctx[1];
    vmm_result result = WITHOUT("calloc", 1, vmm_ctx_set_current(sys, ctx[0]));
    bool none = !vmm_ctx_get_current(sys, &now) && !now;
    bool set = !vmm_ctx_set_current(sys, ctx[0]) && !vmm_ctx_get_current(sys, &now) && now == ctx[0];
    return result == VMM_ERROR_OUT_OF_MEMORY && none && set ? user : NULL;
}

/* A thread that has no context stack yet. */
static void no_stack(void)
{
    vmm_context ctx[2] = {NULL};
    void *right = NULL;
    pthread_t thread;
    vmm_system *sys = opened("sim:h100");
    vmm_ctx_create(sys, &ctx[0], 0, 0);
    ctx[1] = (vmm_context)(void *)sys;
    if (pthread_create(&thread, NULL, set_current, ctx))
        tap_bail("no thread");
    pthread_join(thread, &right);
    tap_ok(right != NULL, "a thread without room for a context has none, and may try again");
    rig_close(sys);
}

/* The access set of in-flight work only serves warnings: without memory for it there are none. */
static void touched_unknown(void)
{
    vmm_system *sys = rig_open(NULL);
    handle_t handle = 0;
    for (unsigned i = 0; i < 2; i++) {
        create(sys, device, 0, &handle);
        vmm_deviceptr at = rig_map(sys, handle, RIG_G);
        vmm_memset_d8_async(sys, at, 7, 4096, NULL);
        inject_arm_at(i == 0 ? "realloc" : "malloc", 1);
        vmm_result result = vmm_mem_unmap(sys, at, RIG_G);
        bool failed = inject_disarm() != NULL;
        tap_ok(result == VMM_SUCCESS && (failed || rig_reported("VMM-UNMAP-IN-FLIGHT")), "unmapped although work needs it%s",
               failed ? ", without a word" : "");
        vmm_ctx_synchronize(sys);
        rig_close(sys);
        sys = rig_open(NULL);
    }
    rig_close(sys);
}

/* And the next call requests it again. */
static void touched_asked_again(void)
{
    const vmm_mem_access_desc rw = {device, RW}, read = {device, VMM_MEM_ACCESS_FLAGS_PROT_READ};
    vmm_system *sys = rig_open(NULL);
    handle_t handle = 0;
    create(sys, device, 0, &handle);
    vmm_deviceptr at = rig_map(sys, handle, RIG_G);
    const uint64_t args[] = {at, 8, 7};
    vmm_launch(sys, VMM_KERNEL_FILL, 1, 32, args, 3, NULL);
    inject_arm_at("malloc", 1);
    vmm_result result = vmm_mem_set_access(sys, at, RIG_G, &read, 1);
    tap_ok(inject_disarm() && result == VMM_SUCCESS && !rig_reported("VMM-ACCESS-IN-FLIGHT"),
           "without memory it is unknown what a kernel will touch");
    vmm_mem_set_access(sys, at, RIG_G, &rw, 1);
    result = vmm_mem_set_access(sys, at, RIG_G, &read, 1);
    tap_ok(result == VMM_SUCCESS && rig_reported("VMM-ACCESS-IN-FLIGHT"), "with memory it is known after all");
    vmm_mem_set_access(sys, at, RIG_G, &rw, 1);
    vmm_ctx_synchronize(sys);
    rig_close(sys);
}

static void rights_are_taken_back(void)
{
    vmm_system *sys = opened("sim:h100");
    const vmm_mem_access_desc both[2] = {{device, RW}, {host, RW}};
    handle_t handle = 0;
    vmm_deviceptr at = 0;
    uint64_t rights = 9;
    vmm_mem_address_reserve(sys, &at, RIG_G, 0, 0, 0);
    create(sys, host, 0, &handle);
    vmm_mem_map(sys, at, RIG_G, 0, handle, 0);
    tap_result(WITHOUT("calloc", 1, vmm_mem_set_access(sys, at, RIG_G, both, 2)), VMM_ERROR_OUT_OF_MEMORY, "no room for bytes");
    tap_ok(!vmm_mem_get_access(sys, &rights, &device, at) && !rights, "the device's grant, which was made before, is taken back");
    inject_arm_at("mmap", 1);
    vmm_result result = vmm_mem_set_access(sys, at, RIG_G, both, 2);
    tap_ok(inject_disarm() && result == VMM_ERROR_OUT_OF_MEMORY, "nor can they be shown");
    tap_result(vmm_mem_set_access(sys, at, RIG_G, both, 2), VMM_SUCCESS, "until there is");
    inject_arm_at("mmap", 1);
    result = vmm_mem_set_access(sys, at, RIG_G, both, 2);
    tap_ok(!inject_disarm() && result == VMM_SUCCESS, "memory that is already shown needs no system call");
    rig_close(sys);
}

static void unread_is_not_foreign(void)
{
    static const struct {
        const char *function;
        unsigned long nth;
    } requests[] = {{"fstat", 2}, {"fstat", 3}, {"pread", 1}}; /* the first fstat is of the machine's own file */
    vmm_system *sys = rig_open("found");
    handle_t handle = 0, copy = 0x77;
    rig_create(sys, RIG_G, &handle);
    int fd = rig_export(sys, handle);
    for (unsigned i = 0; i < 3; i++) {
        tap_result(WITHOUT(requests[i].function, requests[i].nth, rig_import(sys, fd, &copy)), VMM_ERROR_OPERATING_SYSTEM,
                   "a descriptor that the system does not report");
        tap_ok(rig_reported("VMM-IMPORT-SYSTEM") && copy == 0x77, "is not called closed or foreign: %s", vmm_last_detail()->note);
    }
    close(fd);
    rig_close(sys);
}

static void free_memory_is_right(void)
{
    vmm_system *sys = rig_open("found"), *other = rig_open("found");
    handle_t handle = 0;
    uint64_t before = rig_free(other);
    for (unsigned long nth = 1; nth <= 2; nth++)
        tap_result(WITHOUT("fstat", nth, rig_create(sys, RIG_G, &handle)), VMM_SUCCESS, "created although fstat %lu fails", nth);
    tap_u64(rig_free(other), before - 2 * RIG_G, "other processes see that it is taken");
    rig_close(other);
    rig_close(sys);
}

static bool open_shared(void)
{
    made.result = vmm_open("sim:h100,machine=found", &made.sys);
    return made.result == VMM_SUCCESS;
}

static bool is_left_when_open(void)
{
    bool open = made.result == VMM_SUCCESS;
    bool right = tap_u64(rig_machines(), open, "opening without calloc %lu leaves no folder behind", inject_nth);
    if (open)
        rig_close(made.sys);
    return right;
}

static void no_machine_is_left(void)
{
    const struct inject_case opening = {.name = "a shared machine that is opened",
                                        .function = "calloc",
                                        .call = open_shared,
                                        .reported = is_out_of_something,
                                        .end = is_left_when_open};
    inject_try(&opening);
}

static void no_copy(void)
{
    made.handle = 0x77;
}

static bool import(void)
{
    made.result = vmm_mem_import_from_shareable_handle(made.other, &made.handle, made.fabric, FABRIC);
    return made.result == VMM_SUCCESS;
}

static bool is_no_copy(void)
{
    return made.handle == 0x77 && !vmm_last_detail()->value &&
           (rig_reported("VMM-IMPORT-SYSTEM") || rig_reported("VMM-SYSTEM-HOST-MEMORY"));
}

static bool is_released(void)
{
    return made.result != VMM_SUCCESS || vmm_mem_release(made.other, made.handle) == VMM_SUCCESS;
}

static void unseen_is_not_gone(void)
{
    vmm_system *one = opened("sim:max,machine=one"), *two = opened("sim:max");
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE] = {0};
    handle_t handle = 0, copy = 0x77;
    static const char *const requests[] = {"opendir", "open", "flock"};
    create(one, device, FABRIC, &handle);
    vmm_mem_export_to_shareable_handle(one, bytes, handle, FABRIC, 0);
    for (unsigned i = 0; i < 3; i++) {
        tap_result(WITHOUT(requests[i], 1, vmm_mem_import_from_shareable_handle(two, &copy, bytes, FABRIC)),
                   VMM_ERROR_OPERATING_SYSTEM, "a node that cannot be looked at, for want of %s", requests[i]);
        tap_ok(rig_reported("VMM-IMPORT-SYSTEM") && !vmm_last_detail()->value && copy == 0x77, "is not called gone: %s", vmm_last_detail()->note);
    }
    static const char *const later[] = {"stat", "open", "fstat", "mmap", "calloc", "malloc"};
    made.other = two;
    memcpy(made.fabric, bytes, sizeof bytes);
    for (unsigned i = 0; i < sizeof later / sizeof later[0]; i++) {
        const struct inject_case without = {.name = later[i],
                                            .function = later[i],
                                            .begin = no_copy,
                                            .call = import,
                                            .reported = is_no_copy,
                                            .end = is_released};
        inject_try(&without);
    }
    rig_close(two);
    rig_close(one);
}

/* A handle allocated for an object that could not be created is reused for the next. */
static void no_handle_is_used_up(void)
{
    enum { TIMES = 3000 };
    vmm_system *sys = opened("sim:max");
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = RIG_G};
    handle_t handle = 0;
    long before = 0;
    unsigned wrong = 0;
    for (unsigned i = 0; i <= TIMES; i++) {
        wrong += WITHOUT("calloc", 1, vmm_multicast_create(sys, &handle, &prop)) != VMM_ERROR_OUT_OF_MEMORY;
        before = i ? before : atomic_load(&inject_live); /* there is room for many handles from the first on */
    }
    tap_ok(!wrong && atomic_load(&inject_live) == before, "%d failed creations take no memory: %ld pieces", TIMES,
           atomic_load(&inject_live) - before);
    rig_close(sys);
}

/* The second read of a file finds its end, and matters as much as the first. */
static void half_a_profile_is_none(void)
{
    char path[128], spec[160];
    vmm_system *sys = NULL;
    snprintf(path, sizeof path, "%s/profile", rig_root);
    snprintf(spec, sizeof spec, "sim:%s", path);
    FILE *file = fopen(path, "w");
    if (!file || fputs("base = min\n", file) < 0 || fclose(file))
        tap_bail("no profile");
    tap_ok(WITHOUT("read", 2, vmm_open(spec, &sys)) == VMM_ERROR_OPERATING_SYSTEM && !sys &&
               strstr(vmm_last_detail()->note, "cannot be read: ") && strstr(vmm_last_detail()->note, strerror(EIO)),
           "a profile whose end is not seen is not read: %s", vmm_last_detail()->note);
    unlink(path);
}

/* In a copy from the host, zero parts take no space if none was allocated before. */
static void zeros_take_no_room(void)
{
    static unsigned char from[4 * BLOCK_DATA_CHUNK];
    vmm_system *sys = opened("sim:h100");
    vmm_context context;
    vmm_deviceptr at = 0;
    from[0] = from[sizeof from - 1] = 1;
    if (vmm_ctx_create(sys, &context, 0, 0) || vmm_mem_alloc(sys, &at, sizeof from) ||
        vmm_memcpy_htod(sys, at, from, sizeof from))
        tap_bail("no copy: %s", vmm_last_detail()->note);
    struct sim_process *process = (struct sim_process *)sys->top;
    sim_machine_lock(process->machine);
    const struct block_data *bytes = &sim_allocation_at(process, at)->block->bytes;
    tap_u64(bytes->written ? bytes->written[0] : 0, 9, "the first and the last of four chunks were written");
    sim_machine_unlock(process->machine);
    rig_close(sys);
}

/* A copy that lacks space for part of its destination writes nothing. */
static void no_room_for_a_part(bool aliased)
{
    enum { SIZE = 4 * BLOCK_DATA_CHUNK };
    static unsigned char from[SIZE], got[SIZE];
    for (int between = 0; between < 2; between++) {
        vmm_system *sys = opened("sim:h100");
        vmm_context context;
        vmm_deviceptr at = 0, source = 0;
        handle_t handle = 0;
        unsigned wrong = 0, failed = 0;
        const vmm_mem_access_desc desc = {device, RW};
        memset(from, 5, SIZE);
        if (vmm_ctx_create(sys, &context, 0, 0) || create(sys, device, 0, &handle) ||
            vmm_mem_address_reserve(sys, &at, 2 * RIG_G, 0, 0, 0) || vmm_mem_map(sys, at, RIG_G, 0, handle, 0) ||
            (aliased && vmm_mem_map(sys, at + RIG_G, RIG_G, 0, handle, 0)) ||
            vmm_mem_set_access(sys, at, aliased ? 2 * RIG_G : RIG_G, &desc, 1) || vmm_mem_alloc(sys, &source, SIZE) ||
            vmm_memcpy_htod(sys, source, from, SIZE))
            tap_bail("no memory: %s", vmm_last_detail()->note);
        for (unsigned long nth = 1; nth < 20; nth++) {
            inject_arm(nth);
            vmm_result result = between ? vmm_memcpy_dtod(sys, at, source, SIZE) : vmm_memcpy_htod(sys, at, from, SIZE);
            inject_disarm();
            if (result == VMM_SUCCESS)
                break;
            failed++;
            wrong += result != VMM_ERROR_OUT_OF_MEMORY || vmm_memcpy_dtoh(sys, got, at, SIZE) != VMM_SUCCESS ||
                     got[0] || memcmp(got, got + 1, SIZE - 1) != 0;
        }
        tap_ok(failed && !wrong && !vmm_memcpy_dtoh(sys, got, at, SIZE) && !memcmp(got, from, SIZE),
               "a copy of several chunks %s, %saliased: refused %u times, and then whole", between ? "between devices" : "from the host",
               aliased ? "" : "not ", failed);
        rig_close(sys);
    }
}

/* The pools of a device that had none so far. */
static void no_room_for_pools(void)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 1}};
    vmm_system *sys = opened("sim:h200x2");
    vmm_memory_pool pool = NULL, current = NULL;
    if (vmm_mem_pool_create(sys, &pool, &props))
        tap_bail("no pool: %s", vmm_last_detail()->note);
    unsigned long nth = 1;
    for (vmm_result result = VMM_ERROR_OUT_OF_MEMORY; nth < 9 && result == VMM_ERROR_OUT_OF_MEMORY; nth++) {
        inject_arm(nth);
        result = vmm_device_set_mem_pool(sys, 1, pool);
        inject_disarm();
    }
    tap_ok(nth > 2 && !vmm_device_get_mem_pool(sys, &current, 1) && current == pool, "a device's pool is set once there is memory");
    rig_close(sys);
}

/* Each allocation of an opening fails once; those of the process itself have their own reason. */
static void no_process(void)
{
    vmm_system *sys = NULL;
    bool named = false;
    unsigned wrong = 0;
    for (unsigned long nth = 1; !sys; nth++) {
        inject_arm_at("calloc", nth);
        vmm_result result = vmm_open("sim:h100", &sys);
        inject_disarm();
        wrong += result != VMM_SUCCESS && result != VMM_ERROR_OUT_OF_MEMORY;
        named |= result != VMM_SUCCESS && strstr(vmm_last_detail()->note, "the host's memory or thread keys are exhausted");
    }
    tap_ok(named && !wrong, "an opening without memory for a process names the reason");
    rig_close(sys);
}

static void a_lost_shadow_says_so(void)
{
    vmm_system *sys = NULL;
    if (vmm_open("shadow|sim:h100", &sys) != VMM_SUCCESS)
        tap_bail("no shadow opens");
    tap_result(WITHOUT("calloc", 1, vmm_init(sys, 0)), VMM_SUCCESS, "the backend's answer stands");
    tap_ok(rig_reported("VMM-SHADOW-LOST"), "and that nothing is followed is said");
    rig_close(sys);
}

int main(void)
{
    rig_begin();
    nothing_is_used_up();
    no_number_is_used_up();
    no_handle_is_kept();
    old_bytes_are_nobodys();
    no_bytes_at_all();
    room_is_taken_once();
    no_room_for_a_value();
    no_old_bytes();
    no_stack();
    touched_unknown();
    touched_asked_again();
    rights_are_taken_back();
    unread_is_not_foreign();
    free_memory_is_right();
    no_machine_is_left();
    unseen_is_not_gone();
    no_handle_is_used_up();
    half_a_profile_is_none();
    zeros_take_no_room();
    no_room_for_a_part(false);
    no_room_for_a_part(true);
    no_room_for_pools();
    no_process();
    a_lost_shadow_says_so();
    rig_end();
    return tap_done();
}

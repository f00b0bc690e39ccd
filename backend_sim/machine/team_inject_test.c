/* SPDX-License-Identifier: Apache-2.0 */
/* Teams of several processes when an allocation or system call fails, and when another process changes the team between two
 * looks at it: refusals are reported, and concurrent binds, additions and forgeries are noticed. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "process.h"
#include "state_rig.h"
#include "system.h"

#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC
#define DEVICE VMM_MEM_LOCATION_TYPE_DEVICE
#define LOCKS "fstat" /* one lock for reading the team, one for reading its binds, one for the change */

typedef vmm_mem_generic_allocation_handle handle_t;

/* One process, with an object of two devices and memory of its device. */
struct side {
    vmm_system *sys;
    int device;
    uint64_t unit;
    handle_t object, memory;
};

static struct side one, two; /* the second one makes the concurrent change */
static struct share_state *state;
static char channels[96];
static vmm_result meanwhile;

/* The nth attempt to lock fails, because the state's file seems to have changed. */
static void no_lock(unsigned long nth)
{
    inject_arm_both(LOCKS, nth, "fcntl");
    inject_error = EBADF;
}

static struct side opened(const char *spec, int device)
{
    struct side s = {.device = device};
    vmm_context ctx;
    const vmm_multicast_object_prop prop = {.num_devices = 2};
    if (vmm_open(spec, &s.sys) != VMM_SUCCESS || vmm_init(s.sys, 0) || vmm_ctx_create(s.sys, &ctx, 0, device) ||
        vmm_multicast_get_granularity(s.sys, &s.unit, &prop, VMM_MULTICAST_GRANULARITY_MINIMUM))
        tap_bail("%s: %s", spec, vmm_last_detail()->note);
    return s;
}

static void furnish(struct side *s, uint64_t types)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .requested_handle_types = (int)types,
                                          .location = {DEVICE, s->device}};
    if (vmm_mem_create(s->sys, &s->memory, s->unit, &prop, 0) != VMM_SUCCESS)
        tap_bail("no memory: %s", vmm_last_detail()->note);
}

/* Both processes have the object, for that many devices, and none has been added. */
static void begin(const char *spec, const char *other, unsigned devices, uint64_t types)
{
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE];
    one = opened(spec, 0);
    two = opened(other, 1);
    const vmm_multicast_object_prop prop = {.num_devices = devices, .size = 2 * one.unit, .handle_types = types};
    bool ok = vmm_multicast_create(one.sys, &one.object, &prop) == VMM_SUCCESS;
    if (types & FABRIC) {
        ok = ok && !vmm_mem_export_to_shareable_handle(one.sys, bytes, one.object, FABRIC, 0) &&
             !vmm_mem_import_from_shareable_handle(two.sys, &two.object, bytes, FABRIC);
    } else {
        int fd = rig_export(one.sys, one.object);
        ok = ok && rig_import(two.sys, fd, &two.object) == VMM_SUCCESS;
        close(fd);
        state = rig_state("team");
    }
    if (!ok)
        tap_bail("the object was not passed on: %s", vmm_last_detail()->note);
    furnish(&one, types);
    furnish(&two, types);
}

static void end(void)
{
    if (state)
        munmap(state, sizeof *state);
    state = NULL;
    rig_close(two.sys);
    rig_close(one.sys);
}

static void both_added(void)
{
    if (vmm_multicast_add_device(one.sys, one.object, 0) || vmm_multicast_add_device(two.sys, two.object, 1))
        tap_bail("no team: %s", vmm_last_detail()->note);
}

static vmm_result bound(struct side *s, uint64_t offset)
{
    return vmm_multicast_bind_mem(s->sys, s->object, offset, s->memory, 0, s->unit, 0);
}

static void reported(vmm_result result, const char *rule, const char *what)
{
    if (!inject_disarm())
        tap_bail("the concurrent change did not happen");
    tap_ok(rule ? result == vmm_rule_find(rule)->result && rig_reported(rule) : result == VMM_SUCCESS, "%s: %s", what,
           rule ? vmm_last_detail()->rule : vmm_result_name(result));
}

static void see_binds(void *user, const vmm_object *object)
{
    *(unsigned *)user += object->kind == VMM_OBJECT_BIND;
}

static unsigned binds_of(const struct side *s)
{
    unsigned binds = 0;
    vmm_visit(s->sys, see_binds, &binds);
    return binds;
}

/* ---- concurrent changes by the other process ---- */

static void add_same(void)
{
    meanwhile = vmm_multicast_add_device(two.sys, two.object, 0);
}

static void add_others(void)
{
    meanwhile = vmm_multicast_add_device(two.sys, two.object, 1);
    state->team[0].member[1] = (struct share_member){state->id + 1, 0}; /* of a machine that does not exist */
    atomic_store(&state->team[0].members, 2);
}

static void forge_wanted(void)
{
    state->team[0].wanted = 3;
}

static void devices(void)
{
    begin("sim:h200x2,machine=team", "sim:h200x2,machine=team", 2, RIG_FD);
    inject_meanwhile(LOCKS, 2, add_same);
    reported(vmm_multicast_add_device(one.sys, one.object, 0), "VMM-MULTICAST-DEVICE-TWICE",
         "a device that the other process adds concurrently");
    tap_ok(meanwhile == VMM_SUCCESS && atomic_load(&state->team[0].members) == 1, "the device is in the team once");
    end();
    begin("sim:h200x2,machine=team", "sim:h200x2,machine=team", 2, RIG_FD);
    inject_meanwhile(LOCKS, 2, add_others);
    reported(vmm_multicast_add_device(one.sys, one.object, 0), "VMM-MULTICAST-TEAM-FULL",
             "a team that the other process completes concurrently");
    tap_ok(meanwhile == VMM_SUCCESS && atomic_load(&state->team[0].members) == 2, "the team stays unchanged");
    end();
    begin("sim:h200x2,machine=team", "sim:h200x2,machine=team", 2, RIG_FD);
    inject_meanwhile(LOCKS, 2, forge_wanted);
    reported(vmm_multicast_add_device(one.sys, one.object, 0), "VMM-SHARE-STATE", "a team entry that changes concurrently");
    tap_u64(atomic_load(&state->team[0].members), 0, "the entry gets no device");
    state->team[0].wanted = 2;
    atomic_store(&state->block[0].number, 77);
    tap_ok(vmm_multicast_add_device(one.sys, one.object, 0) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"),
           "an object whose entry belongs to another object is lost");
    atomic_store(&state->block[0].number, 1);
    no_lock(2);
    reported(vmm_multicast_add_device(one.sys, one.object, 0), "VMM-SHARE-STATE", "without the lock no device is added");
    tap_result(vmm_multicast_add_device(one.sys, one.object, 0), VMM_SUCCESS, "with the lock the device is added");
    end();
}

static void bind_same(void)
{
    handle_t memory = two.memory;
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .requested_handle_types = RIG_FD,
                                          .location = {DEVICE, 0}};
    vmm_mem_create(two.sys, &two.memory, two.unit, &prop, 0);
    meanwhile = bound(&two, 0);
    two.memory = memory;
}

static void end_it(void)
{
    atomic_fetch_add(&state->changes, 1);
    atomic_store(&state->bind[0].number, 0);
}

static void binds(void)
{
    begin("sim:h200x2,machine=team", "sim:h200x2,machine=team", 2, RIG_FD);
    both_added();
    inject_meanwhile(LOCKS, 3, bind_same);
    reported(bound(&one, 0), "VMM-BIND-OVERLAP", "a range where the other process binds memory concurrently");
    tap_ok(meanwhile == VMM_SUCCESS && binds_of(&one) == 1, "the memory is bound there");
    no_lock(3);
    reported(bound(&one, one.unit), "VMM-SHARE-STATE", "without the lock nothing is bound");
    no_lock(3);
    reported(vmm_multicast_unbind(one.sys, one.object, 0, 0, one.unit), "VMM-SHARE-STATE", "nor unbound");
    tap_u64(binds_of(&one), 1, "the earlier bind is unchanged");
    inject_meanwhile(LOCKS, 3, end_it);
    reported(vmm_multicast_unbind(one.sys, one.object, 0, 0, one.unit), NULL,
             "a bind that the other process removes concurrently");
    tap_ok(!binds_of(&one) && !binds_of(&two), "for both");
    end();
}

static int lock_taken; /* the result of trying the machine's lock */

static void add_and_look(void)
{
    struct sim_machine *machine = ((struct sim_process *)one.sys->top)->machine;
    lock_taken = pthread_mutex_trylock(&machine->lock.mutex);
    if (!lock_taken)
        pthread_mutex_unlock(&machine->lock.mutex);
    meanwhile = vmm_multicast_add_device(two.sys, two.object, 1);
}

/* A waiting call lets other calls run, and holds the lock again at its next check. */
static void waiting(void)
{
    begin("sim:h200x2,machine=team", "sim:h200x2,machine=team", 2, RIG_FD);
    tap_result(vmm_multicast_add_device(one.sys, one.object, 0), VMM_SUCCESS, "one of two devices is added");
    inject_meanwhile(LOCKS, 4, add_and_look); /* the third lock is for the query whether others may join */
    reported(bound(&one, 0), NULL, "a bind waits for the other process's device");
    tap_ok(meanwhile == VMM_SUCCESS && lock_taken == EBUSY && binds_of(&one) == 1,
           "afterwards it holds its machine's lock again");
    end();
}

/* The same for a bind of memory by its address. */
static void waiting_by_address(void)
{
    vmm_deviceptr at = 0;
    begin("sim:h200x2,machine=team", "sim:h200x2,machine=team", 2, RIG_FD);
    if (vmm_multicast_add_device(one.sys, one.object, 0) || vmm_mem_address_reserve(one.sys, &at, one.unit, 0, 0, 0) ||
        vmm_mem_map(one.sys, at, one.unit, 0, one.memory, 0))
        tap_bail("no mapping: %s", vmm_last_detail()->note);
    inject_meanwhile(LOCKS, 4, add_and_look);
    reported(vmm_multicast_bind_addr(one.sys, one.object, 0, at, one.unit, 0), NULL, "a bind by address waits as well");
    tap_u64(binds_of(&one), 1, "and binds once");
    end();
}

/* A mapping waits as well, and makes its other checks only once after that. */
static void mapping_waits(void)
{
    vmm_deviceptr at = 0;
    begin("sim:h200x2,machine=team", "sim:h200x2,machine=team", 2, RIG_FD);
    if (vmm_multicast_add_device(one.sys, one.object, 0) || vmm_mem_address_reserve(one.sys, &at, 2 * one.unit, one.unit, 0, 0))
        tap_bail("no address: %s", vmm_last_detail()->note);
    meanwhile = VMM_ERROR_UNKNOWN;
    inject_meanwhile(LOCKS, 4, add_and_look);
    reported(vmm_mem_map(one.sys, at, 2 * one.unit, 0, one.object, 0), NULL, "a mapping waits for the other process's device");
    tap_ok(meanwhile == VMM_SUCCESS && lock_taken == EBUSY, "the device was added meanwhile");
    tap_ok(!vmm_mem_unmap(one.sys, at, 2 * one.unit) && !rig_reported("VMM-UNMAP-NOTHING") &&
               !vmm_mem_unmap(one.sys, at, 2 * one.unit) && rig_reported("VMM-UNMAP-NOTHING"),
           "the object is mapped once");
    end();
}

static void later(void)
{
    inject_late += 6;
}

/* Before the deadline the wait continues. */
static void a_little_later(void)
{
    inject_late += 4;
    inject_meanwhile(LOCKS, 4, add_and_look);
}

static void in_vain(void)
{
    static const char *const specs[] = {"sim:h200x2,machine=team,team_wait=5", "sim:h200x2,machine=team,team_wait=0"};
    static const char *const notes[] = {"1 of 2 devices were added; the call waited 6 seconds for the others (team_wait=)",
                                        "1 of 2 devices were added"};
    for (unsigned i = 0; i < 2; i++) {
        begin(specs[i], specs[i], 2, RIG_FD);
        tap_result(vmm_multicast_add_device(one.sys, one.object, 0), VMM_SUCCESS, "one of two devices is added");
        if (i == 0)
            inject_meanwhile(LOCKS, 4, later);
        vmm_result result = bound(&one, 0);
        inject_disarm();
        tap_ok(result == vmm_rule_find("VMM-BIND-INCOMPLETE")->result && rig_reported("VMM-BIND-INCOMPLETE") &&
               vmm_last_detail()->expected == 2 &&
                   vmm_last_detail()->value == one.object && vmm_last_detail()->nearest.value == one.object,
               "the bind is refused: %s", vmm_last_detail()->rule);
        tap_text(vmm_last_detail()->note, notes[i], "the note says what it waited for");
        if (i == 0) {
            inject_meanwhile(LOCKS, 4, a_little_later);
            result = bound(&one, 0);
            inject_disarm();
            tap_ok(result == VMM_SUCCESS && meanwhile == VMM_SUCCESS, "before the deadline the other device can still be added");
        }
        end();
    }
}

/* ---- forged binds ---- */

/* A bind in the state is seen only if its memory is on the member's device and large enough. */
static void forged(void)
{
    begin("sim:h200x2,machine=team", "sim:h200x2,machine=team", 2, RIG_FD);
    both_added();
    if (bound(&one, 0) != VMM_SUCCESS)
        tap_bail("not bound: %s", vmm_last_detail()->note);
    struct share_bind *bind = &state->bind[0], kept = *bind;
    struct share_block *block = &state->block[bind->index], memory = *block;
#define UNSEEN(change, what)                                      \
    do {                                                          \
        change;                                                   \
        atomic_fetch_add(&state->changes, 1);                     \
        struct side late = opened("sim:h200x2,machine=team", 0);  \
        int fd = rig_export(one.sys, one.object);                 \
        rig_import(late.sys, fd, &late.object);                   \
        tap_u64(binds_of(&late), 0, "a bind " what " is not seen"); \
        close(fd);                                                \
        *bind = kept;                                             \
        *block = memory;                                          \
        rig_close(late.sys);                                      \
        *block = memory; /* with its original holders */          \
        atomic_fetch_add(&state->changes, 1);                     \
    } while (0)
    UNSEEN(bind->at = one.unit, "after the end of its memory");
    UNSEEN(bind->size = 4 * one.unit, "after the end of its object");
    UNSEEN(bind->at = 2 * one.unit, "behind its memory");
    UNSEEN(bind->size = one.unit + 1, "larger than its memory");
    UNSEEN(bind->offset = 2 * one.unit, "at the end of its object");
    UNSEEN(bind->offset = 3 * one.unit, "behind its object");
    UNSEEN(bind->size = 0, "of nothing");
    UNSEEN(bind->object++, "of another object");
    UNSEEN(bind->machine++, "of another machine's object");
    UNSEEN(bind->device = 1, "of memory of another device");
    UNSEEN(bind->device = VMM_MAX_DEVICES, "of an invalid device");
    UNSEEN(bind->index = SHARE_BLOCKS, "of an invalid block");
    UNSEEN(bind->block = 77, "of a block that has ended");
    UNSEEN((bind->index = 0, bind->block = atomic_load(&state->block[0].number)), "of a multicast object as memory");
    UNSEEN((block->location_type = VMM_MEM_LOCATION_TYPE_HOST_NUMA, block->location_id = 0), "of host memory");
    struct side late = opened("sim:h200x2,machine=team", 0);
    int fd = rig_export(one.sys, one.object);
    rig_import(late.sys, fd, &late.object);
    tap_u64(binds_of(&late), 1, "the restored bind is seen");
    state->bind[1] = *bind;
    atomic_store(&state->bind[1].number, 99);
    atomic_store(&state->binds_seen, 2);
    atomic_fetch_add(&state->changes, 1);
    tap_u64(binds_of(&late), 1, "a second bind at the same offset is not seen");
    atomic_store(&state->bind[1].number, 0);
    close(fd);
    rig_close(late.sys);
    end();
}

/* ---- two nodes ---- */

/* The second node has no name, and no folder until it adds a device: each of these requests fails in turn. */
static void begin_without_a_name(void)
{
    char spec[2][200];
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE];
    snprintf(spec[0], sizeof spec[0], "sim:max,machine=home,imex=%.90s", channels);
    snprintf(spec[1], sizeof spec[1], "sim:max,imex=%.90s", channels);
    one = opened(spec[0], 0);
    two = opened(spec[1], 0);
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = one.unit, .handle_types = FABRIC};
    if (vmm_multicast_create(one.sys, &one.object, &prop) ||
        vmm_mem_export_to_shareable_handle(one.sys, bytes, one.object, FABRIC, 0) ||
        vmm_mem_import_from_shareable_handle(two.sys, &two.object, bytes, FABRIC))
        tap_bail("not imported: %s", vmm_last_detail()->note);
}

static bool add_device(void)
{
    meanwhile = vmm_multicast_add_device(two.sys, two.object, 0);
    return meanwhile == VMM_SUCCESS;
}

static bool is_of_the_state(void)
{
    return rig_reported("VMM-SHARE-STATE");
}

/* Once all requests succeed, the device is added. */
static bool is_added(void)
{
    bool added = meanwhile == VMM_SUCCESS || add_device();
    end();
    return added;
}

/* A forged team member: the device of a machine without a folder. Other machines could not find memory of such a machine. */
static void forged_member(void)
{
    char spec[2][200];
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE];
    const vmm_mem_allocation_prop own = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {DEVICE, 0}};
    snprintf(spec[0], sizeof spec[0], "sim:max,machine=home,imex=%.90s", channels);
    snprintf(spec[1], sizeof spec[1], "sim:max,imex=%.90s", channels);
    one = opened(spec[0], 0);
    two = opened(spec[1], 0);
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = one.unit, .handle_types = FABRIC};
    if (vmm_multicast_create(one.sys, &one.object, &prop) || vmm_multicast_add_device(one.sys, one.object, 0) ||
        vmm_mem_export_to_shareable_handle(one.sys, bytes, one.object, FABRIC, 0) ||
        vmm_mem_create(two.sys, &two.memory, two.unit, &own, 0))
        tap_bail("no object: %s", vmm_last_detail()->note);
    struct share_state *home = rig_state("home");
    home->team[0].member[1] = (struct share_member){0, 0};
    atomic_store(&home->team[0].members, 2);
    if (vmm_mem_import_from_shareable_handle(two.sys, &two.object, bytes, FABRIC))
        tap_bail("not imported: %s", vmm_last_detail()->note);
    vmm_result result = bound(&two, 0);
    tap_ok(result == vmm_rule_find("VMM-BIND-SHARED")->result && rig_reported("VMM-BIND-SHARED") && binds_of(&two) == 0,
           "a forged team member cannot bind");
    munmap(home, sizeof *home);
    end();
}

/* A fabric object can be found by other nodes from its creation on. */
static void begin_fabric(void)
{
    char spec[200];
    snprintf(spec, sizeof spec, "sim:max,imex=%.90s", channels);
    one = opened(spec, 0);
    one.object = 0x77;
}

static bool create_object(void)
{
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = one.unit, .handle_types = FABRIC};
    meanwhile = vmm_multicast_create(one.sys, &one.object, &prop);
    return meanwhile == VMM_SUCCESS;
}

static bool has_no_object(void)
{
    return one.object == 0x77 && vmm_last_detail()->rule;
}

static bool is_made(void)
{
    bool made = meanwhile == VMM_SUCCESS || create_object();
    rig_close(one.sys);
    return made;
}

static const struct inject_case on_fabrics[] = {
    {.name = "a node without a folder",
     .least = 3,
     .begin = begin_without_a_name,
     .call = add_device,
     .reported = is_of_the_state,
     .end = is_added},
    {.name = "a fabric object",
     .least = 6,
     .begin = begin_fabric,
     .call = create_object,
     .reported = has_no_object,
     .end = is_made},
};

/* [object: bound here, not on the other node], seen from either node. */
static void replica_abroad(bool from_two)
{
    char spec[2][200], note[80];
    struct side *here = from_two ? &two : &one;
    snprintf(spec[0], sizeof spec[0], "sim:max,machine=home,imex=%.90s", channels);
    snprintf(spec[1], sizeof spec[1], "sim:max,machine=away,imex=%.90s", channels);
    begin(spec[0], spec[1], 2, FABRIC);
    both_added();
    const vmm_mem_access_desc rw = {{DEVICE, here->device}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_deviceptr at = 0;
    if (bound(here, 0) || vmm_mem_address_reserve(here->sys, &at, 3 * here->unit, here->unit, 0, 0) ||
        vmm_mem_map(here->sys, at, 2 * here->unit, 0, here->object, 0) ||
        vmm_mem_map(here->sys, at + 2 * here->unit, here->unit, 0, here->memory, 0) ||
        vmm_mem_set_access(here->sys, at, 3 * here->unit, &rw, 1))
        tap_bail("not mapped: %s", vmm_last_detail()->note);
    const uint64_t args[] = {at, at + 2 * here->unit, 8};
    vmm_launch(here->sys, VMM_KERNEL_MULTIMEM_STORE, 1, 32, args, 3, NULL);
    snprintf(note, sizeof note, "device %d of another node has no memory bound there", from_two ? one.device : two.device);
    tap_ok(vmm_ctx_synchronize(here->sys) == VMM_ERROR_ILLEGAL_ADDRESS && rig_reported("VMM-FAULT-UNBOUND") &&
               strstr(vmm_last_detail()->note, note),
           "a fault on a replica that another node has not bound names that node: %s", vmm_last_detail()->note);
    end();
}

/* One more process of the first node, which has the object. */
static struct side late;

static void begin_late(void)
{
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE];
    char spec[200];
    snprintf(spec, sizeof spec, "sim:max,machine=home,imex=%.90s", channels);
    late = opened(spec, 2);
    vmm_mem_export_to_shareable_handle(one.sys, bytes, one.object, FABRIC, 0);
    vmm_mem_import_from_shareable_handle(late.sys, &late.object, bytes, FABRIC);
}

static bool sees_a_bind(void)
{
    return binds_of(&late) != 0;
}

static bool sees_it_again(void)
{
    bool seen = tap_u64(binds_of(&late), 1, "the bind is seen once all states can be locked (%lu)", inject_nth);
    rig_close(late.sys);
    return seen;
}

/* Locking fails if the lock's file has been replaced. */
static const struct inject_case without_locks = {.name = "a bind of another node",
                                                 .function = LOCKS,
                                                 .error = EBADF,
                                                 .then = "fcntl",
                                                 .least = 2,
                                                 .most = 9,
                                                 .begin = begin_late,
                                                 .call = sees_a_bind,
                                                 .end = sees_it_again};

/* A team with a device of a missing node, and one whose state cannot be locked: their binds are not seen. */
static void nodes_that_cannot_be_asked(void)
{
    char spec[2][200];
    snprintf(spec[0], sizeof spec[0], "sim:max,machine=home,imex=%.90s", channels);
    snprintf(spec[1], sizeof spec[1], "sim:max,machine=away,imex=%.90s", channels);
    begin(spec[0], spec[1], 2, FABRIC);
    both_added();
    if (bound(&two, 0) != VMM_SUCCESS)
        tap_bail("not bound: %s", vmm_last_detail()->note);
    no_lock(1);
    inject_each = true;
    tap_u64(binds_of(&one), 0, "binds of another node are not seen while no state can be locked");
    inject_disarm();
    no_lock(2); /* the own devices' binds are read before the other's */
    reported(bound(&one, 0), "VMM-SHARE-STATE", "a process that cannot read its own machine's binds is refused");
    inject_try(&without_locks);
    struct share_state *home = rig_state("home");
    home->team[0].member[1].machine++;
    atomic_fetch_add(&home->changes, 1);
    begin_late();
    tap_u64(binds_of(&late), 0, "a missing node has no binds");
    rig_close(late.sys);
    home->team[0].member[1].machine--;
    munmap(home, sizeof *home);
    tap_u64(binds_of(&one), 1, "its binds are seen once it exists");
    end();
}

static void channel_there(bool there)
{
    char channel[128];
    snprintf(channels, sizeof channels, "%s-imex", rig_root);
    snprintf(channel, sizeof channel, "%s/channel0", channels);
    if (there ? mkdir(channels, 0700) || close(open(channel, O_CREAT | O_RDWR, 0600)) : unlink(channel) || rmdir(channels))
        tap_bail("the channel cannot be created or removed");
}

int main(void)
{
    rig_begin();
    channel_there(true);
    devices();
    binds();
    waiting();
    waiting_by_address();
    mapping_waits();
    in_vain();
    forged();
    inject_try(&on_fabrics[0]);
    forged_member();
    inject_try(&on_fabrics[1]);
    replica_abroad(false);
    replica_abroad(true);
    nodes_that_cannot_be_asked();
    channel_there(false);
    rig_end();
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Teams of several processes: each system here is one of the machine's, or another node of the fabric. The tests also forge the
 * state, kill processes, and make calls wait. */
#include "team_share.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "state_rig.h"
#include "share_inspect.h"
#include "child.h"
#include "passing.h"

#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define DEVICE VMM_MEM_LOCATION_TYPE_DEVICE

typedef vmm_mem_generic_allocation_handle handle_t;

static char channels[96];

/* One process of a team, with one device and its memory. */
struct side {
    vmm_system *sys;
    int device;
    uint64_t unit, size, free;
    handle_t object, memory;
    vmm_deviceptr mc, own;
};

static void need(vmm_result result, const char *what)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s %s %s", what, vmm_result_name(result), vmm_last_detail()->rule ? vmm_last_detail()->rule : "",
                 vmm_last_detail()->note);
}

static struct side side(const char *spec, int device)
{
    struct side s = {.device = device};
    vmm_context ctx;
    const vmm_multicast_object_prop prop = {.num_devices = 2};
    need(vmm_open(spec, &s.sys), spec);
    need(vmm_init(s.sys, 0), "init");
    need(vmm_ctx_create(s.sys, &ctx, 0, device), "context");
    need(vmm_multicast_get_granularity(s.sys, &s.unit, &prop, VMM_MULTICAST_GRANULARITY_MINIMUM), "granularity");
    s.size = 2 * s.unit;
    s.free = rig_free(s.sys);
    return s;
}

static vmm_result create_object(struct side *s, unsigned devices, uint64_t types)
{
    const vmm_multicast_object_prop prop = {.num_devices = devices, .size = s->size, .handle_types = types};
    return vmm_multicast_create(s->sys, &s->object, &prop);
}

/* From one process to another, which is not told what it is. */
static vmm_result pass(struct side *from, struct side *to, uint64_t type)
{
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE];
    int fd = -1;
    if (type == FABRIC) {
        need(vmm_mem_export_to_shareable_handle(from->sys, bytes, from->object, FABRIC, 0), "export of the object");
        return vmm_mem_import_from_shareable_handle(to->sys, &to->object, bytes, FABRIC);
    }
    need(vmm_mem_export_to_shareable_handle(from->sys, &fd, from->object, FD, 0), "export of the object");
    vmm_result result = vmm_mem_import_from_shareable_handle(to->sys, &to->object, (void *)(uintptr_t)fd, FD);
    close(fd);
    return result;
}

static void create_memory(struct side *s, uint64_t types)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .requested_handle_types = (int)types,
                                          .location = {DEVICE, s->device}};
    need(vmm_mem_create(s->sys, &s->memory, s->size, &prop, 0), "memory");
}

static vmm_deviceptr mapped(struct side *s, handle_t handle)
{
    const vmm_mem_access_desc desc = {{DEVICE, s->device}, RW};
    vmm_deviceptr at = 0;
    need(vmm_mem_address_reserve(s->sys, &at, s->size, s->unit, 0, 0), "addresses");
    need(vmm_mem_map(s->sys, at, s->size, 0, handle, 0), "mapping");
    need(vmm_mem_set_access(s->sys, at, s->size, &desc, 1), "rights");
    return at;
}

static void bind_all(struct side *s, uint64_t types)
{
    create_memory(s, types);
    s->own = mapped(s, s->memory);
    need(vmm_multicast_bind_mem(s->sys, s->object, 0, s->memory, 0, s->size, 0), "bind");
    s->mc = mapped(s, s->object);
}

static vmm_result launch(struct side *s, vmm_kernel kernel, vmm_deviceptr first, vmm_deviceptr second, uint64_t bytes)
{
    const uint64_t args[] = {first, second, bytes};
    vmm_result result = vmm_launch(s->sys, kernel, 1, 32, args, 3, NULL);
    return result == VMM_SUCCESS ? vmm_ctx_synchronize(s->sys) : result;
}

static uint64_t word(struct side *s, vmm_deviceptr at)
{
    uint64_t value = UINT64_C(0xbadbadbadbad);
    vmm_memcpy_dtoh(s->sys, &value, at, sizeof value);
    return value;
}

static void put(struct side *s, vmm_deviceptr at, uint64_t value)
{
    need(vmm_memcpy_htod(s->sys, at, &value, sizeof value), "copy");
}

static void finish(struct side *s)
{
    rig_close(s->sys);
    s->sys = NULL;
}

/* A pair with everything bound and mapped. */
static void make_pair(struct side *a, struct side *b, uint64_t types, uint64_t type)
{
    need(create_object(a, 2, types), "object");
    need(vmm_multicast_add_device(a->sys, a->object, a->device), "first device");
    need(pass(a, b, type), "import of the object");
    need(vmm_multicast_add_device(b->sys, b->object, b->device), "second device");
    bind_all(a, types);
    bind_all(b, types);
}

/* ---- what a team of two processes can do ---- */

static void reaches_all(struct side *a, struct side *b)
{
    put(a, a->own + a->unit, 5);
    put(b, b->own + b->unit, 70);
    tap_result(launch(a, VMM_KERNEL_MULTIMEM_REDUCE, a->mc, a->own + a->unit, 8), VMM_SUCCESS, "one adds for both");
    tap_result(launch(b, VMM_KERNEL_MULTIMEM_REDUCE, b->mc, b->own + b->unit, 8), VMM_SUCCESS, "and so does the other");
    tap_ok(word(a, a->own) == 75 && word(b, b->own) == 75, "both have both sums");
    tap_result(launch(b, VMM_KERNEL_MULTIMEM_STORE, b->mc + 16, b->own + b->unit, 8), VMM_SUCCESS, "one stores");
    tap_ok(word(a, a->own + 16) == 70 && word(b, b->own + 16) == 70, "both have it");
    put(a, a->own + 16, 1);
    tap_result(launch(b, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, b->own + 24, b->mc + 16, 8), VMM_SUCCESS, "one loads the sum");
    tap_u64(word(b, b->own + 24), 71, "which is of both");
}

static void check_team_rules(struct side *a, struct side *b)
{
    handle_t other = 0;
    tap_ok(vmm_multicast_add_device(a->sys, a->object, b->device) == VMM_ERROR_INVALID_VALUE &&
               (rig_reported("VMM-MULTICAST-DEVICE-TWICE") || rig_reported("VMM-MULTICAST-TEAM-FULL")),
           "what the other added is known");
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .requested_handle_types = (int)FD,
                                          .location = {DEVICE, b->device}};
    need(vmm_mem_create(a->sys, &other, a->unit, &prop, 0), "memory of the other device");
    tap_ok(vmm_multicast_bind_mem(a->sys, a->object, a->unit, other, 0, a->unit, 0) == VMM_ERROR_INVALID_VALUE &&
               rig_reported("VMM-BIND-OVERLAP"),
           "what the other bound is in the way");
    vmm_mem_release(a->sys, other);
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE];
    tap_ok(vmm_mem_export_to_shareable_handle(b->sys, bytes, b->object, FD, 0) == VMM_ERROR_INVALID_VALUE &&
               rig_reported("VMM-EXPORT-IMPORTED"),
           "an imported object is not exported again");
}

static void one_machine(const char *spec)
{
    struct side a = side(spec, 0), b = side(spec, 1);
    make_pair(&a, &b, FD, FD);
    tap_u64(rig_free(a.sys), a.free - a.size, "the memory counts once");
    tap_u64(rig_free(b.sys), b.free - b.size, "on each device");
    reaches_all(&a, &b);
    check_team_rules(&a, &b);
    finish(&b);
    tap_result(launch(&a, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, a.own + 32, a.mc, 8), VMM_SUCCESS, "after the other is gone");
    tap_u64(word(&a, a.own + 32), 150, "what it bound is still there");
    struct side c = side(spec, 1);
    tap_u64(c.free, b.free - b.size, "and counts");
    tap_result(vmm_multicast_unbind(a.sys, a.object, 1, 0, a.size), VMM_SUCCESS, "anybody can unbind it");
    tap_u64(rig_free(c.sys), b.free, "and it is free");
    tap_ok(launch(&a, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, a.own + 32, a.mc, 8) == VMM_ERROR_ILLEGAL_ADDRESS &&
               rig_reported("VMM-FAULT-UNBOUND"),
           "a replica is missing");
    finish(&a);
    tap_u64(rig_free(c.sys), b.free, "nothing is left of the other device");
    finish(&c);
}

/* What was bound before the object was exported is there for the importer. */
static void bound_before(const char *spec)
{
    struct side a = side(spec, 0), b = side(spec, 1);
    need(create_object(&a, 2, FD), "object");
    need(vmm_multicast_add_device(a.sys, a.object, 1), "a device");
    need(vmm_multicast_add_device(a.sys, a.object, 0), "a device");
    bind_all(&a, FD);
    put(&a, a.own, 3);
    tap_result(pass(&a, &b, FD), VMM_SUCCESS, "an object with binds goes to another process");
    tap_ok(vmm_multicast_add_device(b.sys, b.object, 1) == VMM_ERROR_INVALID_VALUE, "with its devices");
    bind_all(&b, FD);
    put(&b, b.own, 4);
    tap_result(launch(&b, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, b.own + 8, b.mc, 8), VMM_SUCCESS, "and its binds");
    tap_u64(word(&b, b.own + 8), 7, "the sum is of both");
    /* The exporter gives everything back: the object and its binds live on. */
    vmm_mem_unmap(a.sys, a.mc, a.size);
    vmm_mem_unmap(a.sys, a.own, a.size);
    vmm_mem_release(a.sys, a.memory);
    vmm_mem_release(a.sys, a.object);
    tap_u64(rig_free(a.sys), a.free - a.size, "memory stays while the object lives");
    tap_result(launch(&b, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, b.own + 8, b.mc, 8), VMM_SUCCESS, "and can be reached");
    vmm_mem_unmap(b.sys, b.mc, b.size);
    vmm_mem_release(b.sys, b.object);
    tap_u64(rig_free(a.sys), a.free, "it goes with the object's last handle and mapping");
    finish(&a);
    finish(&b);
}

/* A part each, by both devices of one process, seen and unbound by another. */
static void unbind_is_seen(const char *spec)
{
    struct side a = side(spec, 0), b = side(spec, 1);
    make_pair(&a, &b, FD, FD);
    tap_result(vmm_multicast_unbind(b.sys, b.object, 0, 0, a.size), VMM_SUCCESS, "one unbinds what the other bound");
    tap_ok(vmm_multicast_unbind(a.sys, a.object, 0, 0, a.size) == VMM_ERROR_INVALID_VALUE && rig_reported("VMM-UNBIND-NOTHING"),
           "the other sees it");
    tap_result(vmm_multicast_bind_addr(a.sys, a.object, 0, a.own, a.unit, 0), VMM_SUCCESS, "and binds a part again");
    put(&a, a.own, 10);
    put(&b, b.own, 1);
    tap_result(launch(&b, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, b.own + 8, b.mc, 8), VMM_SUCCESS, "where both have something");
    tap_u64(word(&b, b.own + 8), 11, "their sum");
    finish(&a);
    finish(&b);
}

/* ---- nodes ---- */

static void two_nodes(void)
{
    char one[200], two[200];
    snprintf(one, sizeof one, "sim:max,machine=one,imex=%.90s", channels);
    snprintf(two, sizeof two, "sim:max,imex=%.90s", channels); /* which needs no name */
    struct side a = side(one, 0), b = side(two, 0);
    make_pair(&a, &b, FABRIC, FABRIC);
    tap_ok(rig_free(a.sys) == a.free - a.size && rig_free(b.sys) == b.free - b.size, "each node has its own memory");
    reaches_all(&a, &b);
    tap_ok(vmm_multicast_unbind(a.sys, a.object, 1, 0, a.size) == VMM_ERROR_INVALID_DEVICE && rig_reported("VMM-UNBIND-DEVICE"),
           "another node's device cannot be named");
    vmm_mem_unmap(b.sys, b.own, b.size);
    vmm_mem_release(b.sys, b.memory);
    tap_u64(rig_free(b.sys), b.free - b.size, "bound memory stays");
    finish(&b);
    tap_result(launch(&a, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, a.own + 32, a.mc, 8), VMM_SUCCESS, "also when its node is gone");
    tap_u64(word(&a, a.own + 32), 150, "with its bytes");
    finish(&a);
    tap_u64(rig_machines(), 0, "both machines are gone");
}

/* The object's own node ends first: what was bound elsewhere is given back there. */
static void home_ends(void)
{
    char one[200], two[200];
    snprintf(one, sizeof one, "sim:max,machine=one,imex=%.90s", channels);
    snprintf(two, sizeof two, "sim:max,machine=two,imex=%.90s", channels);
    struct side a = side(one, 0), b = side(two, 1);
    make_pair(&a, &b, FABRIC | FD, FABRIC);
    finish(&a);
    tap_result(launch(&b, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, b.own + 32, b.mc, 8), VMM_SUCCESS, "the object lives on");
    vmm_mem_unmap(b.sys, b.own, b.size);
    vmm_mem_release(b.sys, b.memory);
    tap_u64(rig_free(b.sys), b.free - b.size, "with its binds");
    vmm_mem_unmap(b.sys, b.mc, b.size);
    vmm_mem_release(b.sys, b.object);
    tap_u64(rig_free(b.sys), b.free, "until it ends");
    finish(&b);
    tap_u64(rig_machines(), 0, "both machines are gone");
}

/* With a whole object for the fabric. */
static struct side fabric_side(const char *spec)
{
    struct side s = side(spec, 0);
    need(create_object(&s, 2, FABRIC), "object");
    need(vmm_multicast_add_device(s.sys, s.object, 0), "a device");
    need(vmm_multicast_add_device(s.sys, s.object, 1), "a device");
    return s;
}

/* Binds memory that the other side has made for the fabric, and exported. */
static vmm_result bind_memory_of(struct side *other, struct side *s)
{
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE];
    handle_t copy = 0;
    create_memory(other, FABRIC);
    need(vmm_mem_export_to_shareable_handle(other->sys, bytes, other->memory, FABRIC, 0), "export");
    need(vmm_mem_import_from_shareable_handle(s->sys, &copy, bytes, FABRIC), "import");
    return vmm_multicast_bind_mem(s->sys, s->object, 0, copy, 0, s->unit, 0);
}

static void fabric_memory_only(void)
{
    char spec[200];
    snprintf(spec, sizeof spec, "sim:max,imex=%.90s", channels);
    struct side a = fabric_side(spec), b = side(spec, 0);
    create_memory(&a, FD);
    tap_ok(vmm_multicast_bind_mem(a.sys, a.object, 0, a.memory, 0, a.unit, 0) == VMM_ERROR_NOT_PERMITTED &&
               rig_reported("VMM-BIND-SHARED"),
           "memory that other nodes cannot reach is refused");
    tap_ok(bind_memory_of(&b, &a) == VMM_ERROR_INVALID_DEVICE && rig_reported("VMM-BIND-DEVICE"),
           "and so is memory that lies on another node's device");
    finish(&a);
    finish(&b);
}

/* What came as 64 bytes from another process of the machine was made for the fabric. */
static void fabric_memory_of_others(void)
{
    char spec[200];
    snprintf(spec, sizeof spec, "sim:max,machine=fabric,imex=%.90s", channels);
    struct side a = fabric_side(spec), b = side(spec, 0);
    tap_result(bind_memory_of(&b, &a), VMM_SUCCESS, "memory of another process that other nodes can reach is bound");
    finish(&a);
    finish(&b);
}

/* ---- waiting ---- */

struct waiter {
    struct side *side;
    bool map;
    vmm_result result;
};

static void *wait_for_team(void *user)
{
    struct waiter *w = user;
    struct side *s = w->side;
    vmm_deviceptr at = 0;
    if (!w->map) {
        w->result = vmm_multicast_bind_mem(s->sys, s->object, 0, s->memory, 0, s->size, 0);
        return NULL;
    }
    w->result = vmm_mem_address_reserve(s->sys, &at, s->size, s->unit, 0, 0);
    if (w->result == VMM_SUCCESS)
        w->result = vmm_mem_map(s->sys, at, s->size, 0, s->object, 0);
    return NULL;
}

/* Whether it is early or late: it ends when the other process has added its device. */
static void waits(const char *spec, bool map)
{
    struct side a = side(spec, 0), b = side(spec, 1);
    struct waiter w = {&a, map, VMM_ERROR_UNKNOWN};
    pthread_t thread;
    need(create_object(&a, 2, FD), "object");
    need(vmm_multicast_add_device(a.sys, a.object, 0), "first device");
    create_memory(&a, FD);
    need(pass(&a, &b, FD), "import");
    pthread_create(&thread, NULL, wait_for_team, &w);
    need(vmm_multicast_add_device(b.sys, b.object, 1), "second device");
    pthread_join(thread, NULL);
    tap_result(w.result, VMM_SUCCESS, "%s waits for the other process's device", map ? "a mapping" : "a bind");
    finish(&a);
    finish(&b);
}

static void waits_no_longer(const char *spec)
{
    char brief[100];
    snprintf(brief, sizeof brief, "%.80s,team_wait=1", spec);
    struct side a = side(brief, 0), b = side(brief, 1);
    need(create_object(&a, 2, FD), "object");
    need(vmm_multicast_add_device(a.sys, a.object, 0), "first device");
    create_memory(&a, FD);
    need(pass(&a, &b, FD), "import");
    tap_ok(vmm_multicast_bind_mem(a.sys, a.object, 0, a.memory, 0, a.size, 0) == VMM_ERROR_ILLEGAL_STATE &&
               rig_reported("VMM-BIND-INCOMPLETE") && strstr(vmm_last_detail()->note, "1 of 2 devices") &&
               strstr(vmm_last_detail()->note, "the call waited "),
           "but not for ever: %s", vmm_last_detail()->note);
    vmm_mem_release(b.sys, b.object);
    tap_ok(vmm_multicast_bind_mem(a.sys, a.object, 0, a.memory, 0, a.size, 0) == VMM_ERROR_ILLEGAL_STATE &&
               !strstr(vmm_last_detail()->note, "the call waited "),
           "nor when nobody else has the object: %s", vmm_last_detail()->note);
    finish(&a);
    finish(&b);
}

/* ---- processes that are killed ---- */

static void run_child(const char *spec, int socket)
{
    struct side b = side(spec, 1);
    char byte = 0;
    int fd = passing_receive(socket);
    alarm(60);
    need(vmm_mem_import_from_shareable_handle(b.sys, &b.object, (void *)(uintptr_t)fd, FD), "import");
    close(fd);
    need(vmm_multicast_add_device(b.sys, b.object, 1), "second device");
    bind_all(&b, FD);
    put(&b, b.own, 1000);
    if (write(socket, "x", 1) == 1 && read(socket, &byte, 1) == 1)
        pause(); /* until it is killed */
    _exit(1);
}

/* Its bind is the object's, and stays; its handles, mappings and own memory go. */
static void killed(const char *spec)
{
    int socket, fd = -1;
    char byte;
    pid_t child = child_begin(&socket, 0);
    if (child == 0)
        run_child(spec, socket);
    struct side a = side(spec, 0);
    need(create_object(&a, 2, FD), "object");
    need(vmm_mem_export_to_shareable_handle(a.sys, &fd, a.object, FD, 0), "export");
    passing_send(socket, fd);
    close(fd);
    need(vmm_multicast_add_device(a.sys, a.object, 0), "first device");
    bind_all(&a, FD);
    put(&a, a.own, 1);
    bool ready = read(socket, &byte, 1) == 1 && write(socket, "x", 1) == 1;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(socket);
    tap_ok(ready, "another process takes part, and is killed");
    tap_result(launch(&a, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, a.own + 8, a.mc, 8), VMM_SUCCESS, "what it bound");
    tap_u64(word(&a, a.own + 8), 1001, "is still there");
    struct side c = side(spec, 1);
    tap_u64(c.free, a.free - a.size, "and counts");
    finish(&a);
    tap_u64(rig_free(c.sys), a.free, "until the object ends");
    finish(&c);
}

/* ---- who holds what ---- */

static struct share_inspect *look(const char *entry)
{
    char why[SHARE_WHY];
    struct share *share = share_open_there(entry, why);
    if (!share)
        tap_bail("no machine %s: %s", entry, why);
    struct share_inspect *who = share_inspect(share);
    share_close(share);
    return who;
}

static void report(const char *spec)
{
    struct side a = side(spec, 0), b = side(spec, 1);
    char text[SHARE_HOLD_TEXT] = "", own[40];
    const struct share_inspect_block *object = NULL;
    make_pair(&a, &b, FD, FD);
    vmm_mem_unmap(b.sys, b.own, b.size);
    vmm_mem_release(b.sys, b.memory);
    struct share_inspect *who = look("m-team");
    for (unsigned i = 0; i < who->block_count; i++)
        if (who->block[i].team)
            object = &who->block[i];
    tap_ok(object && object->team == 2 && object->members == 2 && object->pid == os_pid() && !object->orphan,
           "the object is told as one, with its team and who exported it");
    unsigned binds = 0;
    for (unsigned i = 0; object && i < who->hold_count; i++)
        if (who->hold[i].object == object->number) {
            binds++;
            if (who->block[who->hold[i].block].location.id == 1)
                share_inspect_hold_text(&who->hold[i], text);
        }
    tap_u64(binds, 2, "each bind is told as a holder");
    snprintf(own, sizeof own, "process %llu", (unsigned long long)os_pid());
    tap_ok(strstr(text, "to which it was bound by") && strstr(text, own) && strstr(text, "cuMulticastBindMem"),
           "with who made it, and by which call: %s", text);
    share_inspect_free(who);
    finish(&a);
    finish(&b);
}

/* ---- what is forged ---- */

static uint64_t random_state = 20261121;

static uint64_t draw(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static void scribble(void *at, size_t size)
{
    uint64_t *word = at;
    static const uint64_t edges[] = {0, 1, UINT64_MAX, INT64_MAX, UINT64_C(1) << 31, UINT32_MAX};
    unsigned kind = (unsigned)(draw() % 3);
    size_t i = (size_t)(draw() % (size / sizeof *word));
    word[i] = kind == 0 ? draw() : kind == 1 ? edges[draw() % 6] : word[i] ^ UINT64_C(1) << (draw() % 64);
}

/* All that can be asked of an object; how much of it is refused. */
static unsigned ask_all(struct side *s, int device)
{
    vmm_deviceptr at = 0;
    int fd = -1;
    unsigned refused = vmm_multicast_add_device(s->sys, s->object, device) != VMM_SUCCESS;
    refused += vmm_multicast_bind_mem(s->sys, s->object, 0, s->memory, 0, s->unit, 0) != VMM_SUCCESS;
    refused += vmm_multicast_bind_addr(s->sys, s->object, 0, s->own, s->unit, 0) != VMM_SUCCESS;
    refused += vmm_multicast_unbind(s->sys, s->object, device, s->unit, s->unit) != VMM_SUCCESS;
    refused += vmm_mem_export_to_shareable_handle(s->sys, &fd, s->object, FD, 0) != VMM_SUCCESS;
    if (fd >= 0) {
        handle_t copy = 0;
        if (rig_import(s->sys, fd, &copy) == VMM_SUCCESS)
            vmm_mem_release(s->sys, copy);
        close(fd);
    }
    if (vmm_mem_address_reserve(s->sys, &at, s->size, s->unit, 0, 0) == VMM_SUCCESS) {
        vmm_result mapped = vmm_mem_map(s->sys, at, s->size, 0, s->object, 0);
        refused += mapped != VMM_SUCCESS;
        if (mapped == VMM_SUCCESS)
            vmm_mem_unmap(s->sys, at, s->size);
        vmm_mem_address_free(s->sys, at, s->size);
    }
    return refused;
}

/* One word at a time, for each that is about the team, with values that are no such thing. */
static void forged_words(const char *spec)
{
    static const uint64_t values[] = {0, 1, 65, UINT64_MAX, UINT64_C(1) << 40, UINT64_C(1) << 31};
    struct side a = side(spec, 0), b = side(spec, 1), c = side(spec, 1);
    make_pair(&a, &b, FD, FD);
    need(pass(&a, &c, FD), "import");
    struct share_state *state = rig_state("team");
    const struct share_team team = state->team[0];
    const struct share_bind bind = state->bind[0];
    uint32_t block = 0, index = 0;
    while (!state->block[block].team)
        block++;
    index = state->block[block].team;
    unsigned asked = 0;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        for (size_t word = 0; word < 8 + sizeof bind / 8; word++, asked++) {
            uint64_t *at = word < 8 ? (uint64_t *)(void *)&state->team[0] + word : (uint64_t *)(void *)&state->bind[0] + word - 8;
            uint64_t old = *at;
            *at = values[i];
            if (word == 0)
                state->block[block].team = (uint32_t)values[i];
            atomic_fetch_add(&state->changes, 1);
            ask_all(&a, 0);
            struct side d = side(spec, 1);
            unsigned char unused[VMM_FABRIC_HANDLE_SIZE];
            vmm_mem_export_to_shareable_handle(a.sys, unused, a.object, FABRIC, 0);
            finish(&d);
            *at = old;
            state->block[block].team = index;
            state->team[0] = team;
            state->bind[0] = bind;
            atomic_fetch_add(&state->changes, 1);
        }
    tap_ok(asked > 100 && launch(&a, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, a.own + 32, a.mc, 8) == VMM_SUCCESS,
           "%u forged words, one at a time, and all is well when they are right again", asked);
    munmap(state, sizeof *state);
    finish(&a);
    finish(&b);
    finish(&c);
}

/* Nothing of a state that was cut off is touched: each call says that it is gone. */
static void state_is_cut(const char *spec)
{
    struct side a = side(spec, 0), b = side(spec, 1);
    make_pair(&a, &b, FD, FD);
    if (truncate(rig_path("team", "state"), 100))
        tap_bail("the state cannot be cut");
    tap_u64(ask_all(&a, 0), 6, "without its state an object is of no use");
    tap_ok(vmm_multicast_add_device(b.sys, b.object, 0) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"),
           "which is said: %s", vmm_last_detail()->note);
    launch(&a, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, a.own + 32, a.mc, 8); /* with what was seen last */
    finish(&a);
    finish(&b);
    struct side c = side(spec, 0);
    tap_u64(c.free, a.free, "the next machine of that name is a new one");
    finish(&c);
}

/* Words that change and change back, for as long as the process lives: what is checked is another when it is used. */
static _Noreturn void flicker(struct share_state *state)
{
    alarm(60);
    for (;;) {
        _Atomic uint64_t *part[] = {(_Atomic uint64_t *)(void *)&state->team[0], (_Atomic uint64_t *)(void *)&state->bind[0],
                                    (_Atomic uint64_t *)(void *)&state->block[0]};
        const size_t words[] = {8, 2 * sizeof state->bind[0] / 8, 3 * sizeof state->block[0] / 8};
        size_t kind = draw() % 3;
        _Atomic uint64_t *word = part[kind] + draw() % words[kind];
        uint64_t old = atomic_load(word), forged = draw() % 2 ? draw() : draw() % 5;
        for (int i = 0; i < 200; i++)
            atomic_store(word, i % 2 ? old : forged);
        atomic_store(word, old);
        atomic_fetch_add(&state->changes, 1);
    }
}

static void flickering(struct side *a, struct side *b, struct share_state *state, unsigned rounds)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        flicker(state);
    for (unsigned i = 0; i < rounds; i++) {
        vmm_multicast_bind_mem(a->sys, a->object, 0, a->memory, 0, a->unit, 0);
        vmm_multicast_add_device(b->sys, b->object, 0);
        vmm_multicast_unbind(b->sys, b->object, (int)(draw() % 2), 0, a->size);
        struct side c = *b;
        if (i % 8 == 0 && vmm_mem_retain_allocation_handle(b->sys, &c.object, b->mc) == VMM_SUCCESS)
            vmm_mem_release(b->sys, c.object);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    tap_ok(true, "and %u rounds of calls while the words flicker", rounds);
}

/* Anything may stand in the parts of the state that are about teams: calls are refused or not, and nothing else happens. */
static void forged(const char *spec, unsigned rounds)
{
    struct side a = side(spec, 0), b = side(spec, 1);
    struct share_state *state = rig_state("team");
    make_pair(&a, &b, FD, FD);
    struct share_team team = state->team[0];
    struct share_bind bind[2] = {state->bind[0], state->bind[1]};
    unsigned well = 0;
    for (unsigned i = 0; i < rounds; i++) {
        if (draw() % 2)
            scribble(&state->team[0], sizeof state->team[0]);
        else
            scribble(&state->bind[draw() % 2], sizeof state->bind[0]);
        atomic_fetch_add(&state->changes, 1);
        well += vmm_multicast_bind_mem(a.sys, a.object, 0, a.memory, 0, a.unit, 0) != VMM_SUCCESS;
        well += vmm_multicast_add_device(b.sys, b.object, 0) != VMM_SUCCESS;
        vmm_multicast_unbind(b.sys, b.object, (int)(draw() % 2), 0, a.size);
        state->team[0] = team;
        state->bind[0] = bind[0];
        state->bind[1] = bind[1];
        atomic_store(&state->binds_seen, 2);
        atomic_fetch_add(&state->changes, 1);
    }
    struct share_block block[3] = {state->block[0], state->block[1], state->block[2]};
    flickering(&a, &b, state, rounds);
    memcpy(state->block, block, sizeof block);
    state->team[0] = team;
    memcpy(state->bind, bind, sizeof bind);
    atomic_fetch_add(&state->changes, 1);
    tap_ok(well > 0, "%u forged values are lived with (seed 20261121; it is in the source)", rounds);
    munmap(state, sizeof *state);
    finish(&a);
    finish(&b);
}

int main(void)
{
    static const char spec[] = "sim:h200x2,machine=team";
    const char *scale = getenv("CUVMM_TEST_SCALE");
    char channel[160];
    rig_begin();
    alarm(280);
    snprintf(channels, sizeof channels, "%s-imex", rig_root);
    snprintf(channel, sizeof channel, "%s/channel0", channels);
    if (mkdir(channels, 0700) || close(open(channel, O_CREAT | O_RDWR, 0600)))
        tap_bail("no channel can be made");
    one_machine(spec);
    bound_before(spec);
    unbind_is_seen(spec);
    waits(spec, false);
    waits(spec, true);
    waits_no_longer(spec);
    killed(spec);
    report(spec);
    two_nodes();
    home_ends();
    fabric_memory_only();
    fabric_memory_of_others();
    forged_words(spec);
    state_is_cut(spec);
    forged(spec, 20 * (unsigned)(scale && atoi(scale) > 0 ? atoi(scale) : 100));
    unlink(channel);
    rmdir(channels);
    rig_end();
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Teams of several processes. Each system here is one process of the machine, or another node of the fabric. The tests also forge
 * the state, kill processes, and make calls wait. */
#include "team_share.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "state_rig.h"
#include "share_inspect.h"
#include "child.h"
#include "passing.h"
#include "process.h"
#include "system.h"

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

/* Passes the object from one process to another. */
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

/* A pair of processes with everything bound and mapped. */
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
    tap_result(launch(a, VMM_KERNEL_MULTIMEM_REDUCE, a->mc, a->own + a->unit, 8), VMM_SUCCESS, "one process reduces for both");
    tap_result(launch(b, VMM_KERNEL_MULTIMEM_REDUCE, b->mc, b->own + b->unit, 8), VMM_SUCCESS, "so does the other");
    tap_ok(word(a, a->own) == 75 && word(b, b->own) == 75, "both have both sums");
    tap_result(launch(b, VMM_KERNEL_MULTIMEM_STORE, b->mc + 16, b->own + b->unit, 8), VMM_SUCCESS, "one process stores");
    tap_ok(word(a, a->own + 16) == 70 && word(b, b->own + 16) == 70, "both have the stored value");
    put(a, a->own + 16, 1);
    tap_result(launch(b, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, b->own + 24, b->mc + 16, 8), VMM_SUCCESS, "one process loads the sum");
    tap_u64(word(b, b->own + 24), 71, "the sum covers both replicas");
}

static void check_team_rules(struct side *a, struct side *b)
{
    handle_t other = 0;
    tap_ok(vmm_multicast_add_device(a->sys, a->object, b->device) == VMM_ERROR_INVALID_VALUE &&
               (rig_reported("VMM-MULTICAST-DEVICE-TWICE") || rig_reported("VMM-MULTICAST-TEAM-FULL")),
           "a device that the other process added is known");
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .requested_handle_types = (int)FD,
                                          .location = {DEVICE, b->device}};
    need(vmm_mem_create(a->sys, &other, a->unit, &prop, 0), "memory of the other device");
    tap_ok(vmm_multicast_bind_mem(a->sys, a->object, a->unit, other, 0, a->unit, 0) == VMM_ERROR_INVALID_VALUE &&
               rig_reported("VMM-BIND-OVERLAP"),
           "a bind of the other process is in the way");
    vmm_mem_release(a->sys, other);
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE];
    tap_ok(vmm_mem_export_to_shareable_handle(b->sys, bytes, b->object, FD, 0) == VMM_ERROR_INVALID_VALUE &&
               rig_reported("VMM-EXPORT-IMPORTED"),
           "an imported object cannot be exported again");
}

static void one_machine(const char *spec)
{
    struct side a = side(spec, 0), b = side(spec, 1);
    make_pair(&a, &b, FD, FD);
    tap_u64(rig_free(a.sys), a.free - a.size, "the memory counts once");
    tap_u64(rig_free(b.sys), b.free - b.size, "the memory counts once on the other device");
    reaches_all(&a, &b);
    check_team_rules(&a, &b);
    finish(&b);
    tap_result(launch(&a, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, a.own + 32, a.mc, 8), VMM_SUCCESS,
               "launching after the other process has closed");
    tap_u64(word(&a, a.own + 32), 150, "its binds still exist");
    struct side c = side(spec, 1);
    tap_u64(c.free, b.free - b.size, "the memory still counts");
    tap_result(vmm_multicast_unbind(a.sys, a.object, 1, 0, a.size), VMM_SUCCESS, "any process can unbind them");
    tap_u64(rig_free(c.sys), b.free, "unbinding frees the memory");
    tap_ok(launch(&a, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, a.own + 32, a.mc, 8) == VMM_ERROR_ILLEGAL_ADDRESS &&
               rig_reported("VMM-FAULT-UNBOUND"),
           "a kernel faults on the missing replica");
    finish(&a);
    tap_u64(rig_free(c.sys), b.free, "the other device has no memory left in use");
    finish(&c);
}

/* The importer sees what was bound before the export. */
static void bound_before(const char *spec)
{
    struct side a = side(spec, 0), b = side(spec, 1);
    need(create_object(&a, 2, FD), "object");
    need(vmm_multicast_add_device(a.sys, a.object, 1), "a device");
    need(vmm_multicast_add_device(a.sys, a.object, 0), "a device");
    bind_all(&a, FD);
    put(&a, a.own, 3);
    tap_result(pass(&a, &b, FD), VMM_SUCCESS, "an object with binds is passed to another process");
    tap_ok(vmm_multicast_add_device(b.sys, b.object, 1) == VMM_ERROR_INVALID_VALUE, "the importer sees its devices");
    bind_all(&b, FD);
    put(&b, b.own, 4);
    tap_result(launch(&b, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, b.own + 8, b.mc, 8), VMM_SUCCESS, "the importer sees its binds");
    tap_u64(word(&b, b.own + 8), 7, "the sum covers both replicas");
    /* The exporter releases everything: the object and its binds live on. */
    vmm_mem_unmap(a.sys, a.mc, a.size);
    vmm_mem_unmap(a.sys, a.own, a.size);
    vmm_mem_release(a.sys, a.memory);
    vmm_mem_release(a.sys, a.object);
    tap_u64(rig_free(a.sys), a.free - a.size, "bound memory stays while the object lives");
    tap_result(launch(&b, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, b.own + 8, b.mc, 8), VMM_SUCCESS, "the object still works");
    vmm_mem_unmap(b.sys, b.mc, b.size);
    vmm_mem_release(b.sys, b.object);
    tap_u64(rig_free(a.sys), a.free, "the memory goes with the object's last handle and mapping");
    vmm_mem_unmap(b.sys, b.own, b.size);
    vmm_mem_release(b.sys, b.memory);
    tap_ok(!((struct sim_process *)b.sys->top)->machine->share->blocks, "the importer keeps no block of it, nor views of any");
    finish(&a);
    finish(&b);
}

/* One process binds memory for two devices; another one sees that, and unbinds it. */
static void unbind_is_seen(const char *spec)
{
    struct side a = side(spec, 0), b = side(spec, 1);
    make_pair(&a, &b, FD, FD);
    tap_result(vmm_multicast_unbind(b.sys, b.object, 0, 0, a.size), VMM_SUCCESS, "one process unbinds what the other bound");
    tap_ok(vmm_multicast_unbind(a.sys, a.object, 0, 0, a.size) == VMM_ERROR_INVALID_VALUE && rig_reported("VMM-UNBIND-NOTHING"),
           "the other process sees that");
    tap_result(vmm_multicast_bind_addr(a.sys, a.object, 0, a.own, a.unit, 0), VMM_SUCCESS, "it binds a part again");
    put(&a, a.own, 10);
    put(&b, b.own, 1);
    tap_result(launch(&b, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, b.own + 8, b.mc, 8), VMM_SUCCESS, "where both devices have memory");
    tap_u64(word(&b, b.own + 8), 11, "their sum");
    finish(&a);
    finish(&b);
}

/* ---- nodes ---- */

static void two_nodes(void)
{
    char one[200], two[200];
    snprintf(one, sizeof one, "sim:max,machine=one,imex=%.90s", channels);
    snprintf(two, sizeof two, "sim:max,imex=%.90s", channels); /* without a name */
    struct side a = side(one, 0), b = side(two, 0);
    make_pair(&a, &b, FABRIC, FABRIC);
    tap_ok(rig_free(a.sys) == a.free - a.size && rig_free(b.sys) == b.free - b.size, "each node has its own memory in use");
    reaches_all(&a, &b);
    tap_ok(vmm_multicast_unbind(a.sys, a.object, 1, 0, a.size) == VMM_ERROR_INVALID_DEVICE && rig_reported("VMM-UNBIND-DEVICE"),
           "a device of another node cannot be named");
    vmm_mem_unmap(b.sys, b.own, b.size);
    vmm_mem_release(b.sys, b.memory);
    tap_u64(rig_free(b.sys), b.free - b.size, "bound memory stays");
    finish(&b);
    tap_result(launch(&a, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, a.own + 32, a.mc, 8), VMM_SUCCESS, "after its node has closed");
    tap_u64(word(&a, a.own + 32), 150, "the memory still has its bytes");
    finish(&a);
    tap_u64(rig_machines(), 0, "both machines are removed");
}

/* The object's own node closes first: memory bound on the other node is freed there. */
static void home_ends(void)
{
    char one[200], two[200];
    snprintf(one, sizeof one, "sim:max,machine=one,imex=%.90s", channels);
    snprintf(two, sizeof two, "sim:max,machine=two,imex=%.90s", channels);
    struct side a = side(one, 0), b = side(two, 1);
    make_pair(&a, &b, FABRIC | FD, FABRIC);
    finish(&a);
    tap_result(launch(&b, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, b.own + 32, b.mc, 8), VMM_SUCCESS, "the object still works");
    vmm_mem_unmap(b.sys, b.own, b.size);
    vmm_mem_release(b.sys, b.memory);
    tap_u64(rig_free(b.sys), b.free - b.size, "its binds still hold their memory");
    vmm_mem_unmap(b.sys, b.mc, b.size);
    vmm_mem_release(b.sys, b.object);
    tap_u64(rig_free(b.sys), b.free, "the memory is freed with the object");
    finish(&b);
    tap_u64(rig_machines(), 0, "both machines are removed");
}

/* A process with a fabric object, complete with its team. */
static struct side fabric_side(const char *spec)
{
    struct side s = side(spec, 0);
    need(create_object(&s, 2, FABRIC), "object");
    need(vmm_multicast_add_device(s.sys, s.object, 0), "a device");
    need(vmm_multicast_add_device(s.sys, s.object, 1), "a device");
    return s;
}

/* Binds memory that the other process created for the fabric and exported. */
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
           "so is memory on a device of another node");
    finish(&a);
    finish(&b);
}

/* Memory that arrived as 64 bytes from another process of the machine was created for the fabric. */
static void fabric_memory_of_others(void)
{
    char spec[200];
    snprintf(spec, sizeof spec, "sim:max,machine=fabric,imex=%.90s", channels);
    struct side a = fabric_side(spec), b = side(spec, 0);
    tap_result(bind_memory_of(&b, &a), VMM_SUCCESS, "fabric memory of another process is bound");
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

/* In either order: the wait ends when the other process has added its device. */
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
           "the wait ends in time: %s", vmm_last_detail()->note);
    vmm_mem_release(b.sys, b.object);
    tap_ok(vmm_multicast_bind_mem(a.sys, a.object, 0, a.memory, 0, a.size, 0) == VMM_ERROR_ILLEGAL_STATE &&
               !strstr(vmm_last_detail()->note, "the call waited "),
           "without another process that has the object, there is no wait: %s", vmm_last_detail()->note);
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

/* Its bind belongs to the object, and stays; its handles, mappings and private memory go. */
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
    tap_ok(ready, "another process joins the team, and is killed");
    tap_result(launch(&a, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, a.own + 8, a.mc, 8), VMM_SUCCESS, "launching on what it bound");
    tap_u64(word(&a, a.own + 8), 1001, "its bind still exists");
    struct side c = side(spec, 1);
    tap_u64(c.free, a.free - a.size, "the memory still counts");
    finish(&a);
    tap_u64(rig_free(c.sys), a.free, "the memory is freed with the object");
    finish(&c);
}

/* ---- share inspection ---- */

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
           "the object is listed with its team and its exporter");
    unsigned binds = 0;
    for (unsigned i = 0; object && i < who->hold_count; i++)
        if (who->hold[i].object == object->number) {
            binds++;
            if (who->block[who->hold[i].block].location.id == 1)
                share_inspect_hold_text(&who->hold[i], text);
        }
    tap_u64(binds, 2, "each bind is listed as a holder");
    snprintf(own, sizeof own, "process %llu", (unsigned long long)os_pid());
    tap_ok(strstr(text, "to which it was bound by") && strstr(text, own) && strstr(text, "cuMulticastBindMem"),
           "with its process and call: %s", text);
    share_inspect_free(who);
    finish(&a);
    finish(&b);
}

/* ---- forged state ---- */

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

/* Makes every call on an object; returns how many are refused. */
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

/* Forges one word of the team at a time. */
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
           "%u forged words, one at a time, and all works once they are restored", asked);
    munmap(state, sizeof *state);
    finish(&a);
    finish(&b);
    finish(&c);
}

/* No call accesses memory beyond a truncated state; each call reports that the state is gone. */
static void state_is_cut(const char *spec)
{
    struct side a = side(spec, 0), b = side(spec, 1);
    make_pair(&a, &b, FD, FD);
    if (truncate(rig_path("team", "state"), 100))
        tap_bail("the state cannot be truncated");
    tap_u64(ask_all(&a, 0), 6, "without its state an object is unusable");
    tap_ok(vmm_multicast_add_device(b.sys, b.object, 0) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"),
           "the message says why: %s", vmm_last_detail()->note);
    launch(&a, VMM_KERNEL_MULTIMEM_LOAD_REDUCE, a.own + 32, a.mc, 8); /* uses the binds seen last */
    finish(&a);
    finish(&b);
    struct side c = side(spec, 0);
    tap_u64(c.free, a.free, "the next machine of that name is a new one");
    finish(&c);
}

/* Words that change back and forth until the process is killed, so that a value differs between its check and its use. */
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
    tap_ok(true, "%u rounds of calls finish while the words flicker", rounds);
}

/* Random values in the team part of the state: calls are refused or succeed, and nothing else happens. */
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
    tap_ok(well > 0, "%u forged values do no harm (seed 20261121; it is in the source)", rounds);
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
        tap_bail("the channel cannot be created");
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

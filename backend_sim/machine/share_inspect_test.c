/* SPDX-License-Identifier: Apache-2.0 */
/* Inspection of the holders of a machine's memory: processes that fork, dup and are killed, host memory, another node of a
 * fabric, forged states, and a process that was stopped while it held the state's lock. */
#include "share_inspect.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "call.h"
#include "child.h"
#include "passing.h"
#include "process.h"
#include "share_mark.h"
#include "share_team.h"
#include "state_rig.h"
#include "system.h"

typedef vmm_mem_generic_allocation_handle handle_t;

#define IMPORT "cuMemImportFromShareableHandle"

/* A snapshot by a process outside the machine; NULL if the machine does not exist or is unavailable. */
static struct share_inspect *look(const char *entry)
{
    char why[SHARE_WHY];
    struct share *share = share_open_there(entry, why);
    struct share_inspect *who = share ? share_inspect(share) : NULL;
    if (share)
        share_close(share);
    return who;
}

/* The holder of the first block with that process: with handles (file -1), or with its nth descriptor. */
static const struct share_inspect_hold *hold_of(const struct share_inspect *who, uint64_t pid, bool file, unsigned nth)
{
    for (unsigned i = 0; i < who->hold_count; i++)
        if (who->hold[i].block == 0 && who->hold[i].pid == pid && (who->hold[i].file >= 0) == file && nth-- == 0)
            return &who->hold[i];
    return NULL;
}

static bool made_by(uint64_t call, const char *name)
{
    return share_call_name(call) && !strcmp(share_call_name(call), name);
}

/* The use of device 0, likewise. */
static struct share_inspect_use use_of_it(const char *entry)
{
    struct share_inspect_use use = {.used = 1, .processes = ~0U};
    char why[SHARE_WHY];
    struct share *share = share_open_there(entry, why);
    tap_ok(share && share_inspect_use(share, 0, &use), "the use of device 0 is reported");
    if (share)
        share_close(share);
    return use;
}

/* ---- one process ---- */

static void alone(void)
{
    char why[SHARE_WHY];
    tap_ok(!share_open_there("m-one", why) && !why[0], "inspection finds no machine, and creates none");
    tap_u64(rig_machines(), 0, "inspection creates no folder");
    vmm_system *a = rig_open("one");
    handle_t memory = 0, other = 0, copy = 0;
    rig_create(a, RIG_G, &memory);
    rig_create(a, 3 * RIG_G, &other);
    int fd = rig_export(a, memory);
    struct share_inspect *who = look("m-one");
    tap_ok(who && who->process_count == 1 && who->block_count == 1 && who->hold_count == 2,
           "a snapshot of one process and one block");
    char program[OS_PROGRAM];
    os_program(os_pid(), program);
    tap_ok(who->process[0].pid == os_pid() && program[0] && !strcmp(who->process[0].program, program),
           "the snapshot has the process's number and name");
    tap_u64(who->process[0].device[0], 3 * RIG_G, "the snapshot has the process's private use");
    tap_u64(who->device_used[0], 4 * RIG_G, "the use of the device counts exported memory once");
    const struct share_inspect_block *block = &who->block[0];
    tap_ok(block->size == RIG_G && block->pid == os_pid() && !block->orphan &&
               made_by(block->call, "cuMemExportToShareableHandle"),
           "the block has its size, its exporter and the exporting call");
    const struct share_inspect_hold *hold = hold_of(who, os_pid(), false, 0);
    tap_ok(hold && hold->handles == 1 && made_by(hold->call, "cuMemCreate"), "the exporter holds the block since its creation");
    hold = hold_of(who, os_pid(), true, 0);
    tap_ok(hold && hold->file == fd && block->out && block->found, "the exporter also holds a descriptor");
    share_inspect_free(who);
    struct share_inspect_use use = use_of_it("m-one");
    tap_ok(use.used == 4 * RIG_G && use.processes == 1 && use.process[0].pid == os_pid() && use.process[0].bytes == 4 * RIG_G,
           "all of it by the process that made it, exported or not");
    rig_import(a, fd, &copy);
    close(fd);
    who = look("m-one");
    hold = hold_of(who, os_pid(), false, 0);
    tap_ok(who->hold_count == 1 && hold->handles == 2 && made_by(hold->call, "cuMemCreate") && !who->block[0].out,
           "importing one's own memory makes another handle");
    share_inspect_free(who);
    atomic_store(&((struct sim_process *)a->top)->machine->share->folder.state->mark[0][0].call, 0);
    vmm_mem_release(a, memory);
    who = look("m-one");
    tap_ok(who->hold_count == 1 && who->hold[0].handles == 1 && !who->hold[0].call,
           "after one of two handles is released, no call is reported");
    share_inspect_free(who);
    vmm_mem_release(a, copy);
    who = look("m-one");
    tap_ok(who && !who->block_count && !who->hold_count, "a block without handles and descriptors ends");
    share_inspect_free(who);
    rig_close(a);
}

/* ---- every field of a snapshot ---- */

#define SMALL (UINT64_C(64) << 10)
#define UNIT (UINT64_C(128) << 10)

/* A machine with two processes, where nearly all numbers differ; one process has exported an object and memory that
 * is bound to it. */
struct whole {
    vmm_system *a, *b;
    int fd[2]; /* descriptors of the object and of the memory */
    struct share *share;
    struct share_state *state;
    unsigned bind;
    char program[OS_PROGRAM];
};

static bool furnish(struct whole *w)
{
    handle_t handle = 0, memory = 0, object = 0;
    const vmm_multicast_object_prop team = {.num_devices = 3, .size = 4 * UNIT, .handle_types = RIG_FD};
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 1}};
    bool ok = !vmm_open("sim:odd,machine=one", &w->b) && !vmm_init(w->b, 0) && !vmm_open("sim:odd,machine=one", &w->a) &&
              !vmm_init(w->a, 0) && !vmm_mem_create(w->a, &handle, 3 * SMALL, &prop, 0) &&
              !vmm_mem_create(w->b, &handle, 7 * SMALL, &prop, 0);
    prop.requested_handle_types = RIG_FD;
    ok = ok && !vmm_mem_create(w->a, &memory, 4 * UNIT, &prop, 0) && !vmm_multicast_create(w->a, &object, &team) &&
         !vmm_multicast_add_device(w->a, object, 0) && !vmm_multicast_add_device(w->a, object, 1);
    prop = (vmm_mem_allocation_prop){.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0}};
    ok = ok && !vmm_mem_create(w->a, &handle, 5 * 4096, &prop, 0);
    w->fd[0] = rig_export(w->a, object);
    w->fd[1] = rig_export(w->a, memory);
    return ok && w->fd[0] >= 0 && w->fd[1] >= 0;
}

/* Writes the bind that the process would have written if the team were complete. */
static void bind_it(struct whole *w)
{
    const struct share_bind bind = {.object = 1, .block = 2, .made = 77, .made_by = VMM_CALL_multicast_bind_mem};
    uint64_t number = 0;
    checks_spare_shared();
    w->bind = share_bind_add(w->state, &bind, &number);
    w->state->bind[w->bind].machine = w->state->id;
    share_mark_process(&w->state->bind[w->bind].who);
}

static void whole_machine(const struct whole *w, const struct share_inspect *who)
{
    tap_ok(!strcmp(who->profile, "odd") && who->devices == 3 && who->nodes == 1 && who->device_memory == 48 << 20 &&
               who->node_memory == 32 << 20 && who->reported,
           "the size of the machine");
    tap_ok(who->device_used[0] == 0 && who->device_used[1] == 10 * SMALL + 4 * UNIT && who->device_used[2] == 0 &&
               who->node_used[0] == 5 * 4096,
           "the use of the whole machine");
    tap_u64(who->process_count, 2, "two processes take part");
    for (unsigned i = 0; i < 2; i++) {
        const struct share_inspect_process *p = &who->process[i];
        tap_ok(p->slot == i && p->pid == os_pid() && !strcmp(p->program, w->program) && !p->stopped && p->device[0] == 0 &&
                   p->device[1] == (i == 0 ? 7 : 3) * SMALL && p->device[2] == 0 && p->node[0] == (i == 0 ? 0 : 5 * 4096),
               "the private use of process %u", i);
    }
}

static void whole_blocks(const struct whole *w, const struct share_inspect *who)
{
    tap_u64(who->block_count, 2, "an object and memory are exported");
    for (unsigned i = 0; i < 2; i++) {
        const struct share_inspect_block *k = &who->block[i];
        struct stat is;
        tap_ok(k->number == i + 1 && k->size == 4 * UNIT && k->home == (i == 0 ? 0 : atomic_load(&w->state->slot[1].serial)) &&
                   k->team == (i == 0 ? 3 : 0) && k->members == (i == 0 ? 2 : 0) && !k->fabric && k->out && k->found &&
                   !k->orphan && k->pid == os_pid() && !strcmp(k->program, w->program) &&
                   made_by(k->call, "cuMemExportToShareableHandle") && !fstat(w->fd[i], &is) && k->file_device == is.st_dev &&
                   k->file_number == is.st_ino,
               "every field of block %u", i);
    }
    tap_ok(who->block[1].location.type == VMM_MEM_LOCATION_TYPE_DEVICE && who->block[1].location.id == 1,
           "the location of the block");
}

static void whole_holds(const struct whole *w, const struct share_inspect *who)
{
    static const struct {
        unsigned block, slot;
        bool file, bound;
        const char *call;
    } holds[] = {{0, 1, false, false, "cuMulticastCreate"},
                 {1, 1, false, false, "cuMemCreate"},
                 {1, SHARE_PROCESSES, false, true, "cuMulticastBindMem"},
                 {0, SHARE_PROCESSES, true, false, NULL},
                 {1, SHARE_PROCESSES, true, false, NULL}};
    char name[64], text[SHARE_HOLD_TEXT], want[SHARE_HOLD_TEXT];
    snprintf(name, sizeof name, "process %llu (%s)", (unsigned long long)os_pid(), w->program);
    tap_u64(who->hold_count, 5, "each block has a handle and a descriptor as holders; the memory also has the object");
    for (unsigned i = 0; i < 5 && who->hold_count == 5; i++) {
        const struct share_inspect_hold *h = &who->hold[i];
        tap_ok(h->block == holds[i].block && h->slot == holds[i].slot && h->pid == os_pid() && !strcmp(h->program, w->program) &&
                   h->handles == (holds[i].slot == 1) && h->file == (holds[i].file ? w->fd[h->block] : -1) &&
                   h->object == holds[i].bound && (holds[i].call ? made_by(h->call, holds[i].call) : !h->call),
               "every field of hold %u", i);
        if (holds[i].file)
            snprintf(want, sizeof want, "%s: descriptor %d", name, h->file);
        else
            snprintf(want, sizeof want, "%s%s: call %llu (%s)",
                     holds[i].bound ? "exported object 1, to which it was bound by " : "", name,
                     (unsigned long long)share_call_number(h->call), holds[i].call);
        tap_text(share_inspect_hold_text(h, text), want, "the text of the hold");
    }
}

/* A file is identified by both its device and its number. */
static void other_files(const struct whole *w)
{
    uint64_t *const words[] = {&w->state->block[1].file_device, &w->state->block[1].file_number};
    for (unsigned i = 0; i < 2; i++) {
        *words[i] ^= UINT64_C(1) << 40; /* number + 1 may be the other token's file */
        struct share_inspect *who = share_inspect(w->share);
        tap_ok(who && who->hold_count == 4 && who->block[0].found && who->block[1].out && !who->block[1].found,
               "a descriptor of another file does not count for the block");
        *words[i] ^= UINT64_C(1) << 40;
        share_inspect_free(who);
    }
}

static void everything(void)
{
    char why[SHARE_WHY];
    struct whole w = {.bind = 0};
    if (!furnish(&w) || !(w.share = share_open_there("m-one", why)))
        tap_bail("no machine: %s", vmm_last_detail()->note);
    w.state = w.share->folder.state;
    os_program(os_pid(), w.program);
    bind_it(&w);
    struct share_inspect *who = share_inspect(w.share);
    if (!who)
        tap_bail("inspection failed");
    whole_machine(&w, who);
    whole_blocks(&w, who);
    whole_holds(&w, who);
    share_inspect_free(who);
    other_files(&w);
    share_bind_end(w.state, w.bind);
    who = share_inspect(w.share);
    tap_ok(who && who->hold_count == 4, "a bind that ended holds nothing, though its entry still has the numbers");
    share_inspect_free(who);
    share_close(w.share);
    close(w.fd[0]);
    close(w.fd[1]);
    rig_close(w.a);
    rig_close(w.b);
}

/* ---- other processes ---- */

/* What a child does with a descriptor before it waits. */
typedef void (*work_fn)(int fd);

static pid_t child_of(int *socket, work_fn work, int fd)
{
    pid_t child = child_begin(socket, 60);
    if (child == 0) {
        work(fd);
        passing_go_on(*socket);
        passing_wait(*socket);
        _exit(0);
    }
    passing_wait(*socket);
    return child;
}

static void end_child(pid_t child, int socket)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(socket);
}

static void import_it(int fd)
{
    vmm_system *sys = rig_open("one");
    handle_t copy = 0;
    if (rig_import(sys, fd, &copy) != VMM_SUCCESS)
        _exit(1);
    close(fd);
}

/* Opens it a second time, by dup. */
static void keep_it(int fd)
{
    if (dup(fd) < 0)
        _exit(1);
}

/* A child exports memory and is killed; its descriptor is passed to this process. */
static int export_elsewhere(vmm_mem_location location, pid_t *child)
{
    int socket;
    *child = child_begin(&socket, 60);
    if (*child == 0) {
        vmm_system *sys = rig_open("one");
        handle_t memory = 0;
        vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .requested_handle_types = RIG_FD,
                                        .location = location};
        vmm_mem_create(sys, &memory, RIG_G, &prop, 0);
        passing_send(socket, rig_export(sys, memory));
        raise(SIGKILL);
    }
    int fd = passing_receive(socket);
    close(socket);
    waitpid(*child, NULL, 0);
    return fd;
}

static void exporter_gone(vmm_mem_location location)
{
    pid_t exporter;
    int fd = export_elsewhere(location, &exporter), importing, keeping;
    pid_t importer = child_of(&importing, import_it, fd), keeper = child_of(&keeping, keep_it, fd);
    close(fd);
    struct share_inspect *who = look("m-one");
    tap_ok(who && who->process_count == 1 && who->block_count == 1, "an importer and the block are left");
    const struct share_inspect_block *block = &who->block[0];
    tap_ok(block->pid == (uint64_t)exporter && block->orphan && made_by(block->call, "cuMemExportToShareableHandle"),
           "the exporter is named, and known to be gone");
    tap_ok(block->location.type == location.type && block->location.id == location.id, "the block has its location");
    bool host = location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA;
    tap_ok(who->nodes == 1 && who->node_used[0] == (host ? RIG_G : 0) && who->device_used[0] == (host ? 0 : RIG_G),
           "the use of that location is counted");
    const struct share_inspect_hold *hold = hold_of(who, (uint64_t)importer, false, 0);
    tap_ok(hold && made_by(hold->call, IMPORT) && hold->handles == 1, "the importer holds the block since its import");
    tap_ok(!hold_of(who, (uint64_t)importer, true, 0), "the importer has closed its descriptor");
    struct share_inspect_use use = use_of_it("m-one");
    tap_ok(use.used == (host ? 0 : RIG_G) && !use.processes, "memory whose exporter has gone is in use, without an owner");
    const struct share_inspect_hold *first = hold_of(who, (uint64_t)keeper, true, 0),
        *second = hold_of(who, (uint64_t)keeper, true, 1);
    tap_ok(first && second && first->file != second->file && !hold_of(who, (uint64_t)keeper, true, 2),
           "a process has the descriptor open twice, by dup");
    share_inspect_free(who);
    end_child(importer, importing);
    who = look("m-one");
    tap_ok(who && who->block_count == 1 && who->hold_count == 2 && !who->process_count,
           "after the importer is killed, only descriptors hold the block");
    share_inspect_free(who);
    end_child(keeper, keeping);
    who = look("m-one");
    tap_ok(who && !who->process_count && !who->block_count && !who->hold_count, "no holder and no block is left");
    share_inspect_free(who);
    tap_u64(rig_machines(), 0, "closing the machine removed its folder");
}

/* A forked child of the exporter has its descriptor, but no slot in the machine. */
static void forked(void)
{
    int socket;
    vmm_system *a = rig_open("one");
    handle_t memory = 0;
    rig_create(a, RIG_G, &memory);
    int fd = rig_export(a, memory);
    pid_t child = child_of(&socket, keep_it, fd);
    close(fd);
    vmm_mem_release(a, memory);
    struct share_inspect *who = look("m-one");
    tap_ok(who && who->process_count == 1 && who->hold_count == 2 && hold_of(who, (uint64_t)child, true, 1),
           "a forked child is listed with its descriptor only");
    share_inspect_free(who);
    end_child(child, socket);
    rig_close(a);
}

/* A descriptor in a message belongs to no process. */
static void in_a_message(void)
{
    int pair[2];
    vmm_system *a = rig_open("one");
    handle_t memory = 0;
    rig_create(a, RIG_G, &memory);
    int fd = rig_export(a, memory);
    vmm_mem_release(a, memory);
    if (!passing_pair(pair) || !passing_send(pair[0], fd))
        tap_bail("no message");
    close(fd);
    struct share_inspect *who = look("m-one");
    tap_ok(who && who->block_count == 1 && who->block[0].out && !who->block[0].found && !who->hold_count,
           "a descriptor in a message holds the block, without a process");
    share_inspect_free(who);
    close(pair[0]);
    close(pair[1]);
    rig_close(a);
}

/* ---- a fabric ---- */

static vmm_system *node(const char *name)
{
    vmm_system *sys = NULL;
    char spec[64];
    snprintf(spec, sizeof spec, "sim:max,machine=%s", name);
    if (vmm_open(spec, &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS)
        tap_bail("%s does not start: %s", spec, vmm_last_detail()->note);
    return sys;
}

/* An import by another node, in another process, which has a slot in the exporter's state. */
static void other_node(void)
{
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE];
    int socket;
    vmm_system *a = node("one");
    handle_t memory = 0, copy = 0;
    uint64_t unit = 0;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .requested_handle_types = VMM_MEM_HANDLE_TYPE_FABRIC,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_get_allocation_granularity(a, &unit, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    vmm_mem_create(a, &memory, unit, &prop, 0);
    tap_result(vmm_mem_export_to_shareable_handle(a, bytes, memory, VMM_MEM_HANDLE_TYPE_FABRIC, 0), VMM_SUCCESS,
               "memory is exported to the fabric");
    pid_t child = child_begin(&socket, 60);
    if (child == 0) {
        vmm_system *b = node("two");
        if (vmm_mem_import_from_shareable_handle(b, &copy, bytes, VMM_MEM_HANDLE_TYPE_FABRIC) != VMM_SUCCESS)
            _exit(1);
        passing_go_on(socket);
        passing_wait(socket);
        _exit(0);
    }
    passing_wait(socket);
    struct share_inspect *who = look("m-one");
    const struct share_inspect_hold *hold = who ? hold_of(who, (uint64_t)child, false, 0) : NULL;
    tap_ok(who && who->process_count == 2 && who->block_count == 1 && who->block[0].fabric,
           "the process of the other node takes part");
    tap_ok(hold && made_by(hold->call, IMPORT), "it holds the memory since its import");
    share_inspect_free(who);
    end_child(child, socket);
    who = look("m-one");
    tap_ok(who && who->process_count == 1 && who->hold_count == 1, "killing it ends the hold");
    share_inspect_free(who);
    rig_close(a);
}

/* ---- forged and stopped ---- */

static void forged(void)
{
    vmm_system *a = rig_open("one");
    handle_t memory = 0;
    rig_create(a, RIG_G, &memory);
    int fd = rig_export(a, memory);
    struct share_state *state = rig_state("one");
    struct share_block kept = state->block[0];
    memset(state->profile_name, 7, sizeof state->profile_name);
    memcpy(state->profile_name, "\x1f\x7f ~a", 5);
    state->devices = state->nodes = state->device_memory = UINT64_MAX;
    memset(&state->slot[0].who, 0xff, sizeof state->slot[0].who);
    atomic_store(&state->block[0].maker.program[0], 0x7f41);
    atomic_store(&state->block[0].maker.program[1], 0);
    atomic_store(&state->block[0].exported, UINT64_MAX);
    state->block[0].location_type = -77;
    state->block[0].location_id = INT32_MIN;
    state->block[0].size = state->block[0].file_number = UINT64_MAX;
    atomic_store(&state->mark[0][0].call, UINT64_MAX);
    atomic_store(&state->mark[0][0].handles, UINT64_MAX);
    for (unsigned i = 0; i < SHARE_PROCESSES; i++)
        share_hold(&state->block[0], i, true);
    atomic_store(&state->slots_seen, UINT64_MAX);
    atomic_store(&state->blocks_seen, UINT64_MAX);
    struct share_inspect *who = look("m-one");
    tap_ok(who && who->devices == VMM_MAX_DEVICES && who->nodes == SIM_MAX_NODES, "counts beyond the tables are clamped");
    tap_ok(who && !strchr(who->profile, 7) && !strchr(who->profile, 0x7f) && !strchr(who->process[0].program, 0xff) &&
               !strcmp(who->block[0].program, "A?") && !strncmp(who->profile, "?? ~a?", 6),
           "forged texts are printable and terminated: %s", who ? who->profile : "");
    tap_ok(who && who->process_count == 1 && who->block_count == 1 && who->hold_count == 1,
           "forged holders without a process are ignored, and so is a token of another block");
    char text[SHARE_HOLD_TEXT];
    tap_ok(who && strstr(share_inspect_hold_text(&who->hold[0], text), "an unknown call"),
           "a forged call is reported as unknown: %s",
           text);
    tap_ok(who && who->block[0].out && !who->block[0].found, "a descriptor of the block is open in an unknown process");
    share_inspect_free(who);
    state->block[0] = kept;
    munmap(state, sizeof *state);
    close(fd);
    rig_close(a);
}

static void damaged(void)
{
    char why[SHARE_WHY];
    vmm_system *a = rig_open("one");
    if (truncate(rig_path("one", "state"), 5))
        tap_bail("the state cannot be truncated");
    tap_ok(!share_open_there("m-one", why) && strstr(why, "not a machine of this version"), "a truncated state: %s", why);
    rig_close(a);
    vmm_system *b = rig_open("one");
    rig_close(b);
}

/* Stopped with the lock: inspection does not wait for long, and can identify the stopped process. */
static void lock_it(int fd)
{
    (void)fd;
    char why[SHARE_WHY];
    vmm_system *sys = rig_open("one");
    struct share *share = share_open_there("m-one", why);
    if (!sys || !share || !share_lock(share))
        _exit(1);
}

static void stopped(void)
{
    int socket, status = 0;
    char why[SHARE_WHY], want[64];
    pid_t child = child_of(&socket, lock_it, -1);
    kill(child, SIGSTOP);
    waitpid(child, &status, WUNTRACED);
    struct share *share = share_open_there("m-one", why);
    struct share_inspect_process process;
    struct share_inspect_use use = {.used = 7};
    unsigned slot = 0;
    uint64_t began = os_milliseconds();
    tap_ok(!share_inspect(share) && os_milliseconds() - began < 2000,
           "inspection fails soon while a stopped process holds the lock");
    snprintf(want, sizeof want, "process %ld (", (long)child);
    tap_ok(!strncmp(share_why(share), want, strlen(want)) && strstr(share_why(share), "is stopped"),
           "the reason names the stopped process: %s",
           share_why(share));
    tap_ok(!share_inspect_use(share, 0, &use) && use.used == 7, "nor is the use of a device reported");
    tap_ok(share_inspect_next(share, &slot, &process) && process.pid == (uint64_t)child && process.stopped &&
               !share_inspect_next(share, &slot, &process),
           "the list of processes is still available");
    kill(child, SIGCONT);
    end_child(child, socket);
    struct share_inspect *who = share_inspect(share);
    tap_ok(who && !who->process_count, "after the process is killed the lock is free");
    share_inspect_free(who);
    share_close(share);
}

static void ignore(void *user, const struct os_opening *opening)
{
    (void)user;
    (void)opening;
}

int main(void)
{
    rig_begin();
    if (!os_openings_each("the file has another name", ignore, NULL)) {
        tap_skip("this system does not report open files", "holders");
        rig_end();
        return tap_done();
    }
    alone();
    everything();
    exporter_gone((vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, 0});
    exporter_gone((vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0});
    forked();
    in_a_message();
    other_node();
    forged();
    damaged();
    stopped();
    rig_end();
    return tap_done();
}

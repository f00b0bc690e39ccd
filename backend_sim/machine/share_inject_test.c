/* SPDX-License-Identifier: Apache-2.0 */
/* Shared machines when an allocation or system call fails, and when another process acts between two of them: failures are
 * reported, nothing is half done, and the final state is complete. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include <sys/wait.h>

#include "child.h"
#include "passing.h"
#include "share_folder.h"
#include "share_inspect.h"
#include "state_rig.h"

typedef vmm_mem_generic_allocation_handle handle_t;

static struct sim_profile profile;
static struct share_state *seen; /* the state that a simulated second process writes to */
static char why[SHARE_WHY];

static bool begins(const char *words)
{
    return strncmp(why, words, strlen(words)) == 0;
}

/* ---- folders ---- */

static const char *root_path(const char *entry)
{
    static char text[2][160];
    static int turn;
    turn ^= 1;
    snprintf(text[turn], sizeof text[turn], "%s/%s", rig_root, entry);
    return text[turn];
}

/* A machine that no process has open. */
static void left_there(const char *name)
{
    struct share_folder folder;
    if (!share_folder_open(&folder, name, &profile, why))
        tap_bail("%s cannot be opened: %s", name, why);
    share_folder_close(&folder, false);
}

static void move_it(void)
{
    if (rename(root_path("m-x"), root_path("t-x")))
        tap_bail("the folder cannot be renamed");
}

/* [m-x] is replaced between its opening and the check: the opened folder is no longer in its place. */
static void replace_it(void)
{
    move_it();
    left_there("x"); /* sweeps the other one */
}

static void on_the_move(void)
{
    struct share_folder folder;
    left_there("x");
    inject_meanwhile("flock", 1, move_it);
    bool open = share_folder_open_there(&folder, "m-x", why);
    tap_ok(inject_disarm() && !open && !why[0], "a machine that is removed while it is opened counts as missing");
    rig_remove(root_path("t-x"));
    left_there("x");
    inject_meanwhile("flock", 1, replace_it);
    open = share_folder_open_there(&folder, "m-x", why);
    tap_ok(inject_disarm() && open && os_file_is_at(folder.file, OS_NOWHERE, root_path("m-x/state")),
           "a machine that is replaced while it is opened: the new one is opened");
    share_folder_close(&folder, true);
}

/* Unreported once: tried again. Unreported each time: an error. */
static void unreported(void)
{
    struct share_folder folder;
    left_there("x");
    inject_arm_at("flock", 1);
    bool open = share_folder_open_there(&folder, "m-x", why);
    tap_ok(inject_disarm() && open, "taking the hold is retried after one failure");
    share_folder_close(&folder, false);
    inject_arm_at("flock", 1);
    inject_error = EWOULDBLOCK; /* another process checks whether it is a leftover */
    open = share_folder_open_there(&folder, "m-x", why);
    tap_ok(inject_disarm() && open, "the machine opens although another process briefly holds it");
    share_folder_close(&folder, false);
    inject_arm_at("flock", 1);
    inject_each = true;
    open = share_folder_open_there(&folder, "m-x", why);
    tap_ok(inject_disarm() && !open && strstr(why, "cannot be opened now"), "the retries end: %s", why);
    open = share_folder_open_there(&folder, "m-x", why);
    share_folder_close(&folder, true);
    tap_ok(open && rig_machines() == 0, "the machine still exists");
}

static void late(void)
{
    inject_arm_at("flock", 1);
    inject_each = true;
    inject_late = 60;
}

static void too_late(void)
{
    struct share_folder folder;
    struct share_folder holder;
    share_folder_open(&holder, "x", &profile, why);
    inject_meanwhile("open", 2, late); /* the first open is the search for leftovers */
    bool open = share_folder_open(&folder, "x", &profile, why);
    tap_ok(inject_disarm() && !open && begins("the machine cannot be opened now; try again, or choose another name: /"),
           "after a minute opening fails: %s", why);
    share_folder_close(&holder, true);
}

static void no_view(void)
{
    struct share_folder holder, folder;
    share_folder_open(&holder, "x", &profile, why);
    inject_arm_at("mmap", 1);
    bool open = share_folder_open(&folder, "x", &profile, why);
    tap_ok(inject_disarm() && !open && begins("the machine's state cannot be mapped (ulimit -v?): /"),
           "a machine whose state cannot be mapped: %s", why);
    share_folder_close(&holder, true);
}

static enum { THERE, NEW, BY_NUMBER, BY_NO_NUMBER, KINDS } kind; /* the last opens none, whatever fails */
static struct share_folder theirs, opened;
static uint64_t their_id;
static bool is_open;

static void say_nothing(void)
{
    why[0] = '\0';
}

static bool open_kind(void)
{
    is_open = kind < BY_NUMBER ? share_folder_open(&opened, kind == NEW ? "y" : "x", &profile, why)
                               : share_folder_open_other(&opened, their_id + (kind == BY_NO_NUMBER), &profile, why);
    return is_open != (kind == BY_NO_NUMBER);
}

/* Of other machines: the file may be missing. */
static bool is_said(void)
{
    return kind == BY_NUMBER || (kind < BY_NUMBER && why[0]);
}

static bool stays(void)
{
    bool right = !is_open || (kind == NEW) == (opened.state->id != their_id);
    if (is_open)
        share_folder_close(&opened, kind == NEW);
    right = right && share_folder_sound(&theirs) && os_file_is_at(theirs.file, OS_NOWHERE, root_path("m-x/state")) &&
            theirs.state->id == their_id;
    rig_remove(root_path("m-y"));
    return right;
}

/* With any request failing by any error, opening succeeds or reports a reason, and other machines stay whole and in place. */
static void every_error(void)
{
    static const struct {
        const char *function;
        int error;
    } requests[] = {{"open", ENFILE}, {"open", ENOENT}, {"open", ENOTDIR}, {"open", ELOOP}, {"open", EIO}, {"open", ENOMEM},
                    {"lstat", EIO}, {"lstat", ENOENT}, {"fstat", EIO}, {"opendir", EIO}, {"flock", ENOLCK}, {"rename", EEXIST},
                    {"read", EIO}, {"pread", EIO}, {"calloc", ENOMEM}};
    static const char *const kinds[KINDS] = {"the existing machine", "a new machine", "a machine by its number",
                                             "a number that no machine has"};
    if (!share_folder_open(&theirs, "x", &profile, why))
        tap_bail("no machine: %s", why);
    their_id = theirs.state->id;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++)
        for (kind = 0; kind < KINDS; kind++) {
            char name[120];
            snprintf(name, sizeof name, "%s fails, with %s: %s", requests[i].function, strerror(requests[i].error), kinds[kind]);
            inject_try(&(struct inject_case){.name = name,
                                             .function = requests[i].function,
                                             .error = requests[i].error,
                                             .begin = say_nothing,
                                             .call = open_kind,
                                             .reported = is_said,
                                             .end = stays});
        }
    share_folder_close(&theirs, true);
    tap_u64(rig_machines(), 0, "no machine is left");
}

/* The opened file is invalid if it was replaced, has another number, or is no longer a state. */
static void unsound(void)
{
    struct share_folder folder;
    if (!share_folder_open(&folder, "x", &profile, why))
        tap_bail("no machine: %s", why);
    const struct share_folder is = folder;
    const uint64_t magic = folder.state->magic;
    folder.device++;
    tap_ok(!share_folder_sound(&folder), "a state on another disk is not sound");
    folder = is;
    folder.number++;
    tap_ok(!share_folder_sound(&folder), "a state with another file number is not sound");
    folder = is;
    folder.state->magic++;
    tap_ok(!share_folder_sound(&folder), "a file that is no longer a state is not sound");
    folder.state->magic = magic;
    tap_ok(share_folder_sound(&folder), "the restored state is sound");
    share_folder_close(&folder, true);
}

static void no_room(void)
{
    struct share_folder folder;
    static const struct {
        const char *request, *said;
    } wanted[] = {{"mkdir", "no machine can be created, for lack of space or rights, in: /"},
                  {"fallocate", "there is no space for a machine's state in: /"},
                  {"mmap", "the machine's state cannot be mapped (ulimit -v?): /"},
                  {"rename", "no machine can be created, for lack of space or rights, in: /"},
                  {"ftruncate", "a machine's state exceeds the limit on file sizes (ulimit -f?), in: /"}};
    for (unsigned i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
        /* the first mkdir is for the folder of machines */
        inject_arm_at(wanted[i].request, 1 + !strcmp(wanted[i].request, "mkdir"));
        inject_each = true;
        bool open = share_folder_open(&folder, i % 2 ? NULL : "x", &profile, why);
        tap_ok(inject_disarm() && !open && begins(wanted[i].said), "without %s: %s", wanted[i].request, why);
        tap_u64(rig_machines(), 0, "no folder is left");
    }
}

static bool said;

static bool open_unnamed(void)
{
    is_open = share_folder_open(&opened, NULL, &profile, why);
    return is_open;
}

static bool files_are_named(void)
{
    said |= begins("no machine can be created, because this process may open no more files, in: /");
    return why[0];
}

static bool leaves_nothing(void)
{
    if (is_open)
        share_folder_close(&opened, true);
    return rig_machines() == 0;
}

/* Descriptors for the folder of machines and the new folder, but none for one of the state's files. */
static void no_descriptors(void)
{
    const struct inject_case without = {.name = "a machine without descriptors",
                                        .function = "open",
                                        .each = true,
                                        .least = 5,
                                        .begin = say_nothing,
                                        .call = open_unnamed,
                                        .reported = files_are_named,
                                        .end = leaves_nothing};
    said = false;
    inject_try(&without);
    tap_ok(said, "without descriptors no machine is created, and the reason is reported");
}

static void see_entry(void *user, const char *entry)
{
    unsigned *count = user;
    *count += strcmp(entry, "m-x") != 0;
}

/* Files and folders that are not machines: never opened, listed or removed. */
static void strangers(void)
{
    static const char *const names[] = {"q-x", "mx", "u_x", "m-a b", "m-01234567890123456789012345678901234567890",
                                        "t-01234567890123456789012345678901234567890", "u-"};
    struct share_folder folder, other;
    unsigned listed = 0, count = sizeof names / sizeof names[0];
    for (unsigned i = 0; i < count; i++)
        if (!os_folder_new(OS_NOWHERE, root_path(names[i])))
            tap_bail("no folder");
    os_file_close(os_file_open(root_path("m-a b/state"), OS_OPEN_NEW)); /* otherwise it is a half-made machine */
    int held = os_file_open(root_path("m-a b/state"), OS_OPEN_READ);
    os_lock(held);
    int half = os_file_open(root_path("u-/state"), OS_OPEN_NEW);
    os_lock(half);
    tap_ok(share_folder_open(&folder, "x", &profile, why), "a machine is created among them");
    tap_u64(rig_machines(), count + 1, "they stay");
    tap_ok(share_folder_each(see_entry, &listed, why) && !listed, "they are not listed");
    setenv("CUVMM_MACHINES", root_path("m-a b/state"), 1);
    tap_ok(!share_folder_each(see_entry, &listed, why) &&
               begins("the folder of machines cannot be created, or other users have access to it: /"),
           "a file contains no machines: %s", why);
    setenv("CUVMM_MACHINES", rig_root, 1);
    tap_ok(!share_folder_open_other(&other, folder.state->id + 1, &profile, why) && !why[0],
           "they are not found by id");
    tap_ok(share_folder_open_other(&other, folder.state->id, &profile, why), "the machine is found by its id");
    share_folder_close(&other, false);
    os_file_close(held);
    os_file_close(half);
    for (unsigned i = 0; i < count; i++)
        rig_remove(root_path(names[i]));
    share_folder_close(&folder, true);
}

static void forge_id(void)
{
    seen->id++;
}

/* Each word that identifies a state. */
static void other_machines(void)
{
    struct share_folder folder, other;
    if (!share_folder_open(&folder, "x", &profile, why))
        tap_bail("%s", why);
    uint64_t *words[] = {&folder.state->magic, &folder.state->version, &folder.state->bytes};
    for (unsigned i = 0; i < 6; i++) {
        uint64_t *word = words[i / 2], kept = *word;
        *word = i % 2 ? kept - 1 : kept + 1;
        tap_ok(!share_folder_open(&other, "x", &profile, why) &&
                   begins("not a machine of this version; choose another name: /"),
               "a state of another kind: %s", why);
        bool found = share_folder_open_other(&other, folder.state->id, &profile, why);
        tap_ok(!found && (i / 2 == 2) == (strstr(why, "not a machine of this version") != NULL),
               "is skipped in a search by id, or refused");
        *word = kept;
    }
    seen = folder.state;
    inject_meanwhile("mmap", 1, forge_id);
    tap_ok(!share_folder_open_other(&other, folder.state->id, &profile, why) && inject_disarm(),
           "a machine that changes while it is opened is not accepted");
    int file = folder.file;
    folder.file = -1;
    tap_ok(!share_folder_sound(&folder), "a machine whose file the program has closed is not sound");
    folder.file = file;
    tap_ok(share_folder_sound(&folder), "with the file it is");
    share_folder_close(&folder, true);
}

/* ---- machines that others left behind ---- */

static struct share_folder next;
static char next_why[SHARE_WHY];

/* A machine that nothing uses any more, with a token of which no descriptor is open, and one that will be opened again. */
static void leave(void)
{
    static const char *const names[] = {"left", "next"};
    for (int i = 0; i < 2; i++) {
        struct share_folder left;
        if (!share_folder_open(&left, names[i], &profile, next_why))
            tap_bail("no machine: %s", next_why);
        int file = share_folder_open_file(&left, "token", 1, OS_OPEN_NEW);
        if (file < 0)
            tap_bail("no token");
        os_file_close(file);
        share_folder_close(&left, false);
    }
    next_why[0] = '\0';
}

static bool open_next(void)
{
    return share_folder_open(&next, "next", &profile, next_why);
}

static bool next_is_explained(void)
{
    return next_why[0] != '\0';
}

/* Whatever the system did not report stayed; the next open finds it. */
static bool sweep_all(void)
{
    struct share_folder last;
    if (next.file >= 0)
        share_folder_close(&next, true);
    if (!share_folder_open(&last, "last", &profile, next_why))
        return false;
    bool alone = rig_machines() == 1;
    share_folder_close(&last, true);
    return alone && rig_machines() == 0;
}

static void swept(void)
{
    inject_try(&(struct inject_case){.name = "opening a machine among those left behind", .error = EIO, .begin = leave,
                                     .call = open_next, .reported = next_is_explained, .end = sweep_all});
    inject_try(&(struct inject_case){.name = "files that neither open nor are reported", .function = "open", .then = "lstat",
                                     .error = EIO, .begin = leave, .call = open_next, .reported = next_is_explained,
                                     .end = sweep_all});
}

/* ---- taking part ---- */

static void no_locks(void)
{
    vmm_system *sys = NULL;
    vmm_open("sim:" RIG_PROFILE ",machine=x", &sys);
    inject_arm_at("fcntl", 1);
    inject_each = true;
    inject_error = ENOLCK;
    vmm_result result = vmm_init(sys, 0);
    tap_ok(inject_disarm() && result == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"),
           "without file locks no process can join: %s", vmm_last_detail()->note);
    tap_result(vmm_init(sys, 0), VMM_SUCCESS, "with locks it can");
    rig_close(sys);
}

static vmm_system *joining;

static void open_joining(void)
{
    if (vmm_open("sim:" RIG_PROFILE ",machine=x", &joining) != VMM_SUCCESS)
        tap_bail("no machine: %s", vmm_last_detail()->note);
}

static bool join(void)
{
    return vmm_init(joining, 0) == VMM_SUCCESS;
}

static bool number_is_named(void)
{
    said |= vmm_last_detail()->result == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE") &&
            strstr(vmm_last_detail()->note, "no random numbers");
    return true;
}

static bool close_joining(void)
{
    vmm_close(joining);
    return true;
}

/* ---- what is reported at the end ---- */

static void count_hints(void *count, const vmm_detail *detail)
{
    *(unsigned *)count += !strcmp(detail->rule, "VMM-LEAK-DESCRIPTOR");
}

/* An export that is released, and whose descriptor is open, is reported unless there is no memory for that. */
static void hints(void)
{
    vmm_system *sys = rig_open("x");
    handle_t handle = 0;
    unsigned told = 0, untold = 0;
    rig_create(sys, RIG_G, &handle);
    int fd = rig_export(sys, handle);
    vmm_mem_release(sys, handle);
    const char *failed;
    unsigned long nth = 1;
    do {
        told = 0;
        inject_arm_at("calloc", nth++);
        vmm_leaks(sys, count_hints, &told);
        failed = inject_disarm();
        untold += failed && !told;
    } while (failed && nth < 20);
    tap_ok(untold && told == 1, "a hint that has no memory is left out, %u times", untold);
    close(fd);
    rig_close(sys);
}

/* A child without a process number. */
static void no_number(void)
{
    const struct inject_case joins = {.name = "taking part",
                                      .function = "open",
                                      .begin = open_joining,
                                      .call = join,
                                      .reported = number_is_named,
                                      .end = close_joining};
    vmm_system *holder = rig_open("x");
    int status = 1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        said = false;
        struct inject_count is = inject_each_request(&joins);
        _exit(!said || is.unsaid);
    }
    waitpid(child, &status, 0);
    tap_u64((uint64_t)status, 0, "a process without a number cannot join");
    rig_close(holder);
}

/* The first export of a machine without a name creates a folder: each of its requests fails in turn. */
static struct {
    vmm_system *sys;
    handle_t handle, copy;
    int fd;
} own;

static void begin_own(void)
{
    own.sys = rig_open(NULL);
    rig_create(own.sys, RIG_G, &own.handle);
}

static bool export_own(void)
{
    own.fd = rig_export(own.sys, own.handle);
    return own.fd >= 0;
}

static bool export_is_told(void)
{
    return rig_reported("VMM-EXPORT-SYSTEM") || rig_reported("VMM-SHARE-STATE") || rig_reported("VMM-SYSTEM-HOST-MEMORY");
}

/* The next export succeeds, and no folder is left of either. */
static bool is_exported(void)
{
    own.fd = own.fd >= 0 ? own.fd : rig_export(own.sys, own.handle);
    bool whole = own.fd >= 0 && rig_import(own.sys, own.fd, &own.copy) == VMM_SUCCESS;
    close(own.fd);
    rig_close(own.sys);
    return whole && rig_machines() == 0;
}

static const struct inject_case first_export = {.name = "a first export",
                                                .least = 9,
                                                .begin = begin_own,
                                                .call = export_own,
                                                .reported = export_is_told,
                                                .end = is_exported};

static vmm_system *pair(handle_t *object)
{
    vmm_system *sys = NULL;
    vmm_context ctx;
    vmm_multicast_object_prop prop = {.num_devices = 2, .handle_types = RIG_FD};
    if (vmm_open("sim:h200x2,machine=team", &sys) != VMM_SUCCESS || vmm_init(sys, 0) || vmm_ctx_create(sys, &ctx, 0, 0) ||
        vmm_multicast_get_granularity(sys, &prop.size, &prop, VMM_MULTICAST_GRANULARITY_MINIMUM))
        tap_bail("no machine: %s", vmm_last_detail()->note);
    if (object && vmm_multicast_create(sys, object, &prop) != VMM_SUCCESS)
        tap_bail("no object: %s", vmm_last_detail()->note);
    return sys;
}

static bool import_own(void)
{
    return rig_import(own.sys, own.fd, &own.copy) == VMM_SUCCESS;
}

static bool import_is_told(void)
{
    return own.copy == 0x77 && (rig_reported("VMM-IMPORT-SYSTEM") || rig_reported("VMM-SYSTEM-HOST-MEMORY"));
}

static bool only_with_memory(void)
{
    return (own.copy == 0x77) == (inject_what != NULL);
}

/* An import of another process's object. */
static void import_of_an_object(void)
{
    const struct inject_case imports = {.name = "an object that is imported",
                                        .function = "calloc",
                                        .least = 2,
                                        .call = import_own,
                                        .reported = import_is_told,
                                        .end = only_with_memory};
    handle_t object = 0;
    vmm_system *maker = pair(&object);
    own.sys = pair(NULL);
    own.fd = rig_export(maker, object);
    own.copy = 0x77;
    inject_try(&imports);
    close(own.fd);
    rig_close(own.sys);
    rig_close(maker);
}

/* A request for more memory than is free, while the other processes' use cannot be queried. */
static void no_lock_no_room(void)
{
    vmm_system *sys = rig_open("x");
    struct share *other = share_open_there("m-x", why);
    vmm_deviceptr at = 0;
    uint64_t bytes = rig_free(sys);
    if (!other || !share_lock(other))
        tap_bail("the lock is not available");
    for (unsigned i = 0; i < 2; i++) {
        vmm_result result = vmm_mem_alloc(sys, &at, i == 0 ? UINT64_C(1) << 50 : RIG_G);
        tap_ok(result == (i == 0 ? VMM_ERROR_OUT_OF_MEMORY : VMM_ERROR_OPERATING_SYSTEM) &&
                   rig_reported(i == 0 ? "VMM-ALLOC-MEMORY" : "VMM-SHARE-STATE"),
               "%s without the lock is refused by %s", i == 0 ? "more than the machine has" : "memory", vmm_last_detail()->rule);
    }
    share_unlock(other);
    share_close(other);
    tap_u64(rig_free(sys), bytes, "all memory is free");
    rig_close(sys);
}

/* Each allocation of space in an export fails in turn, with its own message. */
static void no_room_to_export(void)
{
    static const char *const notes[] = {"there is no space to record the block",
                                        "the host's memory is exhausted, or there is no space for all bytes of the block",
                                        "there is no space to record the holders of the block"};
    vmm_system *sys = rig_open("x");
    handle_t memory = 0;
    rig_create(sys, RIG_G, &memory);
    seen = rig_state("x");
    for (unsigned i = 0; i < 3; i++) {
        inject_arm_at("fallocate", i + 1);
        int fd = rig_export(sys, memory);
        tap_ok(inject_disarm() && fd < 0 && rig_reported("VMM-EXPORT-SYSTEM"), "without space nothing is exported");
        tap_text(vmm_last_detail()->note, notes[i], "the note names the missing space");
        tap_ok(!atomic_load(&seen->block[0].number) && !atomic_load(&seen->numbers), "no number is used up");
    }
    int fd = rig_export(sys, memory);
    tap_ok(fd >= 0 && atomic_load(&seen->block[0].number) == 1, "with space the export succeeds");
    close(fd);
    munmap(seen, sizeof *seen);
    rig_close(sys);
}

/* ---- leftovers of dead processes ---- */

/* Exports two pieces of memory, drops the holders of the second one, and is killed. */
static int left_by_a_child(void)
{
    int socket;
    pid_t child = child_begin(&socket, 0);
    if (child == 0) {
        handle_t memory[3] = {0};
        vmm_system *sys = rig_open("x");
        for (int i = 0; i < 3; i++) {
            rig_create(sys, RIG_G, &memory[i]);
            vmm_deviceptr at = rig_map(sys, memory[i], RIG_G);
            vmm_memset_d8(sys, at, (unsigned char)(i + 1), RIG_G);
        }
        int kept = rig_export(sys, memory[1]);
        rig_export(sys, memory[2]);
        passing_send(socket, kept);
        raise(SIGKILL);
    }
    int fd = passing_receive(socket);
    close(socket);
    waitpid(child, NULL, 0);
    return fd;
}

static uint64_t free_before;
static const char *clearing;

static void leave_something(void)
{
    own.fd = left_by_a_child();
}

static bool clear_up(void)
{
    rig_free(own.sys);
    return true;
}

/* The held piece keeps its bytes; unmapping it may be refused for the same reasons. */
static bool is_cleared(void)
{
    bool held_whole = rig_free(own.sys) == free_before - RIG_G && rig_import(own.sys, own.fd, &own.copy) == VMM_SUCCESS;
    vmm_deviceptr at = rig_map(own.sys, own.copy, RIG_G);
    held_whole = held_whole && rig_byte(own.sys, at) == 2;
    close(own.fd);
    vmm_mem_release(own.sys, own.copy);
    inject_arm_at(clearing, inject_nth);
    rig_unmap(own.sys, at, RIG_G);
    inject_disarm();
    return held_whole && rig_free(own.sys) == free_before;
}

/* Any request may fail while leftovers are freed: in the end all unheld memory is free, and held memory keeps its bytes. */
static void clearing_up(const char *function)
{
    const struct inject_case clears = {.name = function,
                                       .function = function,
                                       .begin = leave_something,
                                       .call = clear_up,
                                       .end = is_cleared};
    own.sys = rig_open("x");
    free_before = rig_free(own.sys);
    clearing = function;
    inject_try(&clears);
    tap_note("leftovers of a killed process are freed although %s fails, %lu times", function, inject_nth - 2);
    rig_close(own.sys);
}

/* The state claims that an unheld block lies after the end of the file, or is empty: nothing is cleared, and the file, which
 * other processes still need, does not grow. */
static void nothing_is_added(bool behind)
{
    vmm_system *sys = rig_open("x");
    struct share_state *left = rig_state("x");
    char name[64];
    struct stat before = {0}, after = {0};
    int fd = left_by_a_child(); /* the descriptor holds the first block, and nothing holds the second */
    snprintf(name, sizeof name, "mem.%llu", (unsigned long long)left->block[1].home);
    int file = open(rig_path("x", name), O_RDWR);
    if (file < 0 || fstat(file, &before) || left->block[1].home != left->block[0].home)
        tap_bail("the child left nothing");
    left->block[1].place = behind ? (uint64_t)before.st_size + 4096 : 0;
    left->block[1].size = behind ? 4096 : 0;
    inject_arm_at("fallocate", 1);
    inject_each = true; /* so that zeros are written instead of holes */
    rig_free(sys);
    inject_disarm();
    tap_ok(!fstat(file, &after) && after.st_size == before.st_size && !atomic_load(&left->block[1].number),
           "a block that lies %s is ended, and the file keeps its size", behind ? "after the end" : "nowhere");
    close(file);
    close(fd);
    rig_free(sys);
    munmap(left, sizeof *left);
    rig_close(sys);
}

/* ---- inspection ---- */

static void more_slots(void)
{
    for (unsigned i = 1; i < SHARE_PROCESSES; i++) {
        atomic_store(&seen->slot[i].owner, os_process_id());
        atomic_store(&seen->slot[i].taken, 1);
    }
    for (unsigned i = 1; i < 100; i++)
        atomic_store(&seen->block[i].number, 1000 + i);
    atomic_store(&seen->slots_seen, UINT64_MAX);
    atomic_store(&seen->blocks_seen, UINT64_MAX);
}

static struct share_inspect *looked_at(const char *entry, struct share **share)
{
    *share = share_open_there(entry, why);
    if (!*share)
        tap_bail("%s: %s", entry, why);
    return share_inspect(*share);
}

/* Another process writes into the state while it is read: the snapshot has room for what was counted first. */
static void counted_once(void)
{
    vmm_system *sys = rig_open("x");
    handle_t handle = 0;
    struct share *share = share_open_there("m-x", why);
    rig_create(sys, RIG_G, &handle);
    int fd = rig_export(sys, handle);
    seen = rig_state("x");
    /* the first calloc is for the snapshot itself, then for processes, then for blocks */
    inject_meanwhile("calloc", 2, more_slots);
    struct share_inspect *who = share_inspect(share);
    tap_ok(inject_disarm() && who && who->process_count <= 2 && who->block_count <= 2,
           "a state that grows meanwhile is read up to the first count");
    share_inspect_free(who);
    for (unsigned i = 1; i < SHARE_PROCESSES; i++)
        atomic_store(&seen->slot[i].taken, 0);
    for (unsigned i = 1; i < 100; i++)
        atomic_store(&seen->block[i].number, 0);
    munmap(seen, sizeof *seen);
    close(fd);
    share_close(share);
    rig_close(sys);
}

/* A bind is one more holder of the memory. */
static void held_by_a_bind(void)
{
    handle_t object = 0, memory = 0;
    vmm_system *sys = pair(&object);
    const vmm_multicast_object_prop prop = {.num_devices = 2, .handle_types = RIG_FD};
    uint64_t unit = 0;
    vmm_multicast_get_granularity(sys, &unit, &prop, VMM_MULTICAST_GRANULARITY_MINIMUM);
    rig_create(sys, unit, &memory);
    int fd = rig_export(sys, memory);
    seen = rig_state("team");
    uint64_t before = atomic_load(&seen->mark[0][0].handles);
    if (vmm_multicast_add_device(sys, object, 0) || vmm_multicast_add_device(sys, object, 1) ||
        vmm_multicast_bind_mem(sys, object, 0, memory, 0, unit, 0))
        tap_bail("no bind: %s", vmm_last_detail()->note);
    tap_ok(before == 1 && atomic_load(&seen->mark[0][0].handles) == 2, "bound memory has one more holder");
    munmap(seen, sizeof *seen);
    close(fd);
    rig_close(sys);
}

/* ---- descriptor 0 ---- */

static void leave_zero(void)
{
    close(STDIN_FILENO);
}

static bool zero_is_open(void)
{
    return fcntl(STDIN_FILENO, F_GETFD) != -1;
}

/* A child closes its copies. */
static bool stays_open_in_child(vmm_system *sys)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(30);
        rig_close(sys);
        _exit(zero_is_open());
    }
    return waitpid(child, &status, 0) != child || status != 0;
}

static int standard_input; /* a copy of it */

static bool share_without_zero(void)
{
    handle_t memory = 0, copy = 0;
    vmm_system *sys = rig_open("zero");
    bool right = sys && rig_create(sys, RIG_G, &memory) == VMM_SUCCESS;
    int fd = rig_export(sys, memory);
    right = right && fd >= 0 && (!fd || rig_import(sys, fd, &copy) == VMM_SUCCESS); /* 0 is not valid as a handle */
    close(fd);
    right = right && !(inject_what && stays_open_in_child(sys));
    rig_close(sys);
    return right;
}

static bool zero_is_left(void)
{
    bool left = !inject_what || !zero_is_open();
    dup2(standard_input, STDIN_FILENO);
    return left;
}

/* A program may have closed its standard input: each opened file in turn gets descriptor 0, and frees it again. */
static void first_descriptor(void)
{
    const struct inject_case zero = {.name = "a file that is descriptor 0",
                                     .function = "open",
                                     .meanwhile = leave_zero,
                                     .call = share_without_zero,
                                     .reported = inject_never,
                                     .end = zero_is_left};
    vmm_system *beside = rig_open("beside");
    standard_input = dup(STDIN_FILENO);
    inject_try(&zero);
    tap_ok(inject_nth > 6, "each of %lu files can be descriptor 0, and none stays open", inject_nth - 2);
    close(standard_input);
    rig_close(beside);
}

static void makers(void)
{
    handle_t object = 0;
    char text[SHARE_HOLD_TEXT];
    struct share *share;
    vmm_system *sys = pair(&object);
    int fd = rig_export(sys, object);
    struct share_inspect *who = looked_at("m-team", &share);
    tap_ok(who && who->block_count == 1 && who->block[0].team == 2 && !who->block[0].orphan && !who->block[0].home,
           "the object's creator is listed, and no process has bytes of the object");
    share_inspect_free(who);
    seen = rig_state("team");
    atomic_store(&seen->block[0].maker.pid, 0);
    who = share_inspect(share);
    tap_ok(who && who->block[0].orphan, "without its process the block is an orphan, whatever other slots say");
    share_inspect_free(who);
    atomic_store(&seen->block[0].maker.pid, UINT64_MAX);
    atomic_store(&seen->block[0].maker.program[0], 0);
    inject_arm_at("access", 1);
    who = share_inspect(share);
    tap_ok(inject_disarm() && who && who->block[0].orphan && !who->reported,
           "an ended process leaves an orphan; missing information about descriptors is reported");
    tap_text(share_inspect_named(77, who ? who->block[0].program : "?", text), "process 77",
             "a process without a name is shown by its number");
    share_inspect_free(who);
    munmap(seen, sizeof *seen);
    close(fd);
    share_close(share);
    rig_close(sys);
}

int main(void)
{
    rig_begin();
    sim_profile_builtin(RIG_PROFILE, &profile);
    on_the_move();
    unreported();
    too_late();
    no_view();
    every_error();
    unsound();
    no_room();
    no_descriptors();
    strangers();
    other_machines();
    swept();
    hints();
    no_locks();
    no_number();
    inject_try(&first_export);
    import_of_an_object();
    no_lock_no_room();
    no_room_to_export();
    nothing_is_added(true);
    nothing_is_added(false);
    clearing_up("fstat");
    clearing_up("open");
    clearing_up("fallocate");
    counted_once();
    held_by_a_bind();
    first_descriptor();
    makers();
    rig_end();
    return tap_done();
}

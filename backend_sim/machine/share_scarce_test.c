/* SPDX-License-Identifier: Apache-2.0 */
/* Shared machines when an allocation or system call fails, and when another process acts between two of them: failures are
 * reported, nothing is half done, and the final state is complete. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "scarce_rig.h"

#include <sys/wait.h>

#include "child.h"
#include "passing.h"
#include "share_folder.h"
#include "share_inspect.h"
#include "state_rig.h"

enum { TRIES = 200 };

typedef vmm_mem_generic_allocation_handle handle_t;

static struct sim_profile profile;
static struct share_state *seen; /* what somebody else writes to */
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

/* A machine that nobody has open. */
static void left_there(const char *name)
{
    struct share_folder folder;
    if (!share_folder_open(&folder, name, &profile, why))
        tap_bail("%s does not open: %s", name, why);
    share_folder_close(&folder, false);
}

static void move_it(void)
{
    if (rename(root_path("m-x"), root_path("t-x")))
        tap_bail("it does not move");
}

/* [m-x] is another's by the time that it is looked at: what was opened is not what lies there. */
static void replace_it(void)
{
    move_it();
    left_there("x"); /* which sweeps the other */
}

static void on_the_move(void)
{
    struct share_folder folder;
    left_there("x");
    scarce_meanwhile("flock", 1, move_it);
    bool open = share_folder_open_there(&folder, "m-x", why);
    tap_ok(scarce_disarm() && !open && !why[0], "a machine that is taken away while it is opened is not there");
    rig_remove(root_path("t-x"));
    left_there("x");
    scarce_meanwhile("flock", 1, replace_it);
    open = share_folder_open_there(&folder, "m-x", why);
    tap_ok(scarce_disarm() && open && os_file_is_at(folder.file, OS_NOWHERE, root_path("m-x/state")),
           "of one in whose place is another, that is opened");
    share_folder_close(&folder, true);
}

/* Untold once: tried again. Untold each time: said. */
static void unreported(void)
{
    struct share_folder folder;
    left_there("x");
    scarce_arm_at("flock", 1);
    bool open = share_folder_open_there(&folder, "m-x", why);
    tap_ok(scarce_disarm() && open, "a hold that cannot be had once is tried for again");
    share_folder_close(&folder, false);
    scarce_arm_at("flock", 1);
    scarce_error = EWOULDBLOCK; /* somebody looks whether it is a leftover */
    open = share_folder_open_there(&folder, "m-x", why);
    tap_ok(scarce_disarm() && open, "as is one that another has for a moment");
    share_folder_close(&folder, false);
    scarce_arm_at("flock", 1);
    scarce_each = true;
    open = share_folder_open_there(&folder, "m-x", why);
    tap_ok(scarce_disarm() && !open && strstr(why, "cannot be opened now"), "but not for ever: %s", why);
    open = share_folder_open_there(&folder, "m-x", why);
    share_folder_close(&folder, true);
    tap_ok(open && rig_machines() == 0, "it is there all the same");
}

static void late(void)
{
    scarce_arm_at("flock", 1);
    scarce_each = true;
    scarce_late = 60;
}

static void too_late(void)
{
    struct share_folder folder;
    struct share_folder holder;
    share_folder_open(&holder, "x", &profile, why);
    scarce_meanwhile("open", 2, late); /* the first is of who looks for leftovers */
    bool open = share_folder_open(&folder, "x", &profile, why);
    tap_ok(scarce_disarm() && !open && begins("the machine cannot be opened now; try again, or choose another name: /"),
           "after a minute it is given up: %s", why);
    share_folder_close(&holder, true);
}

static void no_view(void)
{
    struct share_folder holder, folder;
    share_folder_open(&holder, "x", &profile, why);
    scarce_arm_at("mmap", 1);
    bool open = share_folder_open(&folder, "x", &profile, why);
    tap_ok(scarce_disarm() && !open && begins("the machine's state cannot be mapped (ulimit -v?): /"),
           "a machine that there is no memory to see: %s", why);
    share_folder_close(&holder, true);
}

/* Opened whatever fails, by whatever error, or refused with words: what others have is in its place, whole and as it was. */
static void every_error(void)
{
    static const struct {
        const char *function;
        int error;
    } requests[] = {{"open", ENFILE}, {"open", ENOENT}, {"open", ENOTDIR}, {"open", ELOOP}, {"open", EIO}, {"open", ENOMEM},
                    {"lstat", EIO}, {"lstat", ENOENT}, {"fstat", EIO}, {"opendir", EIO}, {"flock", ENOLCK}, {"rename", EEXIST},
                    {"read", EIO}, {"pread", EIO}, {"calloc", ENOMEM}};
    struct share_folder holder, folder;
    if (!share_folder_open(&holder, "x", &profile, why))
        tap_bail("no machine: %s", why);
    const uint64_t id = holder.state->id;
    for (size_t i = 0; i < sizeof requests / sizeof requests[0]; i++) {
        unsigned refused = 0, wrong = 0;
        for (int kind = 0; kind < 4; kind++) /* the machine that is there, a new one, that one by its number, none's number */
            for (unsigned long nth = 1; nth < TRIES; nth++) {
                why[0] = '\0';
                scarce_arm_at(requests[i].function, nth);
                scarce_error = requests[i].error;
                bool open = kind < 2 ? share_folder_open(&folder, kind ? "y" : "x", &profile, why)
                                     : share_folder_open_other(&folder, id + (kind == 3), &profile, why);
                bool failed = scarce_disarm() != NULL;
                refused += !open && kind != 3;
                wrong += open && (kind == 3 || (kind == 1) != (folder.state->id != id));
                wrong += !open && kind < 2 && !why[0]; /* of other machines: it may not be there */
                wrong += !failed && open != (kind < 3);
                if (open)
                    share_folder_close(&folder, kind == 1);
                wrong += !share_folder_sound(&holder) || !os_file_is_at(holder.file, OS_NOWHERE, root_path("m-x/state")) ||
                         holder.state->id != id;
                rig_remove(root_path("m-y"));
                if (!failed)
                    break;
            }
        tap_ok(!wrong, "%s fails, with %s: %u refusals, in words, and the machine that is there stays", requests[i].function,
               strerror(requests[i].error), refused);
    }
    share_folder_close(&holder, true);
    tap_u64(rig_machines(), 0, "nothing is left over");
}

/* What its own opening was made of is another file, of another number, or no state any more: it is not sound. */
static void unsound(void)
{
    struct share_folder folder;
    if (!share_folder_open(&folder, "x", &profile, why))
        tap_bail("no machine: %s", why);
    const struct share_folder is = folder;
    const uint64_t magic = folder.state->magic;
    folder.device++;
    tap_ok(!share_folder_sound(&folder), "a state on another disk is not that");
    folder = is;
    folder.number++;
    tap_ok(!share_folder_sound(&folder), "nor one of another number");
    folder = is;
    folder.state->magic++;
    tap_ok(!share_folder_sound(&folder), "nor one that is none any more");
    folder.state->magic = magic;
    tap_ok(share_folder_sound(&folder), "as it was it is");
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
        scarce_arm_at(wanted[i].request, 1 + !strcmp(wanted[i].request, "mkdir")); /* the first is for the folder of machines */
        scarce_each = true;
        bool open = share_folder_open(&folder, i % 2 ? NULL : "x", &profile, why);
        tap_ok(scarce_disarm() && !open && begins(wanted[i].said), "without %s: %s", wanted[i].request, why);
        tap_u64(rig_machines(), 0, "and no folder is left");
    }
}

/* A descriptor for the folder of machines and the new one, and none for the state, whichever of its files lacks it. */
static void no_descriptors(void)
{
    struct share_folder folder;
    unsigned long nth = 0;
    bool open = false, said = false;
    while (!open && ++nth < TRIES) {
        scarce_arm_at("open", nth);
        scarce_each = true;
        open = share_folder_open(&folder, NULL, &profile, why);
        if (!scarce_disarm())
            break;
        said |= begins("no machine can be created, because this process may open no more files, in: /");
        if (!open && rig_machines())
            tap_bail("the %lu-th leaves something", nth);
    }
    tap_ok(open && said && nth > 5, "without descriptors there is no machine, and that is said");
    share_folder_close(&folder, true);
}

static void see_entry(void *user, const char *entry)
{
    unsigned *count = user;
    *count += strcmp(entry, "m-x") != 0;
}

/* Files and folders that are no machines: nobody opens, lists or removes them. */
static void strangers(void)
{
    static const char *const names[] = {"q-x", "mx", "u_x", "m-a b", "m-01234567890123456789012345678901234567890",
                                        "t-01234567890123456789012345678901234567890", "u-"};
    struct share_folder folder, other;
    unsigned listed = 0, count = sizeof names / sizeof names[0];
    for (unsigned i = 0; i < count; i++)
        if (!os_folder_new(OS_NOWHERE, root_path(names[i])))
            tap_bail("no folder");
    os_file_close(os_file_open(root_path("m-a b/state"), OS_OPEN_NEW)); /* else it is half a machine */
    int held = os_file_open(root_path("m-a b/state"), OS_OPEN_READ);
    os_lock(held);
    int half = os_file_open(root_path("u-/state"), OS_OPEN_NEW);
    os_lock(half);
    tap_ok(share_folder_open(&folder, "x", &profile, why), "a machine is made among them");
    tap_u64(rig_machines(), count + 1, "they are left alone");
    tap_ok(share_folder_each(see_entry, &listed, why) && !listed, "and not listed");
    setenv("CUVMM_MACHINES", root_path("m-a b/state"), 1);
    tap_ok(!share_folder_each(see_entry, &listed, why) &&
               begins("the folder of machines cannot be created, or other users have access to it: /"),
           "a file holds none: %s", why);
    setenv("CUVMM_MACHINES", rig_root, 1);
    tap_ok(!share_folder_open_other(&other, folder.state->id + 1, &profile, why) && !why[0],
           "nor found to be one that is sought");
    tap_ok(share_folder_open_other(&other, folder.state->id, &profile, why), "which is found when it is there");
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

/* Each word by which a machine is known. */
static void other_machines(void)
{
    struct share_folder folder, other;
    if (!share_folder_open(&folder, "x", &profile, why))
        tap_bail("%s", why);
    uint64_t *words[] = {&folder.state->magic, &folder.state->version, &folder.state->bytes};
    for (unsigned i = 0; i < 3; i++) {
        words[i][0]++;
        tap_ok(!share_folder_open(&other, "x", &profile, why) &&
                   begins("not a machine of this version; choose another name: /"),
               "a state of another kind: %s", why);
        bool found = share_folder_open_other(&other, folder.state->id, &profile, why);
        tap_ok(!found && (i == 2) == (strstr(why, "not a machine of this version") != NULL),
               "is not sought in, or found to be one");
        words[i][0]--;
    }
    seen = folder.state;
    scarce_meanwhile("mmap", 1, forge_id);
    tap_ok(!share_folder_open_other(&other, folder.state->id, &profile, why) && scarce_disarm(),
           "one that became another while it was opened is not the one that was sought");
    int file = folder.file;
    folder.file = -1;
    tap_ok(!share_folder_sound(&folder), "one whose file the program has closed is lost");
    folder.file = file;
    tap_ok(share_folder_sound(&folder), "and with it not");
    share_folder_close(&folder, true);
}

/* ---- taking part ---- */

static void no_locks(void)
{
    vmm_system *sys = NULL;
    vmm_open("sim:" RIG_PROFILE ",machine=x", &sys);
    scarce_arm_at("fcntl", 1);
    scarce_each = true;
    scarce_error = ENOLCK;
    vmm_result result = vmm_init(sys, 0);
    tap_ok(scarce_disarm() && result == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"),
           "where files cannot be locked nobody takes part: %s", vmm_last_detail()->note);
    tap_result(vmm_init(sys, 0), VMM_SUCCESS, "where they can somebody does");
    rig_close(sys);
}

/* A child that has no number yet. */
static void no_number(void)
{
    vmm_system *holder = rig_open("x");
    int status = 1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        vmm_system *sys = NULL;
        bool said = false;
        for (unsigned long nth = 1; nth < TRIES && !said; nth++) {
            if (vmm_open("sim:" RIG_PROFILE ",machine=x", &sys) != VMM_SUCCESS)
                break;
            scarce_arm_at("open", nth);
            vmm_result result = vmm_init(sys, 0);
            scarce_disarm();
            said = result == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE") &&
                   strstr(vmm_last_detail()->note, "no random numbers");
            vmm_close(sys);
        }
        _exit(!said);
    }
    waitpid(child, &status, 0);
    tap_u64((uint64_t)status, 0, "who has no number cannot take part");
    rig_close(holder);
}

/* The first export of a machine without a name makes one for others to see: each request of that. */
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

/* The next one succeeds, and nothing is left of either. */
static bool is_exported(void)
{
    own.fd = own.fd >= 0 ? own.fd : rig_export(own.sys, own.handle);
    bool whole = own.fd >= 0 && rig_import(own.sys, own.fd, &own.copy) == VMM_SUCCESS;
    close(own.fd);
    rig_close(own.sys);
    return whole && rig_machines() == 0;
}

static const struct scarce_case first_export = {"a first export", NULL,           9,          0, begin_own, export_own,
                                                export_is_told,   is_exported};

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

/* An object that another process made. */
static void import_of_an_object(void)
{
    handle_t object = 0, copy = 0x77;
    vmm_system *maker = pair(&object), *sys = pair(NULL);
    int fd = rig_export(maker, object);
    unsigned long nth = 0, refused = 0;
    vmm_result result = VMM_ERROR_UNKNOWN;
    while (result != VMM_SUCCESS && ++nth < TRIES) {
        scarce_arm_at("calloc", nth);
        result = rig_import(sys, fd, &copy);
        if (scarce_disarm() && result != VMM_SUCCESS)
            refused += copy == 0x77 && (rig_reported("VMM-IMPORT-SYSTEM") || rig_reported("VMM-SYSTEM-HOST-MEMORY"));
    }
    tap_ok(result == VMM_SUCCESS && refused == nth - 1 && refused >= 2,
           "an object is imported when there is memory for it, and not before");
    close(fd);
    rig_close(sys);
    rig_close(maker);
}

/* Memory that is asked for beyond what is free, where nobody can be asked whether some of it is free by now. */
static void no_lock_no_room(void)
{
    vmm_system *sys = rig_open("x");
    struct share *other = share_open_there("m-x", why);
    vmm_deviceptr at = 0;
    uint64_t bytes = rig_free(sys);
    if (!other || !share_lock(other))
        tap_bail("the lock is not had");
    for (unsigned i = 0; i < 2; i++) {
        vmm_result result = vmm_mem_alloc(sys, &at, i == 0 ? UINT64_C(1) << 50 : RIG_G);
        tap_ok(result == (i == 0 ? VMM_ERROR_OUT_OF_MEMORY : VMM_ERROR_OPERATING_SYSTEM) &&
                   rig_reported(i == 0 ? "VMM-ALLOC-MEMORY" : "VMM-SHARE-STATE"),
               "%s without the lock is refused by %s", i == 0 ? "more than the machine has" : "memory", vmm_last_detail()->rule);
    }
    share_unlock(other);
    share_close(other);
    tap_u64(rig_free(sys), bytes, "and all is free");
    rig_close(sys);
}

/* Each room that an export takes is asked for, and said to lack in words of its own. */
static void no_room_to_export(void)
{
    static const char *const notes[] = {"the host's memory is exhausted, or there is no space for all bytes of the block",
                                        "there is no space to record the holders of the block"};
    vmm_system *sys = rig_open("x");
    handle_t memory = 0;
    rig_create(sys, RIG_G, &memory);
    seen = rig_state("x");
    for (unsigned i = 0; i < 2; i++) {
        scarce_arm_at("fallocate", i + 1);
        int fd = rig_export(sys, memory);
        tap_ok(scarce_disarm() && fd < 0 && rig_reported("VMM-EXPORT-SYSTEM"), "without room nothing is exported");
        tap_text(vmm_last_detail()->note, notes[i], "and it is said what there is no room for");
        tap_ok(!atomic_load(&seen->block[0].number) && !atomic_load(&seen->numbers), "no number is used up");
    }
    int fd = rig_export(sys, memory);
    tap_ok(fd >= 0 && atomic_load(&seen->block[0].number) == 1, "with room it is");
    close(fd);
    munmap(seen, sizeof *seen);
    rig_close(sys);
}

/* ---- what the dead left ---- */

/* Exports two pieces of memory, of which the second is nobody's, and is killed. */
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

/* Whoever clears up may be refused anything: what is free is free in the end, and what is held keeps its bytes. */
static void clearing_up(const char *function)
{
    vmm_system *sys = rig_open("x");
    uint64_t before = rig_free(sys);
    const char *failed = "";
    bool whole = true;
    unsigned long nth = 0;
    while (failed && ++nth < TRIES) {
        handle_t copy = 0;
        int fd = left_by_a_child();
        scarce_arm_at(function, nth);
        rig_free(sys);
        failed = scarce_disarm();
        whole = whole && rig_free(sys) == before - RIG_G && rig_import(sys, fd, &copy) == VMM_SUCCESS;
        vmm_deviceptr at = rig_map(sys, copy, RIG_G);
        whole = whole && rig_byte(sys, at) == 2;
        close(fd);
        vmm_mem_release(sys, copy);
        scarce_arm_at(function, nth);
        rig_unmap(sys, at, RIG_G);
        scarce_disarm();
        whole = whole && rig_free(sys) == before;
    }
    tap_ok(whole && !failed, "what a killed process left is given back, whatever %s says, %lu times", function, nth - 1);
    rig_close(sys);
}

/* Where the state says of what nobody holds that it lies behind the end, or is nothing, there is nothing to be cleared, and the
 * file that others still need does not grow. */
static void nothing_is_added(bool behind)
{
    vmm_system *sys = rig_open("x");
    struct share_state *left = rig_state("x");
    char name[64];
    struct stat before = {0}, after = {0};
    int fd = left_by_a_child(); /* the first is held by it, and the second by nobody */
    snprintf(name, sizeof name, "mem.%llu", (unsigned long long)left->block[1].home);
    int file = open(rig_path("x", name), O_RDWR);
    if (file < 0 || fstat(file, &before) || left->block[1].home != left->block[0].home)
        tap_bail("nothing was left");
    left->block[1].place = behind ? (uint64_t)before.st_size + 4096 : 0;
    left->block[1].size = behind ? 4096 : 0;
    scarce_arm_at("fallocate", 1);
    scarce_each = true; /* so that zeros are written in place of holes */
    rig_free(sys);
    scarce_disarm();
    tap_ok(!fstat(file, &after) && after.st_size == before.st_size && !atomic_load(&left->block[1].number),
           "a piece of memory that lies %s is gone, and its file as long as it was", behind ? "behind the end" : "nowhere");
    close(file);
    close(fd);
    rig_free(sys);
    munmap(left, sizeof *left);
    rig_close(sys);
}

/* ---- who has what ---- */

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

/* Somebody writes into the state while it is read: what there is room for is what was counted first. */
static void counted_once(void)
{
    vmm_system *sys = rig_open("x");
    handle_t handle = 0;
    struct share *share = share_open_there("m-x", why);
    rig_create(sys, RIG_G, &handle);
    int fd = rig_export(sys, handle);
    seen = rig_state("x");
    scarce_meanwhile("calloc", 2, more_slots); /* the first is of the list itself, then of processes, then of blocks */
    struct share_inspect *who = share_inspect(share);
    tap_ok(scarce_disarm() && who && who->process_count <= 2 && who->block_count <= 2,
           "a state that grows while it is read is read as far as it went");
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

/* A bind is one more that holds the memory. */
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
    tap_ok(before == 1 && atomic_load(&seen->mark[0][0].handles) == 2, "memory that is bound is held once more");
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

/* A child gives back its copies. */
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

/* A program may have closed its standard input: each file in turn that is opened gets its number, and gives it back. */
static void first_descriptor(void)
{
    vmm_system *beside = rig_open("beside");
    int kept = dup(STDIN_FILENO);
    unsigned long nth = 0, wrong = 0;
    for (bool opened = true; opened && ++nth < TRIES;) {
        handle_t memory = 0, copy = 0;
        scarce_meanwhile("open", nth, leave_zero);
        vmm_system *sys = rig_open("zero");
        wrong += !sys || rig_create(sys, RIG_G, &memory) != VMM_SUCCESS;
        int fd = rig_export(sys, memory);
        wrong += fd < 0 || (fd && rig_import(sys, fd, &copy) != VMM_SUCCESS); /* 0 as a handle is none */
        close(fd);
        wrong += scarce_what && stays_open_in_child(sys);
        rig_close(sys);
        opened = scarce_disarm() != NULL;
        wrong += opened && zero_is_open();
        dup2(kept, STDIN_FILENO);
    }
    tap_ok(!wrong && nth > 5 && nth < TRIES, "each of %lu files may be descriptor 0, and none is left open", nth - 1);
    close(kept);
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
           "who made an object takes part, and no process has its bytes");
    share_inspect_free(who);
    seen = rig_state("team");
    atomic_store(&seen->block[0].maker.pid, 0);
    who = share_inspect(share);
    tap_ok(who && who->block[0].orphan, "where its process is none, the others do not count");
    share_inspect_free(who);
    atomic_store(&seen->block[0].maker.pid, UINT64_MAX);
    atomic_store(&seen->block[0].maker.program[0], 0);
    scarce_arm_at("access", 1);
    who = share_inspect(share);
    tap_ok(scarce_disarm() && who && who->block[0].orphan && !who->reported,
           "or not any more; where nobody tells who has a descriptor, that is said");
    tap_text(share_inspect_named(77, who ? who->block[0].program : "?", text), "process 77",
             "a process without a name has its number");
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
    no_locks();
    no_number();
    scarce_try(&first_export);
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

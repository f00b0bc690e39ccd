/* SPDX-License-Identifier: Apache-2.0 */
/* The shared state, and errors in it: forged descriptors, damaged states, machines with another profile. None of these crashes a
 * process or shows it another process's memory. */
#include "share_state.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "child.h"
#include "os.h"
#include "passing.h"
#include "process.h"
#include "share_mark.h"
#include "share_token.h"
#include "state_rig.h"
#include "system.h"
#include "vmm_fd.h"

typedef vmm_mem_generic_allocation_handle handle_t;

/* ---- two systems on one machine ---- */

static void together(const char *name)
{
    vmm_system *a = rig_open(name), *b = rig_open(name);
    handle_t memory = 0, copy = 0, again = 0;
    uint64_t before = rig_free(a);
    tap_u64(rig_machines(), 1, "two systems open one machine");
    tap_result(rig_create(a, 2 * RIG_G, &memory), VMM_SUCCESS, "one system allocates memory");
    tap_u64(rig_free(b), before - 2 * RIG_G, "the other system sees less free memory");
    vmm_deviceptr p = rig_map(a, memory, 2 * RIG_G);
    vmm_memset_d8(a, p, 0x5a, 2 * RIG_G);
    int fd = rig_export(a, memory);
    tap_ok(fd >= 0 && rig_import(b, fd, &copy) == VMM_SUCCESS && rig_import(b, fd, &again) == VMM_SUCCESS,
           "the memory is exported, and imported twice");
    tap_u64(rig_free(b), before - 2 * RIG_G, "the memory counts once");
    vmm_deviceptr q = rig_map(b, copy, 2 * RIG_G);
    tap_u64((uint64_t)rig_byte(b, q + RIG_G), 0x5a, "the importer sees the bytes");
    vmm_memset_d8(b, q, 0x11, 1);
    tap_u64((uint64_t)rig_byte(a, p), 0x11, "the importer can write them");
    rig_close(a);
    tap_u64((uint64_t)rig_byte(b, q + 2 * RIG_G - 1), 0x5a, "the bytes outlive the exporter's system");
    rig_unmap(b, q, 2 * RIG_G);
    vmm_mem_release(b, copy);
    vmm_mem_release(b, again);
    tap_u64(rig_free(b), before - 2 * RIG_G, "the descriptor holds the memory");
    tap_result(rig_import(b, fd, &copy), VMM_SUCCESS, "the descriptor is imported again");
    q = rig_map(b, copy, 2 * RIG_G);
    tap_u64((uint64_t)rig_byte(b, q + 2 * RIG_G - 1), 0x5a, "the new import has the bytes");
    close(fd);
    rig_unmap(b, q, 2 * RIG_G);
    vmm_mem_release(b, copy);
    tap_u64(rig_free(b), before, "dropping the last holder frees the memory");
    rig_close(b);
    tap_u64(rig_machines(), 0, "the last system removes the machine");
}

/* The next owner of the same memory finds zeros, whichever process cleared it. */
static void zeros(void)
{
    vmm_system *a = rig_open("one"), *b = rig_open("one");
    handle_t memory = 0, copy = 0;
    rig_create(a, RIG_G, &memory);
    vmm_deviceptr p = rig_map(a, memory, RIG_G);
    vmm_memset_d8(a, p, 0x77, RIG_G);
    int fd = rig_export(a, memory);
    rig_import(b, fd, &copy);
    close(fd);
    rig_unmap(a, p, RIG_G);
    vmm_mem_release(a, memory);
    vmm_mem_release(b, copy); /* the last holder is gone, and the space is in a's file */
    rig_create(a, RIG_G, &memory);
    p = rig_map(a, memory, RIG_G);
    vmm_memset_d8(a, p, 1, 1);
    tap_u64((uint64_t)rig_byte(a, p + RIG_G - 1), 0, "memory that was exported before reads as zero");
    rig_close(a);
    rig_close(b);
}

/* Each entry of the state is reused many times, and records by which call its block was exported first. */
static void exported_by(void)
{
    vmm_system *a = rig_open("one");
    struct share_state *state = rig_state("one");
    handle_t memory = 0;
    uint64_t before = 0;
    for (unsigned i = 0; i < 3; i++) {
        rig_create(a, RIG_G, &memory);
        int first = rig_export(a, memory);
        uint64_t call = atomic_load(&state->block[0].exported);
        int second = rig_export(a, memory);
        tap_ok(first >= 0 && second >= 0 && share_call_number(call) > before && atomic_load(&state->block[0].exported) == call,
               "export %u records its own first call", i);
        tap_text(share_call_name(call), "cuMemExportToShareableHandle", "the recorded call has its name");
        before = share_call_number(call);
        close(first);
        close(second);
        vmm_mem_release(a, memory);
        tap_ok(!((struct sim_process *)a->top)->machine->share->blocks, "the release that ends the block frees its bytes at once");
        rig_free(a);
    }
    munmap(state, sizeof *state);
    rig_close(a);
}

/* The holders of a block are also recorded if another call than an export named it. */
static void named_by_ipc(void)
{
    vmm_system *a = rig_open("one");
    struct share_state *state = rig_state("one");
    const unsigned slot = ((struct sim_process *)a->top)->machine->share->slot;
    vmm_ipc_mem_handle passed;
    vmm_deviceptr p = 0;
    uint64_t call = 1, handles = 0;
    tap_ok(!vmm_mem_alloc(a, &p, RIG_G) && !vmm_ipc_get_mem_handle(a, &passed, p), "memory gets a handle for other processes");
    tap_ok(share_mark_read(state, 0, slot, &call, &handles) && handles == 1 && !call,
           "the state records that its owner holds it once, by no export: %u, call %u", (unsigned)handles, (unsigned)call);
    tap_ok(!vmm_mem_free(a, p) && !share_mark_read(state, 0, slot, &call, &handles), "until it is freed");
    munmap(state, sizeof *state);
    rig_close(a);
}

enum { PIECES = 4 };

/* Creates adjacent pieces, each with its number at both ends, and sends those of the set away. Then the process waits to be
 * killed. */
static _Noreturn void leave_some(unsigned set, int socket)
{
    vmm_system *a = rig_open("one");
    for (unsigned i = 0; i < PIECES; i++) {
        handle_t memory = 0;
        rig_create(a, RIG_G, &memory);
        vmm_deviceptr p = rig_map(a, memory, RIG_G);
        vmm_memset_d8(a, p, (unsigned char)(i + 1), 1);
        vmm_memset_d8(a, p + RIG_G - 1, (unsigned char)(i + 1), 1);
        if (set >> i & 1)
            passing_send(socket, rig_export(a, memory));
    }
    passing_go_on(socket);
    for (;;)
        pause();
}

/* The set of pieces in the file that still hold their number; false if a piece holds anything else but zeros. */
static bool pieces_of(int file, unsigned *set)
{
    *set = 0;
    for (unsigned at = 0; at < PIECES; at++) {
        unsigned char first = 0xff, last = 0xff;
        if (pread(file, &first, 1, (off_t)(at * RIG_G)) != 1 || pread(file, &last, 1, (off_t)((at + 1) * RIG_G - 1)) != 1 ||
            first != last || first > PIECES)
            return false;
        *set |= first ? 1U << (first - 1) : 0;
    }
    return true;
}

/* Tries each set once: of a killed process, exported memory stays, and nothing else. */
static void what_stays(void)
{
    vmm_system *b = rig_open("one");
    struct share_state *state = rig_state("one");
    unsigned wrong = 0;
    for (unsigned set = 1; set < 1U << PIECES; set++) {
        int fd[PIECES], socket;
        unsigned sent = 0, found = 0;
        char name[64];
        struct stat is;
        pid_t child = child_begin(&socket, 0);
        if (child == 0)
            leave_some(set, socket);
        for (unsigned i = 0; i < PIECES; i++)
            if (set >> i & 1)
                fd[sent++] = passing_receive(socket);
        passing_wait(socket);
        close(socket);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        snprintf(name, sizeof name, "mem.%llu", (unsigned long long)atomic_load(&state->slot[1].serial));
        int file = open(rig_path("one", name), O_RDONLY);
        rig_free(b); /* frees what the killed process left */
        wrong += !pieces_of(file, &found) || found != set;
        uint64_t room = fstat(file, &is) ? 0 : (uint64_t)is.st_blocks * 512, wanted = sent * RIG_G;
        wrong += room < wanted || room > wanted + (64 << 10); /* the file system may use some for itself */
        for (unsigned left = set, i = 0; left; i++) { /* one after the other is released, from the start of the file */
            close(fd[i]);
            left &= left - 1;
            rig_free(b);
            wrong += left && (!pieces_of(file, &found) || found != left);
        }
        close(file);
        wrong += os_file_exists(rig_path("one", name));
    }
    tap_u64(wrong, 0, "memory that other processes can reach stays, the rest is cleared, and the file goes with the last piece");
    munmap(state, sizeof *state);
    rig_close(b);
}

/* The next process in a slot may see other devices, so nothing of the last one may stay. */
static void a_slot_is_cleared(void)
{
    vmm_system *a = rig_open("slots"), *b = rig_open("slots");
    struct share_state *state = rig_state("slots");
    struct share_use *use = &state->slot[1].use;
    int last = VMM_MAX_DEVICES - 1;
    atomic_store(&use->device[last], 5);
    atomic_store(&use->compressed[last], 5);
    rig_close(b);
    tap_ok(!atomic_load(&use->device[last]) && !atomic_load(&use->compressed[last]), "a slot that is left shows no memory in use");
    munmap(state, sizeof *state);
    rig_close(a);
}

static void without_a_name(void)
{
    vmm_system *a = rig_open(NULL), *b = rig_open(NULL);
    handle_t memory = 0, copy = 0x77;
    tap_u64(rig_machines(), 0, "a machine without a name has no folder");
    rig_create(a, RIG_G, &memory);
    int fd = rig_export(a, memory);
    tap_u64(rig_machines(), 1, "its first export creates a folder");
    tap_result(rig_import(b, fd, &copy), VMM_ERROR_UNKNOWN, "another machine cannot import from it");
    tap_ok(rig_reported("VMM-IMPORT-MACHINE") && strstr(vmm_last_detail()->note, "no name") && copy == 0x77,
           "the message says why: %s",
           vmm_last_detail()->note);
    rig_close(a);
    tap_u64(rig_machines(), 0, "closing the system removes the folder, although a descriptor is open");
    tap_result(rig_import(b, fd, &copy), VMM_ERROR_UNKNOWN, "the descriptor refers to nothing then");
    close(fd);
    rig_close(b);
}

static void other_machine(void)
{
    vmm_system *a = rig_open("1"), *b = rig_open("two");
    handle_t memory = 0, copy = 0;
    rig_create(a, RIG_G, &memory);
    int fd = rig_export(a, memory);
    tap_result(rig_import(b, fd, &copy), VMM_ERROR_UNKNOWN, "a descriptor of another machine");
    tap_ok(rig_reported("VMM-IMPORT-MACHINE") && strstr(vmm_last_detail()->note, "it belongs to machine=1"), "names it: %s",
           vmm_last_detail()->note);
    close(fd);
    rig_close(a);
    rig_close(b);
}

/* ---- opening ---- */

static void refused(const char *spec, vmm_result result, const char *says, const char *what)
{
    vmm_system *sys = NULL;
    vmm_result got = vmm_open(spec, &sys);
    const vmm_detail *detail = vmm_last_detail();
    tap_ok(got == result && !sys && strstr(detail->note, says) && !strcmp(detail->function, "vmm_open"), "%s: %s", what, detail->note);
    if (sys)
        vmm_close(sys);
}

static void opening(void)
{
    vmm_system *a = rig_open("one");
    refused("sim:h200x2,machine=one", VMM_ERROR_OPERATING_SYSTEM,
            "machine=one: the machine is already open with another profile, \"h100\"; this is \"h200x2\"",
            "another profile");
    rig_close(a);
    refused("sim:h100,machine=", VMM_ERROR_INVALID_VALUE, "name", "no name");
    refused("sim:h100,machine=..", VMM_ERROR_INVALID_VALUE, "name", "a name that means a folder");
    setenv("CUVMM_MACHINE", "a/b", 1);
    refused("sim:h100", VMM_ERROR_INVALID_VALUE, "CUVMM_MACHINE", "an invalid name in the environment");
    setenv("CUVMM_MACHINE", "three", 1);
    a = rig_open(NULL);
    tap_ok(a && os_file_exists(rig_path("three", "state")), "the environment's name is used when the spec has none");
    rig_close(a);
    a = rig_open("o");
    tap_ok(a && os_file_exists(rig_path("o", "state")), "a name in the spec wins, even if it is one letter");
    rig_close(a);
    unsetenv("CUVMM_MACHINE");
    chmod(rig_root, 0755);
    refused("sim:h100,machine=one", VMM_ERROR_OPERATING_SYSTEM, "other users have access",
            "other users have access to the folder");
    a = rig_open(NULL);
    handle_t memory = 0;
    rig_create(a, RIG_G, &memory);
    int fd = rig_export(a, memory);
    tap_ok(fd < 0 && rig_reported("VMM-EXPORT-SYSTEM") && strstr(vmm_last_detail()->note, rig_root),
           "exports are refused with the same reason: %s",
           vmm_last_detail()->note);
    rig_close(a);
    chmod(rig_root, 0700);
    setenv("CUVMM_MACHINES", "/dev/null", 1);
    refused("sim:h100,machine=one", VMM_ERROR_OPERATING_SYSTEM, "/dev/null", "no folder at all");
    setenv("CUVMM_MACHINES", rig_root, 1);
}

/* Puts a state file in place before the machine is opened. */
static void write_state(const char *bytes, size_t size)
{
    char folder[256];
    snprintf(folder, sizeof folder, "%s/m-one", rig_root);
    mkdir(folder, 0700);
    int file = open(rig_path("one", "state"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ftruncate(file, sizeof(struct share_state)) || pwrite(file, bytes, size, 0) != (ssize_t)size)
        tap_bail("the state cannot be written");
    close(file);
}

/* A folder that cuvmm did not create stays unchanged, whether or not a process uses it. */
static void damaged_before(void)
{
    write_state("nonsense", 8);
    int holder = open(rig_path("one", "state"), O_RDONLY);
    os_lock(holder);
    refused("sim:h100,machine=one", VMM_ERROR_OPERATING_SYSTEM, "not a machine of this version",
            "a state of random bytes that a process holds");
    if (truncate(rig_path("one", "state"), 100))
        tap_bail("the state cannot be truncated");
    refused("sim:h100,machine=one", VMM_ERROR_OPERATING_SYSTEM, "not a machine of this version", "a state that is too short");
    close(holder);
    refused("sim:h100,machine=one", VMM_ERROR_OPERATING_SYSTEM, "not a machine of this version", "a state that no process holds");
    struct stat is;
    tap_ok(!stat(rig_path("one", "state"), &is) && is.st_size == 100, "the file stays unchanged");
    char folder[256];
    snprintf(folder, sizeof folder, "%s/m-one", rig_root);
    rig_remove(folder);
}

/* ---- what an importer receives ---- */

static int forged(const struct share_token *token, uint64_t size)
{
    FILE *file = tmpfile();
    char zeros[sizeof *token + 100] = {0};
    memcpy(zeros, token, sizeof *token);
    if (!file || fwrite(zeros, 1, size, file) != size || fflush(file))
        tap_bail("no temporary file");
    int fd = dup(fileno(file));
    fclose(file);
    return fd;
}

static void not_imported(vmm_system *sys, int fd, const char *rule, const char *what)
{
    handle_t copy = 0x77;
    vmm_result result = rig_import(sys, fd, &copy);
    tap_ok(result == vmm_rule_find(rule)->result && rig_reported(rule) && copy == 0x77, "%s is refused by %s", what,
           vmm_last_detail()->rule ? vmm_last_detail()->rule : "nothing");
}

static void forged_tokens(void)
{
    vmm_system *a = rig_open("one");
    handle_t memory = 0;
    struct share_token token, other;
    struct os_file_is is;
    rig_create(a, RIG_G, &memory);
    int fd = rig_export(a, memory);
    tap_ok(share_token_read(fd, &token, &is) == SHARE_TOKEN, "a descriptor's file is readable");
    tap_ok(ftruncate(fd, 0) && write(fd, "x", 1) < 0, "a descriptor's file is not writable");
    const struct {
        uint64_t size;
        const char *what;
    } sizes[] = {{sizeof token, "a copy"}, {sizeof token - 1, "a shorter copy"}, {sizeof token + 1, "a longer copy"},
                 {0, "an empty file"}};
    for (size_t i = 0; i < 4; i++) {
        int copy = forged(&token, sizes[i].size);
        not_imported(a, copy, "VMM-IMPORT-FOREIGN", sizes[i].what);
        close(copy);
    }
    const uint64_t indexes[] = {1, SHARE_BLOCKS - 1, SHARE_BLOCKS, UINT64_MAX, UINT64_C(1) << 32};
    for (size_t i = 0; i < sizeof indexes / sizeof indexes[0]; i++) {
        other = token;
        other.index = indexes[i];
        int copy = forged(&other, sizeof other);
        not_imported(a, copy, "VMM-IMPORT-FOREIGN", "a block that does not exist");
        close(copy);
    }
    other = token;
    memset(other.name, 7, sizeof other.name - 1);
    other.machine++;
    int copy = forged(&other, sizeof other);
    not_imported(a, copy, "VMM-IMPORT-MACHINE", "a machine that does not exist");
    close(copy);
    other.name[sizeof other.name - 1] = 7;
    copy = forged(&other, sizeof other);
    not_imported(a, copy, "VMM-IMPORT-FOREIGN", "a name without a terminator");
    close(copy);
    char path[64];
    snprintf(path, sizeof path, "token.%llu", (unsigned long long)token.number);
    int writer = open(rig_path("one", path), O_RDWR);
    other = token;
    other.nonce[1]++;
    if (pwrite(writer, &other, sizeof other, 0) != sizeof other)
        tap_bail("the token cannot be overwritten");
    not_imported(a, fd, "VMM-IMPORT-FOREIGN", "the token's own file, changed");
    other = token;
    other.name[0]++;
    if (pwrite(writer, &other, sizeof other, 0) != sizeof other)
        tap_bail("the token cannot be overwritten");
    not_imported(a, fd, "VMM-IMPORT-FOREIGN", "the token's own file, with another name");
    if (ftruncate(writer, 3))
        tap_bail("the token cannot be truncated");
    not_imported(a, fd, "VMM-IMPORT-FOREIGN", "the token's own file, truncated");
    close(writer);
    close(fd);
    rig_close(a);
}

/* The state has impossible values for the block, or its memory file is missing or too short. */
static void wrong_blocks(void)
{
    vmm_system *a = rig_open("one"), *b = rig_open("one");
    handle_t memory = 0;
    rig_create(a, RIG_G, &memory);
    int fd = rig_export(a, memory);
    struct share_state *state = rig_state("one");
    struct share_block *block = &state->block[0], kept = *block;
#define WRONG(member, value, what)                                   \
    do {                                                             \
        block->member = (value);                                     \
        not_imported(b, fd, "VMM-IMPORT-SYSTEM", what);              \
        block->member = kept.member;                                 \
    } while (0)
    WRONG(size, 0, "no size");
    WRONG(size, UINT64_MAX, "a size beyond every limit");
    WRONG(size, UINT64_C(1) << 40, "a size beyond the file");
    WRONG(place, UINT64_MAX - 4095, "a place beyond every limit");
    WRONG(place, 1, "a place that is not page-aligned");
    WRONG(location_id, 7, "a device that does not exist");
    WRONG(location_id, -1, "a negative device");
    WRONG(location_type, 9, "an unknown location type");
    WRONG(home, 12345, "an unknown home");
    struct stat is;
    char name[64];
    snprintf(name, sizeof name, "mem.%llu", (unsigned long long)kept.home);
    if (stat(rig_path("one", name), &is))
        tap_bail("no memory");
    WRONG(size, (uint64_t)is.st_size - kept.place + 1, "a size one byte beyond the file");
    WRONG(place, (uint64_t)is.st_size, "a place at the end of the file");
    WRONG(place, (uint64_t)is.st_size + 4096, "a place after the end of the file");
#undef WRONG
    uint64_t *const words[] = {&block->nonce[0], &block->nonce[1], &block->file_device, &block->file_number};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        for (int step = -1; step <= 1; step += 2) {
            *words[i] += (uint64_t)(int64_t)step;
            not_imported(b, fd, "VMM-IMPORT-FOREIGN", "a token that is not the block's");
            *words[i] -= (uint64_t)(int64_t)step;
        }
    atomic_store(&state->blocks_seen, UINT64_MAX);
    atomic_store(&state->slots_seen, UINT64_MAX);
    tap_ok(rig_free(b) != UINT64_MAX, "counts beyond the tables are ignored");
    handle_t copy = 0, other = 0;
    tap_result(rig_import(b, fd, &copy), VMM_SUCCESS, "the restored block is imported");
    uint64_t numbers = atomic_exchange(&state->numbers, UINT64_MAX);
    rig_create(a, RIG_G, &other);
    tap_ok(rig_export(a, other) < 0 && rig_reported("VMM-EXPORT-SYSTEM"), "nothing is exported when the numbers are used up");
    atomic_store(&state->numbers, numbers);
    int second = rig_export(a, other);
    tap_ok(second >= 0, "exports work again with free numbers: %s", vmm_last_detail()->note);
    close(second);
    munmap(state, sizeof *state);
    close(fd);
    rig_close(a);
    rig_close(b);
}

/* A process holds a slot's file, but has not marked the slot as taken yet: the next process takes another slot. */
static void slot_in_between(void)
{
    int socket;
    vmm_system *a = rig_open("one");
    struct share_state *state = rig_state("one");
    pid_t child = child_begin(&socket, 30);
    if (child == 0) {
        if (os_mark_alive(os_file_open(rig_path("one", "slot.1"), OS_OPEN_MAKE)))
            passing_go_on(socket);
        for (;;)
            pause();
    }
    bool has = passing_wait(socket);
    vmm_system *b = rig_open("one");
    tap_ok(has && b && !atomic_load(&state->slot[1].taken) && atomic_load(&state->slot[2].taken) == 1,
           "a slot whose file is held is left alone");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(socket);
    vmm_system *c = rig_open("one");
    tap_ok(c && atomic_load(&state->slot[1].taken) == 1 && !atomic_load(&state->slot[3].taken),
           "the slot is taken after its file is released");
    munmap(state, sizeof *state);
    rig_close(c);
    rig_close(b);
    rig_close(a);
}

/* Other processes took this process for dead. */
static void slot_lost(void)
{
    vmm_system *a = rig_open("one"), *b = rig_open("one");
    handle_t memory = 0, other = 0;
    rig_create(a, RIG_G, &memory);
    struct share_state *state = rig_state("one");
    uint64_t serial = atomic_load(&state->slot[0].serial), before = rig_free(b);
    atomic_store(&state->slot[0].serial, serial + 7);
    tap_ok(rig_create(a, RIG_G, &other) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE") &&
               rig_export(a, memory) < 0,
           "a process that lost its slot can neither allocate nor export");
    atomic_store(&state->slot[0].serial, serial - 1);
    tap_ok(rig_create(a, RIG_G, &other) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"),
           "whether the new owner came later or was there before");
    atomic_store(&state->slot[0].serial, serial);
    _Atomic uint64_t *const words[] = {&state->slot[0].owner, &state->slot[0].taken};
    for (size_t i = 0; i < 2; i++) {
        uint64_t kept = atomic_load(words[i]);
        atomic_store(words[i], i ? 0 : kept + 1);
        tap_ok(rig_create(a, RIG_G, &other) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"),
               i ? "or the slot is free" : "and belongs to another process");
        atomic_store(words[i], kept);
    }
    atomic_store(&state->slot[0].serial, serial - 1);
    vmm_mem_release(a, memory);
    tap_u64(rig_free(b), before, "its calls do not change the state any more");
    atomic_store(&state->slot[0].serial, serial);
    munmap(state, sizeof *state);
    rig_close(a);
    rig_close(b);
}

/* A block without holders is ended even if its home is gone and its entry has impossible values. */
static void wrong_ends(void)
{
    const struct {
        uint64_t place, size;
    } wrong[] = {{0, UINT64_MAX}, {UINT64_MAX, 1}, {4096, UINT64_C(1) << 60}, {5, 0}};
    vmm_system *b = rig_open("one");
    uint64_t all = rig_free(b);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        vmm_system *a = rig_open("one");
        handle_t memory = 0;
        rig_create(a, RIG_G, &memory);
        int fd = rig_export(a, memory);
        rig_close(a);
        struct share_state *state = rig_state("one");
        state->block[0].place = wrong[i].place;
        state->block[0].size = wrong[i].size;
        munmap(state, sizeof *state);
        close(fd);
        tap_u64(rig_free(b), all, "an invalid block is ended");
    }
    rig_close(b);
}

/* The state is truncated while the machine is open: releases need no state, and every other call reports the error. */
static void damaged_meanwhile(void)
{
    vmm_system *a = rig_open("one");
    handle_t memory = 0, other = 0, copy = 0;
    uint64_t bytes, total;
    rig_create(a, RIG_G, &memory);
    rig_create(a, RIG_G, &other);
    int fd = rig_export(a, memory);
    const char *path = rig_path("one", "state");
    if (truncate(path, 5))
        tap_bail("the state cannot be truncated");
    tap_ok(rig_create(a, RIG_G, &copy) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"), "no create");
    tap_ok(rig_import(a, fd, &copy) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"), "no import");
    tap_ok(rig_export(a, memory) < 0 && rig_reported("VMM-SHARE-STATE"), "no export");
    tap_ok(vmm_mem_get_info(a, &bytes, &total) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"),
           "free memory is unknown");
    vmm_deviceptr at = 0;
    tap_ok(vmm_mem_alloc(a, &at, 100) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"), "no allocation");
    vmm_deviceptr p = rig_map(a, memory, RIG_G);
    tap_ok(p && vmm_memset_d8(a, p, 1, RIG_G) == VMM_SUCCESS && rig_byte(a, p) == 1, "existing memory stays usable");
    tap_result(vmm_mem_release(a, memory), VMM_SUCCESS, "private memory can be released");
    tap_result(vmm_mem_release(a, other), VMM_SUCCESS, "exported memory can be released");
    rig_unmap(a, p, RIG_G);
    rig_close(a);
    close(fd);
    vmm_system *b = rig_open("one");
    tap_ok(b != NULL, "the next process to open the machine creates a new one");
    rig_close(b);
}

/* ---- processes ---- */

/* A process was killed after it created a token and before it created the block. */
static const char *half_exported(struct share_state *state)
{
    char file[64];
    snprintf(file, sizeof file, "token.%llu", (unsigned long long)(atomic_fetch_add(&state->numbers, 1) + 1));
    close(open(rig_path("one", file), O_CREAT | O_RDWR, 0600));
    return rig_path("one", file);
}

static void killed_while_exporting(void)
{
    vmm_system *a = rig_open("one");
    handle_t memory = 0, other = 0;
    rig_create(a, RIG_G, &memory);
    rig_create(a, RIG_G, &other);
    int first = rig_export(a, memory), second;
    struct share_state *state = rig_state("one");
    const char *left = half_exported(state);
    second = rig_export(a, other);
    tap_ok(second >= 0 && !os_file_exists(left), "the next export removes a half-made one");
    left = half_exported(state);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(rig_open("one") == NULL); /* exits without closing */
    waitpid(child, NULL, 0);
    rig_free(a);
    tap_ok(!os_file_exists(left), "freeing the leftovers of a dead process removes a half-made export");
    handle_t copy = 0;
    tap_ok(rig_import(a, first, &copy) == VMM_SUCCESS && rig_import(a, second, &copy) == VMM_SUCCESS,
           "complete exports stay");
    munmap(state, sizeof *state);
    close(first);
    close(second);
    rig_close(a);
}

/* A parent opens the machine, and its child uses the same opening before either initialises: they are two processes of the
 * machine. */
static void forked_before_init(void)
{
    vmm_system *sys = NULL;
    vmm_context ctx;
    int socket, status = 0;
    handle_t memory = 0;
    vmm_open("sim:" RIG_PROFILE ",machine=one", &sys);
    pid_t child = child_begin(&socket, 30);
    if (child == 0) {
        bool ok = !vmm_init(sys, 0) && !vmm_ctx_create(sys, &ctx, 0, 0) && !rig_create(sys, 3 * RIG_G, &memory);
        passing_go_on(socket);
        passing_wait(socket);
        _exit(!ok);
    }
    tap_ok(!vmm_init(sys, 0) && !vmm_ctx_create(sys, &ctx, 0, 0), "the parent initialises the system that the child has as well");
    uint64_t before = rig_free(sys);
    passing_wait(socket);
    before = rig_free(sys);
    rig_create(sys, RIG_G, &memory);
    tap_u64(rig_free(sys), before - RIG_G, "each process allocates on its own");
    close(socket);
    tap_ok(waitpid(child, &status, 0) == child && status == 0, "the child does as well");
    tap_u64(rig_free(sys), before + 2 * RIG_G, "its memory is free after it exits without closing");
    rig_close(sys);
}

/* A forked child of an initialised process does not share its slot: it closes its own copy. */
static void forked_after_init(void)
{
    vmm_system *a = rig_open("one");
    handle_t memory = 0, kept = 0;
    int status = 0;
    rig_create(a, RIG_G, &memory);
    rig_create(a, RIG_G, &kept);
    vmm_deviceptr p = rig_map(a, memory, RIG_G), q = rig_map(a, kept, RIG_G), r = 0;
    vmm_memset_d8(a, p, 0x42, RIG_G);
    vmm_memset_d8(a, q, 0x43, RIG_G);
    vmm_mem_alloc(a, &r, RIG_G);
    vmm_memset_d8(a, r, 0x44, RIG_G);
    int fd = rig_export(a, memory);
    uint64_t before = rig_free(a);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        handle_t copy = 0;
        int other = -1;
        alarm(30);
        bool refused = rig_import(a, fd, &copy) == VMM_ERROR_NOT_INITIALIZED &&
                       vmm_mem_export_to_shareable_handle(a, &other, memory, RIG_FD, 0) == VMM_ERROR_NOT_INITIALIZED;
        rig_close(a);
        _exit(!refused);
    }
    tap_ok(waitpid(child, &status, 0) == child && status == 0, "a forked child can only close");
    tap_u64(rig_free(a), before, "the parent's use is unchanged");
    tap_u64((uint64_t)rig_byte(a, p + 77), 0x42, "so are its exported bytes");
    tap_u64((uint64_t)rig_byte(a, q + 77), 0x43, "its private bytes");
    tap_u64((uint64_t)rig_byte(a, r + 77), 0x44, "and its memory that cannot be exported");
    close(fd);
    vmm_system *b = rig_open("one");
    tap_u64(rig_free(b), before, "the machine's use is unchanged");
    rig_close(b);
    rig_close(a);
}

/* ---- leaks of shared memory ---- */

static void keep_note(void *note, const vmm_detail *leak)
{
    if (leak->nearest.kind == VMM_OBJECT_HANDLE)
        snprintf(note, sizeof leak->note, "%s", leak->note);
}

/* A leak report names the other holders of the memory and their calls; for an import, its exporter. */
static void leaked(void)
{
    vmm_system *a = rig_open("one"), *b = rig_open("one");
    handle_t memory = 0, copy = 0;
    char note[sizeof vmm_last_detail()->note] = "", want[120], name[OS_PROGRAM];
    os_program(os_pid(), name); /* another one under a tool */
    rig_create(a, RIG_G, &memory);
    int fd = rig_export(a, memory);
    rig_import(b, fd, &copy);
    close(fd);
    vmm_leaks(a, keep_note, note);
    snprintf(want, sizeof want, "; also held by process %d (%s): call 3 (cuMemImportFromShareableHandle)", (int)getpid(), name);
    tap_ok(strstr(note, want) != NULL, "the exporter's: %s", note);
    note[0] = '\0';
    vmm_leaks(b, keep_note, note);
    snprintf(want, sizeof want, "; exported by process %d (%s): call 4 (cuMemExportToShareableHandle)", (int)getpid(), name);
    tap_ok(strstr(note, want) != NULL, "the importer's: %s", note);
    rig_close(b);
    rig_close(a);
}

int main(void)
{
    rig_begin();
    together("one");
    together("1"); /* the shortest name */
    zeros();
    exported_by();
    named_by_ipc();
    what_stays();
    a_slot_is_cleared();
    without_a_name();
    other_machine();
    opening();
    damaged_before();
    forged_tokens();
    wrong_blocks();
    wrong_ends();
    slot_in_between();
    slot_lost();
    damaged_meanwhile();
    killed_while_exporting();
    forked_before_init();
    forked_after_init();
    leaked();
    rig_end();
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The shared state, and what can be wrong with it: forged descriptors, damaged states, machines with another profile. None of
 * these ends a process or shows it another's memory. */
#include "share_state.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>

#include "child.h"
#include "passing.h"
#include "share_mark.h"
#include "share_token.h"
#include "state_rig.h"
#include "vmm_fd.h"

typedef vmm_mem_generic_allocation_handle handle_t;

/* ---- two systems on one machine ---- */

static void together(const char *name)
{
    vmm_system *a = rig_open(name), *b = rig_open(name);
    handle_t memory = 0, copy = 0, again = 0;
    uint64_t before = rig_free(a);
    tap_u64(rig_machines(), 1, "both open one machine");
    tap_result(rig_create(a, 2 * RIG_G, &memory), VMM_SUCCESS, "one takes memory");
    tap_u64(rig_free(b), before - 2 * RIG_G, "which the other lacks");
    vmm_deviceptr p = rig_map(a, memory, 2 * RIG_G);
    vmm_memset_d8(a, p, 0x5a, 2 * RIG_G);
    int fd = rig_export(a, memory);
    tap_ok(fd >= 0 && rig_import(b, fd, &copy) == VMM_SUCCESS && rig_import(b, fd, &again) == VMM_SUCCESS,
           "it is exported and imported twice");
    tap_u64(rig_free(b), before - 2 * RIG_G, "and counted once");
    vmm_deviceptr q = rig_map(b, copy, 2 * RIG_G);
    tap_u64((uint64_t)rig_byte(b, q + RIG_G), 0x5a, "the bytes are there");
    vmm_memset_d8(b, q, 0x11, 1);
    tap_u64((uint64_t)rig_byte(a, p), 0x11, "and written from the other side");
    rig_close(a);
    tap_u64((uint64_t)rig_byte(b, q + 2 * RIG_G - 1), 0x5a, "they outlive the exporter's system");
    rig_unmap(b, q, 2 * RIG_G);
    vmm_mem_release(b, copy);
    vmm_mem_release(b, again);
    tap_u64(rig_free(b), before - 2 * RIG_G, "the descriptor holds the memory");
    tap_result(rig_import(b, fd, &copy), VMM_SUCCESS, "it is imported once more");
    q = rig_map(b, copy, 2 * RIG_G);
    tap_u64((uint64_t)rig_byte(b, q + 2 * RIG_G - 1), 0x5a, "with its bytes");
    close(fd);
    rig_unmap(b, q, 2 * RIG_G);
    vmm_mem_release(b, copy);
    tap_u64(rig_free(b), before, "the last one frees it");
    rig_close(b);
    tap_u64(rig_machines(), 0, "the machine goes with the last");
}

/* The next to get the same memory finds zeros, whoever cleared it. */
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
    vmm_mem_release(b, copy); /* nobody is left, and the place is a's to give */
    rig_create(a, RIG_G, &memory);
    p = rig_map(a, memory, RIG_G);
    vmm_memset_d8(a, p, 1, 1);
    tap_u64((uint64_t)rig_byte(a, p + RIG_G - 1), 0, "what was exported reads as zero for the next");
    rig_close(a);
    rig_close(b);
}

/* Each place in the state is used again and again, and says of each block by which call it was exported first. */
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
               "export %u has a call of its own, the first", i);
        tap_text(share_call_name(call), "cuMemExportToShareableHandle", "which is told by name");
        before = share_call_number(call);
        close(first);
        close(second);
        vmm_mem_release(a, memory);
        rig_free(a);
    }
    munmap(state, sizeof *state);
    rig_close(a);
}

enum { PIECES = 4 };

/* Pieces side by side, each with its number at both ends. Those of the set are sent away. Then the process is to be killed. */
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

/* The pieces of the file that hold their number, as a set; false where one holds anything else but zeros. */
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

/* Each set of them once: of a process that was killed what was exported stays, and nothing else. */
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
        rig_free(b); /* which looks for what the dead left */
        wrong += !pieces_of(file, &found) || found != set;
        uint64_t room = fstat(file, &is) ? 0 : (uint64_t)is.st_blocks * 512, wanted = sent * RIG_G;
        wrong += room < wanted || room > wanted + (64 << 10); /* which the file system may take for itself */
        close(file);
        while (sent)
            close(fd[--sent]);
        rig_free(b);
        wrong += os_file_exists(rig_path("one", name));
    }
    tap_u64(wrong, 0, "what others can still reach stays as it is, the rest is cleared, and the file goes with the last");
    munmap(state, sizeof *state);
    rig_close(b);
}

static void without_a_name(void)
{
    vmm_system *a = rig_open(NULL), *b = rig_open(NULL);
    handle_t memory = 0, copy = 0x77;
    tap_u64(rig_machines(), 0, "a machine without a name takes no folder");
    rig_create(a, RIG_G, &memory);
    int fd = rig_export(a, memory);
    tap_u64(rig_machines(), 1, "until it exports");
    tap_result(rig_import(b, fd, &copy), VMM_ERROR_UNKNOWN, "another machine does not know it");
    tap_ok(rig_reported("VMM-IMPORT-MACHINE") && strstr(vmm_last_detail()->note, "no name") && copy == 0x77, "and says so: %s",
           vmm_last_detail()->note);
    rig_close(a);
    tap_u64(rig_machines(), 0, "the folder goes with the system, although a descriptor is open");
    tap_result(rig_import(b, fd, &copy), VMM_ERROR_UNKNOWN, "which is of nothing then");
    close(fd);
    rig_close(b);
}

static void other_machine(void)
{
    vmm_system *a = rig_open("one"), *b = rig_open("two");
    handle_t memory = 0, copy = 0;
    rig_create(a, RIG_G, &memory);
    int fd = rig_export(a, memory);
    tap_result(rig_import(b, fd, &copy), VMM_ERROR_UNKNOWN, "a descriptor of another machine");
    tap_ok(rig_reported("VMM-IMPORT-MACHINE") && strstr(vmm_last_detail()->note, "machine=one"), "names it: %s",
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
    tap_ok(got == result && !sys && strstr(vmm_last_detail()->note, says), "%s: %s", what, vmm_last_detail()->note);
    if (sys)
        vmm_close(sys);
}

static void opening(void)
{
    vmm_system *a = rig_open("one");
    refused("sim:h200x2,machine=one", VMM_ERROR_OPERATING_SYSTEM, "another profile, \"h100\"; this is \"h200x2\"",
            "another profile");
    rig_close(a);
    refused("sim:h100,machine=", VMM_ERROR_INVALID_VALUE, "name", "no name");
    refused("sim:h100,machine=..", VMM_ERROR_INVALID_VALUE, "name", "a name that is a folder's");
    setenv("CUVMM_MACHINE", "a/b", 1);
    refused("sim:h100", VMM_ERROR_INVALID_VALUE, "CUVMM_MACHINE", "the environment's name is none");
    setenv("CUVMM_MACHINE", "three", 1);
    a = rig_open(NULL);
    tap_ok(a && os_file_exists(rig_path("three", "state")), "the environment's name is taken where the spec has none");
    rig_close(a);
    a = rig_open("o");
    tap_ok(a && os_file_exists(rig_path("o", "state")), "and not where it has one, be it a letter");
    rig_close(a);
    unsetenv("CUVMM_MACHINE");
    chmod(rig_root, 0755);
    refused("sim:h100,machine=one", VMM_ERROR_OPERATING_SYSTEM, "not this user's alone", "others may look into the folder");
    a = rig_open(NULL);
    handle_t memory = 0;
    rig_create(a, RIG_G, &memory);
    int fd = rig_export(a, memory);
    tap_ok(fd < 0 && rig_reported("VMM-EXPORT-SYSTEM") && strstr(vmm_last_detail()->note, rig_root), "exports say so: %s",
           vmm_last_detail()->note);
    rig_close(a);
    chmod(rig_root, 0700);
    setenv("CUVMM_MACHINES", "/dev/null", 1);
    refused("sim:h100,machine=one", VMM_ERROR_OPERATING_SYSTEM, "/dev/null", "no folder at all");
    setenv("CUVMM_MACHINES", rig_root, 1);
}

/* What lies there already. */
static void write_state(const char *bytes, size_t size)
{
    char folder[256];
    snprintf(folder, sizeof folder, "%s/m-one", rig_root);
    mkdir(folder, 0700);
    int file = open(rig_path("one", "state"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    if (file < 0 || ftruncate(file, sizeof(struct share_state)) || pwrite(file, bytes, size, 0) != (ssize_t)size)
        tap_bail("no state can be written");
    close(file);
}

/* A folder that cuvmm did not make stays as it is, whether somebody uses it or not. */
static void damaged_before(void)
{
    write_state("nonsense", 8);
    int holder = open(rig_path("one", "state"), O_RDONLY);
    os_lock(holder);
    refused("sim:h100,machine=one", VMM_ERROR_OPERATING_SYSTEM, "not a machine of this version", "nonsense that is in use");
    if (truncate(rig_path("one", "state"), 100))
        tap_bail("the state cannot be cut");
    refused("sim:h100,machine=one", VMM_ERROR_OPERATING_SYSTEM, "not a machine of this version", "a state that is too short");
    close(holder);
    refused("sim:h100,machine=one", VMM_ERROR_OPERATING_SYSTEM, "not a machine of this version", "one that nobody holds");
    struct stat is;
    tap_ok(!stat(rig_path("one", "state"), &is) && is.st_size == 100, "and that stays as it is");
    char folder[256];
    snprintf(folder, sizeof folder, "%s/m-one", rig_root);
    rig_remove(folder);
}

/* ---- what an importer is given ---- */

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
    tap_ok(share_token_read(fd, &token, &is) == SHARE_TOKEN, "a descriptor's file can be read");
    tap_ok(ftruncate(fd, 0) && write(fd, "x", 1) < 0, "and not be written through it");
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
        not_imported(a, copy, "VMM-IMPORT-FOREIGN", "a block that is not there");
        close(copy);
    }
    other = token;
    memset(other.name, 7, sizeof other.name - 1);
    other.machine++;
    int copy = forged(&other, sizeof other);
    not_imported(a, copy, "VMM-IMPORT-MACHINE", "a machine that is not there");
    close(copy);
    other.name[sizeof other.name - 1] = 7;
    copy = forged(&other, sizeof other);
    not_imported(a, copy, "VMM-IMPORT-FOREIGN", "a name without an end");
    close(copy);
    char path[64];
    snprintf(path, sizeof path, "token.%llu", (unsigned long long)token.number);
    int writer = open(rig_path("one", path), O_RDWR);
    other = token;
    other.nonce[1]++;
    if (pwrite(writer, &other, sizeof other, 0) != sizeof other)
        tap_bail("the token cannot be spoilt");
    not_imported(a, fd, "VMM-IMPORT-FOREIGN", "the file itself, changed");
    other = token;
    other.name[0]++;
    if (pwrite(writer, &other, sizeof other, 0) != sizeof other)
        tap_bail("the token cannot be spoilt");
    not_imported(a, fd, "VMM-IMPORT-FOREIGN", "the file itself, with another name");
    if (ftruncate(writer, 3))
        tap_bail("the token cannot be cut");
    not_imported(a, fd, "VMM-IMPORT-FOREIGN", "the file itself, cut");
    close(writer);
    close(fd);
    rig_close(a);
}

/* The state says of the block what cannot be; the file of its memory is gone, or shorter. */
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
    WRONG(size, UINT64_MAX, "a size beyond everything");
    WRONG(size, UINT64_C(1) << 40, "a size beyond the file");
    WRONG(place, UINT64_MAX - 4095, "a place beyond everything");
    WRONG(place, 1, "a place between pages");
    WRONG(location_id, 7, "a device that is not there");
    WRONG(location_id, -1, "a device below all");
    WRONG(location_type, 9, "a kind of place that is none");
    WRONG(home, 12345, "a home that never was");
    struct stat is;
    char name[64];
    snprintf(name, sizeof name, "mem.%llu", (unsigned long long)kept.home);
    if (stat(rig_path("one", name), &is))
        tap_bail("no memory");
    WRONG(size, (uint64_t)is.st_size - kept.place + 1, "a size a byte beyond the file");
    WRONG(place, (uint64_t)is.st_size, "a place at its end");
    WRONG(place, (uint64_t)is.st_size + 4096, "a place behind it");
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
    tap_ok(rig_free(b) != UINT64_MAX, "counts beyond the tables are not believed");
    handle_t copy = 0, other = 0;
    tap_result(rig_import(b, fd, &copy), VMM_SUCCESS, "as it was it is imported");
    uint64_t numbers = atomic_exchange(&state->numbers, UINT64_MAX);
    rig_create(a, RIG_G, &other);
    tap_ok(rig_export(a, other) < 0 && rig_reported("VMM-EXPORT-SYSTEM"), "where numbers have run out nothing is exported");
    atomic_store(&state->numbers, numbers);
    int second = rig_export(a, other);
    tap_ok(second >= 0, "and when there are some again it is: %s", vmm_last_detail()->note);
    close(second);
    munmap(state, sizeof *state);
    close(fd);
    rig_close(a);
    rig_close(b);
}

/* A process has the file of a slot, and did not come to say so: whoever comes then takes the next. */
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
           "a slot that another has is left alone");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(socket);
    vmm_system *c = rig_open("one");
    tap_ok(c && atomic_load(&state->slot[1].taken) == 1 && !atomic_load(&state->slot[3].taken),
           "when that has ended it is taken");
    munmap(state, sizeof *state);
    rig_close(c);
    rig_close(b);
    rig_close(a);
}

/* Others took the process for one that has ended. */
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
           "a process whose slot is another's may take and export nothing");
    atomic_store(&state->slot[0].serial, serial - 1);
    tap_ok(rig_create(a, RIG_G, &other) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"),
           "whether it came later or was there before");
    atomic_store(&state->slot[0].serial, serial);
    _Atomic uint64_t *const words[] = {&state->slot[0].owner, &state->slot[0].taken};
    for (size_t i = 0; i < 2; i++) {
        uint64_t kept = atomic_load(words[i]);
        atomic_store(words[i], i ? 0 : kept + 1);
        tap_ok(rig_create(a, RIG_G, &other) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"),
               i ? "or the slot is nobody's" : "and is another process");
        atomic_store(words[i], kept);
    }
    atomic_store(&state->slot[0].serial, serial - 1);
    vmm_mem_release(a, memory);
    tap_u64(rig_free(b), before, "and changes nothing in what is not its own any more");
    atomic_store(&state->slot[0].serial, serial);
    munmap(state, sizeof *state);
    rig_close(a);
    rig_close(b);
}

/* A block that nobody holds, of a home that is gone, of which the state says what cannot be: it is ended all the same. */
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
        tap_u64(rig_free(b), all, "a block that cannot be is ended");
    }
    rig_close(b);
}

/* Cut while it is open: what is given back needs nobody, everything else says what is wrong. */
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
        tap_bail("the state cannot be cut");
    tap_ok(rig_create(a, RIG_G, &copy) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"), "no create");
    tap_ok(rig_import(a, fd, &copy) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"), "no import");
    tap_ok(rig_export(a, memory) < 0 && rig_reported("VMM-SHARE-STATE"), "no export");
    tap_ok(vmm_mem_get_info(a, &bytes, &total) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"),
           "nobody knows what is free");
    vmm_deviceptr at = 0;
    tap_ok(vmm_mem_alloc(a, &at, 100) == VMM_ERROR_OPERATING_SYSTEM && rig_reported("VMM-SHARE-STATE"), "no allocation");
    vmm_deviceptr p = rig_map(a, memory, RIG_G);
    tap_ok(p && vmm_memset_d8(a, p, 1, RIG_G) == VMM_SUCCESS && rig_byte(a, p) == 1, "memory that is there can be used");
    tap_result(vmm_mem_release(a, memory), VMM_SUCCESS, "and released");
    tap_result(vmm_mem_release(a, other), VMM_SUCCESS, "exported or not");
    rig_unmap(a, p, RIG_G);
    rig_close(a);
    close(fd);
    vmm_system *b = rig_open("one");
    tap_ok(b != NULL, "the next to open it makes a new one");
    rig_close(b);
}

/* ---- processes ---- */

/* What a process leaves that is killed after it made a token and before there is a block for it. */
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
    tap_ok(second >= 0 && !os_file_exists(left), "half an export goes with the next one");
    left = half_exported(state);
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        _exit(rig_open("one") == NULL); /* it closes nothing */
    waitpid(child, NULL, 0);
    rig_free(a);
    tap_ok(!os_file_exists(left), "or when somebody looks for what the dead have left");
    handle_t copy = 0;
    tap_ok(rig_import(a, first, &copy) == VMM_SUCCESS && rig_import(a, second, &copy) == VMM_SUCCESS,
           "whole ones stay");
    munmap(state, sizeof *state);
    close(first);
    close(second);
    rig_close(a);
}

/* A parent that opened, and a child that goes on with that before either has initialised: two processes of the machine. */
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
    tap_ok(!vmm_init(sys, 0) && !vmm_ctx_create(sys, &ctx, 0, 0), "the parent initialises what the child has as well");
    uint64_t before = rig_free(sys);
    passing_wait(socket);
    before = rig_free(sys);
    rig_create(sys, RIG_G, &memory);
    tap_u64(rig_free(sys), before - RIG_G, "each takes of its own");
    close(socket);
    tap_ok(waitpid(child, &status, 0) == child && status == 0, "the child did");
    tap_u64(rig_free(sys), before + 2 * RIG_G, "what it had is free when it has ended without a word");
    rig_close(sys);
}

/* A forked child of an initialised process has no part in it: what it closes is its own copy. */
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
    tap_ok(waitpid(child, &status, 0) == child && status == 0, "a forked child may do nothing, and close");
    tap_u64(rig_free(a), before, "what its parent has is as it was");
    tap_u64((uint64_t)rig_byte(a, p + 77), 0x42, "so are the bytes");
    tap_u64((uint64_t)rig_byte(a, q + 77), 0x43, "also of what is not exported");
    tap_u64((uint64_t)rig_byte(a, r + 77), 0x44, "and of what cannot be");
    close(fd);
    vmm_system *b = rig_open("one");
    tap_u64(rig_free(b), before, "for others too");
    rig_close(b);
    rig_close(a);
}

int main(void)
{
    rig_begin();
    together("one");
    together("1"); /* as short as a name can be */
    zeros();
    exported_by();
    what_stays();
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
    rig_end();
    return tap_done();
}

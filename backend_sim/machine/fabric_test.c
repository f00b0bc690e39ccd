/* SPDX-License-Identifier: Apache-2.0 */
/* Fabric handles between machines: which node can import what, forged bytes and states, and nodes that die. The nodes are systems
 * of this process, or of children if one has to end. */
#include "fabric_handle.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "passing.h"
#include "process.h"
#include "share.h"
#include "share_state.h"
#include "state_rig.h"
#include "system.h"
#include "vmm_fd.h"

#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC

typedef vmm_mem_generic_allocation_handle handle_t;
typedef unsigned char fabric_t[VMM_FABRIC_HANDLE_SIZE];

static char channels[96]; /* the folder of channels */

/* ---- nodes and what they do ---- */

static void channel(const char *folder, unsigned number, bool there)
{
    char path[160];
    snprintf(path, sizeof path, "%s/channel%u", folder, number);
    unlink(path);
    if (there) {
        int file = open(path, O_CREAT | O_RDWR, 0600);
        if (file < 0)
            tap_bail("no channel can be created");
        close(file);
    }
}

/* Opens a node of that machine; name NULL: a machine without a name; folder NULL: no imex=. */
static vmm_system *node(const char *machine, const char *folder)
{
    vmm_system *sys = NULL;
    vmm_context ctx;
    char spec[300];
    snprintf(spec, sizeof spec, "sim:max%s%s%s%s", machine ? ",machine=" : "", machine ? machine : "",
             folder ? ",imex=" : "", folder ? folder : "");
    if (vmm_open(spec, &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS ||
        vmm_ctx_create(sys, &ctx, 0, 0) != VMM_SUCCESS)
        tap_bail("%s does not start: %s", spec, vmm_last_detail()->note);
    return sys;
}

static uint64_t unit_of(vmm_system *sys)
{
    uint64_t unit = 0;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_get_allocation_granularity(sys, &unit, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM);
    return unit;
}

static vmm_result create(vmm_system *sys, int types, handle_t *handle)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .requested_handle_types = types,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    return vmm_mem_create(sys, handle, unit_of(sys), &prop, 0);
}

static vmm_result export_to(vmm_system *sys, handle_t handle, fabric_t bytes)
{
    return vmm_mem_export_to_shareable_handle(sys, bytes, handle, FABRIC, 0);
}

static vmm_result import_from(vmm_system *sys, fabric_t bytes, handle_t *handle)
{
    return vmm_mem_import_from_shareable_handle(sys, handle, bytes, FABRIC);
}

/* Creates memory on a node, and exports it as a handle. */
static handle_t exported(vmm_system *sys, fabric_t bytes)
{
    handle_t handle = 0;
    if (create(sys, FABRIC, &handle) != VMM_SUCCESS || export_to(sys, handle, bytes) != VMM_SUCCESS)
        tap_bail("the export failed: %s", vmm_last_detail()->note);
    return handle;
}

static void refused(vmm_system *sys, fabric_t bytes, vmm_result result, const char *rule, const char *what)
{
    handle_t copy = 0x77;
    vmm_result got = import_from(sys, bytes, &copy);
    tap_ok(got == result && rig_reported(rule) && copy == 0x77, "%s: %s, %s", what, vmm_result_name(got),
           vmm_last_detail()->rule ? vmm_last_detail()->rule : "no rule");
}

/* ---- two nodes ---- */

static void two_nodes(const char *one, const char *two, const char *folder)
{
    vmm_system *a = node(one, folder), *b = node(two, folder);
    fabric_t bytes;
    bool same = one && two && strcmp(one, two) == 0; /* both are processes of one node */
    handle_t copies[20] = {0};
    uint64_t g = unit_of(a), free_a = rig_free(a), free_b = rig_free(b);
    handle_t memory = exported(a, bytes);
    vmm_deviceptr p = rig_map(a, memory, g), q;
    vmm_memset_d8(a, p, 0x5a, g);
    vmm_result result = VMM_SUCCESS;
    for (size_t i = 0; i < 20 && result == VMM_SUCCESS; i++)
        result = import_from(b, bytes, &copies[i]);
    tap_result(result, VMM_SUCCESS, "another node imports the handle twenty times");
    tap_ok(rig_free(a) == free_a - g && rig_free(b) == free_b - (same ? g : 0), "the memory counts once, on its own node");
    q = rig_map(b, copies[0], g);
    tap_u64((uint64_t)rig_byte(b, q + g - 1), 0x5a, "the importer sees the bytes");
    vmm_memset_d8(b, q, 0x11, 1);
    tap_u64((uint64_t)rig_byte(a, p), 0x11, "the importer can write them");
    tap_ok(export_to(b, copies[0], bytes) == VMM_ERROR_INVALID_VALUE && rig_reported("VMM-EXPORT-IMPORTED"),
           "an imported handle cannot be exported again");
    rig_unmap(a, p, g);
    vmm_mem_release(a, memory);
    tap_u64(rig_free(a), free_a - g, "the import holds the memory");
    tap_ok(import_from(a, bytes, &memory) == VMM_SUCCESS && vmm_mem_release(a, memory) == VMM_SUCCESS,
           "the handle can be imported as long as any process holds the memory");
    for (size_t i = 1; i < 20; i++)
        vmm_mem_release(b, copies[i]);
    vmm_mem_release(b, copies[0]);
    tap_u64((uint64_t)rig_byte(b, q + 1), 0x5a, "only a mapping holds the memory");
    rig_unmap(b, q, g);
    tap_u64(rig_free(a), free_a, "dropping the last holder frees the memory");
    refused(a, bytes, VMM_ERROR_INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "its own node refuses the handle afterwards");
    refused(b, bytes, VMM_ERROR_INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "another node refuses the handle afterwards");
    rig_close(a);
    refused(b, bytes, VMM_ERROR_INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "a handle of a node that has ended is refused");
    tap_ok(same || strstr(vmm_last_detail()->note, "the node that exported it no longer exists"), "with the reason: %s",
           vmm_last_detail()->note);
    rig_close(b);
    tap_u64(rig_machines(), 0, "no machine is left");
}

static unsigned taken(const struct share_state *state)
{
    unsigned count = 0;
    for (unsigned i = 0; i < SHARE_PROCESSES; i++)
        count += atomic_load(&state->slot[i].taken) != 0;
    return count;
}

enum { NODES = 4 };

/* A node that imports, and the nodes that it imports from, twice each. */
struct many {
    vmm_system *importer, *from[NODES];
    struct share_state *state[NODES];
    handle_t copies[2][NODES];
    uint64_t before[NODES], unit;
};

static unsigned import_from_many(struct many *m)
{
    fabric_t bytes[NODES];
    unsigned wrong = 0;
    m->importer = node("importer", channels);
    m->unit = unit_of(m->importer);
    for (unsigned i = 0; i < NODES; i++) {
        char name[16];
        snprintf(name, sizeof name, "node%u", i);
        m->from[i] = node(name, channels);
        m->state[i] = rig_state(name);
        m->before[i] = rig_free(m->from[i]);
        exported(m->from[i], bytes[i]);
    }
    for (unsigned turn = 0; turn < 2; turn++)
        for (unsigned i = 0; i < NODES; i++)
            wrong += import_from(m->importer, bytes[i], &m->copies[turn][i]) != VMM_SUCCESS || taken(m->state[i]) != 2;
    return wrong;
}

/* Releases the imports in that order; the last one by closing the system. */
static unsigned leave_many(struct many *m, const unsigned order[NODES])
{
    unsigned wrong = 0, over = 0;
    for (unsigned i = 0; i < NODES; i++) {
        unsigned gone = order[i];
        vmm_mem_release(m->importer, m->copies[0][gone]);
        wrong += taken(m->state[gone]) != 2;
        if (i < NODES - 1)
            vmm_mem_release(m->importer, m->copies[1][gone]);
        else
            rig_close(m->importer);
        over |= 1U << gone;
        for (unsigned j = 0; j < NODES; j++)
            wrong += taken(m->state[j]) != (over >> j & 1 ? 1 : 2) || rig_free(m->from[j]) != m->before[j] - m->unit;
    }
    return wrong;
}

/* An importer has one slot in each node, for as long as it holds memory of that node. */
static void many_nodes(void)
{
    static const unsigned orders[][NODES] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}};
    for (size_t order = 0; order < sizeof orders / sizeof orders[0]; order++) {
        struct many m = {.unit = 0};
        tap_u64(import_from_many(&m), 0, "a node takes exactly one slot in each of %d other nodes", NODES);
        tap_u64(leave_many(&m, orders[order]), 0, "the slots are freed one by one, or all at the node's end");
        for (unsigned i = 0; i < NODES; i++) {
            munmap(m.state[i], sizeof *m.state[i]);
            rig_close(m.from[i]);
        }
        tap_u64(rig_machines(), 0, "no machine is left");
    }
}

/* Each node has memory of the other: closing them in any order frees everything. */
static void crosswise(void)
{
    vmm_system *a = node("one", channels), *b = node(NULL, channels);
    fabric_t of_a, of_b;
    handle_t from_b = 0, from_a = 0;
    exported(a, of_a);
    handle_t own = exported(b, of_b);
    vmm_deviceptr p = rig_map(b, own, unit_of(b));
    vmm_memset_d8(b, p, 0x66, unit_of(b));
    tap_ok(!import_from(a, of_b, &from_b) && !import_from(b, of_a, &from_a), "two nodes import from each other");
    rig_close(b);
    vmm_deviceptr q = rig_map(a, from_b, unit_of(a));
    tap_u64((uint64_t)rig_byte(a, q + 9), 0x66, "memory outlives the last process of its node");
    handle_t again = 0;
    vmm_system *c = node("three", channels);
    tap_result(import_from(c, of_b, &again), VMM_SUCCESS, "the memory can still be imported");
    rig_close(c);
    tap_u64(rig_machines(), 2, "the node's folder stays");
    rig_unmap(a, q, unit_of(a));
    vmm_mem_release(a, from_b);
    tap_u64(rig_machines(), 1, "the folder goes with the memory");
    rig_close(a);
    tap_u64(rig_machines(), 0, "the last folder goes as well");
}

/* ---- channels and domains ---- */

static void not_created(const char *folder, const char *says, const char *what)
{
    vmm_system *sys = node("one", folder);
    handle_t handle = 0x77;
    vmm_result result = create(sys, FABRIC, &handle);
    tap_ok(result == VMM_ERROR_NOT_PERMITTED && rig_reported("VMM-CREATE-FABRIC-IMEX") && handle == 0x77 &&
               strstr(vmm_last_detail()->note, says),
           "%s: %s", what, vmm_last_detail()->note);
    rig_close(sys);
}

/* Without a channel, the message reports that, and not the domain, which differs as well. */
static void not_imported_without(const char *folder)
{
    vmm_system *a = node("one", channels), *b = node("two", folder);
    fabric_t bytes;
    exported(a, bytes);
    refused(b, bytes, VMM_ERROR_NOT_PERMITTED, "VMM-IMPORT-FABRIC-IMEX", "importing without a channel");
    tap_ok(strstr(vmm_last_detail()->note, "no file channelN") != NULL, "the message says that there is no channel: %s",
           vmm_last_detail()->note);
    rig_close(b);
    rig_close(a);
}

/* Every entry of the folder counts, not only the first few. */
static void many_links(const char *folder, int count)
{
    char path[200], words[40];
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/channel%d", folder, i);
        if (symlink("nowhere", path))
            tap_bail("the link cannot be created");
    }
    snprintf(words, sizeof words, "%d channels, but", count);
    not_created(folder, words, "with many of them");
    for (int i = 0; i < count; i++) {
        snprintf(path, sizeof path, "%s/channel%d", folder, i);
        unlink(path);
    }
}

static void no_channel(void)
{
    static const char *const names[] = {"channel", "channel-1", "channel01", "channel65536", "channel123456",
                                        "channel4294967297", "channel1x",
                                        "chan", "xchannel1"};
    char folder[160], path[200];
    snprintf(folder, sizeof folder, "%s/none", channels);
    not_created(folder, "no folder", "a folder that does not exist");
    mkdir(folder, 0700);
    not_created(folder, "contains no file", "a folder without channels");
    not_imported_without(folder);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        close(open(path, O_CREAT | O_RDWR, 0600));
    }
    not_created(folder, "no file channelN", "a folder with other files");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/channel3", folder);
    if (symlink("nowhere", path))
        tap_bail("the link cannot be created");
    not_created(folder, "1 channel, but", "with a channel that is a dangling link");
    unlink(path);
    many_links(folder, 40);
    if (geteuid() == 0) {
        tap_skip("root has access to every file", "a read-only channel");
    } else {
        channel(folder, 0, true);
        snprintf(path, sizeof path, "%s/channel0", folder);
        chmod(path, 0400);
        not_created(folder, "1 channel, but", "with a read-only channel");
        channel(folder, 0, false);
    }
    vmm_system *sys = node("one", folder);
    handle_t handle = 0;
    channel(folder, 12, true);
    tap_result(create(sys, FABRIC | RIG_FD, &handle), VMM_SUCCESS, "a channel that is added later is found");
    rig_close(sys);
    channel(folder, 12, false);
    rmdir(folder);
}

/* Memory gets the lowest channel that exists when it is created; both ends need that very channel. */
static void which_channel(void)
{
    vmm_system *a = node("one", channels), *b = node("two", channels);
    fabric_t bytes, other;
    handle_t copy = 0, later = 0;
    channel(channels, 1, true);
    handle_t memory = exported(a, bytes);
    channel(channels, 0, false);
    refused(b, bytes, VMM_ERROR_NOT_PERMITTED, "VMM-IMPORT-FABRIC-IMEX", "the memory's channel was removed: another node");
    refused(a, bytes, VMM_ERROR_NOT_PERMITTED, "VMM-IMPORT-FABRIC-IMEX", "the memory's channel was removed: its own node");
    memset(other, 7, sizeof other);
    tap_ok(export_to(a, memory, other) == VMM_ERROR_NOT_PERMITTED && rig_reported("VMM-EXPORT-FABRIC-IMEX") &&
               strstr(vmm_last_detail()->note, "channel0") && other[0] == 7,
           "the memory is not exported either: %s", vmm_last_detail()->note);
    tap_ok(!create(a, FABRIC, &later) && !export_to(a, later, other), "new memory gets the next channel");
    tap_ok(!import_from(b, other, &copy) && !vmm_mem_release(b, copy), "memory on the next channel can be imported");
    channel(channels, 0, true);
    tap_ok(!import_from(b, bytes, &copy) && !export_to(a, memory, other) && !memcmp(bytes, other, sizeof other),
           "after the channel is back, the first memory can be imported and exported again");
    channel(channels, 1, false);
    rig_close(a);
    tap_ok(rig_map(b, copy, unit_of(b)) != 0, "an earlier import stays usable");
    channel(channels, 0, false);
    refused(b, bytes, VMM_ERROR_NOT_PERMITTED, "VMM-IMPORT-FABRIC-IMEX", "importing when no channel is left");
    channel(channels, 0, true);
    rig_close(b);
}

static void which_domain(void)
{
    char folder[160], link[160];
    snprintf(folder, sizeof folder, "%s/other", channels);
    snprintf(link, sizeof link, "%s/link", channels);
    mkdir(folder, 0700);
    channel(folder, 0, true);
    if (symlink(channels, link))
        tap_bail("the link cannot be created");
    vmm_system *a = node("one", channels), *b = node("two", folder), *c = node("three", NULL), *d = node("four", link);
    fabric_t bytes;
    handle_t copy = 0;
    exported(a, bytes);
    refused(b, bytes, VMM_ERROR_NOT_PERMITTED, "VMM-IMPORT-FABRIC-DOMAIN", "another folder");
    refused(c, bytes, VMM_ERROR_NOT_PERMITTED, "VMM-IMPORT-FABRIC-DOMAIN", "no folder");
    tap_result(import_from(d, bytes, &copy), VMM_SUCCESS, "the same folder under another path");
    rig_close(d);
    rig_close(c);
    rig_close(b);
    rig_close(a);
    channel(folder, 0, false);
    unlink(link);
    rmdir(folder);
}

/* ---- bytes that are not a handle ---- */

static void garbage(void)
{
    vmm_system *a = node("one", channels), *b = node("two", channels);
    fabric_t bytes, spoilt;
    unsigned wrong = 0;
    exported(a, bytes);
    for (unsigned bit = 0; bit < 8 * sizeof bytes; bit++) {
        handle_t copy = 0x77;
        memcpy(spoilt, bytes, sizeof bytes);
        spoilt[bit / 8] ^= (unsigned char)(1u << bit % 8);
        wrong += import_from(b, spoilt, &copy) != VMM_ERROR_NOT_SUPPORTED || !rig_reported("VMM-IMPORT-FABRIC") ||
                 copy != 0x77;
    }
    tap_u64(wrong, 0, "changing any of the 512 bits invalidates the handle");
    memset(spoilt, 0, sizeof spoilt);
    refused(b, spoilt, VMM_ERROR_NOT_SUPPORTED, "VMM-IMPORT-FABRIC", "zeros");
    memset(spoilt, 0xff, sizeof spoilt);
    refused(b, spoilt, VMM_ERROR_NOT_SUPPORTED, "VMM-IMPORT-FABRIC", "ones");
    for (size_t i = 0; i < sizeof spoilt; i++)
        spoilt[i] = bytes[sizeof bytes - 1 - i];
    refused(b, spoilt, VMM_ERROR_NOT_SUPPORTED, "VMM-IMPORT-FABRIC", "a handle backwards");
    rig_close(a);
    rig_close(b);
}

/* Nodes may run different builds, so the format is fixed: seven words, then their sum (FNV-1a, 64 bits). */
static void format(void)
{
    static const uint64_t words[8] = {0x3163697262616676, 1, 2 | UINT64_C(7) << 32, 3, 4, 5, 6, 0x9ceb30fbe9c81b4b};
    const struct imex_place place = {1, 2};
    const struct share_label label = {3, 4, {5, 6}, 7};
    fabric_t bytes;
    fabric_handle_write(bytes, &place, &label);
    tap_ok(memcmp(bytes, words, sizeof words) == 0, "a handle has the bytes that other builds expect");
}

static uint64_t sum_of(uint64_t sum, uint64_t word)
{
    unsigned char bytes[8];
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(word >> 8 * i);
    for (unsigned i = 0; i < 8; i++)
        sum = (sum ^ bytes[i]) * UINT64_C(0x100000001b3);
    return sum;
}

/* The number of a domain is fixed as well: the folder's device and number and the profile's number, hashed the same way; never
 * 0. */
static void domain(void)
{
    struct sim_profile profile;
    struct stat is;
    uint64_t got = 0;
    char why[IMEX_WHY];
    if (!sim_profile_builtin("gb200x4", &profile) || stat(channels, &is))
        tap_bail("no profile, or no folder");
    uint64_t sum = sum_of(sum_of(UINT64_C(0xcbf29ce484222325), (uint64_t)is.st_dev), (uint64_t)is.st_ino);
    tap_ok(imex_domain(channels, &profile, &got, why), "a folder is a domain");
    tap_u64(got, sum_of(sum, share_profile_number(&profile)) | 1, "the domain has the number that other builds compute");
    if (stat(".", &is))
        tap_bail("no folder");
    sum = sum_of(sum_of(UINT64_C(0xcbf29ce484222325), (uint64_t)is.st_dev), (uint64_t)is.st_ino);
    tap_ok(imex_domain(".", &profile, &got, why) && got == (sum_of(sum, share_profile_number(&profile)) | 1),
           "a folder with a short name is a domain");
    tap_ok(imex_usable("", &profile, 0, why) == 0 && imex_usable("", &profile, 3, why) == IMEX_NONE &&
               strstr(why, "only channel 0, not channel 3"),
           "without a folder there is one channel: %s", why);
    profile.imex = !profile.imex;
    tap_ok(imex_usable("", &profile, 0, why) == IMEX_NONE && strstr(why, "the profile has fabric.imex = no"),
           "without a folder there is none where the profile has none: %s", why);
    profile.imex = !profile.imex;
    tap_ok(!imex_domain("/no/such/folder", &profile, &got, why) && strstr(why, "/no/such/folder"),
           "a missing folder is not a domain");
}

/* A program that knows the format can forge a handle: the state does not agree with it. */
static void forged(void)
{
    vmm_system *a = node("one", channels), *b = node("two", channels);
    fabric_t bytes, made;
    struct imex_place place, p;
    struct share_label label, l;
    handle_t plain = 0;
    channel(channels, 1, true);
    exported(a, bytes);
    tap_ok(fabric_handle_read(bytes, &place, &label), "a handle can be decoded");
#define FORGED(change, result, rule, what)                \
    do {                                                  \
        p = place;                                        \
        l = label;                                        \
        change;                                           \
        fabric_handle_write(made, &p, &l);                \
        refused(b, made, VMM_ERROR_##result, rule, what); \
        refused(a, made, VMM_ERROR_##result, rule, what); \
    } while (0)
    FORGED(p.domain++, NOT_PERMITTED, "VMM-IMPORT-FABRIC-DOMAIN", "another domain");
    FORGED(p.channel = 2, NOT_PERMITTED, "VMM-IMPORT-FABRIC-IMEX", "a channel that does not exist");
    FORGED(p.channel = UINT32_MAX, NOT_PERMITTED, "VMM-IMPORT-FABRIC-IMEX", "no channel");
    FORGED(p.channel = 1, INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "another existing channel");
    FORGED(l.machine++, INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "another machine");
    FORGED(l.number++, INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "another block");
    FORGED(l.number = 0, INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "no block");
    FORGED(l.index++, INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "another table index");
    FORGED(l.index = UINT32_MAX, INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "an index outside the table");
    FORGED(l.nonce[1] ^= 1, INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "a guess");
    /* A descriptor reveals the name of memory that was not created for a fabric; a handle made from that name is refused. */
    create(a, RIG_FD, &plain);
    int fd = rig_export(a, plain);
    uint64_t token[7]; /* magic, machine, index, number, nonce */
    if (pread(fd, token, sizeof token, 0) != sizeof token)
        tap_bail("a descriptor's file cannot be read");
    FORGED((l = (struct share_label){token[1], token[3], {token[4], token[5]}, (uint32_t)token[2]}), INVALID_VALUE,
           "VMM-IMPORT-FABRIC-GONE", "memory that was created for descriptors");
    FORGED((p.domain = 0, l.number = token[3]), NOT_PERMITTED, "VMM-IMPORT-FABRIC-DOMAIN", "no domain");
    close(fd);
    struct sim_machine *machine = ((struct sim_process *)a->top)->machine;
    struct sim_block *block = NULL;
    char why[SHARE_WHY];
    sim_machine_lock(machine);
    if (!share_lock(machine->share))
        tap_bail("the lock is not available");
    p = (struct imex_place){0};
    l = (struct share_label){token[1], token[3], {token[4], token[5]}, (uint32_t)token[2]};
    tap_ok(share_import_named(machine->share, machine, &l, &p, &block, why) == SHARE_UNKNOWN && !block, "nor is it found without a domain");
    p = place;
    l = label;
    l.machine++;
    tap_ok(share_import_named(machine->share, machine, &l, &p, &block, why) == SHARE_UNKNOWN && !block, "nor a block of another machine");
    share_unlock(machine->share);
    sim_machine_unlock(machine);
    for (int more = -1; more <= 1; more += 2) { /* the first word of a handle, and its last one, the sum of the others */
        uint64_t word[8], sum = UINT64_C(0xcbf29ce484222325);
        memcpy(word, bytes, sizeof word);
        word[0] += (uint64_t)(int64_t)more;
        for (unsigned i = 0; i < 7; i++)
            sum = sum_of(sum, word[i]);
        word[7] = sum;
        tap_ok(!fabric_handle_read(word, &p, &l), "a handle of another version is refused, even with a correct sum");
    }
    channel(channels, 1, false);
    rig_close(a);
    rig_close(b);
    tap_u64(rig_machines(), 0, "the refused imports leave no machine attached");
}

/* ---- hints in the report at the end ---- */

static void count_hint(void *user, const vmm_detail *detail)
{
    *(unsigned *)user += detail->severity == VMM_SEVERITY_HINT;
}

static unsigned hints(vmm_system *sys)
{
    unsigned count = 0;
    vmm_leaks(sys, count_hint, &count);
    return count;
}

/* Only the exporting node gets a hint about its exports; the others, which also see them in the state, do not. */
static void hinted(void)
{
    vmm_system *a = node("one", channels), *b = node("two", channels);
    fabric_t bytes, name;
    handle_t object = 0, copy = 0;
    vmm_multicast_object_prop prop = {.num_devices = 2, .handle_types = FABRIC};
    handle_t memory = exported(a, bytes);
    vmm_multicast_get_granularity(a, &prop.size, &prop, VMM_MULTICAST_GRANULARITY_MINIMUM);
    tap_ok(!vmm_multicast_create(a, &object, &prop) && !export_to(a, object, name),
           "memory and a multicast object are exported to the fabric");
    tap_result(import_from(b, bytes, &copy), VMM_SUCCESS, "the memory is imported");
    tap_ok(!hints(a) && !hints(b), "no hint while both nodes hold the memory");
    vmm_mem_release(a, memory);
    tap_ok(hints(a) == 1 && !hints(b), "the exporter gets the hint that another node holds the memory");
    vmm_mem_release(b, copy);
    tap_ok(!hints(a) && !hints(b), "the hint goes when the other node releases the memory");
    rig_close(b);
    rig_close(a);
}

/* ---- a node's state that was damaged ---- */

static void damaged(void)
{
    vmm_system *a = node("one", channels), *b = node("two", channels);
    fabric_t bytes;
    handle_t copy = 0, second = 0;
    exported(a, bytes);
    tap_result(import_from(b, bytes, &copy), VMM_SUCCESS, "the memory is imported");
    vmm_deviceptr q = rig_map(b, copy, unit_of(b));
    if (truncate(rig_path("one", "state"), 5))
        tap_bail("the state cannot be truncated");
    refused(b, bytes, VMM_ERROR_INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "a node with a truncated state");
    if (truncate(rig_path("one", "state"), 0))
        tap_bail("the state cannot be emptied");
    refused(b, bytes, VMM_ERROR_INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "a node with an empty state");
    tap_ok(vmm_memset_d8(b, q, 3, 1) == VMM_SUCCESS && rig_byte(b, q) == 3, "imported memory stays usable");
    rig_unmap(b, q, unit_of(b));
    tap_result(vmm_mem_release(b, copy), VMM_SUCCESS, "imported memory can be released");
    tap_result(create(b, FABRIC, &second), VMM_SUCCESS, "the importer's own machine still works");
    rig_close(b);
    rig_close(a);
    a = node("one", channels); /* sweeps the damaged machine */
    rig_close(a);
}

/* ---- nodes that die ---- */

static void dies(int socket, bool importer, fabric_t bytes)
{
    handle_t handle = 0;
    alarm(30);
    vmm_system *sys = node("two", channels);
    if (!importer)
        exported(sys, bytes);
    bool ok = importer ? import_from(sys, bytes, &handle) == VMM_SUCCESS && rig_map(sys, handle, unit_of(sys))
                       : write(socket, bytes, VMM_FABRIC_HANDLE_SIZE) == VMM_FABRIC_HANDLE_SIZE;
    if (ok)
        passing_go_on(socket);
    passing_wait(socket);
    _exit(0);
}

static pid_t child(int ends[2], bool importer, fabric_t bytes)
{
    if (vmm_fd_pair(ends) != VMM_SUCCESS)
        tap_bail("no sockets");
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        close(ends[0]);
        dies(ends[1], importer, bytes);
    }
    close(ends[1]);
    return pid;
}

static void killed(pid_t pid, int socket)
{
    int status;
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    close(socket);
}

static void importer_dies(void)
{
    int ends[2];
    fabric_t bytes;
    vmm_system *a = node("one", channels);
    uint64_t before = rig_free(a);
    handle_t memory = exported(a, bytes);
    pid_t pid = child(ends, true, bytes);
    tap_ok(passing_wait(ends[0]), "a node in another process imports the memory");
    vmm_mem_release(a, memory);
    tap_ok(rig_free(a) < before, "the imported memory is in use");
    killed(pid, ends[0]);
    tap_u64(rig_free(a), before, "killing the importer frees the memory");
    rig_close(a);
}

static void exporter_dies(void)
{
    int ends[2];
    fabric_t bytes;
    handle_t copy = 0, again = 0;
    vmm_system *a = node("one", channels);
    pid_t pid = child(ends, false, bytes);
    if (read(ends[0], bytes, sizeof bytes) != sizeof bytes || !passing_wait(ends[0]))
        tap_bail("the other node exported nothing");
    tap_result(import_from(a, bytes, &copy), VMM_SUCCESS, "memory of a node in another process is imported");
    killed(pid, ends[0]);
    vmm_deviceptr p = rig_map(a, copy, unit_of(a));
    tap_ok(p && !vmm_memset_d8(a, p, 4, 1) && rig_byte(a, p) == 4, "the memory stays usable after its exporter is killed");
    tap_ok(!import_from(a, bytes, &again) && !vmm_mem_release(a, again), "the memory can even be imported again");
    rig_unmap(a, p, unit_of(a));
    vmm_mem_release(a, copy);
    refused(a, bytes, VMM_ERROR_INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "after the release the handle is refused");
    tap_u64(rig_machines(), 1, "the dead node's machine is removed");
    pid = child(ends, false, bytes);
    if (read(ends[0], bytes, sizeof bytes) != sizeof bytes || !passing_wait(ends[0]))
        tap_bail("the other node exported nothing");
    killed(pid, ends[0]);
    refused(a, bytes, VMM_ERROR_INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE",
            "a handle that was not imported before its node died is refused");
    tap_u64(rig_machines(), 1, "the dead node's memory goes with it");
    rig_close(a);
}

/* A forked child does not share its parent's imports: it closes its own copy. */
static void forked_child(void)
{
    vmm_system *a = node("one", channels), *b = node("two", channels);
    fabric_t bytes;
    handle_t copy = 0;
    int status = 0;
    exported(a, bytes);
    import_from(b, bytes, &copy);
    vmm_deviceptr q = rig_map(b, copy, unit_of(b));
    vmm_memset_d8(b, q, 0x42, unit_of(b));
    uint64_t before = rig_free(a);
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        handle_t mine = 0;
        alarm(30);
        bool refused_there = import_from(b, bytes, &mine) == VMM_ERROR_NOT_INITIALIZED;
        rig_close(b);
        rig_close(a);
        _exit(!refused_there);
    }
    tap_ok(waitpid(pid, &status, 0) == pid && status == 0, "a forked child can only close");
    rig_close(a);
    tap_ok(before == rig_free(b) - unit_of(b) && rig_byte(b, q + 5) == 0x42, "the parent's import is unchanged");
    tap_ok(import_from(b, bytes, &copy) == VMM_SUCCESS, "the parent still holds the memory");
    rig_close(b);
    tap_u64(rig_machines(), 0, "no machine is left after the release");
}

int main(void)
{
    rig_begin();
    snprintf(channels, sizeof channels, "%s-imex", rig_root);
    mkdir(channels, 0700);
    channel(channels, 0, true);
    two_nodes("one", "two", channels);
    two_nodes("one", "one", channels);
    two_nodes(NULL, NULL, channels);
    two_nodes(NULL, "two", NULL);
    many_nodes();
    crosswise();
    no_channel();
    which_channel();
    which_domain();
    garbage();
    format();
    domain();
    forged();
    hinted();
    damaged();
    importer_dies();
    exporter_dies();
    forked_child();
    channel(channels, 0, false);
    rmdir(channels);
    rig_end();
    return tap_done();
}

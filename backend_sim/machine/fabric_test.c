/* SPDX-License-Identifier: Apache-2.0 */
/* Fabric handles between machines: which node can import what, forged bytes and states, nodes that die. The nodes are systems
 * of this process, or children of it where one has to end. */
#include "fabric_handle.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "passing.h"
#include "share_state.h"
#include "state_rig.h"
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
            tap_bail("no channel can be made");
        close(file);
    }
}

/* On a machine of that name, NULL for one without; folder NULL: no imex=. */
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

/* Memory of a node, and its handle. */
static handle_t exported(vmm_system *sys, fabric_t bytes)
{
    handle_t handle = 0;
    if (create(sys, FABRIC, &handle) != VMM_SUCCESS || export_to(sys, handle, bytes) != VMM_SUCCESS)
        tap_bail("nothing is exported: %s", vmm_last_detail()->note);
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
    bool same = one && two && strcmp(one, two) == 0; /* two processes of a node */
    handle_t copies[20] = {0};
    uint64_t g = unit_of(a), free_a = rig_free(a), free_b = rig_free(b);
    handle_t memory = exported(a, bytes);
    vmm_deviceptr p = rig_map(a, memory, g), q;
    vmm_memset_d8(a, p, 0x5a, g);
    vmm_result result = VMM_SUCCESS;
    for (size_t i = 0; i < 20 && result == VMM_SUCCESS; i++)
        result = import_from(b, bytes, &copies[i]);
    tap_result(result, VMM_SUCCESS, "another node imports it twenty times");
    tap_ok(rig_free(a) == free_a - g && rig_free(b) == free_b - (same ? g : 0), "it counts where it is, once");
    q = rig_map(b, copies[0], g);
    tap_u64((uint64_t)rig_byte(b, q + g - 1), 0x5a, "the bytes are there");
    vmm_memset_d8(b, q, 0x11, 1);
    tap_u64((uint64_t)rig_byte(a, p), 0x11, "and written from there");
    tap_ok(export_to(b, copies[0], bytes) == VMM_ERROR_INVALID_VALUE && rig_reported("VMM-EXPORT-IMPORTED"),
           "an import is not exported again");
    rig_unmap(a, p, g);
    vmm_mem_release(a, memory);
    tap_u64(rig_free(a), free_a - g, "the importer holds it");
    tap_ok(import_from(a, bytes, &memory) == VMM_SUCCESS && vmm_mem_release(a, memory) == VMM_SUCCESS,
           "as long as anybody does, it can be imported");
    for (size_t i = 1; i < 20; i++)
        vmm_mem_release(b, copies[i]);
    vmm_mem_release(b, copies[0]);
    tap_u64((uint64_t)rig_byte(b, q + 1), 0x5a, "a mapping is enough");
    rig_unmap(b, q, g);
    tap_u64(rig_free(a), free_a, "the last one frees it");
    refused(a, bytes, VMM_ERROR_INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "its own node knows it no more");
    refused(b, bytes, VMM_ERROR_INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "nor does another");
    rig_close(a);
    refused(b, bytes, VMM_ERROR_INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "the node is gone");
    rig_close(b);
    tap_u64(rig_machines(), 0, "nothing is left");
}

static unsigned taken(const struct share_state *state)
{
    unsigned count = 0;
    for (unsigned i = 0; i < SHARE_PROCESSES; i++)
        count += atomic_load(&state->slot[i].taken) != 0;
    return count;
}

enum { NODES = 4 };

/* One that imports, and those that it imports from, twice each. */
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

/* In that order, and of the last by its end. */
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

/* Of each it has one slot for as long as it holds memory of it. */
static void many_nodes(void)
{
    static const unsigned orders[][NODES] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 3, 0, 2}, {2, 0, 3, 1}};
    for (size_t order = 0; order < sizeof orders / sizeof orders[0]; order++) {
        struct many m = {.unit = 0};
        tap_u64(import_from_many(&m), 0, "a node has one slot of each of %d others, and no more", NODES);
        tap_u64(leave_many(&m, orders[order]), 0, "which it leaves one by one, or all of them when it ends");
        for (unsigned i = 0; i < NODES; i++) {
            munmap(m.state[i], sizeof *m.state[i]);
            rig_close(m.from[i]);
        }
        tap_u64(rig_machines(), 0, "nothing is left of them");
    }
}

/* Each has memory of the other: closing in any order gives everything back. */
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
    tap_u64((uint64_t)rig_byte(a, q + 9), 0x66, "memory outlives its node's last process");
    handle_t again = 0;
    vmm_system *c = node("three", channels);
    tap_result(import_from(c, of_b, &again), VMM_SUCCESS, "and can still be imported");
    rig_close(c);
    tap_u64(rig_machines(), 2, "its folder stays for it");
    rig_unmap(a, q, unit_of(a));
    vmm_mem_release(a, from_b);
    tap_u64(rig_machines(), 1, "and goes with it");
    rig_close(a);
    tap_u64(rig_machines(), 0, "as does everything");
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

/* Whoever has no channel is told that, and not of the domain, which is another one. */
static void not_imported_without(const char *folder)
{
    vmm_system *a = node("one", channels), *b = node("two", folder);
    fabric_t bytes;
    exported(a, bytes);
    refused(b, bytes, VMM_ERROR_NOT_PERMITTED, "VMM-IMPORT-FABRIC-IMEX", "importing without a channel");
    tap_ok(strstr(vmm_last_detail()->note, "no file channelN") != NULL, "of which there is none: %s", vmm_last_detail()->note);
    rig_close(b);
    rig_close(a);
}

static void no_channel(void)
{
    static const char *const names[] = {"channel", "channel-1", "channel01", "channel65536", "channel123456", "channel1x",
                                        "chan", "xchannel1"};
    char folder[160], path[200];
    snprintf(folder, sizeof folder, "%s/none", channels);
    not_created(folder, "no folder", "a folder that is not there");
    mkdir(folder, 0700);
    not_created(folder, "no file channelN", "one without channels");
    not_imported_without(folder);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        close(open(path, O_CREAT | O_RDWR, 0600));
    }
    not_created(folder, "no file channelN", "with other files");
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        unlink(path);
    }
    snprintf(path, sizeof path, "%s/channel3", folder);
    if (symlink("nowhere", path))
        tap_bail("no link can be made");
    not_created(folder, "1 channels, but", "with a channel that leads nowhere");
    unlink(path);
    if (geteuid() == 0) {
        tap_skip("root may use every file", "a channel that may only be read");
    } else {
        channel(folder, 0, true);
        snprintf(path, sizeof path, "%s/channel0", folder);
        chmod(path, 0400);
        not_created(folder, "1 channels, but", "with a channel that may only be read");
        channel(folder, 0, false);
    }
    vmm_system *sys = node("one", folder);
    handle_t handle = 0;
    channel(folder, 12, true);
    tap_result(create(sys, FABRIC | RIG_FD, &handle), VMM_SUCCESS, "a channel that comes later is found");
    rig_close(sys);
    channel(folder, 12, false);
    rmdir(folder);
}

/* The memory's channel is the lowest when it was created; each end needs that very one. */
static void which_channel(void)
{
    vmm_system *a = node("one", channels), *b = node("two", channels);
    fabric_t bytes, other;
    handle_t copy = 0, later = 0;
    channel(channels, 1, true);
    handle_t memory = exported(a, bytes);
    channel(channels, 0, false);
    refused(b, bytes, VMM_ERROR_NOT_PERMITTED, "VMM-IMPORT-FABRIC-IMEX", "its channel is gone");
    refused(a, bytes, VMM_ERROR_NOT_PERMITTED, "VMM-IMPORT-FABRIC-IMEX", "for its own node too");
    memset(other, 7, sizeof other);
    tap_ok(export_to(a, memory, other) == VMM_ERROR_NOT_PERMITTED && rig_reported("VMM-EXPORT-FABRIC-IMEX") &&
               strstr(vmm_last_detail()->note, "channel0") && other[0] == 7,
           "it is not exported: %s", vmm_last_detail()->note);
    tap_ok(!create(a, FABRIC, &later) && !export_to(a, later, other), "new memory takes the next");
    tap_ok(!import_from(b, other, &copy) && !vmm_mem_release(b, copy), "which is imported");
    channel(channels, 0, true);
    tap_ok(!import_from(b, bytes, &copy) && !export_to(a, memory, other) && !memcmp(bytes, other, sizeof other),
           "when it is back, everything is as it was");
    channel(channels, 1, false);
    rig_close(a);
    tap_ok(rig_map(b, copy, unit_of(b)) != 0, "what was imported stays");
    channel(channels, 0, false);
    refused(b, bytes, VMM_ERROR_NOT_PERMITTED, "VMM-IMPORT-FABRIC-IMEX", "no channel at all");
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
        tap_bail("no link can be made");
    vmm_system *a = node("one", channels), *b = node("two", folder), *c = node("three", NULL), *d = node("four", link);
    fabric_t bytes;
    handle_t copy = 0;
    exported(a, bytes);
    refused(b, bytes, VMM_ERROR_NOT_PERMITTED, "VMM-IMPORT-FABRIC-DOMAIN", "another folder");
    refused(c, bytes, VMM_ERROR_NOT_PERMITTED, "VMM-IMPORT-FABRIC-DOMAIN", "no folder");
    tap_result(import_from(d, bytes, &copy), VMM_SUCCESS, "the same folder by another path");
    rig_close(d);
    rig_close(c);
    rig_close(b);
    rig_close(a);
    channel(folder, 0, false);
    unlink(link);
    rmdir(folder);
}

/* ---- bytes that are no handle ---- */

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
    tap_u64(wrong, 0, "each of 512 bits matters");
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

/* Nodes may run different builds, so the bytes are what they were: seven words, then the sum of theirs (FNV-1a, 64 bits). */
static void format(void)
{
    static const uint64_t words[8] = {0x3163697262616676, 1, 2 | UINT64_C(7) << 32, 3, 4, 5, 6, 0x9ceb30fbe9c81b4b};
    const struct imex_place place = {1, 2};
    const struct share_label label = {3, 4, {5, 6}, 7};
    fabric_t bytes;
    fabric_handle_write(bytes, &place, &label);
    tap_ok(memcmp(bytes, words, sizeof words) == 0, "a handle's bytes are those that other builds read");
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

/* So is the number of a domain: the folder's device and number and the profile's, summed up the same way; never 0. */
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
    tap_u64(got, sum_of(sum, share_profile_number(&profile)) | 1, "whose number other builds know");
    if (stat(".", &is))
        tap_bail("no folder");
    sum = sum_of(sum_of(UINT64_C(0xcbf29ce484222325), (uint64_t)is.st_dev), (uint64_t)is.st_ino);
    tap_ok(imex_domain(".", &profile, &got, why) && got == (sum_of(sum, share_profile_number(&profile)) | 1),
           "however short its name is");
    tap_ok(imex_usable("", &profile, 0, why) == 0 && imex_usable("", &profile, 3, why) == IMEX_NONE &&
               strstr(why, "only channel 0, not channel 3"),
           "without a folder there is one channel: %s", why);
    tap_ok(!imex_domain("/no/such/folder", &profile, &got, why) && strstr(why, "/no/such/folder"),
           "one that is not there is none");
}

/* Whoever knows how handles are made can make them up: the state does not agree. */
static void forged(void)
{
    vmm_system *a = node("one", channels), *b = node("two", channels);
    fabric_t bytes, made;
    struct imex_place place, p;
    struct share_label label, l;
    handle_t plain = 0;
    channel(channels, 1, true);
    exported(a, bytes);
    tap_ok(fabric_handle_read(bytes, &place, &label), "a handle can be read");
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
    FORGED(p.channel = 2, NOT_PERMITTED, "VMM-IMPORT-FABRIC-IMEX", "a channel that is not there");
    FORGED(p.channel = UINT32_MAX, NOT_PERMITTED, "VMM-IMPORT-FABRIC-IMEX", "no channel");
    FORGED(p.channel = 1, INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "another channel that is there");
    FORGED(l.machine++, INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "another machine");
    FORGED(l.number++, INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "another block");
    FORGED(l.number = 0, INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "no block");
    FORGED(l.index++, INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "another place in the table");
    FORGED(l.index = UINT32_MAX, INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "no place in the table");
    FORGED(l.nonce[1] ^= 1, INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "a guess");
    /* Who has a descriptor of memory that is not for a fabric knows its name, and cannot make a handle of it. */
    create(a, RIG_FD, &plain);
    int fd = rig_export(a, plain);
    uint64_t token[7]; /* magic, machine, index, number, nonce */
    if (pread(fd, token, sizeof token, 0) != sizeof token)
        tap_bail("a descriptor's file cannot be read");
    FORGED((l = (struct share_label){token[1], token[3], {token[4], token[5]}, (uint32_t)token[2]}), INVALID_VALUE,
           "VMM-IMPORT-FABRIC-GONE", "memory that is for descriptors");
    FORGED((p.domain = 0, l.number = token[3]), NOT_PERMITTED, "VMM-IMPORT-FABRIC-DOMAIN", "no domain");
    close(fd);
    for (int more = -1; more <= 1; more += 2) { /* a handle's first word and its last, which sums up the others */
        uint64_t word[8], sum = UINT64_C(0xcbf29ce484222325);
        memcpy(word, bytes, sizeof word);
        word[0] += (uint64_t)(int64_t)more;
        for (unsigned i = 0; i < 7; i++)
            sum = sum_of(sum, word[i]);
        word[7] = sum;
        tap_ok(!fabric_handle_read(word, &p, &l), "of another version it is none, though its sum is right");
    }
    channel(channels, 1, false);
    rig_close(a);
    rig_close(b);
    tap_u64(rig_machines(), 0, "nobody stayed attached");
}

/* ---- what the report at the end says ---- */

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

/* Of what a node exported it is told itself; others, who see it in the state as well, are not. */
static void hinted(void)
{
    vmm_system *a = node("one", channels), *b = node("two", channels);
    fabric_t bytes, name;
    handle_t object = 0, copy = 0;
    vmm_multicast_object_prop prop = {.num_devices = 2, .handle_types = FABRIC};
    handle_t memory = exported(a, bytes);
    vmm_multicast_get_granularity(a, &prop.size, &prop, VMM_MULTICAST_GRANULARITY_MINIMUM);
    tap_ok(!vmm_multicast_create(a, &object, &prop) && !export_to(a, object, name), "memory and an object go to a fabric");
    tap_result(import_from(b, bytes, &copy), VMM_SUCCESS, "the memory is imported");
    tap_ok(!hints(a) && !hints(b), "while both hold it there is nothing to hint at");
    vmm_mem_release(a, memory);
    tap_ok(hints(a) == 1 && !hints(b), "its own node is told that the other holds it");
    vmm_mem_release(b, copy);
    tap_ok(!hints(a) && !hints(b), "until that lets go, too");
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
    tap_result(import_from(b, bytes, &copy), VMM_SUCCESS, "it is imported");
    vmm_deviceptr q = rig_map(b, copy, unit_of(b));
    if (truncate(rig_path("one", "state"), 5))
        tap_bail("the state cannot be cut");
    refused(b, bytes, VMM_ERROR_INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "a node whose state was cut");
    if (truncate(rig_path("one", "state"), 0))
        tap_bail("the state cannot be emptied");
    refused(b, bytes, VMM_ERROR_INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "a node whose state is empty");
    tap_ok(vmm_memset_d8(b, q, 3, 1) == VMM_SUCCESS && rig_byte(b, q) == 3, "what was imported can be used");
    rig_unmap(b, q, unit_of(b));
    tap_result(vmm_mem_release(b, copy), VMM_SUCCESS, "and released");
    tap_result(create(b, FABRIC, &second), VMM_SUCCESS, "the importer's own machine is well");
    rig_close(b);
    rig_close(a);
    a = node("one", channels); /* sweeps what was left of it */
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
    tap_ok(passing_wait(ends[0]), "a node in another process imports it");
    vmm_mem_release(a, memory);
    tap_ok(rig_free(a) < before, "and holds it");
    killed(pid, ends[0]);
    tap_u64(rig_free(a), before, "when that is killed, the memory is free");
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
    tap_result(import_from(a, bytes, &copy), VMM_SUCCESS, "memory of another process's node is imported");
    killed(pid, ends[0]);
    vmm_deviceptr p = rig_map(a, copy, unit_of(a));
    tap_ok(p && !vmm_memset_d8(a, p, 4, 1) && rig_byte(a, p) == 4, "and used when that was killed");
    tap_ok(!import_from(a, bytes, &again) && !vmm_mem_release(a, again), "even imported again");
    rig_unmap(a, p, unit_of(a));
    vmm_mem_release(a, copy);
    refused(a, bytes, VMM_ERROR_INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "until it is let go");
    tap_u64(rig_machines(), 1, "and the dead node with it");
    pid = child(ends, false, bytes);
    if (read(ends[0], bytes, sizeof bytes) != sizeof bytes || !passing_wait(ends[0]))
        tap_bail("the other node exported nothing");
    killed(pid, ends[0]);
    refused(a, bytes, VMM_ERROR_INVALID_VALUE, "VMM-IMPORT-FABRIC-GONE", "what nobody imported in time");
    tap_u64(rig_machines(), 1, "goes with its node");
    rig_close(a);
}

/* A forked child has no part in what its parent imported: what it closes is its own copy. */
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
    tap_ok(waitpid(pid, &status, 0) == pid && status == 0, "a forked child may do nothing, and close");
    rig_close(a);
    tap_ok(before == rig_free(b) - unit_of(b) && rig_byte(b, q + 5) == 0x42, "its parent's import is as it was");
    tap_ok(import_from(b, bytes, &copy) == VMM_SUCCESS, "and holds the memory");
    rig_close(b);
    tap_u64(rig_machines(), 0, "until it is let go");
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

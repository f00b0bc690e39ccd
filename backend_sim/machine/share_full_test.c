/* SPDX-License-Identifier: Apache-2.0 */
/* Full tables of a machine's state, and partly forged entries: each call is refused with a specific message, changes nothing,
 * and succeeds when the state is valid again. */
#include "fabric_handle.h"
#include "process.h"
#include "share_token.h"
#include "state_rig.h"
#include "system.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC
#define DEVICE VMM_MEM_LOCATION_TYPE_DEVICE

typedef vmm_mem_generic_allocation_handle handle_t;

static char channels[96], profile[96];

static vmm_system *opened(const char *spec)
{
    vmm_system *sys = NULL;
    if (vmm_open(spec, &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS)
        tap_bail("%s cannot be opened: %s", spec, vmm_last_detail()->note);
    return sys;
}

static void refused(vmm_result result, const char *rule, const char *note, const char *what)
{
    tap_ok(result == vmm_rule_find(rule)->result && rig_reported(rule) && strstr(vmm_last_detail()->note, note), "%s: %s, %s",
           what,
           vmm_last_detail()->rule ? vmm_last_detail()->rule : "no rule", vmm_last_detail()->note);
}

static vmm_result exported(vmm_system *sys, handle_t handle)
{
    int fd = -7;
    vmm_result result = vmm_mem_export_to_shareable_handle(sys, &fd, handle, RIG_FD, 0);
    if (fd >= 0)
        close(fd);
    return result;
}

/* ---- processes and memory ---- */

/* Only this process clears the slots that it owns. */
static void processes(void)
{
    vmm_system *sys = rig_open("full"), *other = NULL, *left_out = NULL;
    struct share_state *state = rig_state("full");
    for (unsigned i = 1; i < SHARE_PROCESSES; i++) {
        atomic_store(&state->slot[i].owner, os_process_id());
        atomic_store(&state->slot[i].taken, 1);
    }
    atomic_store(&state->slots_seen, SHARE_PROCESSES);
    vmm_open("sim:" RIG_PROFILE ",machine=full", &other);
    refused(vmm_init(other, 0), "VMM-SHARE-STATE", "256 processes have the machine open", "the 257th process");
    vmm_open("sim:" RIG_PROFILE ",machine=full", &left_out);
    refused(vmm_init(left_out, 0), "VMM-SHARE-STATE", "256 processes have the machine open", "the 258th process");
    for (unsigned i = 1; i < SHARE_PROCESSES; i++)
        atomic_store(&state->slot[i].taken, 0);
    tap_result(vmm_init(other, 0), VMM_SUCCESS, "the second");
    rig_close(other);
    atomic_store(&state->slot[1].taken, 1); /* so that its end does not end the machine */
    rig_close(sys);
    atomic_store(&state->slot[1].taken, 0);
    munmap(state, sizeof *state);
    tap_u64(rig_machines(), 1, "the machine outlives those who had it open");
    rig_close(left_out);
    tap_u64(rig_machines(), 0, "and ends with one that found no place in it");
}

static struct sim_machine *machine_of(const vmm_system *sys)
{
    return ((struct sim_process *)sys->top)->machine;
}

/* A node that is full is not kept open; a node with an importer has one file of each exporter. */
static void node(void)
{
    char spec[200];
    unsigned char first[VMM_FABRIC_HANDLE_SIZE], second[VMM_FABRIC_HANDLE_SIZE];
    handle_t a = 0, b = 0;
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .requested_handle_types = FABRIC, .location = {DEVICE, 0}};
    snprintf(spec, sizeof spec, "sim:max,machine=node,imex=%.90s", channels);
    vmm_system *from = opened(spec);
    snprintf(spec, sizeof spec, "sim:max,machine=full,imex=%.90s", channels);
    vmm_system *to = opened(spec);
    if (vmm_mem_create(from, &a, RIG_G, &prop, 0) || vmm_mem_create(from, &b, RIG_G, &prop, 0) ||
        vmm_mem_export_to_shareable_handle(from, first, a, FABRIC, 0) || vmm_mem_export_to_shareable_handle(from, second, b, FABRIC, 0))
        tap_bail("no memory: %s", vmm_last_detail()->note);
    struct share_state *state = rig_state("node");
    for (unsigned i = 1; i < SHARE_PROCESSES; i++) {
        atomic_store(&state->slot[i].owner, os_process_id());
        atomic_store(&state->slot[i].taken, 1);
    }
    atomic_store(&state->slots_seen, SHARE_PROCESSES);
    refused(vmm_mem_import_from_shareable_handle(to, &a, first, FABRIC), "VMM-IMPORT-SYSTEM", "256 processes have the machine open",
            "an import from a node that is full");
    tap_u64(vmm_last_detail()->value, 0, "the handle is not blamed");
    tap_ok(!machine_of(to)->nodes, "the node is closed again");
    for (unsigned i = 1; i < SHARE_PROCESSES; i++)
        atomic_store(&state->slot[i].taken, 0);
    tap_ok(!vmm_mem_import_from_shareable_handle(to, &a, first, FABRIC) && !vmm_mem_import_from_shareable_handle(to, &b, second, FABRIC),
           "two imports from a node that is not");
    const struct share *in = machine_of(to)->nodes;
    tap_ok(in && !in->next && in->others && !in->others->next, "one node is open, and one file of it");
    munmap(state, sizeof *state);
    rig_close(to);
    rig_close(from);
}

static void blocks(void)
{
    vmm_system *sys = rig_open("full");
    struct share_state *state = rig_state("full");
    handle_t handle = 0;
    rig_create(sys, RIG_G, &handle);
    for (unsigned i = 0; i < SHARE_BLOCKS; i++)
        atomic_store(&state->block[i].number, UINT64_MAX);
    refused(exported(sys, handle), "VMM-EXPORT-SYSTEM", "8192 exported pieces of memory are in use", "the 8193rd block");
    for (unsigned i = 0; i < SHARE_BLOCKS; i++)
        atomic_store(&state->block[i].number, 0);
    tap_result(exported(sys, handle), VMM_SUCCESS, "the first");
    munmap(state, sizeof *state);
    rig_close(sys);
}

/* ---- teams ---- */

/* A team of two, with one device of this process and memory of that device. */
struct team_rig {
    vmm_system *sys;
    struct share_state *state;
    handle_t object, memory;
    uint64_t unit;
};

static struct team_rig team_rig(void)
{
    struct team_rig rig = {.sys = opened("sim:h200x2,machine=full")};
    vmm_context ctx;
    vmm_multicast_object_prop prop = {.num_devices = 2, .handle_types = RIG_FD};
    vmm_ctx_create(rig.sys, &ctx, 0, 0);
    vmm_multicast_get_granularity(rig.sys, &rig.unit, &prop, VMM_MULTICAST_GRANULARITY_MINIMUM);
    prop.size = rig.unit;
    if (vmm_multicast_create(rig.sys, &rig.object, &prop) != VMM_SUCCESS ||
        rig_create(rig.sys, rig.unit, &rig.memory) != VMM_SUCCESS)
        tap_bail("no object: %s", vmm_last_detail()->note);
    rig.state = rig_state("full");
    return rig;
}

static void finish(struct team_rig *rig)
{
    munmap(rig->state, sizeof *rig->state);
    rig_close(rig->sys);
}

static void teams(void)
{
    struct team_rig rig = team_rig();
    for (unsigned i = 0; i < SHARE_TEAMS; i++)
        atomic_store(&rig.state->team[i].number, 1);
    refused(exported(rig.sys, rig.object), "VMM-EXPORT-SYSTEM", "256 exported multicast objects are in use", "the 257th object");
    atomic_store(&rig.state->team[SHARE_TEAMS - 1].number, 0);
    tap_result(exported(rig.sys, rig.object), VMM_SUCCESS, "the object gets the last free team");
    tap_ok(atomic_load(&rig.state->block[0].number) == 1 && rig.state->block[0].team == SHARE_TEAMS,
           "the block refers to that team");
    finish(&rig);
}

/* Two members that are no existing devices: the machine does not see them, but the team is full. */
static void members(void)
{
    struct team_rig rig = team_rig();
    exported(rig.sys, rig.object);
    struct share_team *team = &rig.state->team[0];
    const int64_t none[] = {-1, 2, INT64_C(1) << 32, INT64_MIN, INT64_MAX};
    for (size_t n = 0; n < sizeof none / sizeof none[0]; n++) {
        for (unsigned i = 0; i < 2; i++)
            team->member[i].device = none[n];
        atomic_store(&team->members, 2);
        refused(vmm_multicast_add_device(rig.sys, rig.object, 0), "VMM-MULTICAST-TEAM-FULL", "",
                "a team of two with two forged members");
    }
    atomic_store(&team->members, 0);
    tap_result(vmm_multicast_add_device(rig.sys, rig.object, 0), VMM_SUCCESS, "without them the device is added");
    tap_ok(atomic_load(&team->members) == 1 && team->member[0].device == 0, "the device is the team's first member");
    finish(&rig);
}

/* Memory that other processes share, bound to an object that only this process has. */
static void bound_alone(void)
{
    struct team_rig rig = team_rig();
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = rig.unit};
    handle_t own = 0;
    uint64_t before = rig_free(rig.sys);
    int fd = rig_export(rig.sys, rig.memory);
    if (vmm_multicast_create(rig.sys, &own, &prop) || vmm_multicast_add_device(rig.sys, own, 0) ||
        vmm_multicast_add_device(rig.sys, own, 1) || vmm_multicast_bind_mem(rig.sys, own, 0, rig.memory, 0, rig.unit, 0))
        tap_bail("the bind failed: %s", vmm_last_detail()->note);
    close(fd);
    vmm_mem_release(rig.sys, rig.memory);
    tap_u64(rig_free(rig.sys), before, "bound memory stays after its release");
    tap_result(vmm_multicast_unbind(rig.sys, own, 0, 0, rig.unit), VMM_SUCCESS, "the memory is unbound");
    tap_u64(rig_free(rig.sys), before + rig.unit, "unbinding frees the memory");
    finish(&rig);
}

/* The state claims more used entries than the tables have: memory after a table is not taken for an entry. */
static void behind_tables(void)
{
    struct team_rig rig = team_rig();
    struct share_state *state = rig.state, *before = malloc(sizeof *state);
    if (!before)
        tap_bail("no memory");
    vmm_multicast_add_device(rig.sys, rig.object, 0);
    vmm_multicast_add_device(rig.sys, rig.object, 1);
    exported(rig.sys, rig.object);
    atomic_store(&state->bind_numbers, 1000); /* numbers that no block has */
    tap_result(vmm_multicast_bind_mem(rig.sys, rig.object, 0, rig.memory, 0, rig.unit, 0), VMM_SUCCESS, "memory is bound");
    atomic_store(&state->slots_seen, UINT64_MAX);
    atomic_store(&state->blocks_seen, UINT64_MAX);
    atomic_store(&state->binds_seen, UINT64_MAX);
    *before = *state;
    uint64_t all = rig_free(rig.sys); /* looks for ended blocks */
    tap_ok(all != UINT64_MAX && !memcmp(state->slot, before->slot, sizeof state->slot) &&
               !memcmp(state->block, before->block, sizeof state->block) &&
               !memcmp(state->team, before->team, sizeof state->team) &&
               !memcmp(state->bind, before->bind, sizeof state->bind) &&
               !memcmp(state->mark, before->mark, sizeof state->mark) &&
               state->devices == before->devices && state->device_memory == before->device_memory &&
               state->nodes == before->nodes && state->node_memory == before->node_memory,
           "counts that are too large end no entry");
    tap_result(vmm_multicast_unbind(rig.sys, rig.object, 0, 0, rig.unit), VMM_SUCCESS, "the team still works");
    free(before);
    finish(&rig);
}

static void binds(void)
{
    struct team_rig rig = team_rig();
    vmm_multicast_add_device(rig.sys, rig.object, 0);
    vmm_multicast_add_device(rig.sys, rig.object, 1);
    exported(rig.sys, rig.object);
    for (unsigned i = 0; i < SHARE_BINDS; i++)
        atomic_store(&rig.state->bind[i].number, 1);
    refused(vmm_multicast_bind_mem(rig.sys, rig.object, 0, rig.memory, 0, rig.unit, 0), "VMM-BIND-RESOURCES",
            "4096 binds of exported objects are in use", "the 4097th bind");
    for (unsigned i = 0; i < SHARE_BINDS; i++)
        atomic_store(&rig.state->bind[i].number, 0);
    atomic_store(&rig.state->bind_numbers, UINT64_MAX);
    refused(vmm_multicast_bind_mem(rig.sys, rig.object, 0, rig.memory, 0, rig.unit, 0), "VMM-BIND-RESOURCES", "4096 binds",
            "a bind when the numbers are used up");
    tap_u64(atomic_load(&rig.state->binds_seen), 0, "the refused binds leave no entry");
    atomic_store(&rig.state->bind_numbers, 0);
    tap_result(vmm_multicast_bind_mem(rig.sys, rig.object, 0, rig.memory, 0, rig.unit, 0), VMM_SUCCESS,
               "the first bind succeeds");
    finish(&rig);
}

/* The table has an entry for the object, but none for the memory that was bound to it earlier. */
static void bound_before(void)
{
    struct team_rig rig = team_rig();
    vmm_multicast_add_device(rig.sys, rig.object, 0);
    vmm_multicast_add_device(rig.sys, rig.object, 1);
    tap_result(vmm_multicast_bind_mem(rig.sys, rig.object, 0, rig.memory, 0, rig.unit, 0), VMM_SUCCESS, "memory is bound");
    for (unsigned i = 1; i < SHARE_BLOCKS; i++)
        atomic_store(&rig.state->block[i].number, UINT64_MAX);
    refused(exported(rig.sys, rig.object), "VMM-EXPORT-SYSTEM", "8192 exported pieces of memory are in use",
            "the export of an object with bound memory");
    tap_u64(atomic_load(&rig.state->binds_seen), 0, "the refused export publishes no bind");
    for (unsigned i = 1; i < SHARE_BLOCKS; i++)
        atomic_store(&rig.state->block[i].number, 0);
    tap_result(exported(rig.sys, rig.object), VMM_SUCCESS, "with entries for both the object is exported");
    tap_u64(atomic_load(&rig.state->binds_seen), 1, "the export publishes its bind");
    vmm_system *other = opened("sim:h200x2,machine=full");
    handle_t copy = 0;
    int fd = rig_export(rig.sys, rig.object);
    tap_result(rig_import(other, fd, &copy), VMM_SUCCESS, "another process imports the object");
    close(fd);
    struct share_block *bound = &rig.state->block[rig.state->bind[0].index];
    const uint64_t size = bound->size;
    bound->size = 0;
    tap_ok(vmm_multicast_unbind(other, copy, 0, 0, rig.unit) != VMM_SUCCESS, "a bind whose memory entry is invalid is not seen");
    bound->size = size;
    atomic_fetch_add(&rig.state->changes, 1); /* makes the other process read the binds again */
    tap_result(vmm_multicast_unbind(other, copy, 0, 0, rig.unit), VMM_SUCCESS, "the bind is seen once the entry is valid");
    rig_close(other);
    finish(&rig);
}

/* ---- forged entries ---- */

static void not_imported(vmm_system *sys, int fd, const char *rule, const char *note, const char *what)
{
    handle_t copy = 0x77;
    refused(rig_import(sys, fd, &copy), rule, note, what);
    tap_u64(copy, 0x77, "the import writes no handle");
}

static void objects(void)
{
    static const char impossible[] = "the machine's state is inconsistent";
    struct team_rig rig = team_rig();
    vmm_system *other = opened("sim:h200x2,machine=full");
    handle_t copy = 0;
    int fd = rig_export(rig.sys, rig.object);
    struct share_block *block = &rig.state->block[0], kept = *block;
    block->size = 0;
    not_imported(other, fd, "VMM-IMPORT-SYSTEM", impossible, "an object of size 0");
    block->size = rig.unit + 1;
    not_imported(other, fd, "VMM-IMPORT-SYSTEM", impossible, "an object with an impossible size");
    block->size = kept.size;
    rig.state->team[0].wanted = 1;
    not_imported(other, fd, "VMM-IMPORT-SYSTEM", impossible, "an object for one device");
    rig.state->team[0].wanted = SHARE_MEMBERS + 1;
    not_imported(other, fd, "VMM-IMPORT-SYSTEM", impossible, "an object for more devices than a team can have");
    rig.state->team[0].wanted = 2;
    atomic_fetch_sub(&rig.state->team[0].number, 1);
    not_imported(other, fd, "VMM-IMPORT-SYSTEM", impossible, "an object with the team of an earlier object");
    atomic_fetch_add(&rig.state->team[0].number, 1);
    tap_result(rig_import(other, fd, &copy), VMM_SUCCESS, "the restored object is imported");
    close(fd);
    rig_close(other);
    finish(&rig);
}

/* A machine without multicast objects, and without NUMA nodes. */
static void other_kinds(void)
{
    char spec[160];
    snprintf(spec, sizeof spec, "sim:%s,machine=full", profile);
    vmm_system *sys = opened(spec), *other = opened(spec);
    struct share_state *state = rig_state("full");
    handle_t handle = 0, copy = 0;
    rig_create(sys, RIG_G, &handle);
    int fd = rig_export(sys, handle);
    state->block[0].team = 1;
    not_imported(other, fd, "VMM-IMPORT-SYSTEM", "inconsistent", "a multicast object on a machine without them");
    state->block[0].team = 0;
    state->block[0].location_type = VMM_MEM_LOCATION_TYPE_HOST_NUMA;
    state->block[0].location_id = 1;
    not_imported(other, fd, "VMM-IMPORT-SYSTEM", "inconsistent", "memory of a second node on a machine with one");
    state->block[0].location_id = 0;
    tap_result(rig_import(other, fd, &copy), VMM_SUCCESS, "memory of the host, which is one node, is imported");
    vmm_mem_release(other, copy);
    state->block[0].location_type = DEVICE;
    state->block[0].location_id = 1;
    not_imported(other, fd, "VMM-IMPORT-SYSTEM", "inconsistent", "memory of a second device on a machine with one");
    state->block[0].location_id = 0;
    tap_result(rig_import(other, fd, &copy), VMM_SUCCESS, "memory of the first device is imported");
    munmap(state, sizeof *state);
    close(fd);
    rig_close(other);
    rig_close(sys);
}

/* Number 0, which no block has. */
static void no_number(void)
{
    vmm_system *sys = rig_open("full");
    handle_t handle = 0;
    struct share_token token;
    struct os_file_is is;
    rig_create(sys, RIG_G, &handle);
    int fd = rig_export(sys, handle);
    if (share_token_read(fd, &token, &is) != SHARE_TOKEN)
        tap_bail("no token");
    token.number = 0;
    const char *path = rig_path("full", "token.77");
    int written = os_file_open(path, OS_OPEN_NEW), forged = os_file_open(path, OS_OPEN_READ);
    if (!share_token_write(written, &token, &is))
        tap_bail("no file");
    close(written);
    not_imported(sys, forged, "VMM-IMPORT-FOREIGN", "which did not create it", "a token with block number 0");
    close(forged);
    close(fd);
    rig_close(sys);
}

/* A file of the next token's name, which this process has not made. */
static void token_in_the_way(void)
{
    vmm_system *sys = rig_open("full");
    struct share_state *state = rig_state("full");
    handle_t handle = 0;
    char name[32];
    int fd = -1;
    rig_create(sys, RIG_G, &handle);
    snprintf(name, sizeof name, "token.%llu", 1 + (unsigned long long)atomic_load(&state->numbers));
    const char *path = rig_path("full", name);
    close(os_file_open(path, OS_OPEN_NEW));
    refused(vmm_mem_export_to_shareable_handle(sys, &fd, handle, RIG_FD, 0), "VMM-EXPORT-SYSTEM", "", "an export whose "
        "file exists");
    tap_ok(os_file_exists(path) && fd == -1, "and stays there");
    fd = rig_export(sys, handle);
    tap_ok(fd >= 0, "the next number is free");
    close(fd);
    munmap(state, sizeof *state);
    rig_close(sys);
}

static void no_label(void)
{
    char spec[160];
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE];
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .requested_handle_types = FABRIC,
                                          .location = {DEVICE, 0}};
    struct imex_place place;
    struct share_label label, forged;
    handle_t handle = 0, copy = 0x77;
    snprintf(spec, sizeof spec, "sim:max,machine=full,imex=%s", channels);
    vmm_system *sys = opened(spec);
    vmm_mem_create(sys, &handle, RIG_G, &prop, 0);
    if (vmm_mem_export_to_shareable_handle(sys, bytes, handle, FABRIC, 0) != VMM_SUCCESS ||
        !fabric_handle_read(bytes, &place, &label))
        tap_bail("no handle: %s", vmm_last_detail()->note);
    for (unsigned i = 0; i < 2; i++) {
        forged = label;
        if (i == 0)
            forged.number = 0;
        else
            forged.index = SHARE_BLOCKS - 1;
        fabric_handle_write(bytes, &place, &forged);
        refused(vmm_mem_import_from_shareable_handle(sys, &copy, bytes, FABRIC), "VMM-IMPORT-FABRIC-GONE", "",
                i == 0 ? "a fabric handle with block number 0" : "a fabric handle with an unknown block number");
    }
    tap_u64(copy, 0x77, "the import writes no handle");
    rig_close(sys);
}

/* Without a folder of channels there is only channel 0. */
static void other_channel(void)
{
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE];
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .requested_handle_types = FABRIC,
                                          .location = {DEVICE, 0}};
    struct imex_place place;
    struct share_label label;
    handle_t handle = 0, copy = 0x77;
    vmm_system *sys = opened("sim:max,machine=full");
    vmm_mem_create(sys, &handle, RIG_G, &prop, 0);
    if (vmm_mem_export_to_shareable_handle(sys, bytes, handle, FABRIC, 0) != VMM_SUCCESS ||
        !fabric_handle_read(bytes, &place, &label))
        tap_bail("no handle: %s", vmm_last_detail()->note);
    place.channel = 1;
    fabric_handle_write(bytes, &place, &label);
    refused(vmm_mem_import_from_shareable_handle(sys, &copy, bytes, FABRIC), "VMM-IMPORT-FABRIC-IMEX",
            "there is only channel 0, not channel 1", "a fabric handle of another channel");
    place.channel = 0;
    fabric_handle_write(bytes, &place, &label);
    tap_result(vmm_mem_import_from_shareable_handle(sys, &copy, bytes, FABRIC), VMM_SUCCESS, "of channel 0");
    rig_close(sys);
}

static void no_block_for_a_fabric_handle(void)
{
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE];
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .requested_handle_types = FABRIC,
                                          .location = {DEVICE, 0}};
    handle_t handle = 0;
    vmm_system *sys = opened("sim:max,machine=full");
    vmm_mem_create(sys, &handle, RIG_G, &prop, 0);
    struct share_state *state = rig_state("full");
    for (unsigned i = 0; i < SHARE_BLOCKS; i++)
        atomic_store(&state->block[i].number, UINT64_MAX);
    refused(vmm_mem_export_to_shareable_handle(sys, bytes, handle, FABRIC, 0), "VMM-EXPORT-SYSTEM",
            "8192 exported pieces of memory are in use", "a fabric handle of the 8193rd block");
    tap_u64(vmm_last_detail()->value, 0, "no argument is to blame");
    for (unsigned i = 0; i < SHARE_BLOCKS; i++)
        atomic_store(&state->block[i].number, 0);
    munmap(state, sizeof *state);
    rig_close(sys);
}

static void furnish(bool there)
{
    static const char text[] = "base = min\nname = bare\nsource = made up: for a test\nattribute.103 = 1\n";
    char channel[128];
    snprintf(channels, sizeof channels, "%s-imex", rig_root);
    snprintf(channel, sizeof channel, "%s/channel0", channels);
    snprintf(profile, sizeof profile, "%s-bare.profile", rig_root);
    if (!there) {
        unlink(channel);
        rmdir(channels);
        unlink(profile);
        return;
    }
    FILE *file = fopen(profile, "w");
    if (mkdir(channels, 0700) || close(open(channel, O_CREAT | O_RDWR, 0600)) || !file || fputs(text, file) < 0 || fclose(file))
        tap_bail("no channel, or no profile");
}

int main(void)
{
    rig_begin();
    furnish(true);
    processes();
    node();
    blocks();
    teams();
    members();
    bound_alone();
    bound_before();
    binds();
    behind_tables();
    objects();
    other_kinds();
    no_number();
    token_in_the_way();
    no_label();
    other_channel();
    no_block_for_a_fabric_handle();
    furnish(false);
    rig_end();
    return tap_done();
}

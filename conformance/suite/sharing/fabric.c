/* SPDX-License-Identifier: Apache-2.0 */
/* Fabric handles: 64 bytes that any node of a domain can import. On a driver these tests need an IMEX channel. Tests
 * that make their own channels run on the simulator, whose nodes are machines of this process or of others. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "other.h"
#include "test.h"

#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC
#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define ON_A_FABRIC "attribute.103 = 1\nattribute.128 = 1\nfabric.imex = yes"
#define UNTOUCHED 0x5e

typedef vmm_mem_generic_allocation_handle handle_t;
typedef unsigned char fabric_t[VMM_FABRIC_HANDLE_SIZE];

/* ---- channels ---- */

static char channels[64]; /* this program's own folder */

static void channel(unsigned number, bool there)
{
    char path[96];
    snprintf(path, sizeof path, "%s/channel%u", channels, number);
    FILE *file = there ? fopen(path, "w") : NULL;
    if (file)
        fclose(file);
    else
        unlink(path);
}

static void remove_channels(void)
{
    channel(0, false);
    channel(1, false);
    rmdir(channels);
}

/* Makes channel 0 alone, the state in which each test starts. */
static void begin_channels(struct fix *f)
{
    if (!channels[0]) {
        /* a folder of an earlier process with this number may still exist */
        snprintf(channels, sizeof channels, "/tmp/cuvmm-imex-XXXXXX");
        fix_need(f, mkdtemp(channels) && !atexit(remove_channels) ? VMM_SUCCESS : VMM_ERROR_OPERATING_SYSTEM);
    }
    channel(0, true);
    channel(1, false);
}

/* ---- nodes ---- */

static void spec_of(struct fix *f, const char *name, char *spec, size_t room)
{
    snprintf(spec, room, "%.300s,machine=suite-%ld-%s,imex=%s", f->root->spec, (long)getpid(), name, channels);
}

/* A machine of that name with the test's channels. */
static struct fix *node(struct fix *f, const char *name)
{
    char spec[sizeof f->spec];
    fix_need_simulator(f, "channels belong to the administrator, and nodes are other machines");
    begin_channels(f);
    spec_of(f, name, spec, sizeof spec);
    return fix_also(f, spec, 0);
}

/* The same in another process. */
static struct other process(struct fix *f, const char *name)
{
    char spec[sizeof f->spec];
    spec_of(f, name, spec, sizeof spec);
    return other_start_on(f, spec);
}

/* ---- memory ---- */

static handle_t created(struct fix *f, int types)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.requested_handle_types = types;
    return fix_create_prop(f, f->g, &prop);
}

static handle_t exported(struct fix *f, fabric_t bytes)
{
    handle_t handle = created(f, FABRIC);
    ACCEPTED(vmm_mem_export_to_shareable_handle(S, bytes, handle, FABRIC, 0));
    return handle;
}

static handle_t imported(struct fix *f, fabric_t bytes)
{
    handle_t handle = 0;
    ACCEPTED(vmm_mem_import_from_shareable_handle(S, &handle, bytes, FABRIC));
    fix_note(f, FIX_HANDLE, handle, f->g);
    return handle;
}

static vmm_deviceptr mapped(struct fix *f, handle_t handle)
{
    vmm_deviceptr p = fix_reserve(f, f->g);
    fix_map(f, p, f->g, handle);
    fix_access(f, p, f->g, RW);
    return p;
}

/* What messages report of a handle. */
static uint64_t shown(const fabric_t bytes)
{
    uint64_t last;
    memcpy(&last, bytes + (VMM_FABRIC_HANDLE_SIZE - sizeof last), sizeof last);
    return last;
}

#define EXPORT(bytes, handle) vmm_mem_export_to_shareable_handle(S, bytes, handle, FABRIC, 0)
#define IMPORT(handle, bytes) vmm_mem_import_from_shareable_handle(S, &(handle), bytes, FABRIC)
#define NOT_IMPORTED(rule, bytes, code)                                                              \
    do {                                                                                             \
        handle_t handle_ = FIX_UNTOUCHED;                                                            \
        REFUSED_BY(rule, IMPORT(handle_, bytes), code, "osHandle", shown(bytes));                   \
        CHECK_U64(handle_, FIX_UNTOUCHED);                                                           \
    } while (0)

/* --------------------------------------------------------------------------------------------------------- the bytes */

TEST_BREAKS(IMPORT_FABRIC_NULL, import_no_fabric_handle)
{
    handle_t handle = FIX_UNTOUCHED;
    REFUSED(vmm_mem_import_from_shareable_handle(S, &handle, NULL, FABRIC), INVALID_VALUE, "osHandle", 0);
    CHECK_U64(handle, FIX_UNTOUCHED);
}

/* With an address as the handle, another check fails. */
TEST_NEAR_MISS(IMPORT_FABRIC_NULL, import_a_fabric_handle_of_zeros)
{
    fabric_t zeros = {0};
    NOT_IMPORTED("VMM-IMPORT-FABRIC", zeros, NOT_SUPPORTED);
}

TEST_BREAKS(IMPORT_FABRIC, import_from_no_fabric)
{
    fabric_t zeros = {0};
    NOT_IMPORTED("VMM-IMPORT-FABRIC", zeros, NOT_SUPPORTED);
}

/* Any single bit that changed on the way. */
TEST_BREAKS_ON(IMPORT_FABRIC, import_of_changed_bytes, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    fix_need_simulator(f, "a driver's answer to a changed handle was not measured");
    fabric_t bytes;
    exported(f, bytes);
    for (unsigned bit = 0; bit < 8 * sizeof bytes; bit += 37) {
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
        NOT_IMPORTED("VMM-IMPORT-FABRIC", bytes, NOT_SUPPORTED);
        bytes[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    imported(f, bytes);
}

TEST_NEAR_MISS_ON(IMPORT_FABRIC, import_of_a_copy_of_the_bytes, ON_A_FABRIC, TEST_AS_GIVEN, FIX_NO_CONTEXT)
{
    fix_need_fabric(f, true);
    fabric_t bytes, sent;
    exported(f, bytes);
    memcpy(sent, bytes, sizeof bytes);
    memset(bytes, 0, sizeof bytes);
    imported(f, sent);
}

TEST_BREAKS_ON(IMPORT_FABRIC, import_where_there_are_no_fabric_handles, "fabric.imex = no\nattribute.128 = 0",
               TEST_AS_GIVEN, 0)
{
    fix_need_no_attribute(f, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED, "needs a machine without fabric handles");
    fabric_t bytes;
    memset(bytes, 1, sizeof bytes);
    NOT_IMPORTED("VMM-IMPORT-FABRIC", bytes, NOT_SUPPORTED);
}

/* ---------------------------------------------------------------------------------------------------------- channels */

TEST_BREAKS_ON(CREATE_FABRIC_IMEX, create_in_a_domain_without_channels, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    f = node(f, "a");
    vmm_mem_allocation_prop prop = fix_prop(0);
    handle_t handle = FIX_UNTOUCHED;
    prop.requested_handle_types = FABRIC | FD;
    channel(0, false);
    REFUSED(vmm_mem_create(S, &handle, f->g, &prop, 0), NOT_PERMITTED, "prop.requestedHandleTypes", FABRIC | FD);
    CHECK_U64(handle, FIX_UNTOUCHED);
    channel(0, true);
}

TEST_NEAR_MISS_ON(CREATE_FABRIC_IMEX, create_through_another_channel, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    f = node(f, "a");
    channel(0, false);
    channel(1, true);
    created(f, FABRIC | FD);
}

TEST_BREAKS_ON(EXPORT_FABRIC_IMEX, export_without_the_channel, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    f = node(f, "a");
    fabric_t bytes;
    memset(bytes, UNTOUCHED, sizeof bytes);
    handle_t handle = created(f, FABRIC);
    channel(1, true); /* another channel is not enough */
    channel(0, false);
    REFUSED_NEAR(EXPORT(bytes, handle), NOT_PERMITTED, "handleType", FABRIC, HANDLE, 0);
    for (size_t i = 0; i < sizeof bytes; i++)
        CHECK(bytes[i] == UNTOUCHED, "the refused call wrote byte %zu", i);
    channel(0, true);
}

TEST_NEAR_MISS_ON(EXPORT_FABRIC_IMEX, export_with_the_channel, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    f = node(f, "a");
    fabric_t bytes, again;
    handle_t handle = exported(f, bytes);
    channel(0, false);
    channel(0, true);
    ACCEPTED(EXPORT(again, handle));
    CHECK(!memcmp(bytes, again, sizeof bytes), "two exports of the memory differ");
}

TEST_BREAKS_ON(IMPORT_FABRIC_IMEX, import_without_the_channel, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    struct fix *one = node(f, "a"), *two = node(f, "b");
    fabric_t bytes;
    exported(one, bytes);
    f = two;
    channel(1, true); /* which does not own the memory */
    channel(0, false);
    NOT_IMPORTED(NULL, bytes, NOT_PERMITTED);
    channel(1, false);
    NOT_IMPORTED(NULL, bytes, NOT_PERMITTED);
    channel(0, true);
}

TEST_NEAR_MISS_ON(IMPORT_FABRIC_IMEX, import_with_the_channel, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    struct fix *one = node(f, "a"), *two = node(f, "b");
    fabric_t bytes;
    channel(0, false);
    channel(1, true);
    exported(one, bytes);
    channel(0, true); /* a lower one, made later */
    imported(two, bytes);
}

/* ----------------------------------------------------------------------------------------------------------- domains */

TEST_BREAKS_ON(IMPORT_FABRIC_DOMAIN, import_from_another_domain, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    struct fix *one = node(f, "a"), *two = f;
    fabric_t bytes;
    exported(one, bytes);
    f = two;
    NOT_IMPORTED(NULL, bytes, NOT_PERMITTED);
    exported(two, bytes);
    f = one;
    NOT_IMPORTED(NULL, bytes, NOT_PERMITTED);
}

TEST_NEAR_MISS_ON(IMPORT_FABRIC_DOMAIN, import_within_the_domain, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    struct fix *one = node(f, "a"), *two = node(f, "b");
    fabric_t bytes;
    exported(one, bytes);
    imported(two, bytes);
}

/* ---------------------------------------------------------------------------------------------------------- lifetime */

TEST_BREAKS_ON(IMPORT_FABRIC_GONE, import_after_the_last_release, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    fix_need_simulator(f, "a driver's answer was not measured");
    fabric_t bytes;
    fix_release(f, exported(f, bytes));
    NOT_IMPORTED(NULL, bytes, INVALID_VALUE);
    exported(f, (fabric_t){0}); /* not even when other memory takes its place */
    NOT_IMPORTED(NULL, bytes, INVALID_VALUE);
}

/* A mapping holds the memory, and so does another import. */
TEST_NEAR_MISS_ON(IMPORT_FABRIC_GONE, import_while_something_holds_it, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    fix_need_fabric(f, true);
    fabric_t bytes;
    handle_t handle = exported(f, bytes);
    vmm_deviceptr p = fix_reserve(f, f->g);
    fix_map(f, p, f->g, handle);
    fix_release(f, handle);
    handle = imported(f, bytes);
    fix_unmap(f, p, f->g);
    imported(f, bytes);
    fix_release(f, handle);
    imported(f, bytes);
}

TEST_BREAKS_ON(IMPORT_FABRIC_GONE, import_when_the_node_is_gone, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    f = node(f, "a");
    struct other o = process(f, "b");
    struct other_answer made = other_ask(&o, OTHER_CREATE_FABRIC, f->g, VMM_MEM_LOCATION_TYPE_DEVICE, -1);
    struct other_answer sent = other_ask(&o, OTHER_EXPORT_FABRIC, made.value, 0, -1);
    CHECK(!made.result && !sent.result, "the other node exported nothing: %s", sent.rule);
    other_kill(&o);
    NOT_IMPORTED(NULL, sent.fabric, INVALID_VALUE);
}

/* -------------------------------------------------------------------------------------------------- what is expected */

TEST_EXPECTS_ON("fabric.import_aliases_the_memory", fabric_import_and_original, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    fix_need_fabric(f, true);
    fabric_t bytes;
    vmm_mem_allocation_prop got = {0};
    handle_t handle = exported(f, bytes), copy = imported(f, bytes);
    vmm_deviceptr p = mapped(f, handle), q = mapped(f, copy);
    fix_fill(f, p, 0x5c, f->g);
    CHECK_U64(fix_peek(f, q + 7), 0x5c);
    fix_fill(f, q, 0x33, f->g);
    CHECK_U64(fix_peek(f, p + 9), 0x33);
    ACCEPTED(vmm_mem_get_allocation_properties_from_handle(S, &got, copy));
    CHECK(got.location.type == VMM_MEM_LOCATION_TYPE_DEVICE && !got.location.id, "an import has another location");
    CHECK_U64((uint64_t)got.requested_handle_types, 0);
    REFUSED_BY("VMM-EXPORT-IMPORTED", EXPORT(bytes, copy), INVALID_VALUE, "handle", copy);
}

/* Both kinds of handle for the same memory. */
TEST_EXPECTS_ON("fabric.beside_a_descriptor", fabric_and_descriptor, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    fix_need_fabric(f, true);
    fabric_t bytes;
    int fd = -1;
    uint64_t before = fix_free_memory(f);
    handle_t handle = created(f, FABRIC | FD), copy = 0;
    ACCEPTED(EXPORT(bytes, handle));
    ACCEPTED(vmm_mem_export_to_shareable_handle(S, &fd, handle, FD, 0));
    fix_release(f, handle);
    copy = imported(f, bytes); /* the descriptor holds it */
    close(fd);
    CHECK_FREE(before, f->g);
    fix_release(f, copy);
    CHECK_FREE(before, 0);
}

/* A node in another process: bytes in both directions, memory counted on its own node, a handle imported many times. */
TEST_EXPECTS_ON("fabric.other_node_imports", other_node_imports, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    f = node(f, "a");
    struct other o = process(f, "b");
    fabric_t bytes;
    uint64_t before = fix_free_memory(f), theirs = other_ask(&o, OTHER_FREE, 0, 0, -1).value;
    handle_t handle = exported(f, bytes);
    vmm_deviceptr p = mapped(f, handle);
    fix_fill(f, p, 0x11, f->g);
    struct other_answer copy, again;
    copy = other_ask_fabric(&o, OTHER_IMPORT_FABRIC, bytes);
    again = other_ask_fabric(&o, OTHER_IMPORT_FABRIC, bytes);
    CHECK(!copy.result && !again.result && copy.value != again.value, "it is not imported twice: %s", again.rule);
    CHECK_U64(fix_free_memory(f), before - f->g);
    CHECK_U64(other_ask(&o, OTHER_FREE, 0, 0, -1).value, theirs);
    uint64_t at = other_ask(&o, OTHER_MAP, copy.value, f->g, -1).value;
    CHECK_U64(other_ask(&o, OTHER_PEEK, at + 5, 0, -1).value, 0x11);
    CHECK(!other_ask(&o, OTHER_FILL, at, 0x22, -1).result, "it cannot be written");
    CHECK_U64(fix_peek(f, p + 3), 0x22);
    fix_unmap(f, p, f->g);
    fix_release(f, handle);
    CHECK_U64(fix_free_memory(f), before - f->g);
    other_kill(&o);
    CHECK_U64(fix_free_memory(f), before); /* what a killed importer held is free again */
}

/* Its node's last process is killed, and the memory stays for its importer. */
TEST_EXPECTS_ON("fabric.memory_outlives_its_node", memory_outlives_node, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    f = node(f, "a");
    struct other o = process(f, "b");
    struct other_answer made = other_ask(&o, OTHER_CREATE_FABRIC, f->g, VMM_MEM_LOCATION_TYPE_DEVICE, -1);
    struct other_answer sent = other_ask(&o, OTHER_EXPORT_FABRIC, made.value, 0, -1);
    uint64_t at = other_ask(&o, OTHER_MAP, made.value, f->g, -1).value;
    CHECK(!sent.result && !other_ask(&o, OTHER_FILL, at, 0x66, -1).result, "the other node exported nothing");
    handle_t copy = imported(f, sent.fabric);
    other_kill(&o);
    vmm_deviceptr p = mapped(f, copy);
    CHECK_U64(fix_peek(f, p + 100), 0x66);
    fix_fill(f, p, 0x67, f->g);
    CHECK_U64(fix_peek(f, p + 100), 0x67);
}

/* Memory of a NUMA node: the importer can query its location, it counts on that node of the exporter's machine alone,
 * and both sides access it in place. It outlives the last process of its machine. */
#define TWO_NODES \
    ON_A_FABRIC "\nattribute.141 = 1\nattribute.143 = 1\nattribute.145 = 1\nhost.nodes = 2\nhost.memory = 8MiB"

TEST_EXPECTS_ON("fabric.host_node_memory", host_node_of_another_machine, TWO_NODES, TEST_AS_GIVEN, 0)
{
    f = node(f, "a");
    struct other o = process(f, "b");
    const uint64_t size = UINT64_C(4) << 20, all = 2 * size, place = other_place(VMM_MEM_LOCATION_TYPE_HOST_NUMA, 1);
    struct other_answer made = other_ask(&o, OTHER_CREATE_FABRIC, size, place, -1);
    struct other_answer sent = other_ask(&o, OTHER_EXPORT_FABRIC, made.value, 0, -1);
    uint64_t at = other_ask(&o, OTHER_MAP, made.value, size, -1).value;
    CHECK(!made.result && !sent.result && at, "the other node exported nothing: %s %s", made.rule, sent.rule);
    vmm_mem_allocation_prop got = {0}, prop = fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, 1);
    handle_t copy = imported(f, sent.fabric);
    ACCEPTED(vmm_mem_get_allocation_properties_from_handle(S, &got, copy));
    CHECK_U64(other_place(got.location.type, got.location.id), place);
    vmm_deviceptr p = fix_reserve(f, size);
    fix_map(f, p, size, copy);
    fix_access(f, p, size, RW);
    fix_access_at(f, p, size, fix_at(VMM_MEM_LOCATION_TYPE_HOST, 0), RW);
    CHECK(!other_ask(&o, OTHER_POKE, at + size - 1, 0x21, -1).result, "it cannot be written");
    CHECK_U64(*(volatile unsigned char *)(uintptr_t)(p + size - 1), 0x21);
    *(volatile unsigned char *)(uintptr_t)(p + size - 2) = 0x22;
    CHECK_U64(other_ask(&o, OTHER_PEEK, at + size - 2, 0, -1).value, 0x22);
    fix_release(f, fix_create_prop(f, all, &prop)); /* none of it counts on this machine */
    CHECK(other_ask(&o, OTHER_CREATE_FABRIC, all, place, -1).result == VMM_ERROR_OUT_OF_MEMORY, "it does not count there");
    other_kill(&o);
    CHECK_U64(*(volatile unsigned char *)(uintptr_t)(p + size - 1), 0x21);
}

/* What the report contains in both directions: the importer has a slot in the exporter's state. */
struct notes {
    char hint[sizeof((vmm_detail *)0)->note], leak[sizeof((vmm_detail *)0)->note];
};

static void hear_notes(void *user, const vmm_detail *detail)
{
    struct notes *notes = user;
    if (detail->severity == VMM_SEVERITY_HINT)
        snprintf(notes->hint, sizeof notes->hint, "%s", detail->note);
    else if (detail->nearest.kind == VMM_OBJECT_HANDLE)
        snprintf(notes->leak, sizeof notes->leak, "%s", detail->note);
}

TEST_EXPECTS_ON("fabric.report_names_other_nodes", report_names_nodes, ON_A_FABRIC, TEST_AS_GIVEN, 0)
{
    f = node(f, "a");
    struct other o = process(f, "b");
    fabric_t bytes;
    struct notes notes = {"", ""};
    char want[64];
    fix_release(f, exported(f, bytes));
    uint64_t leaks = vmm_leaks(S, hear_notes, &notes); /* contexts */
    CHECK(!notes.hint[0], "no importer is reported: %s", notes.hint);
    handle_t handle = exported(f, bytes);
    CHECK(!other_ask_fabric(&o, OTHER_IMPORT_FABRIC, bytes).result, "it is not imported");
    fix_release(f, handle);
    CHECK_U64(vmm_leaks(S, hear_notes, &notes), leaks);
    snprintf(want, sizeof want, "held by process %ld", (long)o.pid);
    CHECK(strstr(notes.hint, want) && strstr(notes.hint, ": call 4 (cuMemImportFromShareableHandle)"), "%s", notes.hint);
    struct other_answer made = other_ask(&o, OTHER_CREATE_FABRIC, f->g, VMM_MEM_LOCATION_TYPE_DEVICE, -1);
    struct other_answer sent = other_ask(&o, OTHER_EXPORT_FABRIC, made.value, 0, -1);
    imported(f, sent.fabric);
    CHECK_U64(vmm_leaks(S, hear_notes, &notes), leaks + 1);
    snprintf(want, sizeof want, "exported by process %ld", (long)o.pid);
    CHECK(strstr(notes.leak, want) && strstr(notes.leak, ": call 6 (cuMemExportToShareableHandle)"), "%s", notes.leak);
    other_kill(&o);
}

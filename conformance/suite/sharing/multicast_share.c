/* SPDX-License-Identifier: Apache-2.0 */
/* Multicast objects of several processes, each with a device of the team: export, who holds what, and the guide's norm
 * with a process for each device. */
#include <string.h>
#include <unistd.h>

#include "other.h"
#include "other_team.h"
#include "team.h"

#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC
#define ON(n) TEAM_OF(n) "\nattribute.103 = 1\nattribute.128 = 1\nfabric.imex = yes"

typedef vmm_mem_generic_allocation_handle handle;

/* An object of one unit that can be exported. */
static handle object_for(struct fix *f, unsigned devices, uint64_t types)
{
    vmm_multicast_object_prop prop = team_prop(devices, team_unit(f));
    handle object = 0;
    prop.handle_types = types;
    fix_need(f, vmm_multicast_create(S, &object, &prop));
    fix_note(f, FIX_HANDLE, object, 0);
    return object;
}

static handle memory_for(struct fix *f, int device, int types)
{
    vmm_mem_allocation_prop prop = fix_prop(device);
    prop.requested_handle_types = types;
    return fix_create_prop(f, team_unit(f), &prop);
}

static uint64_t done(struct fix *f, struct other *o, enum other_op op, uint64_t first, uint64_t second, int fd)
{
    struct other_answer answer = other_ask(o, op, first, second, fd);
    CHECK(!answer.result, "the other process, step %d: %s %s %s", (int)op,
          answer.result < 0 ? "it is gone" : vmm_result_name((vmm_result)answer.result), answer.rule, answer.note);
    return answer.value;
}

static int exported(struct fix *f, handle object)
{
    int fd = -1;
    ACCEPTED(vmm_mem_export_to_shareable_handle(S, &fd, object, FD, 0));
    return fd;
}

/* ------------------------------------------------------------------------------------------------ within one process */

/* Imported in the exporting process, it is another handle of the same object. */
TEST_EXPECTS_ON("multicast.export_and_import", mc_export_and_import, ON(2), TEST_AS_GIVEN, 0)
{
    team_need(f);
    handle object = object_for(f, 2, FD), copy = 0;
    int fd = exported(f, object), again = exported(f, object);
    CHECK(fd != again, "two exports are one descriptor");
    ACCEPTED(vmm_mem_import_from_shareable_handle(S, &copy, (void *)(uintptr_t)fd, FD));
    fix_note(f, FIX_HANDLE, copy, 0);
    close(again);
    close(fd);
    CHECK(copy != object, "the import is the handle itself");
    ACCEPTED(vmm_multicast_add_device(S, copy, 0));
    REFUSED_BY("VMM-MULTICAST-DEVICE-TWICE", vmm_multicast_add_device(S, object, 0), INVALID_VALUE, "dev", 0);
    ACCEPTED(vmm_multicast_add_device(S, object, 1));
    handle memory = memory_for(f, 1, FD);
    ACCEPTED(vmm_multicast_bind_mem(S, object, 0, memory, 0, team_unit(f), 0));
    REFUSED_BY("VMM-BIND-OVERLAP", vmm_multicast_bind_mem(S, copy, 0, memory, 0, team_unit(f), 0), INVALID_VALUE, "mcOffset",
               0);
    ACCEPTED(vmm_multicast_unbind(S, copy, 1, 0, team_unit(f)));
}

TEST_EXPECTS_ON("multicast.export_needs_its_type", mc_export_needs_type, ON(2), TEST_AS_GIVEN, 0)
{
    team_need(f);
    handle object = object_for(f, 2, 0);
    int fd = 77;
    REFUSED_BY("VMM-EXPORT-NOT-REQUESTED", vmm_mem_export_to_shareable_handle(S, &fd, object, FD, 0), INVALID_VALUE,
               "handleType", FD);
    CHECK(fd == 77, "a refused call wrote its output");
    object = object_for(f, 2, FABRIC);
    REFUSED_BY("VMM-EXPORT-NOT-REQUESTED", vmm_mem_export_to_shareable_handle(S, &fd, object, FD, 0), INVALID_VALUE,
               "handleType", FD);
}

/* ---------------------------------------------------------------------------------------------------------- resources */

enum { BINDS = 4096 };

/* An exported object with as many binds as possible, all of the same memory. */
static handle full(struct fix *f, handle *memory, uint64_t binds)
{
    uint64_t unit = team_unit(f);
    vmm_multicast_object_prop prop = team_prop(2, (BINDS + 1) * unit);
    handle object = 0;
    prop.handle_types = FD;
    fix_need(f, vmm_multicast_create(S, &object, &prop));
    fix_note(f, FIX_HANDLE, object, 0);
    fix_need(f, vmm_multicast_add_device(S, object, 0));
    fix_need(f, vmm_multicast_add_device(S, object, 1));
    close(exported(f, object));
    *memory = memory_for(f, 0, FD);
    for (uint64_t i = 0; i < binds; i++)
        fix_need(f, vmm_multicast_bind_mem(S, object, i * unit, *memory, 0, unit, 0));
    return object;
}

TEST_BREAKS_ON(BIND_RESOURCES, mc_bind_one_too_many, ON(2), TEST_AS_GIVEN, 0)
{
    team_need(f);
    uint64_t unit = team_unit(f);
    handle memory, object = full(f, &memory, BINDS);
    REFUSED_NEAR(vmm_multicast_bind_mem(S, object, BINDS * unit, memory, 0, unit, 0), OUT_OF_MEMORY, "size", unit, HANDLE, 0);
    REFUSED_BY("VMM-UNBIND-NOTHING", vmm_multicast_unbind(S, object, 0, BINDS * unit, unit), INVALID_VALUE, "mcOffset",
               BINDS * unit);
    ACCEPTED(vmm_multicast_unbind(S, object, 0, 0, unit));
    ACCEPTED(vmm_multicast_bind_mem(S, object, BINDS * unit, memory, 0, unit, 0));
}

TEST_NEAR_MISS_ON(BIND_RESOURCES, mc_bind_as_many_as_can_be, ON(2), TEST_AS_GIVEN, 0)
{
    team_need(f);
    uint64_t unit = team_unit(f);
    handle memory, object = full(f, &memory, BINDS - 1);
    ACCEPTED(vmm_multicast_bind_mem(S, object, BINDS * unit, memory, 0, unit, 0));
}

/* -------------------------------------------------------------------------------------------------- several processes */

/* The test's object in another process, which works on that device and has added it. */
static struct other member(struct fix *f, int fd, int device, uint64_t *object)
{
    struct other o = other_start(f);
    done(f, &o, OTHER_TEAM_DEVICE, (uint64_t)device, 0, -1);
    *object = done(f, &o, OTHER_IMPORT, 0, 0, fd);
    done(f, &o, OTHER_TEAM_ADD, *object, 0, -1);
    return o;
}

static uint64_t value_of(int device, uint64_t i)
{
    return 3 * (uint64_t)device + i * i + 1;
}

static uint64_t root_of(uint64_t square)
{
    uint64_t root = 0;
    while ((root + 1) * (root + 1) <= square)
        root++;
    return root;
}

/* The guide's program: a process for each device, none with access to the others' memory. */
static void norm(struct fix *f, int devices)
{
    struct other o[TEAM_MOST];
    uint64_t theirs[TEAM_MOST], squares = 0;
    handle object = object_for(f, (unsigned)devices, FD);
    int fd = exported(f, object);
    for (int d = 0; d < devices; d++)
        o[d] = member(f, fd, d, &theirs[d]);
    close(fd);
    fix_release(f, object); /* it lives on in the processes that hold it */
    for (int d = 0; d < devices; d++) {
        done(f, &o[d], OTHER_TEAM_BIND, theirs[d], FD, -1);
        for (uint64_t i = 0; i < NORM_WORDS; i++) {
            done(f, &o[d], OTHER_TEAM_SET, NORM_VALUES + 8 * i, value_of(d, i), -1);
            squares += value_of(d, i) * value_of(d, i);
        }
    }
    for (int d = 0; d < devices; d++)
        done(f, &o[d], OTHER_TEAM_ARRIVE, 0, 0, -1);
    for (int d = 0; d < devices; d++) {
        done(f, &o[d], OTHER_TEAM_FINISH, (uint64_t)devices, 0, -1);
        CHECK_U64(done(f, &o[d], OTHER_TEAM_WORD, NORM_OUT + 16, 0, -1), 1);
        CHECK_U64(done(f, &o[d], OTHER_TEAM_WORD, NORM_OUT, 0, -1), squares);
        CHECK_U64(done(f, &o[d], OTHER_TEAM_WORD, NORM_OUT + 8, 0, -1), root_of(squares));
    }
    for (int d = 0; d < devices; d++)
        other_end(&o[d]);
}

TEST_EXPECTS_ON("multicast.all_reduce_norm_of_processes", mc_norm_of_2_processes, ON(2), TEST_AS_GIVEN, 0)
{
    team_need(f);
    norm(fix_share(f), 2);
}

TEST_EXPECTS_ON("multicast.all_reduce_norm_of_processes", mc_norm_of_8_processes, ON(8), TEST_AS_GIVEN, 0)
{
    team_need(f);
    norm(fix_share(f), 8);
}

/* What a killed process bound stays with the object; its handles and its other memory end. */
TEST_EXPECTS_ON("multicast.killed_member", mc_killed_member, ON(2), TEST_AS_GIVEN, 0)
{
    uint64_t theirs, all, unit;
    team_need(f);
    f = fix_share(f);
    unit = team_unit(f);
    all = fix_free_memory(f);
    handle object = object_for(f, 2, FD);
    int fd = exported(f, object);
    struct other o = member(f, fd, 0, &theirs);
    close(fd);
    REFUSED_BY("VMM-MULTICAST-DEVICE-TWICE", vmm_multicast_add_device(S, object, 0), INVALID_VALUE, "dev", 0);
    ACCEPTED(vmm_multicast_add_device(S, object, 1));
    done(f, &o, OTHER_TEAM_BIND, theirs, FD, -1);
    done(f, &o, OTHER_TEAM_SET, 64, 11, -1);
    struct other_answer answer = other_ask(&o, OTHER_TEAM_ADD_WORD, 0, 64, -1);
    CHECK(answer.result == VMM_ERROR_ILLEGAL_ADDRESS && !strcmp(answer.rule, "VMM-FAULT-UNBOUND"),
          "device 1 has no replica, and yet: %s", answer.rule);
    CHECK_U64(fix_free_memory(f), all - unit);
    other_kill(&o);
    CHECK_U64(fix_free_memory(f), all - unit);
    handle memory = memory_for(f, 0, FD);
    REFUSED_BY("VMM-BIND-OVERLAP", vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0), INVALID_VALUE, "mcOffset", 0);
    ACCEPTED(vmm_multicast_unbind(S, object, 0, 0, unit));
    CHECK_U64(fix_free_memory(f), all - unit); /* that of this test */
    ACCEPTED(vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0));
    fix_release(f, memory);
    CHECK_U64(fix_free_memory(f), all - unit);
    fix_release(f, object); /* and no other process has it */
    CHECK_U64(fix_free_memory(f), all);
}

/* One process may unbind what another bound; the other's next launch faults. */
TEST_EXPECTS_ON("multicast.unbound_by_another", mc_unbound_by_another, ON(2), TEST_AS_GIVEN, 0)
{
    uint64_t theirs;
    team_need(f);
    f = fix_share(f);
    uint64_t unit = team_unit(f);
    handle object = object_for(f, 2, FD), memory = memory_for(f, 0, FD), second = memory_for(f, 1, FD);
    int fd = exported(f, object);
    struct other o = member(f, fd, 1, &theirs);
    close(fd);
    fix_need(f, vmm_multicast_add_device(S, object, 0));
    done(f, &o, OTHER_TEAM_BIND, theirs, FD, -1);
    fix_need(f, vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0));
    done(f, &o, OTHER_TEAM_ADD_WORD, 0, 64, -1);
    done(f, &o, OTHER_TEAM_UNBIND, theirs, 1, -1);
    ACCEPTED(vmm_multicast_bind_mem(S, object, 0, second, 0, unit, 0));
    ACCEPTED(vmm_multicast_unbind(S, object, 0, 0, unit));
    struct other_answer answer = other_ask(&o, OTHER_TEAM_ADD_WORD, 0, 64, -1);
    CHECK(answer.result == VMM_ERROR_ILLEGAL_ADDRESS && !strcmp(answer.rule, "VMM-FAULT-UNBOUND"),
          "what was unbound is still there: %s", answer.rule);
    other_end(&o);
}

/* Nodes of a fabric: each has its own device 0. */
TEST_EXPECTS_ON("multicast.team_of_two_nodes", mc_team_of_two_nodes, ON(2), TEST_AS_GIVEN, 0)
{
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE];
    char spec[sizeof f->spec + 60];
    vmm_deviceptr own, mc;
    uint64_t unit, word = 0, two = 2;
    team_need(f);
    unit = team_unit(f);
    handle object = object_for(f, 2, FABRIC), memory = memory_for(f, 0, FABRIC);
    ACCEPTED(vmm_mem_export_to_shareable_handle(S, bytes, object, FABRIC, 0));
    snprintf(spec, sizeof spec, "%s,machine=suite-%ld-node", f->spec, (long)getpid());
    struct other o = other_start_on(f, spec);
    done(f, &o, OTHER_TEAM_DEVICE, 0, 0, -1);
    struct other_answer answer = other_ask_fabric(&o, OTHER_IMPORT_FABRIC, bytes);
    CHECK(!answer.result, "the node does not import it: %s", answer.rule);
    done(f, &o, OTHER_TEAM_ADD, answer.value, 0, -1);
    ACCEPTED(vmm_multicast_add_device(S, object, 0)); /* the same number, another device */
    done(f, &o, OTHER_TEAM_BIND, answer.value, FABRIC, -1);
    done(f, &o, OTHER_TEAM_SET, 64, 40, -1);
    fix_need(f, vmm_multicast_bind_mem(S, object, 0, memory, 0, unit, 0));
    own = team_reserve(f, unit);
    fix_map(f, own, unit, memory);
    fix_access(f, own, unit, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    mc = team_reserve(f, unit);
    fix_map(f, mc, unit, object);
    fix_access(f, mc, unit, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    done(f, &o, OTHER_TEAM_ADD_WORD, 8, 64, -1);
    fix_need(f, vmm_memcpy_dtoh(S, &word, own + 8, 8));
    CHECK_U64(word, 40);
    fix_need(f, vmm_memcpy_htod(S, own + 64, &two, 8));
    ACCEPTED(LAUNCH(MULTIMEM_REDUCE, mc + 8, own + 64, 8));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(done(f, &o, OTHER_TEAM_WORD, 8, 0, -1), 42);
    other_end(&o);
    fix_need(f, vmm_memcpy_dtoh(S, &word, own + 8, 8));
    CHECK_U64(word, 42);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* 65,537 of everything that is counted; the tests check the first, the middle and the last one. */
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "team.h"
#undef LAUNCH
#include "scale.h"

#define ROOMY "device.memory = 256GiB"
#define SHARING "attribute.103 = 1"

enum { LAST = SCALE_MANY - 1, MIDDLE = SCALE_MANY / 2 };

enum { LOOKS = 3 };
static const unsigned place_of[LOOKS] = {0, MIDDLE, LAST};

typedef vmm_mem_generic_allocation_handle handle_t;

/* Makes the call n times, or until it is refused; made counts the successes. */
#define UNTIL(made, most, result, call)                                                                          \
    for (made = 0; result == VMM_SUCCESS && made < (most); made += result == VMM_SUCCESS)                        \
        result = (call)

/* Are all values different? Sorts them. */
static int by_value(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

static void check_unique(struct fix *f, uint64_t *value, uint64_t count)
{
    uint64_t same = 0;
    qsort(value, count, sizeof *value, by_value);
    for (uint64_t i = 1; i < count; i++)
        same += value[i] == value[i - 1];
    CHECK(!same, "%llu of %llu values are duplicates", (unsigned long long)same, (unsigned long long)count);
}

/* The object with that value, as the simulator enumerates it; none on a driver. */
struct shown {
    vmm_object_kind kind;
    uint64_t value, found;
    uint32_t number; /* the highest */
    vmm_object object;
};

static void show(void *user, const vmm_object *object)
{
    struct shown *shown = user;
    if (object->kind != shown->kind || (shown->value && object->value != shown->value))
        return;
    shown->found++;
    shown->number = object->number > shown->number ? object->number : shown->number;
    shown->object = *object;
}

/* How many objects of the kind there are; value 0: any. */
static struct shown shown(struct fix *f, vmm_object_kind kind, uint64_t value)
{
    struct shown s = {.kind = kind, .value = value};
    fix_need(f, vmm_visit(S, show, &s));
    return s;
}

static void check_shown(struct fix *f, vmm_object_kind kind, uint64_t want)
{
    if (!f->simulator)
        return;
    struct shown s = shown(f, kind, 0);
    CHECK_U64(s.found, want);
    CHECK(s.number >= want, "%llu objects are numbered up to %u", (unsigned long long)want, s.number);
}

/* ---- memory ---- */

TEST_EXPECTS_ON("scale.handles_65537", handles_65537, ROOMY, TEST_AS_GIVEN, 0)
{
    SCALE_NEED_ROOM(f);
    scale_need_memory(f, (SCALE_MANY + 2) * f->g);
    uint64_t before = fix_free_memory(f), made, *handle = scale_room(f, SCALE_MANY, sizeof *handle);
    vmm_mem_allocation_prop prop = fix_prop(0), is = {0};
    vmm_result result = VMM_SUCCESS;
    vmm_deviceptr p = fix_reserve(f, f->g);
    UNTIL(made, SCALE_MANY, result, vmm_mem_create(S, (handle_t *)&handle[made], f->g, &prop, 0));
    CHECK_FREE(before, made * f->g);
    check_shown(f, VMM_OBJECT_HANDLE, made);
    for (unsigned i = 0; result == VMM_SUCCESS && i < LOOKS; i++) {
        handle_t one = handle[place_of[i]];
        CHECK(vmm_mem_get_allocation_properties_from_handle(S, &is, one) == VMM_SUCCESS,
              "handle %u does not exist", place_of[i]);
        fix_map(f, p, f->g, one);
        fix_unmap(f, p, f->g);
    }
    check_unique(f, handle, made);
    for (uint64_t i = 0; i < made; i++)
        CHECK(vmm_mem_release(S, handle[i]) == VMM_SUCCESS, "handle %llu is not released", (unsigned long long)i);
    CHECK(f->house || made == 0 || vmm_mem_release(S, handle[0]) != VMM_SUCCESS, "a handle is released twice");
    free(handle);
    fix_need(f, result);
    CHECK_FREE(before, 0);
}

/* A handle ends with its last reference, not before. */
TEST_EXPECTS("scale.references_65537", references_65537)
{
    SCALE_NEED_ROOM(f);
    handle_t handle = 0, same = 0;
    uint64_t before = fix_free_memory(f), made, wrong = 0;
    vmm_result result = VMM_SUCCESS;
    vmm_deviceptr p = fix_mapped(f, f->g, RW, &handle);
    UNTIL(made, SCALE_MANY, result, vmm_mem_retain_allocation_handle(S, &same, p + made % f->g));
    CHECK_U64(same, handle);
    if (f->simulator)
        CHECK_U64(shown(f, VMM_OBJECT_HANDLE, handle).object.references, made + 1);
    fix_unmap(f, p, f->g);
    for (uint64_t i = 0; i < made; i++)
        wrong += vmm_mem_release(S, handle) != VMM_SUCCESS;
    CHECK_U64(wrong, 0);
    CHECK_FREE(before, f->g);
    fix_map(f, p, f->g, handle); /* the reference of its creation is left */
    fix_unmap(f, p, f->g);
    fix_release(f, handle);
    CHECK_FREE(before, 0);
    fix_need(f, result);
}

TEST_EXPECTS_ON("scale.allocations_65537", allocations_65537, ROOMY, TEST_AS_GIVEN, 0)
{
    SCALE_NEED_ROOM(f);
    scale_need_memory(f, (SCALE_MANY + 2) * f->g);
    scale_need_addresses(f, (SCALE_MANY + 2) * f->g);
    uint64_t before = fix_free_memory(f), made, wrong = 0, size = 0;
    vmm_deviceptr *p = scale_room(f, SCALE_MANY, sizeof *p), at = 0;
    vmm_result result = VMM_SUCCESS;
    UNTIL(made, SCALE_MANY, result, vmm_mem_alloc(S, &p[made], f->g));
    check_shown(f, VMM_OBJECT_ALLOCATION, made);
    for (unsigned i = 0; result == VMM_SUCCESS && i < LOOKS; i++)
        fix_need(f, vmm_memset_d8(S, p[place_of[i]], (unsigned char)(i + 1), f->g));
    for (unsigned i = 0; result == VMM_SUCCESS && i < LOOKS; i++) {
        CHECK_U64(fix_peek(f, p[place_of[i]] + f->g - 1), i + 1);
        fix_need(f, vmm_mem_get_address_range(S, &at, &size, p[place_of[i]] + f->g - 1));
        CHECK(at == p[place_of[i]] && size == f->g, "allocation %u is reported as 0x%llx bytes at 0x%llx", place_of[i],
              (unsigned long long)size, (unsigned long long)at);
    }
    fix_settle(f);
    for (uint64_t i = 0; i < made; i++)
        wrong += vmm_mem_free(S, p[i]) != VMM_SUCCESS;
    check_unique(f, p, made);
    free(p);
    CHECK_U64(wrong, 0);
    fix_need(f, result);
    CHECK_FREE(before, 0);
}

/* ---- addresses ---- */

TEST_EXPECTS("scale.reservations_65537", reservations_65537)
{
    SCALE_NEED_ROOM(f);
    scale_need_addresses(f, SCALE_MANY * f->g);
    vmm_deviceptr *p = scale_room(f, SCALE_MANY, sizeof *p);
    uint64_t made, wrong = 0;
    vmm_result result = VMM_SUCCESS;
    UNTIL(made, SCALE_MANY, result, vmm_mem_address_reserve(S, &p[made], f->g, 0, 0, 0));
    check_shown(f, VMM_OBJECT_RESERVATION, made + 1); /* and the keeper */
    handle_t handle = fix_create(f, f->g);
    for (unsigned i = 0; result == VMM_SUCCESS && i < LOOKS; i++) {
        fix_map(f, p[place_of[i]], f->g, handle);
        fix_unmap(f, p[place_of[i]], f->g);
    }
    for (uint64_t i = 0; i < made; i++)
        wrong += vmm_mem_address_free(S, p[i], f->g) != VMM_SUCCESS;
    CHECK(made < SCALE_MANY || vmm_mem_map(S, p[LAST], f->g, 0, handle, 0) != VMM_SUCCESS,
          "a freed reservation still exists");
    check_unique(f, p, made);
    free(p);
    CHECK_U64(wrong, 0);
    fix_need(f, result);
}

/* ---- contexts, streams and events ---- */

TEST_EXPECTS("scale.contexts_65537", contexts_65537)
{
    fix_need_simulator(f, "a context of a driver takes hundreds of MiB");
    vmm_context *context = scale_room(f, SCALE_MANY, sizeof *context), is = NULL;
    uint64_t made, wrong = 0;
    vmm_result result = VMM_SUCCESS;
    UNTIL(made, SCALE_MANY, result, vmm_ctx_create(S, &context[made], 0, (int)(made % (uint64_t)f->devices)));
    check_shown(f, VMM_OBJECT_CONTEXT, made + 1);
    for (unsigned i = 0; result == VMM_SUCCESS && i < LOOKS; i++) {
        vmm_device on = -1;
        fix_need(f, vmm_ctx_set_current(S, context[place_of[i]]));
        fix_need(f, vmm_ctx_get_current(S, &is));
        CHECK(is == context[place_of[i]], "context %u is not the current one", place_of[i]);
        fix_need(f, vmm_ctx_get_device(S, &on));
        CHECK_U64((uint64_t)on, place_of[i] % (uint64_t)f->devices);
    }
    for (uint64_t i = 0; i < made; i++)
        wrong += vmm_ctx_destroy(S, context[i]) != VMM_SUCCESS;
    CHECK(made < SCALE_MANY || vmm_ctx_destroy(S, context[LAST]) != VMM_SUCCESS, "a context is destroyed twice");
    free(context);
    CHECK_U64(wrong, 0);
    fix_need(f, result);
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
}

/* A primary context lives until every retain is matched by a release. */
TEST_EXPECTS("scale.retains_65537", retains_65537)
{
    SCALE_NEED_ROOM(f);
    vmm_context primary = NULL, is = NULL;
    uint64_t made, wrong = 0;
    vmm_result result = vmm_device_primary_ctx_retain(S, &primary, 0);
    UNTIL(made, SCALE_MANY, result, vmm_device_primary_ctx_retain(S, &is, 0));
    CHECK(is == primary, "retained again, the context is a different one");
    for (uint64_t i = 0; i < made; i++)
        wrong += vmm_device_primary_ctx_release(S, 0) != VMM_SUCCESS;
    CHECK_U64(wrong, 0);
    fix_need(f, vmm_ctx_set_current(S, primary)); /* the first retain is left */
    fix_free_memory(f);
    fix_need(f, vmm_ctx_set_current(S, f->ctx));
    fix_need(f, vmm_device_primary_ctx_release(S, 0));
    CHECK(f->house || vmm_device_primary_ctx_release(S, 0) != VMM_SUCCESS, "there is one release too many");
    fix_need(f, result);
}

/* A way to wait for work: a stream, or an event recorded in one. */
struct awaited {
    vmm_object_kind kind;
    vmm_result (*make)(struct fix *f, void **made);
    /* Issues a fill of one byte to wait for. */
    void (*fill)(struct fix *f, vmm_deviceptr p, unsigned char byte, void *it, vmm_stream stream);
    vmm_result (*wait)(struct fix *f, void *it);
    vmm_result (*destroy)(struct fix *f, void *it);
};

/* Each checked one gets a fill of its own byte. */
static void check_awaited(struct fix *f, const struct awaited *are, vmm_stream stream)
{
    void **it = scale_room(f, SCALE_MANY, sizeof *it);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    uint64_t made, wrong = 0;
    vmm_result result = VMM_SUCCESS;
    UNTIL(made, SCALE_MANY, result, are->make(f, &it[made]));
    check_shown(f, are->kind, made);
    for (unsigned i = 0; result == VMM_SUCCESS && i < LOOKS; i++)
        are->fill(f, p + i, (unsigned char)(i + 1), it[place_of[i]], stream);
    for (unsigned i = 0; result == VMM_SUCCESS && i < LOOKS; i++) {
        ACCEPTED(are->wait(f, it[place_of[i]]));
        CHECK_U64(fix_peek(f, p + i), i + 1);
    }
    for (uint64_t i = 0; i < made; i++)
        wrong += are->destroy(f, it[i]) != VMM_SUCCESS;
    free(it);
    CHECK_U64(wrong, 0);
    fix_need(f, result);
}

static vmm_result make_stream(struct fix *f, void **made)
{
    vmm_stream stream = NULL;
    vmm_result result = vmm_stream_create(S, &stream, VMM_STREAM_NON_BLOCKING);
    *made = stream;
    return result;
}

static void fill_in(struct fix *f, vmm_deviceptr p, unsigned char byte, void *it, vmm_stream stream)
{
    (void)stream;
    ACCEPTED(vmm_memset_d8_async(S, p, byte, 1, it));
}

static vmm_result wait_for_stream(struct fix *f, void *it)
{
    return vmm_stream_synchronize(S, it);
}

static vmm_result destroy_stream(struct fix *f, void *it)
{
    return vmm_stream_destroy(S, it);
}

TEST_EXPECTS("scale.streams_65537", streams_65537)
{
    fix_need_simulator(f, "a driver has fewer queues, and takes some 10 us to make a stream");
    check_awaited(f, &(struct awaited){VMM_OBJECT_STREAM, make_stream, fill_in, wait_for_stream, destroy_stream}, NULL);
}

static vmm_result make_event(struct fix *f, void **made)
{
    vmm_event event = NULL;
    vmm_result result = vmm_event_create(S, &event, VMM_EVENT_DISABLE_TIMING);
    *made = event;
    return result;
}

static void fill_before(struct fix *f, vmm_deviceptr p, unsigned char byte, void *it, vmm_stream stream)
{
    ACCEPTED(vmm_memset_d8_async(S, p, byte, 1, stream));
    ACCEPTED(vmm_event_record(S, it, stream));
}

static vmm_result wait_for_event(struct fix *f, void *it)
{
    return vmm_event_synchronize(S, it);
}

static vmm_result destroy_event(struct fix *f, void *it)
{
    return vmm_event_destroy(S, it);
}

TEST_EXPECTS("scale.events_65537", events_65537)
{
    SCALE_NEED_ROOM(f);
    check_awaited(f, &(struct awaited){VMM_OBJECT_EVENT, make_event, fill_before, wait_for_event, destroy_event}, fix_stream(f));
}

/* More work than the simulator keeps in flight: none is lost, and none runs twice. */
TEST_EXPECTS("scale.launches_65537", launches_65537)
{
    SCALE_NEED_ROOM(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL);
    vmm_stream stream = fix_stream(f);
    uint64_t made;
    vmm_result result = VMM_SUCCESS;
    fix_need(f, vmm_memset_d8(S, p, 0, 8));
    fix_settle(f);
    UNTIL(made, SCALE_MANY, result, vmm_launch(S, VMM_KERNEL_ATOMIC_ADD, 1, 1, SCALE_ARGS(p, 1), stream));
    ACCEPTED(vmm_stream_synchronize(S, stream));
    CHECK_U64(scale_word(f, p), made);
    fix_need(f, result);
}

/* ---- sharing ---- */

static handle_t shareable(struct fix *f)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                       "needs export as a file descriptor (attribute 103)");
    prop.requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    return fix_create_prop(f, f->g, &prop);
}

static vmm_result export_it(struct fix *f, int *fd, handle_t handle)
{
    return vmm_mem_export_to_shareable_handle(S, fd, handle, VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0);
}

/* As many descriptors of one memory as the process may have; then the refusal. Closing one makes room again. */
TEST_EXPECTS_ON("scale.descriptors_to_the_limit", descriptors_to_the_limit, SHARING, TEST_AS_GIVEN, 0)
{
    enum { ROOM = 1024 };
    handle_t handle = shareable(f);
    struct rlimit most, few;
    int fd[ROOM], made = 0, more = -1;
    fix_need(f, export_it(f, &fd[made++], handle)); /* the first one has allocated what it needs */
    getrlimit(RLIMIT_NOFILE, &most);
    few = most;
    few.rlim_cur = (rlim_t)fd[0] + ROOM / 2;
    setrlimit(RLIMIT_NOFILE, &few);
    vmm_result result = VMM_SUCCESS;
    while (made < ROOM && (result = export_it(f, &fd[made], handle)) == VMM_SUCCESS)
        made++;
    CHECK(result != VMM_SUCCESS && made > ROOM / 4, "%d descriptors, then %s", made, vmm_result_name(result));
    scale_refused(f, result, VMM_ERROR_OPERATING_SYSTEM, "VMM-EXPORT-SYSTEM");
    close(fd[--made]);
    result = export_it(f, &more, handle);
    setrlimit(RLIMIT_NOFILE, &most);
    CHECK(result == VMM_SUCCESS && more == fd[made], "with a descriptor closed: %s, %d", vmm_result_name(result), more);
    if (result == VMM_SUCCESS)
        close(more);
    while (made)
        close(fd[--made]);
}

/* Each opens a file, so there are fewer (backend_sim/calls/scale_test.c has the others). */
TEST_EXPECTS_ON("scale.imports_1025", imports_of_one_memory, SHARING, TEST_AS_GIVEN, 0)
{
    SCALE_NEED_ROOM(f);
    enum { IMPORTS = 1025 };
    const unsigned places[LOOKS] = {0, IMPORTS / 2, IMPORTS - 1};
    handle_t handle = shareable(f), *import = scale_room(f, IMPORTS, sizeof *import);
    uint64_t before = fix_free_memory(f), made, wrong = 0;
    int fd = -1;
    vmm_deviceptr p = fix_reserve(f, (1 + LOOKS) * f->g);
    vmm_result result = export_it(f, &fd, handle);
    UNTIL(made, IMPORTS, result, vmm_mem_import_from_shareable_handle(S, &import[made], (void *)(uintptr_t)fd,
                                                             VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    close(fd);
    CHECK_FREE(before, 0);
    fix_map(f, p, f->g, handle);
    for (unsigned i = 0; result == VMM_SUCCESS && i < LOOKS; i++)
        fix_map(f, p + (i + 1) * f->g, f->g, import[places[i]]);
    if (result == VMM_SUCCESS) {
        fix_access(f, p, (1 + LOOKS) * f->g, RW);
        fix_fill(f, p, 5, 8);
        for (unsigned i = 0; i < LOOKS; i++)
            CHECK_U64(fix_peek(f, p + (i + 1) * f->g + 7), 5);
        fix_unmap(f, p, (1 + LOOKS) * f->g);
    }
    for (uint64_t i = 0; i < made; i++)
        wrong += vmm_mem_release(S, import[i]) != VMM_SUCCESS;
    free(import);
    CHECK_U64(wrong, 0);
    fix_need(f, result);
    CHECK_FREE(before, 0);
}

/* One memory bound to this many units of an object; the last store goes through the last bind. */
TEST_EXPECTS_ON("scale.binds_65537", binds_65537, TEAM_OF(2), TEST_AS_GIVEN, 0)
{
    team_need(f);
    struct crew crew;
    const uint64_t unit = team_unit(f);
    uint64_t made, wrong = 0;
    vmm_result result = VMM_SUCCESS;
    scale_crew(f, SCALE_MANY * unit, TEAM_UNITS * unit, &crew);
    UNTIL(made, SCALE_MANY, result, vmm_multicast_bind_mem(S, crew.object, made * unit, crew.memory[0], 0, unit, 0));
    ACCEPTED(vmm_multicast_bind_mem(S, crew.object, LAST * unit, crew.memory[1], unit, unit, 0));
    if (f->simulator)
        CHECK_U64(shown(f, VMM_OBJECT_HANDLE, crew.object).object.binds, made + 1);
    if (f->simulator)
        CHECK_U64(shown(f, VMM_OBJECT_HANDLE, crew.memory[0]).object.binds, made);
    REFUSED_BY("VMM-BIND-OVERLAP", vmm_multicast_bind_mem(S, crew.object, MIDDLE * unit, crew.memory[0], unit, unit, 0),
               INVALID_VALUE, "mcOffset", MIDDLE * unit);
    fix_map(f, crew.mc, SCALE_MANY * unit, crew.object);
    team_access(f, crew.mc, SCALE_MANY * unit, 2, RW);
    fix_need(f, vmm_memset_d8(S, crew.own[0] + unit, 7, 8));
    ACCEPTED(LAUNCH(MULTIMEM_STORE, crew.mc + LAST * unit + 64, crew.own[0] + unit, 8));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(scale_word(f, crew.own[0] + 64), UINT64_C(0x0707070707070707));
    CHECK_U64(scale_word(f, crew.own[1] + unit + 64), UINT64_C(0x0707070707070707));
    for (uint64_t i = 0; i < made; i++)
        wrong += vmm_multicast_unbind(S, crew.object, 0, i * unit, unit) != VMM_SUCCESS;
    CHECK_U64(wrong, 0);
    fix_need(f, result);
}

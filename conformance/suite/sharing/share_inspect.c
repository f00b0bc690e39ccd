/* SPDX-License-Identifier: Apache-2.0 */
/* The report on what holds exported memory, with real processes that import it, keep a descriptor of it, or are
 * killed. */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "other.h"
#include "passing.h"
#include "test.h"
#include "units.h"

#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define DEVICE VMM_MEM_LOCATION_TYPE_DEVICE

typedef vmm_mem_generic_allocation_handle handle_t;

/* The lines of the report: the hints, and the leaks of handles. */
struct reported {
    unsigned hints, handles;
    vmm_detail hint, handle; /* a hint, or instead the leak, where this process has a descriptor */
};

static void hear(void *user, const vmm_detail *detail)
{
    struct reported *reported = user;
    if (detail->nearest.kind == VMM_OBJECT_NONE) {
        reported->hints++;
        reported->hint = *detail;
    } else if (detail->nearest.kind == VMM_OBJECT_HANDLE) {
        reported->handles++;
        reported->handle = *detail;
    }
}

static struct reported report(struct fix *f)
{
    struct reported reported = {0};
    uint64_t leaks = vmm_leaks(S, hear, &reported);
    CHECK_U64(vmm_leaks(S, NULL, NULL), leaks);
    return reported;
}

static struct fix *begin(struct fix *f)
{
    fix_need_simulator(f, "a driver does not report what holds memory");
    fix_need_attribute(f, VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED,
                       "needs export as a file descriptor (attribute 103)");
    if (access("/proc/self/fd", R_OK))
        fix_skip(f, "this system does not report which processes have a file open");
    return fix_share(f);
}

/* The other process carries the request out without an error. */
static struct other_answer done(struct fix *f, struct other *o, enum other_op op, uint64_t first, int fd)
{
    struct other_answer answer = other_ask(o, op, first, op == OTHER_CREATE ? DEVICE : f->g, fd);
    CHECK(!answer.result, "the other process, step %d: %d %s", (int)op, answer.result, answer.rule);
    return answer;
}

static handle_t shareable(struct fix *f)
{
    vmm_mem_allocation_prop prop = fix_prop(0);
    prop.requested_handle_types = FD;
    return fix_create_prop(f, f->g, &prop);
}

static int exported(struct fix *f, handle_t handle)
{
    int fd = -1;
    ACCEPTED(vmm_mem_export_to_shareable_handle(S, &fd, handle, FD, 0));
    return fd;
}

/* Memory held only by a descriptor. */
static int prepared(struct fix *f)
{
    handle_t handle = shareable(f);
    int fd = exported(f, handle);
    fix_release(f, handle);
    return fd;
}

static bool names(const char *note, const struct other *o, const char *what)
{
    char pid[48];
    snprintf(pid, sizeof pid, "process %ld (", (long)o->pid);
    /* tools that run programs rename the process */
    const char *at = strstr(note, pid), *end = at ? strchr(at, ')') : NULL;
    return end && end > at + strlen(pid) && !strncmp(end + 1, ": ", 2) && !strncmp(end + 3, what, strlen(what));
}

/* In other processes each import is the fourth call, after init, a context and a granularity query. */
#define THEIR_IMPORT "call 4 (cuMemImportFromShareableHandle)"

static void check_reported(struct fix *f, const struct reported *reported, const char *severity, const char *rule)
{
    char text[2048], want[120];
    CHECK_U64(reported->hints, 1);
    CHECK(reported->hint.rule && !strcmp(reported->hint.rule, rule), "reported: %s",
          reported->hint.rule ? reported->hint.rule : "nothing");
    CHECK(reported->hint.function && !strcmp(reported->hint.function, "cuMemExportToShareableHandle") && reported->hint.call,
          "the exporting call is not reported");
    vmm_detail_text(&reported->hint, text, sizeof text);
    snprintf(want, sizeof want, "%s %s: cuMemExportToShareableHandle (call ", severity, rule);
    CHECK(!strncmp(text, want, strlen(want)), "%s", text);
}

static void check_hint(struct fix *f, const struct reported *reported)
{
    check_reported(f, reported, "hint", "VMM-LEAK-ELSEWHERE");
}

/* This process has a descriptor, which is a leak of its own. */
static void check_descriptor(struct fix *f, const struct reported *reported)
{
    check_reported(f, reported, "leak", "VMM-LEAK-DESCRIPTOR");
}

TEST_BREAKS(LEAK_ELSEWHERE, others_hold_what_was_let_go)
{
    f = begin(f);
    struct other importer = other_start(f), keeper = other_start(f);
    char descriptor[32];
    int fd = prepared(f);
    done(f, &importer, OTHER_IMPORT, 0, fd);
    uint64_t number = done(f, &keeper, OTHER_KEEP, 0, fd).value;
    close(fd);
    struct reported reported = report(f);
    check_hint(f, &reported);
    CHECK(names(reported.hint.note, &importer, THEIR_IMPORT), "%s", reported.hint.note);
    snprintf(descriptor, sizeof descriptor, "descriptor %d", (int)number);
    CHECK(names(reported.hint.note, &keeper, descriptor), "%s", reported.hint.note);
    other_kill(&importer);
    reported = report(f);
    check_hint(f, &reported);
    CHECK(!strstr(reported.hint.note, "Import"), "a killed process holds nothing: %s", reported.hint.note);
    CHECK(names(reported.hint.note, &keeper, descriptor), "%s", reported.hint.note);
    other_kill(&keeper);
    CHECK_U64(report(f).hints, 0);
}

TEST_NEAR_MISS(LEAK_ELSEWHERE, others_let_go_too)
{
    f = begin(f);
    struct other importer = other_start(f), keeper = other_start(f);
    int fd = prepared(f);
    uint64_t copy = done(f, &importer, OTHER_IMPORT, 0, fd).value;
    done(f, &keeper, OTHER_KEEP, 0, fd);
    close(fd);
    done(f, &importer, OTHER_RELEASE, copy, -1);
    done(f, &keeper, OTHER_DROP, 0, -1);
    CHECK_U64(report(f).hints, 0);
    other_end(&importer);
    other_end(&keeper);
}

/* A descriptor that this process did not close is its leak, whichever other process holds the memory. */
TEST_BREAKS(LEAK_DESCRIPTOR, own_descriptor_left_open)
{
    char descriptor[48];
    f = begin(f);
    struct other importer = other_start(f);
    int fd = prepared(f);
    uint64_t leaks = vmm_leaks(S, NULL, NULL);
    for (int others = 0; others < 2; others++) {
        if (others)
            done(f, &importer, OTHER_IMPORT, 0, fd);
        struct reported reported = report(f);
        check_descriptor(f, &reported);
        snprintf(descriptor, sizeof descriptor, "this process: descriptor %d", fd);
        CHECK(strstr(reported.hint.note, descriptor), "%s", reported.hint.note);
    }
    close(fd);
    struct reported reported = report(f);
    check_hint(f, &reported);
    CHECK_U64(vmm_leaks(S, NULL, NULL), leaks - 1);
    other_end(&importer);
}

TEST_NEAR_MISS(LEAK_DESCRIPTOR, own_descriptor_closed)
{
    f = begin(f);
    close(prepared(f));
    CHECK_U64(report(f).hints, 0);
}

/* vmm_close, which this test calls itself, reports it as well. */
TEST_EXPECTS("share.close_hints_at_other_holders", close_hints)
{
    f = begin(f);
    struct reported reported = {0};
    struct other importer = other_start(f);
    int fd = prepared(f);
    done(f, &importer, OTHER_IMPORT, 0, fd);
    close(fd);
    vmm_set_report(S, hear, &reported);
    vmm_close(S);
    f->sys = NULL;
    check_hint(f, &reported);
    CHECK(names(reported.hint.note, &importer, THEIR_IMPORT), "%s", reported.hint.note);
    other_end(&importer);
}

/* One that was sent and not closed. */
TEST_EXPECTS("share.own_descriptor_is_told_as_holder", own_descriptor)
{
    f = begin(f);
    char want[64];
    int fd = prepared(f);
    struct reported reported = report(f);
    check_descriptor(f, &reported);
    snprintf(want, sizeof want, ", held by this process: descriptor %d", fd);
    CHECK(strstr(reported.hint.note, want), "%s", reported.hint.note);
    close(fd);
    CHECK_U64(report(f).hints, 0);
}

/* Memory of a device and of the host. */
TEST_EXPECTS("share.hint_names_size_and_place", place_of_a_hint)
{
    f = begin(f);
    fix_need_numa(f);
    const int node = fix_numa_node(f);
    for (int host = 0; host < 2; host++) {
        vmm_mem_allocation_prop prop = host ? fix_prop_at(VMM_MEM_LOCATION_TYPE_HOST_NUMA, node) : fix_prop(0);
        prop.requested_handle_types = FD;
        uint64_t size = 0;
        fix_need(f, vmm_mem_get_allocation_granularity(S, &size, &prop, VMM_MEM_ALLOC_GRANULARITY_MINIMUM));
        handle_t handle = fix_create_prop(f, 3 * size, &prop);
        int fd = exported(f, handle);
        fix_release(f, handle);
        char want[120], units[UNITS_TEXT];
        units_text(3 * size, units);
        snprintf(want, sizeof want, "%s on %s %d, held by this process: descriptor %d", units, host ? "host node" : "device",
                 host ? node : 0, fd);
        struct reported reported = report(f);
        check_descriptor(f, &reported);
        CHECK(!strcmp(reported.hint.note, want), "%s, expected %s", reported.hint.note, want);
        close(fd);
    }
}

/* The end of a note about that many descriptors with two-digit numbers: as many as fit. */
static void holders_text(size_t begun, int count, const int *number, char *text, size_t size)
{
    const size_t longest = sizeof ((vmm_detail *)0)->note;
    size_t length = 0;
    int reported = 0;
    for (; reported < count && begun + length + strlen(", held by this process: descriptor 10") + 24 < longest; reported++)
        length += (size_t)snprintf(text + length, size - length, "%sthis process: descriptor %d", reported ? "; " : ", held by ",
                                   number[reported]);
    if (reported < count)
        snprintf(text + length, size - length, "; and %d more", count - reported);
}

/* The rest is counted. */
TEST_EXPECTS("share.holders_find_room_in_a_note", many_descriptors)
{
    enum { COUNT = 14, FIRST = 20 };
    f = begin(f);
    int number[COUNT], fd = prepared(f);
    size_t begun = strcspn(report(f).hint.note, ",");
    for (int i = 0; i < COUNT; i++) {
        char want[600];
        number[i] = fcntl(i ? number[0] : fd, F_DUPFD_CLOEXEC, FIRST);
        CHECK(number[i] >= FIRST && number[i] < 100, "descriptor %d", number[i]);
        if (i == 0)
            close(fd);
        holders_text(begun, i + 1, number, want, sizeof want);
        struct reported reported = report(f);
        check_descriptor(f, &reported);
        CHECK(!strcmp(reported.hint.note + begun, want), "%s, expected %s", reported.hint.note, want);
    }
    for (int i = 0; i < COUNT; i++)
        close(number[i]);
    CHECK_U64(report(f).hints, 0);
}

/* While in a message, it belongs to no process. */
TEST_EXPECTS("share.message_is_told_as_holder", message_holds)
{
    f = begin(f);
    int ends[2];
    fix_need(f, passing_pair(ends) ? VMM_SUCCESS : VMM_ERROR_OPERATING_SYSTEM);
    int fd = prepared(f);
    CHECK(passing_send(ends[0], fd), "the descriptor cannot be sent");
    close(fd);
    struct reported reported = report(f);
    check_hint(f, &reported);
    CHECK(strstr(reported.hint.note, "in no process: in a message"), "%s", reported.hint.note);
    close(ends[0]);
    close(ends[1]);
    CHECK_U64(report(f).hints, 0);
}

/* A leaked import from a process that has ended. */
TEST_EXPECTS("share.leaked_import_names_its_exporter", leaked_import)
{
    f = begin(f);
    struct other o = other_start(f), was = o;
    uint64_t theirs = done(f, &o, OTHER_CREATE, f->g, -1).value;
    int fd = done(f, &o, OTHER_EXPORT, theirs, -1).fd;
    handle_t copy = 0;
    ACCEPTED(vmm_mem_import_from_shareable_handle(S, &copy, (void *)(uintptr_t)fd, FD));
    fix_note(f, FIX_HANDLE, copy, f->g);
    close(fd);
    for (int alive = 1; alive >= 0; alive--) {
        struct reported reported = report(f);
        CHECK_U64(reported.handles, 1);
        CHECK_U64(reported.hints, 0);
        CHECK(strstr(reported.handle.note, "exported by ") &&
                  names(reported.handle.note, &was, "call 5 (cuMemExportToShareableHandle)"),
              "%s", reported.handle.note);
        CHECK(!strstr(reported.handle.note, "also held by"), "%s", reported.handle.note);
        if (alive)
            other_kill(&o);
    }
}

/* A handle leaked here, whose memory another process holds as well; of two imports the first is reported. */
TEST_EXPECTS("share.leaked_export_names_other_holders", leaked_export)
{
    f = begin(f);
    struct other o = other_start(f);
    int fd = exported(f, shareable(f));
    struct reported reported = report(f);
    CHECK_U64(reported.handles, 1);
    char own[64];
    snprintf(own, sizeof own, "also held by this process: descriptor %d", fd);
    const char *others = strstr(reported.handle.note, "also held by ");
    CHECK(others && strcmp(others, own) == 0, "%s", reported.handle.note);
    uint64_t first = done(f, &o, OTHER_IMPORT, 0, fd).value, second = done(f, &o, OTHER_IMPORT, 0, fd).value;
    close(fd);
    for (int left = 2; left >= 0; left--) {
        reported = report(f);
        CHECK_U64(reported.handles, 1);
        CHECK_U64(reported.hints, 0);
        CHECK(names(reported.handle.note, &o, THEIR_IMPORT) == (left > 0), "%s", reported.handle.note);
        CHECK(!strstr(reported.handle.note, "descriptor"), "%s", reported.handle.note);
        CHECK(!strstr(reported.handle.note, "also held by") == !left, "%s", reported.handle.note);
        if (left)
            done(f, &o, OTHER_RELEASE, left == 2 ? second : first, -1);
    }
    other_end(&o);
}

/* A process that released and imported again is reported with its second import. */
TEST_EXPECTS("share.holder_that_came_back_is_told_anew", came_back)
{
    f = begin(f);
    struct other o = other_start(f);
    int fd = exported(f, shareable(f));
    uint64_t first = done(f, &o, OTHER_IMPORT, 0, fd).value;
    CHECK(names(report(f).handle.note, &o, THEIR_IMPORT), "%s", report(f).handle.note);
    done(f, &o, OTHER_RELEASE, first, -1);
    done(f, &o, OTHER_IMPORT, 0, fd);
    close(fd);
    CHECK(names(report(f).handle.note, &o, "call 6 (cuMemImportFromShareableHandle)"), "%s", report(f).handle.note);
    other_end(&o);
}

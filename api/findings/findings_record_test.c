/* SPDX-License-Identifier: Apache-2.0 */
/* Records: what they contain, how long ones are cut, and how they are sent when system calls fail. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "json_check.h"
#include "marks.h"
#include "posix.h"
#include "rules.h"
#include "stacks.h"
#include "tap.h"

/* Which call fails: the nth from now on; 0 for none. */
static struct {
    unsigned mmap, socket, connect, sendmsg;
    int error;        /* of sendmsg and connect */
    unsigned sockets; /* made */
} bad;

static bool fails(unsigned *nth, int error)
{
    errno = error;
    return *nth && --*nth == 0;
}

static void *bad_mmap(void *at, size_t size, int rights, int flags, int fd, off_t offset)
{
    return fails(&bad.mmap, ENOMEM) ? MAP_FAILED : mmap(at, size, rights, flags, fd, offset);
}

static int bad_socket(int domain, int type, int protocol)
{
    bad.sockets++;
    return fails(&bad.socket, EMFILE) ? -1 : socket(domain, type, protocol);
}

static int bad_connect(int file, const struct sockaddr *to, unsigned size)
{
    if (bad.error == EISCONN) /* as after a signal that arrived when the connection was already made */
        (connect)(file, to, size);
    return fails(&bad.connect, bad.error) ? -1 : (connect)(file, to, size);
}

static ssize_t bad_sendmsg(int file, const struct msghdr *message, int flags)
{
    return fails(&bad.sendmsg, bad.error) ? -1 : sendmsg(file, message, flags);
}

static struct posix faulty;

static const char *depot_note; /* of this process's stacks */

static const char *made_note(void)
{
    return depot_note;
}

#define posix faulty
#define stacks_note made_note
#include "findings_record.c"
#include "findings_stream.c"
#undef posix
#undef stacks_note

/* ---- a parent ---- */

static char path[] = "/tmp/findings_record_test.XXXXXX/stream";
static int listener;
static char record[RECORD_MOST * 2];

static void listen_here(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    *strrchr(path, '/') = '\0';
    if (!mkdtemp(path))
        tap_bail("no folder");
    path[strlen(path)] = '/';
    strcpy(address.sun_path, path);
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 100))
        tap_bail("no socket");
    setenv("CUVMM_CHECK_STREAM", path, 1);
}

/* The next record, from a connection that carries only this one; "" if there is none. */
static const char *received(void)
{
    char more[10];
    int file = accept(listener, NULL, NULL);
    ssize_t length = file >= 0 ? recv(file, record, sizeof record - 1, 0) : 0;
    record[length > 0 ? length : 0] = '\0';
    if (length > 0 && recv(file, more, sizeof more, 0) != 0)
        tap_bail("more than one record");
    if (file >= 0)
        close(file);
    if (length > 0 && !json_check(record, (size_t)length))
        tap_bail("no JSON: %s", record);
    return record;
}

static void all_is_well(void)
{
    memset(&bad, 0, sizeof bad);
    while (received()[0])
        ;
}

/* ---- contents ---- */

static const struct findings_place here = {.call = {.function = "cuMemMap", .call = 11}, .print = 0x1234};

static vmm_detail overlap(void)
{
    return (vmm_detail){.result = VMM_ERROR_INVALID_VALUE,
                        .severity = VMM_SEVERITY_ERROR,
                        .rule = "VMM-MAP-OVERLAP",
                        .function = "cuMemMap",
                        .call = 11,
                        .argument = "ptr",
                        .value = 0x300000000,
                        .nearest = {.kind = VMM_OBJECT_HANDLE, .number = 1, .size = 5ull << 30, .created = 7, .created_by = "cuMemCreate", .ended = 9, .ended_by = "cuMemRelease"},
                        .note = "line one\nline \"two\""};
}

static bool has(const char *part)
{
    bool found = strstr(record, part);
    if (!found)
        tap_note("not there: %s\nin: %s", part, record);
    return found;
}

static void test_finding(void)
{
    char start[100];
    vmm_detail detail = overlap();
    marks_set("step \"1\"");
    tap_ok(record_finding(&detail, FINDING_ERROR, &here), "a finding is sent");
    received();
    snprintf(start, sizeof start, "{\"v\":1,\"pid\":%d,\"kind\":\"finding\",\"class\":\"error\",\"rule\":\"VMM-MAP-OVERLAP\",\"result\":1,", getpid());
    tap_ok(strncmp(record, start, strlen(start)) == 0, "its keys are in the order of the contract: %.120s", record);
    tap_ok(has("\"function\":\"cuMemMap\",\"call\":11,\"argument\":\"ptr\",\"value\":\"0x300000000\""), "the call and its argument");
    tap_ok(has("\"text\":[[\"what\",\"part of the range is already mapped\"],[\"here\",\"line one line "
               "\\\"two\\\"\"],[\"argument\",") &&
               has("[\"nearest\",\"handle H1 ") && !strstr(record, "[\"why\"") && !strstr(record, "[\"fix\"") && !strstr(record, "[\"more\""),
           "its texts, and none that the rule has");
    tap_ok(has("\"mark\":\"step \\\"1\\\"\"") && has("\"print\":\"0x1234\""), "the mark");
    tap_ok(has("{\"role\":\"made by\",\"function\":\"cuMemCreate\",\"call\":7,\"stack\":[]}") && has("{\"role\":\"ended by\",\"function\":\"cuMemRelease\",\"call\":9,\"stack\":[]}"),
           "the calls of the object");
    tap_ok(has("\"object\":{\"kind\":\"handle\",\"number\":1,") && has("\"size\":5368709120") && !strstr(record, "\"cut\""), "the object, past 4 GiB");
    marks_set(NULL);
    detail = (vmm_detail){.severity = VMM_SEVERITY_WARNING, .nearest = {.kind = (vmm_object_kind)99}};
    tap_ok(record_finding(&detail, FINDING_NOTE, &(struct findings_place){.print = 1}), "one without anything");
    received();
    tap_ok(has("\"rule\":null") && has("\"function\":null") && has("\"mark\":null") && has("\"stack\":[],\"others\":[]") && !strstr(record, "\"object\""), "has nothing");
}

static void test_order(void)
{
    static const vmm_order order = {.first = {.issued = {.function = "cuMemcpyAsync", .call = 3}}, .second = {.issued = {.function = "cuLaunchKernel", .call = 4}}, .size = 4};
    vmm_detail detail = {.severity = VMM_SEVERITY_WARNING, .function = "cuStreamSynchronize", .call = 5, .order = &order};
    const struct findings_place place = {{"cuLaunchKernel", 4, 0}, {"cuStreamSynchronize", 5, 0}, 1};
    tap_ok(record_finding(&detail, FINDING_HAZARD, &place), "two accesses");
    received();
    tap_ok(has("\"function\":\"cuLaunchKernel\",\"call\":4") && has("{\"role\":\"first\",\"function\":\"cuMemcpyAsync\",\"call\":3,\"stack\":[]}") &&
               has("{\"role\":\"noticed\",\"function\":\"cuStreamSynchronize\",\"call\":5,\"stack\":[]}"),
           "are at the second, and have the first and the call that noticed");
}

/* Work of a launch: the call that issued it, or the launch of the access that failed. */
static void test_issued(void)
{
    static const vmm_fault fault = {.launch = 8};
    vmm_detail detail = {.severity = VMM_SEVERITY_ERROR, .fault = &fault};
    tap_ok(record_finding(&detail, FINDING_ERROR, &here), "an access of a kernel");
    received();
    tap_ok(has("\"others\":[{\"role\":\"issued by\",\"function\":null,\"call\":8,\"stack\":[]}]"), "has the launch");
    detail.issued = (vmm_site){"cuMemcpyAsync", 6, 0};
    tap_ok(record_finding(&detail, FINDING_ERROR, &here), "work in flight");
    received();
    tap_ok(has("\"others\":[{\"role\":\"issued by\",\"function\":\"cuMemcpyAsync\",\"call\":6,\"stack\":[]}]"), "has the call that issued it");
}

static void texts_of(const char *lines, const char *wants)
{
    char copy[200], text[400];
    struct json json = {.text = text, .room = sizeof text - 1, .fixed = true};
    snprintf(copy, sizeof copy, "%s", lines);
    jsonw_open(&json, NULL, '{');
    write_texts(&json, copy, SIZE_MAX);
    jsonw_close(&json, '}');
    text[json.length] = '\0';
    tap_text(text, wants, "texts of \"%s\"", lines);
}

static void test_texts(void)
{
    texts_of("title", "{\"text\":[]}");
    texts_of("title\n", "{\"text\":[]}");
    texts_of("title\n  what      one\n  fix       not here\n", "{\"text\":[[\"what\",\"one\"]]}");
    texts_of("title\n  what      one\n            and more\n  a-longer-label is none", "{\"text\":[[\"what\",\"one             and more   a-longer-label is none\"]]}");
}

static void test_note(void)
{
    all_is_well();
    tap_ok(record_ended(), "the end of a process");
    received();
    tap_ok(has("\"kind\":\"end\"") && !strstr(record, "\"note\""), "with nothing to report about its stacks");
    depot_note = "the depot is full";
    tap_ok(record_ended(), "another one");
    received();
    tap_ok(has("\"note\":\"the depot is full\""), "with a note");
    depot_note = NULL;
}

static void test_cut(void)
{
    static char name[30001];
    vmm_detail detail = overlap();
    struct findings_place place = here;
    memset(name, 0xE4, sizeof name - 1);
    detail.function = place.call.function = name;
    tap_ok(record_finding(&detail, FINDING_ERROR, &place), "a record of 180,000 bytes");
    received();
    tap_ok(has("\"cut\":true") && has("\"rule\":\"VMM-MAP-OVERLAP\"") && strlen(record) < RECORD_MOST && has("[\"what\",\"part "
                                                                                                             "of the range is "
                                                                                                             "already mapped\"]"),
           "is cut, and marked: %zu bytes", strlen(record));
    all_is_well();
    detail = overlap();
    bad.sendmsg = 1;
    bad.error = EMSGSIZE;
    bool sent = record_finding(&detail, FINDING_ERROR, &here);
    received(); /* the connection that was tried first */
    tap_ok(sent && strstr(received(), "\"cut\":true"), "as is one that the system finds too long");
    bad.sendmsg = 0;
}

/* ---- faults ---- */

static void test_faults(void)
{
    vmm_detail detail = overlap();
    for (unsigned nth = 1; nth <= 2; nth++) {
        all_is_well();
        bad.mmap = nth;
        tap_ok(!record_finding(&detail, FINDING_ERROR, &here) && !received()[0], "without memory nothing is sent: request %u", nth);
    }
    all_is_well();
    bad.socket = 1;
    tap_ok(!record_finding(&detail, FINDING_ERROR, &here), "nor without a descriptor");
    all_is_well();
    bad.sendmsg = 1;
    bad.error = EINTR;
    tap_ok(record_finding(&detail, FINDING_ERROR, &here) && strstr(received(), "MAP-OVERLAP"), "a signal interrupts, and it is sent all the same");
    all_is_well();
    bad.connect = 1;
    bad.error = EINTR;
    tap_ok(record_finding(&detail, FINDING_ERROR, &here) && strstr(received(), "MAP-OVERLAP"), "also while it connects");
    all_is_well();
    bad.connect = 1;
    bad.error = EISCONN;
    tap_ok(record_finding(&detail, FINDING_ERROR, &here) && strstr(received(), "MAP-OVERLAP"), "what was interrupted may have connected");
    all_is_well();
    bad.sendmsg = 1;
    bad.error = EPIPE;
    tap_ok(!record_finding(&detail, FINDING_ERROR, &here), "a parent that is gone");
    all_is_well();
    bad.sockets = 0;
    findings_hold_stream();
    tap_ok(record_checked() && record_stopped(FINDINGS_RUNTIME) && record_started() && record_ended() && bad.sockets == 1, "four records by one connection");
    bad.sendmsg = 1;
    tap_ok(!record_checked() && record_checked() && bad.sockets == 2, "a connection that breaks is not used again");
    findings_close_stream();
    findings_close_stream();
}

/* A name of no file. */
static void test_abstract(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    char name[40];
    int files = listener;
    all_is_well();
    snprintf(name, sizeof name, "findings-record-test-%d", getpid());
    memcpy(address.sun_path + 1, name, strlen(name));
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(listener, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name))) ||
        listen(listener, 10))
        tap_bail("no socket");
    setenv("CUVMM_CHECK_STREAM", name, 1);
    tap_ok(record_checked(), "a parent may have an abstract name");
    received();
    tap_ok(has("\"kind\":\"checked\""), "and gets the record");
    close(listener);
    listener = files;
    setenv("CUVMM_CHECK_STREAM", path, 1);
}

static void test_unread(void)
{
    struct json json;
    char longest[sizeof ((struct sockaddr_un *)0)->sun_path];
    close(listener);
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    setenv("CUVMM_CHECK_STREAM", longest, 1);
    tap_ok(findings_streamed() && !record_checked(), "the longest name, without a reader");
    setenv("CUVMM_CHECK_STREAM", "", 1);
    tap_ok(!findings_streamed(), "an empty name is invalid");
    setenv("CUVMM_CHECK_STREAM", path, 1);
    tap_ok(record_begin(&json, "checked"), "a record is begun");
    unsetenv("CUVMM_CHECK_STREAM");
    tap_u64(record_send(&json), RECORD_UNREAD, "and the program takes the parent's name away");
    record_end(&json);
    setenv("CUVMM_CHECK_STREAM", path, 1);
    tap_ok(!record_checked(), "without a reader");
    setenv("CUVMM_CHECK_STREAM", "/tmp/a-name-that-is-longer-than-an-address-of-a-socket-may-be/"
                                 "and-then-some-more-of-it-until-it-is-long-enough/stream", 1);
    tap_ok(!findings_streamed() && !record_begin(&json, "mark"), "a name that is too long is invalid");
    unsetenv("CUVMM_CHECK_STREAM");
    tap_ok(!findings_streamed() && !record_checked() && !record_started() && !record_ended() && !record_stopped(FINDINGS_NO_MACHINE),
           "without a stream nothing is sent");
    unlink(path);
    *strrchr(path, '/') = '\0';
    rmdir(path);
}

int main(void)
{
    faulty = posix;
    faulty.mmap = bad_mmap;
    faulty.socket = bad_socket;
    faulty.connect = bad_connect;
    faulty.sendmsg = bad_sendmsg;
    listen_here();
    test_finding();
    test_order();
    test_issued();
    test_texts();
    test_note();
    test_cut();
    test_abstract();
    test_faults();
    test_unread();
    return tap_done();
}

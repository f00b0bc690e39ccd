/* SPDX-License-Identifier: Apache-2.0 */
/* The classes of findings, the text of the sum, and names from arbitrary files. */
#define _GNU_SOURCE
#include "findings.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "findings_site.h"
#include "rules.h"
#include "system.h"
#include "tap.h"

static vmm_detail refused(const char *function, vmm_result result, const char *rule)
{
    return (vmm_detail){.result = result, .severity = VMM_SEVERITY_ERROR, .function = function, .rule = rule};
}

static void test_refusals(void)
{
    static const struct {
        const char *function;
        vmm_result result;
        const char *rule;
        enum finding class;
    } cases[] = {
        {"cuMemMap", VMM_ERROR_INVALID_VALUE, "VMM-MAP-OVERLAP", FINDING_ERROR},
        {"cuMemMap", VMM_ERROR_INVALID_VALUE, NULL, FINDING_ERROR},
        {"cuMemMap", VMM_ERROR_NOT_SUPPORTED, "VMM-MAP-OFFSET", FINDING_ERROR},
        {"cuMemCreate", VMM_ERROR_NOT_SUPPORTED, NULL, FINDING_NOTHING},
        {"cuMemPoolSetAccess", VMM_ERROR_NOT_SUPPORTED, "VMM-POOL-ACCESS-READ", FINDING_NOTHING},
        {"cuMemPoolSetAccess", VMM_ERROR_NOT_SUPPORTED, "VMM-POOL-ACCESS-HOST", FINDING_ERROR},
        {"cuMemImportFromShareableHandle", VMM_ERROR_NOT_SUPPORTED, "VMM-IMPORT-KIND", FINDING_ERROR},
        {"cuGraphInstantiateWithFlags", VMM_ERROR_NOT_SUPPORTED, "VMM-GRAPH-OF-NODE", FINDING_ERROR},
        {"cuMemImportFromShareableHandle", VMM_ERROR_NOT_SUPPORTED, "VMM-IMPORT-FABRIC", FINDING_NOTHING},
        {"cuMemCreate", VMM_ERROR_OUT_OF_MEMORY, NULL, FINDING_NOTHING},
        {"cuMemCreate", VMM_ERROR_NOT_PERMITTED, NULL, FINDING_NOTHING},
        {"cuMemUnmap", VMM_ERROR_NOT_PERMITTED, "VMM-HOSTFUNC-CALL", FINDING_ERROR},
        {"cuMemCreate", VMM_ERROR_INVALID_VALUE, "VMM-CREATE-SIZE-ZERO", FINDING_ERROR},
        {"cuStreamQuery", VMM_ERROR_NOT_READY, NULL, FINDING_NOTHING},
        {"cuPointerGetAttribute", VMM_ERROR_INVALID_VALUE, "VMM-POINTER-NOT-MAPPED", FINDING_NOTHING},
        {"cuPointerGetAttribute", VMM_ERROR_INVALID_VALUE, NULL, FINDING_NOTHING},
        {"cuPointerGetAttribute", VMM_ERROR_INVALID_VALUE, "VMM-POINTER-NULL", FINDING_ERROR},
        {"cuMemGetAddressRange", VMM_ERROR_NOT_FOUND, "VMM-RANGE-NOT-FOUND", FINDING_NOTHING},
        {"cuMemcpyHtoD", VMM_ERROR_INVALID_VALUE, "VMM-POINTER-NOT-MAPPED", FINDING_ERROR},
        {"cuDeviceGetCount", VMM_ERROR_NO_DEVICE, NULL, FINDING_NOTHING},
        {"cuMemUnmap", VMM_ERROR_DEINITIALIZED, NULL, FINDING_NOTHING},
        {NULL, VMM_ERROR_NOT_SUPPORTED, NULL, FINDING_NOTHING},
        {NULL, VMM_ERROR_INVALID_VALUE, "VMM-POINTER-NOT-MAPPED", FINDING_ERROR},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vmm_detail detail = refused(cases[i].function, cases[i].result, cases[i].rule);
        tap_u64(findings_class(&detail), cases[i].class, "%s with %s, %s",
                cases[i].function ? cases[i].function : "no function", vmm_result_name(cases[i].result),
                cases[i].rule ? cases[i].rule : "no rule");
    }
}

static void test_injected(void)
{
    vmm_detail detail = refused("cuMemMap", VMM_ERROR_UNKNOWN, NULL);
    snprintf(detail.note, sizeof detail.note, "layer fault, call 1 of mem_map: made to fail");
    tap_u64(findings_class(&detail), FINDING_NOTHING, "an injected failure is not a finding");
}

static void test_warnings(void)
{
    vmm_detail detail = {.severity = VMM_SEVERITY_WARNING, .rule = "VMM-UNMAP-IN-FLIGHT"};
    tap_u64(findings_class(&detail), FINDING_HAZARD, "in-flight work is a hazard");
    detail.rule = "VMM-UNMAP-HOLE";
    tap_u64(findings_class(&detail), FINDING_ERROR, "a broken documented rule that one driver accepts is an error");
    detail.rule = "VMM-SHADOW-LOST";
    tap_u64(findings_class(&detail), FINDING_NOTE, "the shadow's own messages are notes");
    detail.rule = NULL;
    tap_u64(findings_class(&detail), FINDING_NOTHING, "a warning without a rule is not a finding");
    detail.severity = VMM_SEVERITY_HINT;
    tap_u64(findings_class(&detail), FINDING_NOTE, "a hint is a note");
    detail.severity = (vmm_severity)99;
    tap_u64(findings_class(&detail), FINDING_NOTHING, "an unknown severity is not a finding");
    detail = (vmm_detail){.severity = VMM_SEVERITY_LEAK, .rule = "VMM-LEAK-CONTEXT", .nearest = {.kind = VMM_OBJECT_CONTEXT}};
    detail.nearest.created_by = "cuCtxCreate";
    tap_u64(findings_class(&detail), FINDING_LEAK, "a held context is a leak");
    detail.nearest.created_by = "cuDevicePrimaryCtxRetain";
    tap_u64(findings_class(&detail), FINDING_NOTHING, "a held primary context is not");
    detail.nearest.created_by = NULL;
    tap_u64(findings_class(&detail), FINDING_LEAK, "a context of unknown origin is a leak");
    setenv("CUVMM_CHECK_LEAKS", "no", 1);
    detail.nearest.created_by = "cuCtxCreate";
    tap_u64(findings_class(&detail), FINDING_NOTHING, "leaks can be switched off");
    unsetenv("CUVMM_CHECK_LEAKS");
    detail.severity = VMM_SEVERITY_NONE;
    tap_u64(findings_class(&detail), FINDING_NOTHING, "an empty record is not a finding");
}

static void test_sum(void)
{
    char text[FINDINGS_SUM];
    struct findings_tally tally = {.checked = 1};
    tap_ok(findings_sum(&tally, text, sizeof text), "the process was checked");
    tap_text(text, "0 errors, 0 hazards, 0 leaks", "no findings");
    tally.errors = 1;
    tally.hazards = 2;
    tally.leaks = 1000;
    findings_sum(&tally, text, sizeof text);
    tap_text(text, "1 error, 2 hazards, 1000 leaks", "singular and plural");
    findings_sum(&tally, text, 12);
    tap_text(text, "1 error, 2 ", "the sum is truncated to the buffer");
}

static void nothing(const struct findings_tally *tally, const char *why)
{
    char text[FINDINGS_SUM], want[FINDINGS_SUM];
    snprintf(want, sizeof want, "nothing was checked: %s", why);
    tap_ok(!findings_sum(tally, text, sizeof text), "nothing was checked: %s", why);
    tap_text(text, want, "the sum has the reason");
}

static void test_nothing(void)
{
    struct findings_tally tally = {0};
    char text[FINDINGS_SUM];
    nothing(&tally, "no call of the driver was seen");
    tally.begun = 1;
    nothing(&tally, "the program made no context and no memory");
    tally.stopped[FINDINGS_RUNTIME] = 1;
    nothing(&tally, "a program of the CUDA runtime stops at cuGetExportTable, which NVIDIA's runtime needs; link it with "
                    "-cudart shared (docs/runtime.md), or check it on a machine with a driver");
    tally.stopped[FINDINGS_NO_MACHINE] = 1;
    nothing(&tally, "the simulated machine cannot be opened");
    tally.errors = 1; /* a call before any object was created */
    tap_ok(findings_sum(&tally, text, sizeof text) && findings_reason(&tally), "a finding counts as checked");
}

struct made {
    struct vmm_backend base;
    vmm_result result;
    vmm_object_kind kind;
    unsigned asked;
};

static vmm_result visit_made(struct vmm_backend *self, vmm_visit_fn visit, void *user)
{
    struct made *made = (struct made *)self;
    const vmm_object object = {.kind = made->kind};
    made->asked++;
    if (made->result == VMM_SUCCESS && made->kind != VMM_OBJECT_NONE)
        visit(user, &object);
    return made->result;
}

static void close_made(struct vmm_backend *self)
{
    (void)self;
}

/* findings_look keeps querying until an object was created, and counts the process once. */
static void test_look(int tally_file)
{
    static const struct vmm_backend_ops ops = {.size = sizeof ops, .name = "made", .visit = visit_made, .close = close_made};
    static const struct {
        vmm_result result;
        vmm_object_kind kind;
        unsigned asked;
        uint64_t checked;
        const char *name;
    } steps[] = {
        {VMM_SUCCESS, VMM_OBJECT_NONE, 1, 0, "an empty system"},
        {VMM_SUCCESS, VMM_OBJECT_DEVICE, 2, 0, "a device is nothing that was made"},
        {VMM_ERROR_NOT_SUPPORTED, VMM_OBJECT_HANDLE, 3, 0, "a shadow that does not follow"},
        {VMM_SUCCESS, VMM_OBJECT_CONTEXT, 4, 1, "a context"},
        {VMM_SUCCESS, VMM_OBJECT_HANDLE, 4, 1, "after that it is known"},
    };
    struct made made = {.base.ops = &ops};
    struct findings_tally tally = {0};
    vmm_system *sys;
    if (vmm_system_wrap(&made.base, &sys) != VMM_SUCCESS)
        tap_bail("no system");
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        made.result = steps[i].result;
        made.kind = steps[i].kind;
        findings_look(sys);
        tap_ok(pread(tally_file, &tally, sizeof tally, 0) == (ssize_t)sizeof tally && made.asked == steps[i].asked &&
                   tally.checked == steps[i].checked,
               "%s", steps[i].name);
    }
    findings_stopped(FINDINGS_RUNTIME);
    tap_ok(pread(tally_file, &tally, sizeof tally, 0) == (ssize_t)sizeof tally && tally.stopped[FINDINGS_RUNTIME] == 1 &&
               !tally.stopped[FINDINGS_NO_MACHINE],
           "an obstacle is counted in the shared tally");
    vmm_close(sys);
}

static void test_wanted(void)
{
    unsetenv("CUVMM_CHECK");
    tap_ok(findings_wanted("driver", true) && !findings_wanted("simulator", false),
           "without a setting, each side uses its default");
    setenv("CUVMM_CHECK", "", 1);
    tap_ok(findings_wanted("driver", true) && !findings_wanted("simulator", false), "an empty setting means the default as well");
    setenv("CUVMM_CHECK", "simulator", 1);
    tap_ok(!findings_wanted("driver", true) && findings_wanted("simulator", false), "exactly one side reports");
    unsetenv("CUVMM_CHECK");
}

/* The program's own functions, the file truncated at many places, and flipped bytes. */
static void test_symbols(void)
{
    char name[120], path[] = "/tmp/findings_test.XXXXXX";
    static unsigned char bytes[1 << 22];
    FILE *self = fopen("/proc/self/exe", "rb");
    size_t size = self ? fread(bytes, 1, sizeof bytes, self) : 0;
    if (self)
        fclose(self);
    site_symbol("/nowhere", 0, name, sizeof name);
    tap_text(name, "", "no file yields no name");
    site_symbol("/proc/self/exe", 0, name, sizeof name);
    tap_text(name, "", "an unknown function has no name");
    int fd = mkstemp(path);
    unsigned random = 1;
    for (int i = 0; i < 300 && fd >= 0 && size; i++) {
        size_t cut = i % 3 ? size : (size * (size_t)i) / 300;
        random = random * 1103515245 + 12345;
        size_t at = random % (i % 2 ? 64 : size);
        unsigned char kept = bytes[at];
        bytes[at] = (unsigned char)(random >> 16);
        if (ftruncate(fd, 0) == 0 && pwrite(fd, bytes, cut, 0) == (ssize_t)cut)
            site_symbol(path, random % size, name, sizeof name);
        bytes[at] = kept;
    }
    close(fd);
    unlink(path);
    tap_ok(strlen(name) < sizeof name, "truncated and damaged files are survived");
}

static void test_site(void)
{
    char text[64] = "x";
    void *frames[1] = {(void *)&text};
    tap_u64(site_text(frames, 0, text, 1, sizeof text), 1, "no frames yield no lines");
    tap_u64(site_text(frames, 1, text, 1, sizeof text), 1, "an address outside every file is omitted");
    char lines[200] = "";
    void (*here)(void) = test_sum;
    memcpy(&frames[0], &here, sizeof here);
    frames[0] = (char *)frames[0] + 4;
    site_text(frames, 1, lines, 0, sizeof lines);
    tap_ok(strncmp(lines, "  called by test_sum (findings_test+0x", 38) == 0, "a static function has its name: %s", lines);
}

/* Reads the whole file, and deletes it. */
static void take(const char *path, char *text, size_t size)
{
    FILE *in = fopen(path, "r");
    size_t length = in ? fread(text, 1, size - 1, in) : 0;
    text[length] = '\0';
    if (in)
        fclose(in);
    unlink(path);
}

static unsigned times(const char *text, const char *part)
{
    unsigned count = 0;
    for (; (text = strstr(text, part)); text++)
        count++;
    return count;
}

/* ---- with a parent ---- */

static int listener;
static char folder[] = "/tmp/findings_stream.XXXXXX", path[100];
static char record[70000];

static void listen_here(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strncpy(address.sun_path, path, sizeof address.sun_path - 1);
    listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 100))
        tap_bail("no socket");
    setenv("CUVMM_CHECK_STREAM", path, 1);
}

/* The next record; "": none. */
static const char *received(void)
{
    int file = accept(listener, NULL, NULL);
    ssize_t length = file >= 0 ? recv(file, record, sizeof record - 1, 0) : 0;
    record[length > 0 ? length : 0] = '\0';
    if (file >= 0)
        close(file);
    return record;
}

/* Two unordered accesses, noticed by the second or by a later call. */
static void test_order(void)
{
    vmm_order order = {.first.issued = {"cuMemcpyAsync", 3, 0}, .second.issued = {"cuLaunchKernel", 4, 0}, .size = 4};
    vmm_detail detail = {.severity = VMM_SEVERITY_WARNING, .rule = "VMM-UNMAP-IN-FLIGHT", .function = "cuLaunchKernel", .call = 4, .order = &order};
    findings_add(&detail);
    tap_ok(strstr(received(), "\"function\":\"cuLaunchKernel\",\"call\":4") && !strstr(record, "\"noticed\""),
           "a hazard that its second access meets is there");
    detail.function = "cuCtxSynchronize";
    detail.call = 9;
    findings_add(&detail);
    tap_ok(strstr(received(), "\"function\":\"cuLaunchKernel\",\"call\":4") &&
               strstr(record, "{\"role\":\"noticed\",\"function\":\"cuCtxSynchronize\",\"call\":9"),
           "so is one that a later call meets, which is named");
}

/* A recurring finding is counted if the tally has room for it, and sent each time if not. */
static void test_again(const char *name, unsigned sent)
{
    vmm_detail leak = {.severity = VMM_SEVERITY_LEAK, .rule = "VMM-LEAK-HANDLE", .issued = {"cuMemCreate", 7, 0}};
    unsigned came = 0;
    for (int i = 0; i < 3; i++)
        findings_add(&leak);
    findings_close();
    int file = accept(listener, NULL, NULL); /* leaks share a connection */
    for (ssize_t length; file >= 0 && (length = recv(file, record, sizeof record - 1, MSG_DONTWAIT)) > 0;) {
        record[length] = '\0';
        came += strstr(record, "VMM-LEAK-HANDLE") != NULL;
    }
    close(file);
    while (received()[0])
        ;
    tap_u64(came, sent, "%s", name);
}

static void test_without_tally(void)
{
    if (!mkdtemp(folder))
        tap_bail("no folder");
    snprintf(path, sizeof path, "%s/stream", folder);
    listen_here();
    test_order();
    test_again("without a tally a leak that comes again is sent again", 3);
    unsetenv("CUVMM_CHECK_STREAM");
}

/* A tally that ends before its table, and a whole one. */
static void test_tallies(void)
{
    char shared[] = "/tmp/findings_short.XXXXXX";
    struct findings_tally tally = {0};
    const size_t least = offsetof(struct findings_tally, again);
    setenv("CUVMM_CHECK_STREAM", path, 1);
    int fd = mkstemp(shared);
    tap_ok(write(fd, &tally, least) == (ssize_t)least, "a tally without a table");
    setenv("CUVMM_CHECK_TALLY", shared, 1);
    findings_open();
    while (received()[0])
        ;
    test_again("so it is where the tally has no table", 3);
    unsetenv("CUVMM_CHECK_STREAM");
    findings_open();
    tap_ok(pread(fd, &tally, sizeof tally, 0) == (ssize_t)least && tally.begun == 1, "their counts are still kept");
    if (ftruncate(fd, sizeof tally))
        tap_bail("no tally");
    setenv("CUVMM_CHECK_STREAM", path, 1);
    findings_open();
    while (received()[0])
        ;
    test_again("with a table the first is sent", 1);
    tap_ok(pread(fd, &tally, sizeof tally, 0) == (ssize_t)sizeof tally, "a whole tally");
    uint64_t again = 0;
    for (int i = 0; i < FINDINGS_AGAIN; i++)
        again += tally.again[i].class == FINDING_LEAK ? tally.again[i].times : 0;
    tap_u64(again, 2, "and the others are counted");
    close(fd);
    close(listener);
    unlink(shared);
    unlink(path);
    rmdir(folder);
    unsetenv("CUVMM_CHECK_STREAM");
    unsetenv("CUVMM_CHECK_TALLY");
}

static void test_writing(void)
{
    char log[] = "/tmp/findings_log.XXXXXX", shared[] = "/tmp/findings_tally.XXXXXX";
    static char text[20000];
    struct findings_tally tally = {0};
    vmm_detail overlap = refused("cuMemMap", VMM_ERROR_INVALID_VALUE, "VMM-MAP-OVERLAP");
    vmm_detail hazard = {.severity = VMM_SEVERITY_WARNING, .rule = "VMM-UNMAP-IN-FLIGHT", .function = "cuMemUnmap"};
    vmm_detail note = {.severity = VMM_SEVERITY_WARNING, .rule = "VMM-RESERVE-HINT-NOT-TAKEN"};
    vmm_detail leak = {.severity = VMM_SEVERITY_LEAK, .rule = "VMM-LEAK-HANDLE"};
    close(mkstemp(log));
    int fd = mkstemp(shared);
    tap_ok(write(fd, &tally, sizeof tally) == (ssize_t)sizeof tally, "a tally of zeros");
    setenv("CUVMM_CHECK_LOG", log, 1);
    findings_open();
    for (int i = 0; i < 3; i++)
        findings_add(&overlap);
    findings_add(&hazard);
    findings_add(&note);
    findings_close();
    take(log, text, sizeof text);
    tap_ok(times(text, "error VMM-MAP-OVERLAP") == 1 && times(text, "warning VMM-RESERVE-HINT") == 1,
           "each finding is written once");
    tap_ok(strstr(text, "cuvmm check: 3 errors, 1 hazard, 0 leaks\n") != NULL, "the process counts it and prints the sum");
    setenv("CUVMM_CHECK_TALLY", "/nowhere", 1);
    findings_open();
    setenv("CUVMM_CHECK_TALLY", shared, 1);
    setenv("CUVMM_CHECK_QUIET", "1", 1);
    findings_open();
    findings_add(&note);
    findings_add(&leak);
    findings_add(&leak);
    findings_close();
    take(log, text, sizeof text);
    tap_ok(times(text, "leak VMM-LEAK-HANDLE") == 2 && !strstr(text, "HINT") && !strstr(text, "cuvmm check:"),
           "leaks are each their own; quiet: no notes and no sum");
    tap_ok(pread(fd, &tally, sizeof tally, 0) == (ssize_t)sizeof tally && tally.leaks == 2 && tally.begun == 1 &&
               tally.ended == 1 && !tally.errors,
           "counted where all processes look");
    test_look(fd);
    close(fd);
    unlink(shared);
    unsetenv("CUVMM_CHECK_LOG");
    unsetenv("CUVMM_CHECK_TALLY");
    unsetenv("CUVMM_CHECK_QUIET");
}

int main(void)
{
    test_refusals();
    test_injected();
    test_warnings();
    test_sum();
    test_nothing();
    test_wanted();
    test_symbols();
    test_site();
    test_without_tally();
    test_writing();
    test_tallies();
    return tap_done();
}

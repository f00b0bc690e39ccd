/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_backend.h"
#include "json_check.h"
#include "tap.h"
#include "trace.h"
#include "path_pattern.h"

/* The trace's file: its permissions, failures to write it, and traces of the simulator. */

static char folder[256];

static const char *path_of(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static char *read_file(const char *path)
{
    size_t room = 1 << 22;
    char *text = calloc(1, room);
    FILE *file = fopen(path, "rb");
    if (!text || !file)
        tap_bail("cannot read %s", path);
    size_t length = fread(text, 1, room - 1, file);
    text[length] = '\0';
    fclose(file);
    return text;
}

static unsigned count(const char *text, const char *part)
{
    unsigned n = 0;
    for (const char *at = strstr(text, part); at; at = strstr(at + 1, part))
        n++;
    return n;
}

/* Returns the number of lines in the file, or 0 if any of them is not a whole JSON object. */
static unsigned valid_lines(const char *text)
{
    unsigned lines = 0;
    while (*text) {
        const char *end = strchr(text, '\n');
        if (*text != '{' || !end || !json_check(text, (size_t)(end - text))) {
            tap_note("line %u: %.200s", lines + 1, text);
            return 0;
        }
        text = end + 1;
        lines++;
    }
    return lines;
}

static struct vmm_backend *open_over(struct fake *fake, const char *path)
{
    struct vmm_backend *top = NULL;
    fake_init(fake);
    if (vmm_trace_open(path, &fake->base, &top) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    return top;
}

static vmm_result release(struct vmm_backend *top, uint64_t number)
{
    struct vmm_call_mem_release call = {{VMM_CALL_mem_release, 0}, 5};
    return fake_dispatch(top, &call.head, number);
}

/* ---- opening ---- */

static void expect_no_open(const char *args, vmm_result want, const char *says, const char *name)
{
    struct fake fake;
    struct vmm_backend *top = NULL;
    fake_init(&fake);
    tap_result(vmm_trace_open(args, &fake.base, &top), want, "%s", name);
    tap_ok(!top && fake.closed == 0, "%s: the inner backend still belongs to the caller", name);
    if (!tap_ok(strstr(vmm_last_detail()->note, says) != NULL, "%s: says why", name))
        tap_note("got %s", vmm_last_detail()->note);
}

static void test_open_failures(void)
{
    expect_no_open("", VMM_ERROR_INVALID_VALUE, "expected trace=FILE", "no file named");
    expect_no_open(path_of("no/such/folder"), VMM_ERROR_OPERATING_SYSTEM, "trace: cannot write to", "no such folder");
    expect_no_open(folder, VMM_ERROR_OPERATING_SYSTEM, "trace: cannot write to", "a folder");
    struct stat status;
    if (stat("/dev/full", &status) == 0)
        expect_no_open("/dev/full", VMM_ERROR_OPERATING_SYSTEM, strerror(ENOSPC), "a full device");
    else
        tap_skip("no /dev/full", "a full device");
}

static void test_file(void)
{
    struct fake fake;
    struct stat ours, other;
    bool found = false, closes = true;
    const char *path = path_of("file");
    FILE *old = fopen(path, "w");
    if (!old || fputs("something older and longer than a header line of a trace can ever be, or so one hopes\n", old) < 0)
        tap_bail("cannot write %s", path);
    fclose(old);
    struct vmm_backend *top = open_over(&fake, path);
    if (stat(path, &ours))
        tap_bail("no file");
    for (int fd = 3; fd < 256; fd++)
        if (fstat(fd, &other) == 0 && other.st_ino == ours.st_ino && other.st_dev == ours.st_dev) {
            found = true;
            closes = closes && (fcntl(fd, F_GETFD) & FD_CLOEXEC);
        }
    tap_ok(found && closes, "the file is closed when the program executes another");
    char *text = read_file(path);
    tap_ok(count(text, "older") == 0 && valid_lines(text) == 1, "the old contents are replaced by the header at once");
    free(text);
    release(top, 1);
    text = read_file(path);
    tap_u64(valid_lines(text), 2, "a line is in the file when its call returns");
    free(text);
    tap_result(top->ops->visit(top, NULL, NULL), VMM_SUCCESS, "visit is passed on");
    tap_u64(top->ops->leaks(top, NULL, NULL), 1, "leaks is passed on");
    struct vmm_backend *peer = NULL;
    tap_ok(top->ops->attach(top, &peer) == VMM_SUCCESS && peer == &fake.base, "a peer is not traced");
    top->ops->close(top);
    tap_u64((uint64_t)fake.closed, 1, "close reaches the backend once");
    unlink(path);
}

/* ---- files that fail ---- */

/* Runs body with standard error in a file, and returns the text. */
static char *with_stderr(void (*body)(const char *path), const char *path)
{
    char said[300];
    snprintf(said, sizeof said, "%s/said", folder);
    int keep = dup(STDERR_FILENO), fd = open(said, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (keep < 0 || fd < 0)
        tap_bail("no standard error");
    dup2(fd, STDERR_FILENO);
    close(fd);
    body(path);
    fflush(stderr);
    dup2(keep, STDERR_FILENO);
    close(keep);
    char *text = read_file(said);
    unlink(said);
    return text;
}

static rlim_t most; /* the limit on file sizes */

static void fill_the_disk(const char *path)
{
    struct fake fake;
    struct rlimit before, small;
    struct vmm_backend *top = open_over(&fake, path);
    sigset_t pending;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = most;
    setrlimit(RLIMIT_FSIZE, &small);
    bool fine = true;
    for (uint64_t i = 1; i <= 50; i++)
        fine = release(top, i) == VMM_SUCCESS && fine;
    top->ops->close(top);
    setrlimit(RLIMIT_FSIZE, &before);
    sigpending(&pending);
    tap_ok(fine && fake.seen == 50 && !sigismember(&pending, SIGXFSZ), "the program's calls continue when the file is full");
}

/* The file fills up within a line, and between two: SIGXFSZ would end the program. */
static void test_full_file(void)
{
    char path[300];
    size_t ends = 0;
    snprintf(path, sizeof path, "%s/full", folder);
    for (most = 1000; most; most = most == 1000 ? ends : 0) {
        char *said = with_stderr(fill_the_disk, path);
        tap_u64(count(said, "cuvmm: trace: a line could not be written (File too large)"), 1, "a single message reports it: %s",
                said);
        char *text = read_file(path);
        unsigned lines = valid_lines(text);
        tap_ok(lines > 3 && lines < 51 && strlen(text) <= most, "every line in the file is whole");
        tap_ok(!strstr(text, "\"end\""), "no footer claims that the trace is complete");
        ends = strlen(text);
        free(said);
        free(text);
        unlink(path);
    }
}

static void lose_the_reader(const char *path)
{
    struct fake fake;
    char buffer[512];
    if (mkfifo(path, 0600))
        tap_bail("no pipe");
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    struct vmm_backend *top = open_over(&fake, path);
    tap_ok(reader >= 0 && read(reader, buffer, sizeof buffer) > 0, "a pipe gets the header");
    tap_result(release(top, 1), VMM_SUCCESS, "a pipe gets a line");
    close(reader);
    tap_result(release(top, 2), VMM_SUCCESS, "a pipe without a reader does not kill the program");
    tap_result(release(top, 3), VMM_SUCCESS, "nor does a later call");
    sigset_t pending;
    sigpending(&pending);
    tap_ok(sigismember(&pending, SIGPIPE) == 0, "no signal is left pending");
    top->ops->close(top);
}

/* The program's handling of the signal stays: an ignored signal is never raised, and its own handler is left alone. */
static void lose_two_more(const char *path)
{
    struct fake fake;
    sigset_t pipe, before, pending;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    for (int own = 0; own < 2; own++) {
        int reader = mkfifo(path, 0600) ? -1 : open(path, O_RDONLY | O_NONBLOCK), caught = 0;
        if (reader < 0)
            tap_bail("no pipe");
        struct vmm_backend *top = open_over(&fake, path);
        close(reader);
        pthread_sigmask(SIG_BLOCK, &pipe, &before);
        signal(SIGPIPE, own ? SIG_DFL : SIG_IGN);
        if (own)
            raise(SIGPIPE);
        tap_result(release(top, 1), VMM_SUCCESS, "a pipe without a reader, the signal being %s",
                   own ? "there already" : "ignored");
        sigpending(&pending);
        tap_ok(sigismember(&pending, SIGPIPE) == own, "which %s", own ? "stays pending" : "is not raised");
        if (own)
            sigwait(&pipe, &caught);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        signal(SIGPIPE, SIG_DFL);
        top->ops->close(top);
        unlink(path);
    }
}

static void test_lost_reader(void)
{
    char path[300];
    snprintf(path, sizeof path, "%s/pipe", folder);
    char *said = with_stderr(lose_the_reader, path);
    tap_u64(count(said, "could not be written"), 1, "a single message reports it");
    free(said);
    unlink(path);
    said = with_stderr(lose_two_more, path);
    tap_u64(count(said, "could not be written"), 2, "one message for each trace");
    free(said);
}

static void trace_to_stderr(const char *path)
{
    struct fake fake;
    (void)path;
    struct vmm_backend *top = open_over(&fake, "-");
    release(top, 1);
    top->ops->close(top);
}

static void test_standard_error(void)
{
    char *said = with_stderr(trace_to_stderr, NULL);
    tap_u64(valid_lines(said), 3, "\"-\" writes header, call and footer to standard error");
    tap_ok(fcntl(STDERR_FILENO, F_GETFD) >= 0, "standard error stays open");
    free(said);
}

/* ---- processes and threads ---- */

static void test_fork(void)
{
    struct fake fake;
    const char *path = path_of("fork");
    struct vmm_backend *top = open_over(&fake, path);
    release(top, 1);
    pid_t child = fork();
    if (child == 0) {
        vmm_result result = release(top, 2);
        top->ops->close(top);
        _exit(result == VMM_SUCCESS ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    tap_ok(child > 0 && status == 0, "a forked child's calls continue");
    release(top, 3);
    top->ops->close(top);
    char *text = read_file(path);
    tap_ok(valid_lines(text) == 4 && !strstr(text, "\"n\":2") && strstr(text, "\"n\":3") && count(text, "\"end\"") == 1,
           "a child's calls write nothing into its parent's trace");
    free(text);
    unlink(path);
}

/* The number after a key of the line that starts at text; 0 if there is none. */
static unsigned long long number_of(const char *text, const char *key)
{
    const char *at = strstr(text, key), *end = strchr(text, '\n');
    return at && at < end ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static char *read_own(const char *pattern, pid_t process)
{
    char name[300];
    snprintf(name, sizeof name, pattern, (long)process);
    char *text = read_file(name);
    unlink(name);
    return text;
}

/* A child that continues the trace, and a child of that child that does. */
__attribute__((noreturn)) static void go_on(struct vmm_backend *top, int depth)
{
    int status = 0;
    bool good = release(top, 10 + (uint64_t)depth) == VMM_SUCCESS;
    pid_t child = depth < 2 ? fork() : 0;
    if (depth < 2 && child == 0)
        go_on(top, depth + 1);
    if (child > 0)
        waitpid(child, &status, 0);
    top->ops->close(top);
    FILE *file = fopen(path_of("family"), "a");
    good = good && file && fprintf(file, "%d %ld %ld\n", depth, (long)getpid(), (long)getppid()) > 0 && fclose(file) == 0;
    _exit(good && status == 0 ? 0 : 1);
}

static void check_header(const char *text, long process, long parent, long fork_of)
{
    char wants[200];
    snprintf(wants, sizeof wants, "\"process\":%ld,\"parent\":%ld,%s%.0ld", process, parent, fork_of ? "\"fork_of\":" : "",
             fork_of);
    const char *end = strchr(text, '\n'), *at = strstr(text, wants);
    tap_ok(end && at && at < end, "the header names process and parent%s", fork_of ? ", and what it is a fork of" : "");
    tap_ok(fork_of || !strstr(text, "fork_of"), "and no other");
    tap_ok(strstr(text, "\"host\":\"") && strstr(text, "\"boot\":\"") && strstr(text, "trace_file_test\"") &&
               strstr(text, "Z\",\"clock\":") && number_of(text, "\"clock\":"),
           "machine, program, start and clock");
}

static void test_own_files(void)
{
    struct fake fake;
    char pattern[300], family[3][100] = {""}, name[300];
    snprintf(pattern, sizeof pattern, "%s", path_of("own.%p.jsonl"));
    struct vmm_backend *top = open_over(&fake, pattern);
    for (volatile uint64_t i = 1; i <= 3; i++) /* one place, however it is compiled */
        release(top, i);
    release(top, 4);
    pid_t child = fork();
    if (child == 0)
        go_on(top, 1);
    int status = -1;
    waitpid(child, &status, 0);
    tap_ok(child > 0 && status == 0, "calls of a fork and of its fork continue");
    release(top, 5);
    top->ops->close(top);
    snprintf(pattern, sizeof pattern, "%s", path_of("own.%ld.jsonl"));
    char *text = read_own(pattern, getpid());
    tap_u64(valid_lines(text), 7, "a header, five calls and an end");
    check_header(text, (long)getpid(), (long)getppid(), 0);
    const char *one = strstr(text, "\"n\":1,"), *two = strstr(text, "\"n\":2,"), *three = strstr(text, "\"n\":3,"),
               *four = strstr(text, "\"n\":4,");
    tap_ok(number_of(one, "\"time\":") <= number_of(two, "\"time\":") &&
               number_of(two, "\"time\":") <= number_of(four, "\"time\":") && strstr(one, "\"time\":"),
           "each call has its time, and they increase");
    tap_ok(number_of(one, "\"place\":") && number_of(one, "\"place\":") == number_of(two, "\"place\":") &&
               number_of(two, "\"place\":") == number_of(three, "\"place\":"),
           "calls from one place have it in common");
    tap_ok(number_of(four, "\"place\":") && number_of(four, "\"place\":") != number_of(one, "\"place\":"),
           "one from another place has another");
    tap_u64(count(text, "\"frames\":["), 3, "the frames of a place are written once");
    free(text);
    long who[3] = {0}, parents[3] = {0};
    FILE *file = fopen(path_of("family"), "r");
    for (int i = 0, depth; file && fgets(family[i], sizeof family[i], file) && i < 2; i++)
        if (sscanf(family[i], "%d %ld %ld", &depth, &who[0], &parents[0]) == 3)
            who[depth] = who[0], parents[depth] = parents[0];
    if (file)
        fclose(file);
    unlink(path_of("family"));
    for (int depth = 1; depth <= 2; depth++) {
        snprintf(name, sizeof name, "%s", pattern);
        text = read_own(name, (pid_t)who[depth]);
        tap_ok(valid_lines(text) == 3 && count(text, depth == 1 ? "\"n\":11," : "\"n\":12,") == 1,
               "a fork's calls are in its own file");
        check_header(text, who[depth], parents[depth], parents[depth]);
        free(text);
    }
}

/* A fork goes on without what it cannot write. */
static void test_own_file_refused(void)
{
    struct fake fake;
    char pattern[400], name[300];
    snprintf(name, sizeof name, "%s", path_of("gone"));
    snprintf(pattern, sizeof pattern, "%s/own.%%p", name);
    mkdir(name, 0700);
    struct vmm_backend *top = open_over(&fake, pattern);
    snprintf(pattern, sizeof pattern, "%s/own.%ld", name, (long)getpid());
    unlink(pattern);
    rmdir(name);
    fflush(stderr);
    pid_t child = fork();
    if (child == 0) {
        bool good = freopen(path_of("said"), "w", stderr) && release(top, 1) == VMM_SUCCESS && release(top, 2) == VMM_SUCCESS;
        top->ops->close(top);
        fflush(stderr);
        _exit(good ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    char *text = read_file(path_of("said"));
    tap_ok(status == 0 && count(text, "has no trace") == 1 && strstr(text, "No such file"),
           "a fork without a file runs on, and reports that once");
    free(text);
    unlink(path_of("said"));
    top->ops->close(top);
}

static void test_names(void)
{
    struct fake fake;
    struct vmm_backend *top = NULL;
    fake_init(&fake);
    tap_result(vmm_trace_open("t.%h", &fake.base, &top), VMM_ERROR_INVALID_VALUE, "an invalid letter");
    tap_ok(!top && strstr(vmm_last_detail()->note, "%h") && strstr(vmm_last_detail()->note, "%p for the number"),
           "named, with what is possible");
    char longer[PATH_PATTERN + 10];
    memset(longer, 'x', sizeof longer);
    memcpy(longer, "%p", 2);
    longer[sizeof longer - 1] = '\0';
    tap_result(vmm_trace_open(longer, &fake.base, &top), VMM_ERROR_OPERATING_SYSTEM, "a name that is too long");
    tap_ok(!top && strstr(vmm_last_detail()->note, strerror(ENAMETOOLONG)), "is reported as such");
    char *text;
    top = open_over(&fake, path_of("100%%"));
    release(top, 1);
    top->ops->close(top);
    text = read_file(path_of("100%"));
    tap_ok(valid_lines(text) == 3 && !strstr(text, "time") && !strstr(text, "process"),
           "%%%% is a percent sign, and nothing else changes");
    free(text);
    unlink(path_of("100%"));
}

struct racer {
    struct vmm_backend *top;
    uint64_t base;
};

static void *race(void *argument)
{
    const struct racer *racer = argument;
    for (uint64_t i = 0; i < 200; i++)
        release(racer->top, racer->base + i);
    return NULL;
}

static void test_threads(void)
{
    struct fake fake;
    struct racer racer[4];
    pthread_t thread[4];
    const char *path = path_of("threads");
    struct vmm_backend *top = open_over(&fake, path);
    for (int i = 0; i < 4; i++) {
        racer[i] = (struct racer){top, 1000 * (uint64_t)(i + 1)};
        if (pthread_create(&thread[i], NULL, race, &racer[i]))
            tap_bail("no thread");
    }
    for (int i = 0; i < 4; i++)
        pthread_join(thread[i], NULL);
    release(top, 9999);
    top->ops->close(top);
    char *text = read_file(path);
    tap_u64(valid_lines(text), 803, "800 concurrent calls yield whole lines");
    bool once = true;
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 200; k++) {
            char part[32];
            snprintf(part, sizeof part, "{\"n\":%d,", 1000 * (i + 1) + k);
            once = once && count(text, part) == 1;
        }
    tap_ok(once, "each call has one line");
    tap_ok(count(text, "\"thread\":1,") == 200 && count(text, "\"thread\":4,") == 200 &&
               count(text, "\"thread\":5,") == 1 && count(text, "\"thread\":6,") == 0,
           "threads are numbered from 1 in order of appearance");
    free(text);
    unlink(path);
}

/* ---- over the simulator ---- */

static vmm_mem_allocation_prop device_memory(void)
{
    vmm_mem_allocation_prop prop;
    memset(&prop, 0, sizeof prop);
    prop.type = VMM_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = VMM_MEM_LOCATION_TYPE_DEVICE;
    return prop;
}

static void one_life(vmm_system *sys)
{
    const uint64_t size = 0x200000;
    const vmm_mem_allocation_prop prop = device_memory();
    const vmm_mem_access_desc rw = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_mem_generic_allocation_handle handle = 0;
    vmm_deviceptr ptr = 0;
    vmm_context ctx = NULL;
    unsigned char bytes[3] = {1, 2, 3};
    vmm_result result[] = {vmm_init(sys, 0),
                           vmm_device_primary_ctx_retain(sys, &ctx, 0),
                           vmm_ctx_set_current(sys, ctx),
                           vmm_mem_create(sys, &handle, size, &prop, 0),
                           vmm_mem_address_reserve(sys, &ptr, 2 * size, 0, 0, 0),
                           vmm_mem_map(sys, ptr + size, size, 0, handle, 0),
                           vmm_mem_map(sys, ptr + size, size, 0, handle, 0),
                           vmm_mem_set_access(sys, ptr + size, size, &rw, 1),
                           vmm_memcpy_htod(sys, ptr + size + 1, bytes, 3),
                           vmm_memcpy_dtoh(sys, bytes, ptr + size, 3),
                           vmm_mem_unmap(sys, ptr, 2 * size),
                           vmm_mem_release(sys, handle),
                           vmm_mem_address_free(sys, ptr, 2 * size)};
    for (size_t i = 0; i < sizeof result / sizeof result[0]; i++)
        tap_result(result[i], i == 6 ? VMM_ERROR_INVALID_VALUE : VMM_SUCCESS, "call %zu", i + 1);
}

static char *trace_of_a_life(const char *name)
{
    char spec[400];
    vmm_system *sys = NULL;
    const char *path = path_of(name);
    /* If a sanitizer occupies the profile's addresses, those of two systems would differ. */
    snprintf(spec, sizeof spec, "trace=%s | sim:h100,arena=none", path);
    if (vmm_open(spec, &sys) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    one_life(sys);
    vmm_close(sys);
    char *text = read_file(path);
    unlink(path);
    return text;
}

/* A driver accepts such device addresses in place of host addresses; the trace must not read there. */
static void test_device_addresses_for_the_hosts(void)
{
    char spec[400];
    vmm_system *sys = NULL;
    vmm_context ctx = 0;
    vmm_deviceptr p = 0;
    const uint64_t size = UINT64_C(2) << 20;
    const char *path = path_of("device");
    snprintf(spec, sizeof spec, "trace=%s | sim:h100", path);
    if (vmm_open(spec, &sys) != VMM_SUCCESS || vmm_init(sys, 0) || vmm_ctx_create(sys, &ctx, 0, 0) ||
        vmm_mem_alloc(sys, &p, size))
        tap_bail("%s", vmm_last_detail()->note);
    tap_result(vmm_memcpy_htod(sys, p, (void *)(uintptr_t)(p + 4096), 64), VMM_SUCCESS,
               "a copy from a device address as host address");
    tap_result(vmm_memcpy_dtoh(sys, (void *)(uintptr_t)(p + 8192), p, 64), VMM_SUCCESS,
               "a copy to a device address as host address");
    tap_ok(vmm_memcpy_htod(sys, p, (void *)(uintptr_t)(p + 4096), size + 1) != VMM_SUCCESS && vmm_last_detail()->rule &&
               strncmp(vmm_last_detail()->rule, "VMM-COPY-", 9) == 0,
           "a refused copy keeps its record");
    vmm_mem_free(sys, p);
    vmm_close(sys);
    char *text = read_file(path), from[80], to[80];
    unlink(path);
    snprintf(from, sizeof from, "\"src\":{\"length\":\"0x40\",\"device\":\"0x%llx\"}", (unsigned long long)(p + 4096));
    snprintf(to, sizeof to, "\"dst\":{\"length\":\"0x40\",\"device\":\"0x%llx\"}", (unsigned long long)(p + 8192));
    tap_ok(strstr(text, from) && strstr(text, to), "the trace has the addresses, and no bytes");
    free(text);
}

static void test_on_the_simulator(void)
{
    char *first = trace_of_a_life("one"), *second = trace_of_a_life("two");
    tap_u64(valid_lines(first), 15, "13 calls, a header and a footer");
    tap_text(second, first, "the same calls give the same bytes");
    tap_ok(strstr(first, "\"inner\":[\"sim\"]"), "the header names the simulator");
    tap_ok(strstr(first, "\"ptr\":\"R1+0x200000\",\"handle\":\"H1\"},\"result\":\"CUDA_SUCCESS\""),
           "the trace names the mapping's objects");
    tap_ok(strstr(first, "\"result\":\"CUDA_ERROR_INVALID_VALUE\",\"code\":1,\"severity\":\"error\",\"rule\":"
                         "\"VMM-MAP-OVERLAP\",\"argument\":\"ptr\",\"value\":"),
           "a refused call has its rule and argument");
    tap_ok(strstr(first, "\"nearest\":\"M1\""), "the trace names the mapping in the way");
    tap_ok(strstr(first, "\"severity\":\"warning\",\"rule\":\"VMM-UNMAP-HOLE\""), "a successful call has its warning");
    tap_ok(strstr(first, "\"src\":{\"length\":\"0x3\",\"hex\":\"010203\"}") &&
               strstr(first, "\"out\":{\"dst\":{\"length\":\"0x3\",\"hex\":\"000102\"}}"),
           "bytes written and read");
    free(first);
    free(second);
}

static void test_with_a_fault(void)
{
    char spec[400];
    vmm_system *sys = NULL;
    const char *path = path_of("fault");
    snprintf(spec, sizeof spec, "fault=init:1|trace=%s|fault=init:2:UNKNOWN|sim:min", path);
    if (vmm_open(spec, &sys) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    tap_result(vmm_init(sys, 0), VMM_ERROR_OUT_OF_MEMORY, "a fault layer outside the trace");
    tap_result(vmm_init(sys, 0), VMM_SUCCESS, "nothing");
    tap_result(vmm_init(sys, 0), VMM_ERROR_UNKNOWN, "a fault layer inside the trace");
    vmm_close(sys);
    char *text = read_file(path);
    tap_ok(valid_lines(text) == 4 && strstr(text, "\"inner\":[\"fault\",\"sim\"]"), "the header names the layers inside");
    tap_ok(!strstr(text, "\"n\":1,") && strstr(text, "\"n\":2,"), "a call that fails outside has no line");
    tap_ok(strstr(text, "\"code\":999,\"severity\":\"error\",\"note\":\"layer fault, call 2 of init: made to fail"),
           "a call that fails inside has a line with its note");
    free(text);
    unlink(path);
}

int main(void)
{
    const char *where = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%.200s/trace_file_test.XXXXXX", where ? where : "/tmp");
    if (!mkdtemp(folder))
        tap_bail("cannot make a folder in %s", where ? where : "/tmp");
    test_open_failures();
    test_file();
    test_full_file();
    test_lost_reader();
    test_standard_error();
    test_fork();
    test_own_files();
    test_own_file_refused();
    test_names();
    test_threads();
    test_on_the_simulator();
    test_device_addresses_for_the_hosts();
    test_with_a_fault();
    tap_ok(rmdir(folder) == 0, "no file is left");
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A trace whose file takes a few bytes at a time, is interrupted, becomes full, or cannot be truncated. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_backend.h"
#include "posix.h"
#include "tap.h"

/* The faults to inject. */
static struct {
    size_t most;    /* the most bytes that one write takes; 0: no limit */
    bool often;     /* every second write is interrupted */
    bool nothing;   /* a full file accepts no bytes and reports no error */
    size_t room;    /* bytes until the file is full */
    bool stuck;     /* truncation fails */
    bool broken;    /* the pipe has no reader, and no signal reports that */
    bool blind;     /* the length cannot be queried after the file was opened */
    bool behind;    /* another process appends a line after the failing one */
    bool child;     /* this process is not the one that opened the trace */
    unsigned calls;
    size_t written;
} bad;

static ssize_t bad_write(int fd, const void *bytes, size_t length)
{
    size_t n = bad.most && length > bad.most ? bad.most : length;
    if (bad.often && bad.calls++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    if (bad.broken) {
        errno = EPIPE;
        return -1;
    }
    n = n > bad.room ? bad.room : n;
    if (!n && bad.nothing)
        return 0;
    if (!n) {
        errno = ENOSPC;
        return -1;
    }
    ssize_t written = write(fd, bytes, n);
    bad.room -= written > 0 ? (size_t)written : 0;
    bad.written += written > 0 ? (size_t)written : 0;
    return written;
}

static int bad_ftruncate(int fd, off_t size)
{
    errno = EIO;
    return bad.stuck ? -1 : ftruncate(fd, size);
}

static char path[64];

static void append(const char *line)
{
    FILE *file = fopen(path, "a");
    if (!file || fputs(line, file) < 0 || fclose(file))
        tap_bail("no other process");
}

static int bad_fstat(int fd, struct stat *status)
{
    errno = EIO;
    if (bad.behind && bad.written)
        append("{\"of\":\"another\"}\n");
    return bad.blind && bad.written ? -1 : fstat(fd, status);
}

#include "lifecycle.h"

static struct posix faulty; /* the system's functions, except for the injected ones */

#define posix faulty
#define os_write_quietly bad_write
#define life_stamp() (life_stamp() + bad.child)
#include "trace.c"
#undef posix
#undef os_write_quietly
#undef life_stamp

enum { CALLS = 5, PLENTY = 1 << 20 };

/* A trace of that many calls without details; returns the contents of the file, and its length in *length. */
static char *traced(size_t *length, vmm_result *opened)
{
    struct fake fake;
    struct vmm_backend *top = NULL;
    char *text = calloc(1, PLENTY);
    fake_init(&fake);
    *opened = vmm_trace_open(path, &fake.base, &top);
    for (uint64_t i = 0; top && i < CALLS; i++) {
        struct vmm_call_mem_release call = {{VMM_CALL_mem_release, 0}, 5};
        if (fake_dispatch(top, &call.head, 1 + i) != VMM_SUCCESS)
            tap_bail("the call is not passed on");
    }
    if (top)
        top->ops->close(top);
    FILE *file = fopen(path, "rb");
    *length = text && file ? fread(text, 1, PLENTY - 1, file) : 0;
    if (file)
        fclose(file);
    return text;
}

static void in_pieces(const char *whole, size_t whole_length)
{
    bool same = true;
    for (size_t most = 1; most < 200; most += most < 8 ? 1 : 37) {
        size_t length;
        vmm_result opened;
        bad = (__typeof__(bad)){.most = most, .often = true, .room = PLENTY};
        char *text = traced(&length, &opened);
        same = same && opened == VMM_SUCCESS && length == whole_length && !memcmp(text, whole, length);
        free(text);
    }
    tap_ok(same, "in pieces of any size, with every second write interrupted, the trace is the same");
}

/* If the file fills up after any number of bytes, it holds whole lines, as many as fit. */
static void full(const char *whole, size_t whole_length, bool nothing)
{
    size_t header = (size_t)(strchr(whole, '\n') - whole) + 1;
    bool cut = true, refused = true;
    for (size_t room = 0; room < whole_length; room += 3) {
        size_t length, fits = room;
        vmm_result opened;
        bad = (__typeof__(bad)){.most = 7, .room = room, .nothing = nothing};
        char *text = traced(&length, &opened);
        while (fits && whole[fits - 1] != '\n')
            fits--;
        cut = cut && length == fits && !memcmp(text, whole, length);
        refused = refused && opened == (room < header ? VMM_ERROR_OPERATING_SYSTEM : VMM_SUCCESS);
        free(text);
    }
    tap_ok(cut, "a trace whose file becomes full has as many whole lines as fit%s", nothing ? ", without an error number" : "");
    tap_ok(refused, "opening fails when not even the header fits");
}

/* Other processes' text stays: only the end of the file is truncated. */
static void behind(const char *whole)
{
    size_t length, header = (size_t)(strchr(whole, '\n') - whole) + 1;
    vmm_result opened;
    bad = (__typeof__(bad)){.most = 7, .room = header + 10, .behind = true};
    char *text = traced(&length, &opened);
    const char *other = strstr(text, "{\"of\":\"another\"}\n");
    tap_ok(opened == VMM_SUCCESS && other && !strcmp(other, "{\"of\":\"another\"}\n") && (size_t)(other - text) == header + 10,
           "a line that another process appended stays whole");
    free(text);
}

static void stuck(const char *whole)
{
    for (int blind = 0; blind < 2; blind++) {
        size_t length, header = (size_t)(strchr(whole, '\n') - whole) + 1;
        vmm_result opened;
        bad = (__typeof__(bad)){.most = 7, .room = header + 10, .stuck = !blind, .blind = blind};
        char *text = traced(&length, &opened);
        tap_ok(opened == VMM_SUCCESS && length == header + 10 && !memcmp(text, whole, length),
               "a line that cannot be truncated%s is the last one: nothing is written after it",
               blind ? ", its file's length being unknown," : "");
        free(text);
    }
}

/* Text that was written to a pipe cannot be undone, and the trace does not try. */
static void in_a_pipe(const char *whole)
{
    struct fake fake;
    struct vmm_backend *top = NULL;
    char got[4096], name[sizeof path + 8];
    size_t header = (size_t)(strchr(whole, '\n') - whole) + 1;
    snprintf(name, sizeof name, "%s.pipe", path);
    int reader = mkfifo(name, 0600) ? -1 : open(name, O_RDONLY | O_NONBLOCK);
    fake_init(&fake);
    bad = (__typeof__(bad)){.most = 7, .room = header + 10};
    if (reader < 0 || vmm_trace_open(name, &fake.base, &top) != VMM_SUCCESS)
        tap_bail("no trace into a pipe");
    struct vmm_call_mem_release call = {{VMM_CALL_mem_release, 0}, 5};
    tap_result(fake_dispatch(top, &call.head, 1), VMM_SUCCESS, "a call passes when the pipe takes no more");
    bad.room = PLENTY;
    tap_result(fake_dispatch(top, &call.head, 2), VMM_SUCCESS, "so does the next");
    top->ops->close(top);
    ssize_t length = read(reader, got, sizeof got);
    tap_ok(length == (ssize_t)header + 10 && !memcmp(got, whole, (size_t)length),
           "its line stays truncated, and is the last one");
    bad = (__typeof__(bad)){.broken = true};
    tap_result(vmm_trace_open(name, &fake.base, &top), VMM_ERROR_OPERATING_SYSTEM,
               "a pipe without a reader, where no signal is raised");
    tap_ok(strstr(vmm_last_detail()->note, strerror(EPIPE)) != NULL, "opening fails: %s", vmm_last_detail()->note);
    close(reader);
    unlink(name);
}

/* A forked child of the tracing process. */
static void in_a_child(const char *whole)
{
    struct fake fake;
    struct vmm_backend *top = NULL;
    struct vmm_call_mem_release call = {{VMM_CALL_mem_release, 0}, 5};
    char got[4096];
    size_t lines = (size_t)(strchr(strchr(whole, '\n') + 1, '\n') - whole) + 1; /* the header's line and one call's */
    fake_init(&fake);
    bad = (__typeof__(bad)){.room = PLENTY};
    if (vmm_trace_open(path, &fake.base, &top) != VMM_SUCCESS)
        tap_bail("no trace");
    fake_dispatch(top, &call.head, 1);
    bad.child = true;
    tap_result(fake_dispatch(top, &call.head, 2), VMM_SUCCESS, "a child's call passes");
    top->ops->close(top);
    FILE *file = fopen(path, "rb");
    size_t length = file ? fread(got, 1, sizeof got, file) : 0;
    if (file)
        fclose(file);
    tap_ok(fake.seen == 2 && fake.closed == 1 && length == lines && !memcmp(got, whole, length),
           "neither that call nor the child's end is written");
}

static void reasons(void)
{
    tap_ok(strstr(reason(ENOTSUP), "must be a regular file") && strstr(reason(ENOSYS), "use another file name to write lines") &&
               !strcmp(reason(ENOSPC), strerror(ENOSPC)),
           "why a file cannot be begun is said");
}

int main(void)
{
    size_t length;
    vmm_result opened;
    faulty = posix;
    faulty.write = bad_write;
    faulty.ftruncate = bad_ftruncate;
    faulty.fstat = bad_fstat;
    snprintf(path, sizeof path, "/tmp/cuvmm-trace-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0 || close(fd))
        tap_bail("no file");
    if (!freopen("/dev/null", "w", stderr)) /* each stopped trace reports that */
        tap_bail("no /dev/null");
    bad = (__typeof__(bad)){.room = PLENTY};
    char *whole = traced(&length, &opened);
    if (!tap_ok(opened == VMM_SUCCESS && length > 100, "a trace"))
        tap_bail("there is none");
    in_pieces(whole, length);
    full(whole, length, false);
    full(whole, length, true);
    behind(whole);
    stuck(whole);
    in_a_pipe(whole);
    in_a_child(whole);
    reasons();
    free(whole);
    unlink(path);
    return tap_done();
}

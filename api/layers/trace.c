/* SPDX-License-Identifier: Apache-2.0 */
#include "trace.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heap.h"
#include "lifecycle.h"
#include "os_write.h"
#include "posix.h"
#include "trace_names.h"
#include "path_pattern.h"
#include "trace_place.h"
#include "trace_self.h"
#include "trace_value.h"

/* What a trace has beside its calls where each process has a file of its own. */
struct own_file {
    char *pattern;              /* of its name */
    uint64_t clock;             /* when it was begun */
    _Atomic(struct trace *) fork; /* in a child of this process: the trace that goes on there */
    struct trace_places places;
};

struct trace {
    struct vmm_backend base;
    /* held during an inner call that does not wait, so that lines are in the order of effects; guards the members below */
    struct life_lock lock;
    pthread_key_t key;    /* the number of each thread */
    uintptr_t threads;
    uint64_t process;     /* life_stamp() of the tracing process: a forked child neither writes nor takes the lock */
    pid_t pid;
    int fd;
    bool regular;         /* a file that can be truncated, and that raises no SIGPIPE */
    bool stopped;         /* after a line could not be written */
    uint64_t lines;
    struct json line;
    struct names names;
    struct own_file *own; /* NULL: one file for all processes, in which the same calls give the same bytes */
};

/* ---- writing ---- */

/* Removes a half-written line again, unless another process has appended after it. 0 or an errno. */
static int cut_back(const struct trace *trace, size_t done)
{
    struct stat status;
    if (posix.fstat(trace->fd, &status) != 0 || lseek(trace->fd, 0, SEEK_CUR) != status.st_size)
        return 0;
    return posix.ftruncate(trace->fd, status.st_size - (off_t)done) ? errno : 0;
}

/* Writes the whole line or none of it; 0 or an errno. */
static int write_line(struct trace *trace)
{
    size_t done = 0;
    bool quietly = !trace->regular || os_write_is_limited();
    while (done < trace->line.length) {
        const char *rest = trace->line.text + done;
        size_t length = trace->line.length - done;
        ssize_t written = quietly ? os_write_quietly(trace->fd, rest, length) : posix.write(trace->fd, rest, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            int error = written ? errno : ENOSPC;
            int worse = done && trace->regular ? cut_back(trace, done) : 0;
            return worse ? worse : error;
        }
        done += (size_t)written;
    }
    return 0;
}

static void finish_line(struct trace *trace)
{
    jsonw_close(&trace->line, '}');
    jsonw_newline(&trace->line);
    int error = trace->line.failed ? ENOMEM : write_line(trace);
    if (error) {
        trace->stopped = true;
        fprintf(stderr, "cuvmm: trace: a line could not be written (%s); the trace ends after %llu calls\n",
                strerror(error), (unsigned long long)trace->lines);
    }
}

/* False when memory is out. */
static bool make_header(struct trace *trace, int64_t fork_of)
{
    struct json *json = &trace->line;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", VMM_VERSION_MAJOR, VMM_VERSION_MINOR, VMM_VERSION_PATCH);
    jsonw_open(json, NULL, '{');
    jsonw_int(json, "cuvmm-trace", TRACE_FORMAT);
    jsonw_text(json, "version", version);
    jsonw_open(json, "inner", '[');
    for (const struct vmm_backend *inner = trace->base.inner; inner; inner = inner->inner)
        jsonw_text(json, NULL, inner->ops->name);
    jsonw_close(json, ']');
    if (trace->own)
        trace_self(json, trace->own->clock, fork_of);
    jsonw_close(json, '}');
    jsonw_newline(json);
    return !json->failed;
}

/* ---- one call ---- */

static uintptr_t thread_number(struct trace *trace)
{
    uintptr_t number = (uintptr_t)pthread_getspecific(trace->key);
    if (!number) {
        number = ++trace->threads;
        posix.pthread_setspecific(trace->key, (void *)number);
    }
    return number;
}

static void add_names(struct trace *trace, const struct vmm_call *call, bool out, bool done)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    for (size_t i = 0; i < count; i++) {
        char text[NAME_MAX_TEXT];
        uint64_t value = 0;
        if (trace_is_out(params[i].kind) == out && trace_object(call, &params[i], done, &value) &&
            names_find(&trace->names, params[i].kind, value, text))
            jsonw_text(&trace->line, params[i].name, text);
    }
}

/* Input names are looked up before the call's effect on names, output names after it. */
static void write_names(struct trace *trace, const struct vmm_call *call, bool done)
{
    struct json *json = &trace->line;
    jsonw_open(json, "names", '{');
    add_names(trace, call, false, done);
    if (done)
        names_learn(&trace->names, call);
    add_names(trace, call, true, done);
    if (!json->failed && json->text[json->length - 1] == '{')
        jsonw_drop_empty(json, "names");
    else
        jsonw_close(json, '}');
}

static void write_detail(struct json *json, const vmm_detail *detail)
{
    static const char letters[] = "?DRMHACSEBPY"; /* indexed by enum vmm_object_kind */
    _Static_assert(sizeof letters == VMM_OBJECT_ARRAY + 2, "a letter for each kind of object");
    if (detail->severity != VMM_SEVERITY_WARNING && detail->severity != VMM_SEVERITY_ERROR)
        return;
    jsonw_text(json, "severity", detail->severity == VMM_SEVERITY_WARNING ? "warning" : "error");
    if (detail->rule)
        jsonw_text(json, "rule", detail->rule);
    if (detail->argument) {
        jsonw_text(json, "argument", detail->argument);
        jsonw_hex(json, "value", detail->value);
    }
    if (detail->expected)
        jsonw_hex(json, "expected", detail->expected);
    if (detail->nearest.kind != VMM_OBJECT_NONE) {
        char name[24];
        bool device = detail->nearest.kind == VMM_OBJECT_DEVICE;
        snprintf(name, sizeof name, "%c%llu", letters[detail->nearest.kind],
                 device ? (unsigned long long)detail->nearest.value : (unsigned long long)detail->nearest.number);
        jsonw_text(json, "nearest", name);
    }
    if (detail->note[0])
        jsonw_text(json, "note", detail->note);
}

/* A copy may have device addresses in place of host addresses, and the trace cannot read those. Queries the inner backend, and
 * keeps its answer to the program's own call. */
static bool is_on_device(struct vmm_backend *inner, const struct vmm_call *call)
{
    const void *bytes = trace_host_bytes(call);
    int type = 0;
    if (!bytes)
        return false;
    struct vmm_call_pointer_get_attribute ask = {
        {VMM_CALL_pointer_get_attribute, call->number}, &type, VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, (uint64_t)(uintptr_t)bytes};
    const vmm_detail reported = *vmm_detail_here();
    bool device = vmm_backend_call(inner, &ask.head) == VMM_SUCCESS && type == VMM_MEMORYTYPE_DEVICE;
    *vmm_detail_here() = reported;
    return device;
}

/* What is known before a call is made: when and where, for a process's own file alone, and what it reads where it will write. */
struct moment {
    uint64_t before, time;
    struct trace_place place;
};

static struct moment moment_now(struct trace *trace, const struct vmm_call *call)
{
    if (!trace->own)
        return (struct moment){.before = trace_before(call)};
    return (struct moment){trace_before(call), trace_clock() - trace->own->clock, trace_place_here(&trace->own->places)};
}

static void write_own(struct trace *trace, const struct vmm_call *call, bool done, const struct moment *moment)
{
    uint64_t shared = done ? trace_shared(call) : 0;
    if (shared)
        jsonw_hex(&trace->line, "shared", shared);
    jsonw_int(&trace->line, "time", (int64_t)moment->time);
    trace_place_write(&trace->line, &moment->place);
}

static void write_call(struct trace *trace, const struct vmm_call *call, vmm_result result, bool wrote_flags,
                       const struct moment *moment)
{
    struct json *json = &trace->line;
    bool done = result == VMM_SUCCESS, device = is_on_device(trace->base.inner, call);
    jsonw_reset(json);
    jsonw_open(json, NULL, '{');
    jsonw_int(json, "n", (int64_t)call->number);
    jsonw_int(json, "thread", (int64_t)thread_number(trace));
    jsonw_text(json, "call", vmm_call_name((enum vmm_call_id)call->id));
    trace_args(json, call, done, device, moment->before);
    write_names(trace, call, done);
    jsonw_text(json, "result", vmm_result_name(result));
    jsonw_int(json, "code", result);
    if (done || wrote_flags)
        trace_outs(json, call, device);
    write_detail(json, vmm_last_detail());
    if (trace->own)
        write_own(trace, call, done, moment);
    finish_line(trace);
    if (!trace->stopped)
        trace->lines++;
}

/* The caller's variable may hold any value, so it cannot show whether a failing call writes its flags. The backend gets the
 * trace's own variable instead, with a value that is not a set of flags. */
#define NOT_WRITTEN UINT64_C(0xA5A5A5A5A5A5A5A5)

static vmm_result pass(struct vmm_backend *inner, struct vmm_call *call, bool *wrote_flags)
{
    size_t count = 0;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)call->id, &count);
    const struct vmm_param *flags = NULL;
    uint64_t ours = NOT_WRITTEN, theirs = 0;
    for (size_t i = 0; i < count; i++)
        if (params[i].kind == VMM_PARAM_OUT_U64 && vmm_call_scalar(call, &params[i]))
            flags = &params[i];
    if (!flags)
        return vmm_backend_call(inner, call);
    theirs = vmm_call_scalar(call, flags);
    vmm_call_set_scalar(call, flags, (uint64_t)(uintptr_t)&ours);
    vmm_result result = vmm_backend_call(inner, call);
    vmm_call_set_scalar(call, flags, theirs);
    *wrote_flags = ours != NOT_WRITTEN;
    if (*wrote_flags)
        memcpy((void *)(uintptr_t)theirs, &ours, sizeof ours);
    return result;
}

static struct trace *fork_of(struct trace *parent);

/* The trace of this process: that of the one which opened it, or of a fork in which it goes on. NULL: a fork's calls are not
 * traced. */
static struct trace *trace_here(struct trace *trace)
{
    while (trace && life_stamp() != trace->process)
        trace = trace->own ? fork_of(trace) : NULL;
    return trace;
}

static vmm_result trace_call(struct vmm_backend *self, struct vmm_call *call)
{
    struct trace *trace = trace_here((struct trace *)self);
    bool wrote_flags = false;
    if (!trace)
        return vmm_backend_call(self->inner, call);
    const struct moment moment = moment_now(trace, call);
    bool waits = vmm_call_waits((enum vmm_call_id)call->id);
    vmm_result result = waits ? pass(self->inner, call, &wrote_flags) : VMM_SUCCESS;
    int cancel = life_no_cancel();
    life_acquire(&trace->lock);
    if (!waits)
        result = pass(self->inner, call, &wrote_flags);
    if (!trace->stopped)
        write_call(trace, call, result, wrote_flags, &moment);
    life_release(&trace->lock);
    life_may_cancel(cancel);
    return result;
}

/* ---- opening and closing ---- */

/* Ends everything except the file, which may not be there. */
static void discard(struct trace *trace)
{
    if (trace->fd >= 0)
        close(trace->fd);
    jsonw_free(&trace->line);
    names_free(&trace->names);
    pthread_key_delete(trace->key);
    life_lock_end(&trace->lock);
    if (trace->own)
        heap.free(trace->own->pattern);
    heap.free(trace->own);
    heap.free(trace);
}

static void finish(struct trace *trace)
{
    if (!trace->stopped) {
        jsonw_reset(&trace->line);
        jsonw_open(&trace->line, NULL, '{');
        jsonw_int(&trace->line, "end", 1);
        jsonw_int(&trace->line, "calls", (int64_t)trace->lines);
        finish_line(trace);
    }
    discard(trace);
}

/* What a fork has of its parents' traces stays as it is. */
static void trace_close(struct vmm_backend *self)
{
    struct trace *first = (struct trace *)self, *last = first;
    self->inner->ops->close(self->inner);
    while (last->own && last->process != life_stamp() && atomic_load(&last->own->fork))
        last = atomic_load(&last->own->fork);
    const bool here = last->process == life_stamp(), is_forks = last != first || !here;
    if (here)
        finish(last);
    if (is_forks) {
        close(first->fd);
        vmm_layer_leave(self);
    }
}

static const struct vmm_backend_ops trace_ops = {
    .size = sizeof(struct vmm_backend_ops),
    .name = "trace",
    .call =
        {
#define VMM_CALL(name, ...) [VMM_CALL_##name] = trace_call,
#include "calls.def"
        },
    .visit = vmm_layer_visit,
    .leaks = vmm_layer_leaks,
    .attach = vmm_layer_attach,
    .close = trace_close,
};

static int open_file(const char *name)
{
    if (strcmp(name, "-") == 0)
        return posix.fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    return posix.open(name, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
}

/* For a pattern that gives each process a file: *own is what that takes. False when memory is out. */
static bool make_own(const char *pattern, struct own_file **own)
{
    *own = NULL;
    if (!path_pattern_is_own(pattern))
        return true;
    struct own_file *made = heap.calloc(1, sizeof *made);
    char *copy = heap.malloc(strlen(pattern) + 1);
    if (!made || !copy) {
        heap.free(made);
        heap.free(copy);
        return false;
    }
    made->pattern = strcpy(copy, pattern);
    made->clock = trace_clock();
    trace_place_begin();
    *own = made;
    return true;
}

/* Creates everything except the file. */
static struct trace *make(const char *pattern, struct vmm_backend *inner)
{
    struct own_file *own;
    struct trace *trace = heap.calloc(1, sizeof *trace);
    if (!trace)
        return NULL;
    if (posix.pthread_key_create(&trace->key, NULL)) {
        heap.free(trace);
        return NULL;
    }
    life_lock_init(&trace->lock, LIFE_LAYER, NULL);
    trace->base = (struct vmm_backend){&trace_ops, inner};
    trace->process = life_stamp();
    trace->pid = getpid();
    trace->fd = -1;
    if (make_own(pattern, &own)) {
        trace->own = own;
        return trace;
    }
    discard(trace);
    return NULL;
}

/* Creates or empties the file and writes the header; 0 or an errno. */
static int begin(struct trace *trace, const char *pattern, int64_t fork_of)
{
    char name[PATH_PATTERN];
    struct stat status;
    if (!make_header(trace, fork_of)) /* before the file is truncated */
        return ENOMEM;
    if (!path_pattern(pattern, (long)getpid(), name, sizeof name))
        return ENAMETOOLONG;
    trace->fd = open_file(name);
    if (trace->fd < 0)
        return errno;
    trace->regular = posix.fstat(trace->fd, &status) == 0 && S_ISREG(status.st_mode);
    return write_line(trace);
}

/* In a child: the parent's trace goes on in a file of the child's own. Nothing of the parent's is used but the pattern, for a thread
 * of the parent may have been changing the rest. A child that can have no file runs on without one. */
static struct trace *fork_of(struct trace *parent)
{
    int cancel = life_no_cancel();
    life_acquire(&parent->lock);
    struct trace *trace = atomic_load(&parent->own->fork);
    if (!trace && (trace = make(parent->own->pattern, parent->base.inner)) != NULL) {
        int error = begin(trace, parent->own->pattern, parent->pid);
        trace->stopped = error != 0;
        if (error)
            fprintf(stderr, "cuvmm: trace: process %ld, a fork of %ld, has no trace: \"%.200s\" cannot be written: %s\n", (long)getpid(),
                    (long)parent->pid, parent->own->pattern, strerror(error));
        atomic_store(&parent->own->fork, trace);
    }
    life_release(&parent->lock);
    life_may_cancel(cancel);
    return trace;
}

vmm_result vmm_trace_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend)
{
    char why[200];
    if (!args[0])
        return vmm_refuse_open(VMM_RULE_OPEN_ARGUMENT, "vmm_open",
                               "trace: expected trace=FILE (\"-\" is standard error), found no file");
    if (path_pattern_wrong(args, why, sizeof why))
        return vmm_refuse_open(VMM_RULE_OPEN_ARGUMENT, "vmm_open", "trace: %s", why);
    struct trace *trace = make(args, inner);
    if (!trace)
        return vmm_refuse_open(VMM_RULE_SYSTEM_HOST_MEMORY, "vmm_open", "trace: the host's memory is exhausted");
    int error = begin(trace, args, 0);
    if (error) {
        discard(trace);
        return vmm_refuse_open(VMM_RULE_OPEN_SYSTEM, "vmm_open", "trace: cannot write to \"%.60s\": %s", args,
                               strerror(error));
    }
    *backend = &trace->base;
    return VMM_SUCCESS;
}

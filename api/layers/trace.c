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
#include "trace_value.h"

struct trace {
    struct vmm_backend base;
    /* held during an inner call that does not wait, so that lines are in the order of effects; guards the members below */
    struct life_lock lock;
    pthread_key_t key;    /* the number of each thread */
    uintptr_t threads;
    uint64_t process;     /* life_stamp() of the tracing process: a forked child neither writes nor takes the lock */
    int fd;
    bool regular;         /* a file that can be truncated, and that raises no SIGPIPE */
    bool stopped;         /* after a line could not be written */
    uint64_t lines;
    struct json line;
    struct names names;
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
    json_close(&trace->line, '}');
    json_newline(&trace->line);
    int error = trace->line.failed ? ENOMEM : write_line(trace);
    if (error) {
        trace->stopped = true;
        fprintf(stderr, "cuvmm: trace: a line could not be written (%s); the trace ends after %llu calls\n",
                strerror(error), (unsigned long long)trace->lines);
    }
}

/* False when memory is out. */
static bool make_header(struct trace *trace)
{
    struct json *json = &trace->line;
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", VMM_VERSION_MAJOR, VMM_VERSION_MINOR, VMM_VERSION_PATCH);
    json_open(json, NULL, '{');
    json_int(json, "cuvmm-trace", TRACE_FORMAT);
    json_text(json, "version", version);
    json_open(json, "inner", '[');
    for (const struct vmm_backend *inner = trace->base.inner; inner; inner = inner->inner)
        json_text(json, NULL, inner->ops->name);
    json_close(json, ']');
    json_close(json, '}');
    json_newline(json);
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
            json_text(&trace->line, params[i].name, text);
    }
}

/* Input names are looked up before the call's effect on names, output names after it. */
static void write_names(struct trace *trace, const struct vmm_call *call, bool done)
{
    struct json *json = &trace->line;
    json_open(json, "names", '{');
    add_names(trace, call, false, done);
    if (done)
        names_learn(&trace->names, call);
    add_names(trace, call, true, done);
    if (!json->failed && json->text[json->length - 1] == '{')
        json_drop_empty(json, "names");
    else
        json_close(json, '}');
}

static void write_detail(struct json *json, const vmm_detail *detail)
{
    static const char letters[] = "?DRMHACSEB"; /* indexed by enum vmm_object_kind */
    _Static_assert(sizeof letters == VMM_OBJECT_BIND + 2, "a letter for each kind of object");
    if (detail->severity != VMM_SEVERITY_WARNING && detail->severity != VMM_SEVERITY_ERROR)
        return;
    json_text(json, "severity", detail->severity == VMM_SEVERITY_WARNING ? "warning" : "error");
    if (detail->rule)
        json_text(json, "rule", detail->rule);
    if (detail->argument) {
        json_text(json, "argument", detail->argument);
        json_hex(json, "value", detail->value);
    }
    if (detail->expected)
        json_hex(json, "expected", detail->expected);
    if (detail->nearest.kind != VMM_OBJECT_NONE) {
        char name[24];
        bool device = detail->nearest.kind == VMM_OBJECT_DEVICE;
        snprintf(name, sizeof name, "%c%llu", letters[detail->nearest.kind],
                 device ? (unsigned long long)detail->nearest.value : (unsigned long long)detail->nearest.number);
        json_text(json, "nearest", name);
    }
    if (detail->note[0])
        json_text(json, "note", detail->note);
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

static void write_call(struct trace *trace, const struct vmm_call *call, vmm_result result, bool wrote_flags)
{
    struct json *json = &trace->line;
    bool done = result == VMM_SUCCESS, device = is_on_device(trace->base.inner, call);
    json_reset(json);
    json_open(json, NULL, '{');
    json_int(json, "n", (int64_t)call->number);
    json_int(json, "thread", (int64_t)thread_number(trace));
    json_text(json, "call", vmm_call_name((enum vmm_call_id)call->id));
    trace_args(json, call, done, device);
    write_names(trace, call, done);
    json_text(json, "result", vmm_result_name(result));
    json_int(json, "code", result);
    if (done || wrote_flags)
        trace_outs(json, call, device);
    write_detail(json, vmm_last_detail());
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

static vmm_result trace_call(struct vmm_backend *self, struct vmm_call *call)
{
    struct trace *trace = (struct trace *)self;
    bool wrote_flags = false;
    if (life_stamp() != trace->process)
        return vmm_backend_call(self->inner, call);
    bool waits = vmm_call_waits((enum vmm_call_id)call->id);
    vmm_result result = waits ? pass(self->inner, call, &wrote_flags) : VMM_SUCCESS;
    int cancel = life_no_cancel();
    life_acquire(&trace->lock);
    if (!waits)
        result = pass(self->inner, call, &wrote_flags);
    if (!trace->stopped)
        write_call(trace, call, result, wrote_flags);
    life_release(&trace->lock);
    life_may_cancel(cancel);
    return result;
}

/* ---- opening and closing ---- */

static void trace_close(struct vmm_backend *self)
{
    struct trace *trace = (struct trace *)self;
    self->inner->ops->close(self->inner);
    if (life_stamp() != trace->process) {
        close(trace->fd);
        vmm_layer_leave(self);
        return;
    }
    if (!trace->stopped) {
        json_reset(&trace->line);
        json_open(&trace->line, NULL, '{');
        json_int(&trace->line, "end", 1);
        json_int(&trace->line, "calls", (int64_t)trace->lines);
        finish_line(trace);
    }
    close(trace->fd);
    json_free(&trace->line);
    names_free(&trace->names);
    pthread_key_delete(trace->key);
    life_lock_end(&trace->lock);
    heap.free(trace);
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

/* Creates everything except the file. */
static struct trace *make(struct vmm_backend *inner)
{
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
    trace->fd = -1;
    return trace;
}

static void discard(struct trace *trace)
{
    if (trace->fd >= 0)
        close(trace->fd);
    json_free(&trace->line);
    pthread_key_delete(trace->key);
    life_lock_end(&trace->lock);
    heap.free(trace);
}

vmm_result vmm_trace_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend)
{
    struct stat status;
    if (!args[0])
        return vmm_refuse_open(VMM_RULE_OPEN_ARGUMENT, "vmm_open",
                               "trace: expected trace=FILE (\"-\" is standard error), found no file");
    struct trace *trace = make(inner);
    if (!trace)
        return vmm_refuse_open(VMM_RULE_SYSTEM_HOST_MEMORY, "vmm_open", "trace: the host's memory is exhausted");
    int error = make_header(trace) ? 0 : ENOMEM; /* before the file is truncated */
    if (!error) {
        trace->fd = open_file(args);
        error = trace->fd < 0 ? errno : 0;
    }
    if (!error) {
        trace->regular = posix.fstat(trace->fd, &status) == 0 && S_ISREG(status.st_mode);
        error = write_line(trace);
    }
    if (error) {
        discard(trace);
        return vmm_refuse_open(VMM_RULE_OPEN_SYSTEM, "vmm_open", "trace: cannot write to \"%.60s\": %s", args,
                               strerror(error));
    }
    *backend = &trace->base;
    return VMM_SUCCESS;
}

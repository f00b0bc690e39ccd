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

#include "fnv.h"
#include "heap.h"
#include "os_write.h"
#include "path_pattern.h"
#include "posix.h"
#include "single_thread.h"
#include "trace_layer.h"
#include "trace_lines.h"
#include "trace_record.h"
#include "trace_self.h"
#include "trace_value.h"

static const uint8_t traits[VMM_CALL_COUNT] = {
#define VMM_CALL(name, ...) [VMM_CALL_##name] = 0 VMM_EACH(TRACE_TRAITS, VMM_PARAMS_##name),
#include "calls.def"
};

static inline bool has(const struct vmm_call *call, int trait)
{
    return (traits[call->id] & trait) != 0;
}

/* ---- writing ---- */

static void stop(struct trace *trace, int error)
{
    int cancel = life_no_cancel();
    trace->stopped = true;
    fprintf(stderr, "cuvmm: trace: a %s could not be written (%s); the trace ends after %llu calls\n",
            trace->binary ? "record" : "line", strerror(error), (unsigned long long)trace->calls);
    life_may_cancel(cancel);
}

/* Removes a half-written line, unless another process has appended after it. Returns 0 or an errno. */
static int cut_back(const struct lines *lines, size_t done)
{
    struct stat status;
    if (posix.fstat(lines->fd, &status) != 0 || lseek(lines->fd, 0, SEEK_CUR) != status.st_size)
        return 0;
    return posix.ftruncate(lines->fd, status.st_size - (off_t)done) ? errno : 0;
}

/* Writes the whole line or none of it; Returns 0 or an errno. */
static int write_line(const struct lines *lines)
{
    size_t done = 0;
    bool quietly = !lines->regular || os_write_is_limited();
    while (done < lines->line.length) {
        const char *rest = lines->line.text + done;
        size_t length = lines->line.length - done;
        ssize_t written = quietly ? os_write_quietly(lines->fd, rest, length) : posix.write(lines->fd, rest, length);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0) {
            int error = written ? errno : ENOSPC;
            int worse = done && lines->regular ? cut_back(lines, done) : 0;
            return worse ? worse : error;
        }
        done += (size_t)written;
    }
    return 0;
}

static int finish_line(struct lines *lines)
{
    jsonw_newline(&lines->line);
    return lines->line.failed ? ENOMEM : write_line(lines);
}

static int put_line(struct trace *trace, const struct trace_event *event)
{
    jsonw_reset(&trace->lines.line);
    trace_put_event(&trace->lines.line, event, &trace->lines.names, trace->own != NULL);
    return finish_line(&trace->lines);
}

/* Writes the frames of the event's call site, each as a record. */
static int put_frames(struct trace_file *file, const struct trace_event *event)
{
    int error = 0;
    char text[TRACE_FRAME_TEXT];
    for (uint32_t i = 0; i < event->frames && !error; i++) {
        uint64_t *at = trace_file_room(file, TRACE_FRAME_TEXT / sizeof *at + 4, &error);
        if (at)
            trace_file_commit(file, trace_frame_write(at, event->place, i, trace_frame(event, i, text)), false, 0);
    }
    return error;
}

static int put_record(struct trace *trace, const struct trace_event *event)
{
    int error = put_frames(&trace->file, event);
    uint64_t *at = error ? NULL : trace_file_room(&trace->file, trace_record_room(event), &error);
    if (at)
        trace_file_commit(&trace->file, trace_record_write(at, event, trace->own != NULL), true, event->call->number);
    return error;
}

/* ---- one call ---- */

static uint32_t thread_number(struct trace *trace)
{
    uintptr_t number = (uintptr_t)pthread_getspecific(trace->key);
    if (!number) {
        number = ++trace->threads;
        posix.pthread_setspecific(trace->key, (void *)number);
    }
    if (VMM_SINGLE_THREAD) {
        trace->alone = pthread_self();
        trace->alone_number = (uint32_t)number;
    }
    return (uint32_t)number;
}

/* A copy may pass device addresses where host addresses are expected, and the trace cannot read those. Queries the inner
 * backend, and keeps its answer to the program's own call. */
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

/* The host bytes lie at a device address, or are more than a trace holds. */
static void note_bytes(struct trace *trace, struct trace_event *event)
{
    const void *bytes = trace_host_bytes(event->call);
    event->device = is_on_device(trace->base.inner, event->call);
    const uint64_t length = trace_length(event->call, "byte_count");
    const bool later = has(event->call, HAS_OUT_BYTES) && trace_is_async(event->call);
    if (bytes && !event->device && event->wrote && length > TRACE_BYTES_MAX && !later)
        event->hash = fnv1a(FNV1A, bytes, length);
}

/* What must be recorded before the call: its time and call site (only in per-process files), and the inputs that it will
 * overwrite. */
struct moment {
    uint64_t before, time;
    struct trace_place place;
};

static inline struct moment moment_now(struct trace *trace, const struct vmm_call *call)
{
    struct moment moment = {.before = has(call, HAS_BEFORE) ? trace_before(call) : 0};
    if (trace->own) {
        moment.time = trace_clock() - trace->own->clock;
        moment.place = trace_place_here(&trace->own->places);
    }
    return moment;
}

/* The caller's variable may hold any value, so it cannot show whether a failing call writes its flags. The backend gets the
 * trace's own variable instead, with a value that is not a set of flags. */
#define NOT_WRITTEN UINT64_C(0xA5A5A5A5A5A5A5A5)

static vmm_result pass_flags(struct vmm_backend *inner, struct vmm_call *call, bool *wrote_flags)
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

static inline vmm_result pass(struct vmm_backend *inner, struct vmm_call *call, bool *wrote_flags)
{
    return has(call, HAS_FLAGS) ? pass_flags(inner, call, wrote_flags) : vmm_backend_call(inner, call);
}

static void write_call(struct trace *trace, const struct vmm_call *call, vmm_result result, bool wrote_flags,
                       const struct moment *moment)
{
    if (trace->stopped)
        return;
    struct stacks_frame frames[STACKS_MOST];
    struct trace_event event = {.call = call, .result = result, .wrote = result == VMM_SUCCESS || wrote_flags,
                                .thread = thread_number(trace), .before = moment->before, .detail = vmm_last_detail(),
                                .time = moment->time};
    if (trace->own)
        trace_place_note(&moment->place, &event, frames);
    if (has(call, HAS_BYTES | HAS_OUT_BYTES))
        note_bytes(trace, &event);
    if (has(call, HAS_DESCRIPTOR))
        trace_descriptors_note(&trace->descriptors, &event, trace->own != NULL);
    int error = trace->binary ? put_record(trace, &event) : put_line(trace, &event);
    if (error)
        stop(trace, error);
    else
        trace->calls++;
}

static struct trace *fork_of(struct trace *parent);

/* The trace of this process: the one that this process opened, or that it continues as a forked child. NULL: a fork's calls are
 * not traced. */
static inline struct trace *trace_here(struct trace *trace)
{
    while (trace && life_stamp() != trace->process)
        trace = trace->own ? fork_of(trace) : NULL;
    return trace;
}

struct held {
    bool locked, kept; /* the lock; this thread cannot be cancelled */
    int cancel;
};

/* A single thread takes no lock, until a call starts more threads. */
static inline void lock_unless_alone(struct trace *trace, struct held *held)
{
    if (held->locked || VMM_SINGLE_THREAD)
        return;
    if (!held->kept)
        held->cancel = life_no_cancel();
    held->kept = held->locked = true;
    life_acquire(&trace->lock);
}

static inline void unlock(struct trace *trace, const struct held *held)
{
    if (held->locked)
        life_release(&trace->lock);
    if (held->kept)
        life_may_cancel(held->cancel);
}

vmm_result trace_call(struct vmm_backend *self, struct vmm_call *call)
{
    struct trace *trace = trace_here((struct trace *)self);
    bool wrote_flags = false;
    if (!trace)
        return vmm_backend_call(self->inner, call);
    const struct moment moment = moment_now(trace, call);
    const bool waits = vmm_call_waits((enum vmm_call_id)call->id);
    vmm_result result = waits ? pass(self->inner, call, &wrote_flags) : VMM_SUCCESS;
    struct held held = {.kept = !trace->binary};
    if (held.kept) /* writing a line is a cancellation point */
        held.cancel = life_no_cancel();
    lock_unless_alone(trace, &held);
    if (!waits)
        result = pass(self->inner, call, &wrote_flags);
    lock_unless_alone(trace, &held);
    write_call(trace, call, result, wrote_flags, &moment);
    unlock(trace, &held);
    return result;
}

void trace_write_late(struct trace *trace, const struct vmm_call *call, vmm_result result)
{
    const struct moment moment = {0};
    struct held held = {0};
    lock_unless_alone(trace, &held);
    write_call(trace, call, result, false, &moment);
    unlock(trace, &held);
}

/* ---- opening and closing ---- */

/* Ends everything except the file, which may not exist. */
static void discard(struct trace *trace)
{
    if (trace->lines.fd >= 0)
        close(trace->lines.fd);
    jsonw_free(&trace->lines.line);
    names_free(&trace->lines.names);
    trace_descriptors_free(&trace->descriptors);
    pthread_key_delete(trace->key);
    life_lock_end(&trace->lock);
    if (trace->own)
        heap.free(trace->own->pattern);
    heap.free(trace->own);
    heap.free(trace);
}

static void finish(struct trace *trace)
{
    if (trace->binary) {
        trace_file_end(&trace->file, !trace->stopped);
    } else if (!trace->stopped) {
        jsonw_reset(&trace->lines.line);
        trace_put_footer(&trace->lines.line, trace->calls);
        int error = finish_line(&trace->lines);
        if (error)
            stop(trace, error);
    }
    discard(trace);
}

/* A forked child leaves its copies of its parents' traces alone. */
void trace_close(struct vmm_backend *self)
{
    struct trace *first = (struct trace *)self, *last = first;
    self->inner->ops->close(self->inner);
    while (last->own && last->process != life_stamp() && atomic_load(&last->own->fork))
        last = atomic_load(&last->own->fork);
    const bool here = last->process == life_stamp(), is_forks = last != first || !here;
    if (here)
        finish(last);
    if (is_forks) {
        if (first->lines.fd >= 0)
            close(first->lines.fd);
        if (first->file.fd >= 0)
            close(first->file.fd);
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

/* For a pattern that gives each process a file: *own receives the state that this needs. False when memory is out. */
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
    trace->process = life_stamp();
    trace->pid = getpid();
    trace->binary = trace_is_binary(pattern);
    trace->base = (struct vmm_backend){trace->binary && !path_pattern_is_own(pattern) ? &trace_plain_ops : &trace_ops, inner};
    trace->lines.fd = trace->file.fd = -1;
    if (make_own(pattern, &own)) {
        trace->own = own;
        return trace;
    }
    discard(trace);
    return NULL;
}

static int begin_lines(struct lines *lines, const char *name)
{
    struct stat status;
    lines->fd = open_file(name);
    if (lines->fd < 0)
        return errno;
    lines->regular = posix.fstat(lines->fd, &status) == 0 && S_ISREG(status.st_mode);
    return write_line(lines);
}

/* Creates or empties the file and writes the header; Returns 0 or an errno. */
static int begin(struct trace *trace, const char *pattern, int64_t fork_of)
{
    char name[PATH_PATTERN];
    struct json *json = &trace->lines.line;
    trace_put_header(json, trace->base.inner, trace->own != NULL, trace->own ? trace->own->clock : 0, fork_of);
    jsonw_newline(json);
    if (json->failed) /* before the file is truncated */
        return ENOMEM;
    if (!path_pattern(pattern, (long)getpid(), name, sizeof name))
        return ENAMETOOLONG;
    return trace->binary ? trace_file_begin(&trace->file, name, json->text, json->length - 1, trace->own != NULL)
                         : begin_lines(&trace->lines, name);
}

static const char *reason(int error)
{
    return error == ENOTSUP  ? "a trace in the binary form must be a regular file"
           : error == ENOSYS ? "the binary form needs a mapped file; use another file name to write lines"
                             : strerror(error);
}

/* In a child, the trace continues in a file of the child's own. Only the parent's pattern is used, because a thread of the
 * parent may have been changing everything else. A child that cannot create its file runs on without one. */
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
                    (long)parent->pid, parent->own->pattern, reason(error));
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
                               reason(error));
    }
    *backend = &trace->base;
    return VMM_SUCCESS;
}

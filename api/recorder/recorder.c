/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "backend.h"
#include "heap.h"
#include "lifecycle.h"
#include "os_write.h"
#include "recorder_file.h"

/* The part of one process; a forked child adds its own. */
struct part {
    uint64_t process;           /* life_stamp() */
    struct recorder_file *file; /* NULL: none can be had */
    struct part *before;
};

struct recorder {
    struct vmm_backend base;
    struct life_lock lock;      /* guards making a part */
    _Atomic(struct part *) part; /* of this process or, before its first call, of its parent */
    char *folder;
    struct recorder_plan plan;
};

static struct part *add_part(struct recorder *recorder, struct part *before)
{
    struct part *part = heap.calloc(1, sizeof *part);
    if (!part)
        return NULL;
    part->process = life_stamp();
    part->file = recorder_file_make(recorder->folder);
    part->before = before;
    atomic_store(&recorder->part, part);
    return part;
}

/* The parent's mapping stays: another thread of this child may be reading it. */
__attribute__((noinline)) static struct part *part_of_fork(struct recorder *recorder)
{
    int cancel = life_no_cancel();
    life_acquire(&recorder->lock);
    struct part *part = atomic_load(&recorder->part);
    if (part->process != life_stamp()) /* LCOV_EXCL_BR_LINE: another thread of the child was faster */
        part = add_part(recorder, part);
    life_release(&recorder->lock);
    life_may_cancel(cancel);
    return part;
}

static inline struct recorder_file *file_here(struct recorder *recorder)
{
    struct part *part = atomic_load_explicit(&recorder->part, memory_order_acquire);
    if (part->process != life_stamp())
        part = part_of_fork(recorder);
    return part ? part->file : NULL;
}

static vmm_result recorder_call(struct vmm_backend *self, struct vmm_call *call)
{
    struct recorder *recorder = (struct recorder *)self;
    struct recorder_file *file = file_here(recorder);
    if (!file)
        return vmm_backend_call(self->inner, call);
    uint64_t slot = recorder_begin(file, &recorder->plan, call);
    vmm_result result = vmm_backend_call(self->inner, call);
    recorder_end(file, slot, &recorder->plan, call, result);
    if (result == VMM_ERROR_ILLEGAL_ADDRESS && !atomic_load_explicit(&file->faulted, memory_order_relaxed)) {
        const vmm_fault *fault = vmm_last_detail()->fault;
        recorder_fault(file, fault ? fault->address : 0);
    }
    return result;
}

void recorder_ended(struct vmm_backend *self)
{
    struct part *part = atomic_load(&((struct recorder *)self)->part);
    if (part->process == life_stamp() && part->file)
        atomic_store(&part->file->closed, 1);
}

static void recorder_close(struct vmm_backend *self)
{
    struct recorder *recorder = (struct recorder *)self;
    struct part *part = atomic_load(&recorder->part);
    self->inner->ops->close(self->inner);
    recorder_ended(self);
    if (part->process != life_stamp() || part->before) {
        vmm_layer_leave(self);
        return;
    }
    if (part->file)
        recorder_file_unmap(part->file);
    life_lock_end(&recorder->lock);
    heap.free(part);
    heap.free(recorder->folder);
    heap.free(recorder);
}

static const struct vmm_backend_ops recorder_ops = {
    .size = sizeof(struct vmm_backend_ops),
    .name = "recorder",
    .call =
        {
#define VMM_CALL(name, ...) [VMM_CALL_##name] = recorder_call,
#include "calls.def"
        },
    .visit = vmm_layer_visit,
    .leaks = vmm_layer_leaks,
    .attach = vmm_layer_attach,
    .close = recorder_close,
};

/* A program must not end because its calls cannot be recorded. */
static void say_why(int error)
{
    char text[200];
    int length = snprintf(text, sizeof text, "cuvmm: the last calls of process %ld are not recorded: %s\n", (long)getpid(),
                          strerror(error));
    os_write_quietly(STDERR_FILENO, text, (size_t)length);
}

vmm_result vmm_recorder_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend)
{
    if (!args[0])
        return vmm_refuse_open(VMM_RULE_OPEN_ARGUMENT, "vmm_open", "recorder: expected recorder=FOLDER, found no folder");
    struct recorder *recorder = heap.calloc(1, sizeof *recorder);
    char *folder = recorder ? heap.strdup(args) : NULL;
    if (!folder) {
        heap.free(recorder);
        return vmm_refuse_open(VMM_RULE_SYSTEM_HOST_MEMORY, "vmm_open", "recorder: the host's memory is exhausted");
    }
    recorder->base = (struct vmm_backend){&recorder_ops, inner};
    recorder->folder = folder;
    recorder_plan_make(&recorder->plan);
    life_lock_init(&recorder->lock, LIFE_LAYER, NULL);
    struct part *part = add_part(recorder, NULL);
    if (!part) {
        life_lock_end(&recorder->lock);
        heap.free(folder);
        heap.free(recorder);
        return vmm_refuse_open(VMM_RULE_SYSTEM_HOST_MEMORY, "vmm_open", "recorder: the host's memory is exhausted");
    }
    if (!part->file)
        say_why(errno);
    *backend = &recorder->base;
    return VMM_SUCCESS;
}

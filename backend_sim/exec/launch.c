/* SPDX-License-Identifier: Apache-2.0 */
/* Runs kernels by their twins, and keeps the record of a fault. */
#include "launch.h"

#include <stdio.h>

#include "dry_run.h"
#include "fault.h"
#include "in_flight.h"
#include "kernels.h"
#include "objects.h"
#include "order_feed.h"
#include "translate.h"
#include "registered.h"
#include "alias_model.h"
#include "team_share.h"
#include "twin.h"
#include "refusal.h"
#include "work.h"

/* A running kernel: the accessor that its twin uses, and whether memory ran out. */
struct run {
    struct twin_memory memory; /* first: the twin passes this pointer back */
    struct sim_process *process;
    struct work *work;
    const struct queue_place *place;
    const struct vmm_call_launch *call;
    bool out_of_memory;
};

void sim_lose_device(struct sim_process *process, const struct device_loss *loss)
{
    int device = loss->place->device;
    const struct vmm_call_launch *launch = loss->call->id == VMM_CALL_launch ? (const void *)loss->call : NULL;
    struct sim_fault *fault = &process->fault[device];
    struct translate_run mapped;
    void *context;
    *fault = (struct sim_fault){.lost = true, .kind = loss->kind, .use = loss->use, .call = loss->issued_by,
                                .unbound = loss->unbound};
    if (loss->kind < SIM_FAULT_ASSERT)
        fault->nearest = sim_object_nearest(process, loss->address);
    slots_find(&process->contexts, loss->place->context, &context);
    if (fault->nearest.kind == VMM_OBJECT_NONE && context)
        fault->nearest = sim_object_context(context);
    fault->what = (vmm_fault){
        .device = device,
        .kernel = launch ? launch->kernel : -1,
        .launch = loss->call->number,
        .launch_stack = loss->stack,
        .address = loss->address,
        .size = loss->width,
        .rights = translate_rights(process, device, loss->address),
        .mapped = translate_run(process, loss->address, 1, &mapped),
        .writes = loss->use != TWIN_READ,
    };
    sim_fault_surroundings(process, &fault->what);
    if (launch)
        sim_fault_argument(launch, &fault->what);
}

/* Ends the kernel at an access without the right to it: the process loses the device. Other lanes of the same step may get
 * here after it. */
static bool lose(const struct run *run, enum sim_fault_kind kind, uint64_t address, unsigned width, enum twin_use use,
                 int unbound)
{
    if (run->process->fault[run->place->device].lost)
        return false;
    sim_lose_device(run->process, &(struct device_loss){kind, run->place, &run->call->head, run->work->issued_by, run->work->stack,
                                                        address, width, use, unbound});
    return false;
}

/* The kind of fault of an ordinary access. */
static enum sim_fault_kind kind_at(const struct sim_process *process, uint64_t address)
{
    const struct sim_mapping *m = sim_mapping_at(process, address);
    return m && m->handle->team_size ? SIM_FAULT_MULTICAST : SIM_FAULT_KERNEL;
}

static void show(struct twin_memory *memory)
{
    const struct run *run = (struct run *)memory;
    in_flight_host_visible(run->process, run->work);
}

/* Translates a multimem access to its replicas. Makes room in all of them before any is written, so that a failure writes none.
 * */
static bool access_replicas(struct twin_memory *memory, uint64_t address, unsigned width, enum twin_use use,
                            unsigned char *bytes[TWIN_REPLICAS], unsigned *count)
{
    static const enum sim_fault_kind kinds[] = {[TRANSLATE_MULTIMEM_NOT_ALLOWED] = SIM_FAULT_KERNEL,
                                                [TRANSLATE_MULTIMEM_ORDINARY] = SIM_FAULT_MULTIMEM,
                                                [TRANSLATE_MULTIMEM_UNBOUND] = SIM_FAULT_UNBOUND};
    struct run *run = (struct run *)memory;
    struct translate_replicas all;
    enum translate_multimem found =
        translate_multimem(run->process, run->place->device, address, width, translate_need(use), &all);
    if (found != TRANSLATE_MULTIMEM_DONE)
        return lose(run, kinds[found], address, width, use, all.missing_abroad ? ~all.missing : all.missing);
    *count = all.count;
    for (unsigned i = 0; use != TWIN_READ && i < all.count; i++)
        if (!block_data_touch(&all.run[i].block->bytes, all.run[i].offset, width)) {
            run->out_of_memory = true;
            return false;
        }
    for (unsigned i = 0; i < all.count && run->process->in_flight->order; i++)
        order_feed_access(run->process, run->work, &all.run[i], use);
    for (unsigned i = 0; i < all.count; i++) {
        uint64_t length = width;
        bytes[i] = block_data_run(&all.run[i].block->bytes, all.run[i].offset, &length);
    }
    return true;
}

/* A kernel that knows its source position says where it ended, and why if that was not a memory access. */
static void end_kernel(struct twin_memory *memory, const struct twin_end *end)
{
    static const enum sim_fault_kind kinds[] = {[TWIN_MISALIGNED] = SIM_FAULT_MISALIGNED, [TWIN_ASSERT] = SIM_FAULT_ASSERT,
                                                [TWIN_TIMEOUT] = SIM_FAULT_TIMEOUT, [TWIN_FAILED] = SIM_FAULT_LAUNCH,
                                                [TWIN_STRAYED] = SIM_FAULT_SPACE};
    struct run *run = (struct run *)memory;
    struct sim_fault *fault = &run->process->fault[run->place->device];
    if (end->failure == TWIN_NO_MEMORY)
        run->out_of_memory = true;
    else if (end->failure != TWIN_NO_ACCESS)
        lose(run, kinds[end->failure], end->address, end->width, end->use, 0);
    if (run->out_of_memory)
        return;
    snprintf(fault->why, sizeof fault->why, "%s", end->why);
    snprintf(fault->where, sizeof fault->where, "%s", end->where);
}

static void note_access(const struct run *run, const struct translate_run *there, uint64_t size, enum twin_use use)
{
    const struct translate_run part = {there->block, there->offset, size};
    if (run->process->in_flight->order)
        order_feed_access(run->process, run->work, &part, use);
}

/* Translates an ordinary access, within one mapping or allocation, with the rights of the device that runs the kernel. */
static bool access_memory(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
                          unsigned char **bytes)
{
    struct run *run = (struct run *)memory;
    struct translate_run there;
    if (!translate_may(run->process, run->place->device, address, width, *size, translate_need(use), &there))
        return lose(run, kind_at(run->process, address), address, width, use, 0);
    *size = there.length;
    if (use == TWIN_READ) {
        *bytes = block_data_run(&there.block->bytes, there.offset, size);
        note_access(run, &there, *size, use);
        return true;
    }
    /* One chunk at a time, so that a write that ends early has allocated nothing beyond its end; and what was written behind it
     * before. */
    uint64_t piece = BLOCK_DATA_CHUNK - there.offset % BLOCK_DATA_CHUNK;
    if (!block_data_touch(&there.block->bytes, there.offset, *size < piece ? *size : piece))
        run->out_of_memory = true;
    if (sim_on_host(there.block->prop.location))
        show(memory);
    *bytes = run->out_of_memory ? NULL : block_data_run(&there.block->bytes, there.offset, size);
    note_access(run, &there, *size, use);
    return !run->out_of_memory;
}

static bool pause_run(struct twin_memory *memory, uint64_t nanoseconds)
{
    const struct run *run = (struct run *)memory;
    return in_flight_pause(run->process, run->place->device, nanoseconds);
}

/* The rule that reports a fault first, and the rule of every later report. */
static const enum vmm_rule_id once[] = {VMM_RULE_FAULT_ACCESS,    VMM_RULE_FAULT_COPY,     VMM_RULE_FAULT_HOST_COPY,
                                        VMM_RULE_FAULT_MULTICAST, VMM_RULE_FAULT_MULTIMEM, VMM_RULE_FAULT_UNBOUND,
                                        VMM_RULE_FAULT_MEMOP,     VMM_RULE_FAULT_MISALIGNED, VMM_RULE_FAULT_ASSERT,
                                        VMM_RULE_FAULT_TIMEOUT,   VMM_RULE_FAULT_LAUNCH,    VMM_RULE_FAULT_SPACE};
static const enum vmm_rule_id sticky[] = {VMM_RULE_FAULT_STICKY, VMM_RULE_FAULT_COPY_STICKY,
                                          VMM_RULE_FAULT_HOST_COPY_STICKY, VMM_RULE_FAULT_STICKY,
                                          VMM_RULE_FAULT_STICKY, VMM_RULE_FAULT_STICKY,
                                          VMM_RULE_FAULT_MEMOP_STICKY, VMM_RULE_FAULT_MISALIGNED,
                                          VMM_RULE_FAULT_ASSERT, VMM_RULE_FAULT_TIMEOUT, VMM_RULE_FAULT_LAUNCH,
                                          VMM_RULE_FAULT_SPACE};
_Static_assert(sizeof once / sizeof once[0] == SIM_FAULTS && sizeof sticky / sizeof sticky[0] == SIM_FAULTS, "a rule for each kind");

static bool of_kernel(const struct sim_fault *fault)
{
    return fault->kind != SIM_FAULT_COPY && fault->kind != SIM_FAULT_HOST_COPY && fault->kind != SIM_FAULT_MEM_OP;
}

/* The reason for the fault, as text for a message. */
static const char *why(const struct sim_fault *fault, char *text, size_t size)
{
    const vmm_fault *f = &fault->what;
    switch (fault->kind) {
    case SIM_FAULT_MULTICAST: return "it is a multicast address, which only multimem instructions can access";
    case SIM_FAULT_MULTIMEM: return "it is not a multicast address, which multimem instructions need";
    case SIM_FAULT_UNBOUND:
        snprintf(text, size, "device %d of %s has no memory bound there",
                 fault->unbound < 0 ? ~fault->unbound : fault->unbound,
                 fault->unbound < 0 ? "another node" : "the team");
        return text;
    case SIM_FAULT_MISALIGNED:
    case SIM_FAULT_ASSERT:
    case SIM_FAULT_TIMEOUT:
    case SIM_FAULT_LAUNCH:
    case SIM_FAULT_SPACE: return fault->why;
    default: break;
    }
    if (arrays_have(f->address))
        return "the array has no memory there";
    return !f->mapped                                         ? "nothing is mapped there"
           : f->rights == VMM_MEM_ACCESS_FLAGS_PROT_READ      ? "the device has only read access there"
           : f->rights == VMM_MEM_ACCESS_FLAGS_PROT_READWRITE ? "the memory ends within the access"
                                                              : "the device has no access there";
}

static bool may_use(const vmm_fault *f)
{
    unsigned need = f->writes ? VMM_MEM_ACCESS_FLAGS_PROT_READWRITE : VMM_MEM_ACCESS_FLAGS_PROT_READ;
    return (f->rights & need) == need;
}

static void describe(const struct sim_fault *fault)
{
    static const char *const did[] = {"reading", "writing", "adding to"};
    const vmm_fault *f = &fault->what;
    char text[64];
    const char *reason = why(fault, text, sizeof text);
    const char *name = of_kernel(fault) ? vmm_kernel_name(f->kernel)
                                        : vmm_reported_name(fault->call);
    const char *by = fault->where[0] ? ", by " : "";
    if (fault->kind >= SIM_FAULT_ASSERT)
        vmm_detail_note("%.60s, launched by call %llu, on device %d: %s%s%s", name, (unsigned long long)f->launch, f->device, reason,
                        fault->where[0] ? "; " : "", fault->where);
    else if (of_kernel(fault))
        vmm_detail_note("%.60s, launched by call %llu, on device %d, %s %u byte%s at 0x%llx%s%s: %s", name,
                        (unsigned long long)f->launch, f->device, did[fault->use], f->size, f->size == 1 ? "" : "s",
                        (unsigned long long)f->address, by, fault->where, reason);
    else
        vmm_detail_note("%s, issued by call %llu, on device %d, %s at 0x%llx: %s", name, (unsigned long long)f->launch,
                        f->device, did[fault->use], (unsigned long long)f->address,
                        may_use(f) ? "the host copies the bytes and lacks the right" : reason);
    if (fault->kind < SIM_FAULT_ASSERT)
        vmm_detail_fault(f); /* the others are not accesses */
    vmm_detail_issued((vmm_site){vmm_reported_name(fault->call), f->launch, f->launch_stack});
}

vmm_result sim_context_check(struct sim_process *process, const struct sim_context *context, bool waits)
{
    struct sim_fault *fault = &process->fault[context->device];
    if (!fault->lost)
        return VMM_SUCCESS;
    vmm_object object = sim_object_context(context);
    bool first = waits && !fault->reported;
    vmm_result result = first ? vmm_detail_refuse(once[fault->kind], fault->what.address, 0, &fault->nearest)
                              : vmm_detail_refuse(sticky[fault->kind], context->value, 0, &object);
    fault->reported = fault->reported || first;
    describe(fault);
    return result;
}

vmm_result sim_context_lost_reported(struct sim_process *process, const struct sim_context *context)
{
    return process->fault[context->device].reported ? sim_context_check(process, context, false) : VMM_SUCCESS;
}

vmm_result sim_device_check(const struct sim_process *process, int device)
{
    const struct sim_fault *fault = &process->fault[device];
    if (!fault->lost)
        return VMM_SUCCESS;
    vmm_object object = sim_object_device(process, device);
    vmm_result result = vmm_detail_refuse(sticky[fault->kind], (uint64_t)device, 0, &object);
    describe(fault);
    return result;
}

static bool run_code(const struct run *run, struct twin_memory *memory)
{
    const bool lends = SIM_DEBUG && memory->threads > 1;
    if (lends)
        sim_machine_lend(run->process->machine, true);
    if (kernels_is_registered(run->call->kernel))
        kernels_registered_run(memory, run->call);
    else
        twin_of(run->call->kernel)(memory, run->call->args);
    if (lends)
        sim_machine_lend(run->process->machine, false);
    return true;
}

/* Under the alias model. Returns false if memory for its views ran out. */
static bool run_aliased(struct run *run)
{
    struct alias_model model;
    alias_model_open(&model, run->process, &run->memory, run->call->head.number);
    run_code(run, &model.memory);
    run->memory.made = model.memory.made;
    return alias_model_close(&model);
}

/* Refreshes the copies of all teams, so that the kernel uses what other processes have bound by now. Waits while another
 * process holds the shared state's mutex; if that process is stuck, the kernel uses the old copies. */
static void look_at_teams(struct sim_machine *machine)
{
    struct share *busy;
    while (team_look_at_all(machine) && (busy = sim_machine_busy(machine, true)) != NULL)
        sim_machine_await(machine, busy);
}

/* For a PTX kernel: is the device new enough, and is its code supported? */
static vmm_result check_code(const struct sim_process *process, const struct kernels_ptx *ptx)
{
    int major = 0, minor = 0;
    sim_profile_attribute(&process->machine->profile, VMM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, &major);
    sim_profile_attribute(&process->machine->profile, VMM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, &minor);
    vmm_result result = VMM_SUCCESS;
    if ((int)ptx->capability > 10 * major + minor) {
        result = vmm_detail_refuse(VMM_RULE_CODE_PTX, ptx->capability, (uint64_t)(10 * major + minor), NULL);
        vmm_detail_note("the PTX of %.60s is for sm_%u, and the device is sm_%d%d", ptx->name, ptx->capability, major, minor);
    } else if (ptx->unsupported) {
        result = vmm_detail_refuse(VMM_RULE_LAUNCH_MISSING, 0, 0, NULL);
        vmm_detail_note("%.60s has an instruction that is not simulated: %.120s", ptx->name, ptx->unsupported);
    }
    return result;
}

vmm_result launch_check(const struct sim_process *process, const struct vmm_call_launch *call)
{
    vmm_result result = kernels_check(call);
    const struct kernels_ptx *ptx = result == VMM_SUCCESS ? kernels_ptx_of(call->kernel) : NULL;
    return ptx ? check_code(process, ptx) : result;
}

bool launch_do(struct sim_process *process, struct work *work)
{
    const struct vmm_call_launch *call = &work->call.launch;
    if (kernels_is_multimem(call->kernel))
        look_at_teams(process->machine);
    struct run run = {.memory = {.run = access_memory, .replicas = access_replicas, .show = show,
                                 .ended = end_kernel},
                      .process = process, .work = work, .place = queue_place_of(&work->item), .call = call};
    if (process->in_flight->schedule == SIM_DEVICE) /* under another schedule no time passes for others meanwhile */
        run.memory.pause = pause_run;
    run.memory.fleeting = process->in_flight->order != NULL; /* each access must be seen */
    if (kernels_is_registered(call->kernel)) {
        dry_run_describe(process, run.place, &run.memory);
        run.memory.threads = process->options.kernel_threads;
    }
    bool seen = !kernels_is_registered(call->kernel) || kernels_is_interpreted(call->kernel); /* each access passes the model */
    bool aliased = process->options.stale && process->aliased && seen;
    bool kept = aliased ? run_aliased(&run) : run_code(&run, &run.memory);
    dry_run_allow(process, run.memory.made);
    return kept && !run.out_of_memory;
}

vmm_result sim_refuse_inside(const struct sim_process *process)
{
    const struct queue_place *place = in_flight_is_inside(process->in_flight)->place;
    void *object;
    vmm_object nearest = {.kind = VMM_OBJECT_NONE};
    if (slots_find(&process->streams, place->stream, &object) == SLOT_LIVE)
        nearest = sim_object_stream(object);
    else if (slots_find(&process->contexts, place->context, &object) == SLOT_LIVE)
        nearest = sim_object_context(object);
    return vmm_detail_refuse(VMM_RULE_HOSTFUNC_CALL, 0, 0, &nearest);
}

vmm_result sim_wait_current(struct sim_process *process, enum queue_scope scope, bool promised)
{
    struct sim_context *context = sim_current(process);
    vmm_result result = context ? sim_context_check(process, context, true) : sim_no_context(process);
    if (result != VMM_SUCCESS)
        return result;
    struct queue_place place = in_flight_place(process, context, NULL);
    vmm_result memory = promised ? in_flight_wait(process, &place, scope) : in_flight_wait_unpromised(process, &place, scope);
    context = sim_current(process);
    result = context ? sim_context_check(process, context, true) : sim_no_context(process);
    return result == VMM_SUCCESS ? memory : result;
}

/* Kernels: run by their twins when they are launched; a fault shows later, as on a driver. */
#include "launch.h"

#include "fault.h"
#include "kernels.h"
#include "reach.h"
#include "twin.h"

/* A kernel that runs: how its twin reaches memory, and what came of it. */
struct run {
    struct twin_memory memory; /* first: the twin hands this back */
    struct sim_process *process;
    const struct sim_context *context;
    const struct vmm_call_launch *call;
    bool out_of_memory;
};

static void lose_device(const struct run *run, uint64_t address, unsigned width, enum twin_use use)
{
    int device = run->context->device;
    struct sim_fault *fault = &run->process->fault[device];
    struct reach_run mapped;
    *fault = (struct sim_fault){.lost = true, .use = use, .nearest = sim_object_nearest(run->process, address)};
    if (fault->nearest.kind == VMM_OBJECT_NONE)
        fault->nearest = sim_object_context(run->context);
    fault->what = (vmm_fault){
        .device = device,
        .kernel = run->call->kernel,
        .launch = run->call->head.number,
        .address = address,
        .size = width,
        .rights = reach_rights(run->process, device, address),
        .mapped = reach_run(run->process, address, 1, &mapped),
        .writes = use != TWIN_READ,
    };
    sim_fault_surroundings(run->process, &fault->what);
    sim_fault_argument(run->call, &fault->what);
}

/* The translation: one mapping or allocation, with the rights of the device that runs the kernel. */
static bool reach(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
                  unsigned char **bytes)
{
    struct run *run = (struct run *)memory;
    struct reach_run there;
    unsigned need = use == TWIN_READ ? VMM_MEM_ACCESS_FLAGS_PROT_READ : VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (!reach_run(run->process, address, *size, &there) || there.length < width ||
        (reach_rights(run->process, run->context->device, address) & need) != need) {
        lose_device(run, address, width, use);
        return false;
    }
    *size = there.length;
    if (use == TWIN_READ) {
        *bytes = bytes_run(&there.block->bytes, there.offset, size);
        return true;
    }
    /* A piece at a time, so that a write that breaks off has taken no room for what it did not reach. */
    uint64_t piece = BYTES_CHUNK - there.offset % BYTES_CHUNK;
    *size = *size < piece ? *size : piece;
    run->out_of_memory = !bytes_touch(&there.block->bytes, there.offset, *size);
    *bytes = run->out_of_memory ? NULL : bytes_run(&there.block->bytes, there.offset, size);
    return !run->out_of_memory;
}

static void describe(const struct sim_fault *fault)
{
    static const char *const did[] = {"reading", "writing", "adding to"};
    const vmm_fault *f = &fault->what;
    const char *why = !f->mapped                                         ? "nothing is mapped there"
                      : f->rights == VMM_MEM_ACCESS_FLAGS_PROT_READ      ? "the device may only read there"
                      : f->rights == VMM_MEM_ACCESS_FLAGS_PROT_READWRITE ? "the memory ends within the access"
                                                                         : "the device has no access there";
    vmm_detail_note("%s, launched by call %llu, on device %d, %s %u byte%s at 0x%llx: %s", vmm_kernel_name(f->kernel),
                    (unsigned long long)f->launch, f->device, did[fault->use], f->size, f->size == 1 ? "" : "s",
                    (unsigned long long)f->address, why);
    vmm_detail_fault(f);
}

vmm_result sim_context_check(struct sim_process *process, const struct sim_context *context, bool waits)
{
    struct sim_fault *fault = &process->fault[context->device];
    if (!fault->lost)
        return VMM_SUCCESS;
    vmm_object object = sim_object_context(context);
    bool first = waits && !fault->told;
    vmm_result result = first ? vmm_detail_refuse(VMM_RULE_FAULT_ACCESS, fault->what.address, 0, &fault->nearest)
                              : vmm_detail_refuse(VMM_RULE_FAULT_STICKY, context->value, 0, &object);
    fault->told = fault->told || first;
    describe(fault);
    return result;
}

vmm_result sim_device_check(const struct sim_process *process, int device)
{
    const struct sim_fault *fault = &process->fault[device];
    if (!fault->lost)
        return VMM_SUCCESS;
    vmm_object object = sim_object_device(process, device);
    vmm_result result = vmm_detail_refuse(VMM_RULE_FAULT_STICKY, (uint64_t)device, 0, &object);
    describe(fault);
    return result;
}

vmm_result sim_launch(struct sim_process *process, const struct vmm_call_launch *call)
{
    struct sim_context *context;
    vmm_result result = kernels_check(call);
    if (result == VMM_SUCCESS)
        result = sim_stream_context(process, call->stream, &context);
    if (result == VMM_SUCCESS)
        result = sim_context_check(process, context, false);
    if (result != VMM_SUCCESS)
        return result;
    struct run run = {{reach}, process, context, call, false};
    twin_of(call->kernel)(&run.memory, call->args);
    return run.out_of_memory ? sim_out_of_host_memory() : VMM_SUCCESS;
}

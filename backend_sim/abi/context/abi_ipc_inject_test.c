/* SPDX-License-Identifier: Apache-2.0 */
/* Shared events and memory of the driver API when memory is exhausted, no thread can be created, the shared state's mutex is
 * held, or the work on the device has faulted. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "abi.h"
#include "ipc_handle.h"
#include "process.h"
#include "share.h"
#include "system.h"
#include "testing/peer.h"

enum { SHARED = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING };

static struct peer b;
static CUcontext own;
static CUstream stream;

static CUevent made(unsigned flags)
{
    CUevent event = NULL;
    OK(cuEventCreate(&event, flags));
    return event;
}

enum { MANY = 270 }; /* so many events that the table of their notes grows */

static CUevent events[MANY];
static CUipcEventHandle handles[MANY], theirs;
static unsigned now;
static CUdeviceptr opened;

static CUresult shares(void)
{
    return cuIpcGetEventHandle(&handles[now], events[now]);
}

static CUresult records(void)
{
    return cuEventRecord(events[now], stream);
}

static CUresult opens(void)
{
    return cuIpcOpenEventHandle(&events[now], theirs);
}

static CUresult opens_memory(void)
{
    CUipcMemHandle memory;
    memcpy(&memory, b.said.handle, sizeof memory);
    return cuIpcOpenMemHandle(&opened, memory, 1);
}

/* The first request for memory and all later ones fail, then the second and all later ones, until none does. Returns the
 * refusals. */
static unsigned tried(const char *what, CUresult (*call)(void))
{
    const char *failed = what;
    unsigned refused = 0;
    CUresult got = CUDA_ERROR_UNKNOWN;
    for (unsigned long nth = 1; failed && got != CUDA_SUCCESS; nth++) {
        inject_for_good = true;
        inject_arm(nth);
        got = call();
        failed = inject_disarm();
        inject_for_good = false;
        refused += got == CUDA_ERROR_OUT_OF_MEMORY;
        if (got != CUDA_SUCCESS && got != CUDA_ERROR_OUT_OF_MEMORY)
            tap_note("%s, request %lu: %s", what, nth, code_name(got));
    }
    if (got != CUDA_SUCCESS)
        tap_ok(false, "%s succeeds when nothing fails", what);
    return refused;
}

static void without_memory(void)
{
    unsigned refused = 0, same = 0;
    CUipcEventHandle again;
    for (now = 0; now < MANY; now++) {
        events[now] = made(SHARED);
        refused += tried("cuIpcGetEventHandle", shares);
        OK(cuIpcGetEventHandle(&again, events[now]));
        same += !memcmp(&handles[now], &again, sizeof again);
    }
    tap_ok(!refused && same == MANY, "an event is shared without more memory, and keeps its handle");
    now = 0;
    tap_ok(tried("cuEventRecord", records), "without memory no record of it is made");
    OK(cuEventSynchronize(events[0]));
    for (now = 0; now < MANY; now++)
        OK(cuEventDestroy(events[now]));
    EQUAL(peer_ask(&b, PEER_EVENT, NULL, 0), CUDA_SUCCESS);
    memcpy(&theirs, b.said.handle, sizeof theirs);
    for (refused = now = 0; now < MANY; now++)
        refused += tried("cuIpcOpenEventHandle", opens);
    tap_ok(refused > MANY, "without memory %u times no event is opened", refused);
    for (now = 0; now < MANY; now++)
        OK(cuEventDestroy(events[now]));
    EQUAL(peer_ask(&b, PEER_ALLOC, NULL, 0x5a), CUDA_SUCCESS);
    tap_ok(tried("cuIpcOpenMemHandle", opens_memory), "without memory no memory is opened");
    EQUAL(byte_at(opened), 0x5a);
    OK(cuIpcCloseMemHandle(opened));
}

/* The process's own calls record completed work. */
static void without_thread(void)
{
    CUipcEventHandle handle;
    CUevent event = made(SHARED);
    OK(cuIpcGetEventHandle(&handle, event));
    EQUAL(peer_ask(&b, PEER_OPEN_EVENT, &handle, 0), CUDA_SUCCESS);
    peer_gate = 0;
    OK(cuLaunchHostFunc(stream, peer_wait_for_go, NULL));
    peer_nap();
    inject_arm_at("pthread_create", 1);
    inject_each = true;
    OK(cuEventRecord(event, stream));
    inject_disarm();
    EQUAL(peer_ask(&b, PEER_QUERY, NULL, 0), CUDA_ERROR_NOT_READY);
    peer_gate = 1;
    OK(cuStreamSynchronize(stream));
    OK(cuEventQuery(event));
    EQUAL(peer_ask(&b, PEER_QUERY, NULL, 0), CUDA_SUCCESS);
    EQUAL(peer_ask(&b, PEER_DESTROY, NULL, 0), CUDA_SUCCESS);
    OK(cuEventDestroy(event));
}

#define REFUSED(call, code, by)                             \
    do {                                                    \
        IS(call, code);                                     \
        tap_text(vmm_last_detail()->rule, by, by);          \
    } while (0)

static void refusals(void)
{
    CUipcEventHandle handle, other;
    CUevent event = made(SHARED), ended = made(SHARED), late = made(SHARED), out = (CUevent)8;
    CUcontext second = NULL;
    struct ipc_handle forged;
    OK(cuIpcGetEventHandle(&handle, event));
    OK(cuEventDestroy(ended));
    REFUSED(cuIpcGetEventHandle(&other, ended), ERROR_INVALID_HANDLE, "VMM-EVENT-UNKNOWN");
    OK(cuCtxCreate(&second, NULL, 0, 0));
    REFUSED(cuIpcGetEventHandle(&other, event), ERROR_INVALID_HANDLE, "VMM-EVENT-CONTEXT");
    CUevent lost = made(SHARED);
    OK(cuCtxDestroy(second));
    OK(cuCtxSetCurrent(own));
    REFUSED(cuEventRecord(lost, stream), ERROR_CONTEXT_IS_DESTROYED, "VMM-EVENT-ENDED");
    abi_inside_kernel(true);
    IS(cuStreamWaitEvent(stream, event, 0), ERROR_NOT_PERMITTED);
    abi_inside_kernel(false);
    OK(cuStreamWaitEvent(stream, event, 0));
    OK(cuCtxSetCurrent(NULL));
    REFUSED(cuIpcGetEventHandle(&other, event), ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
    OK(cuCtxSetCurrent(own));
    ipc_handle_read(&handle, &forged);
    forged.label.machine++;
    ipc_handle_write(&other, &forged);
    REFUSED(cuIpcOpenEventHandle(&out, other), ERROR_INVALID_VALUE, "VMM-IPC-MACHINE");
    ipc_handle_read(&handle, &forged);
    forged.label.number += 100000;
    forged.home++;
    ipc_handle_write(&other, &forged);
    REFUSED(cuIpcOpenEventHandle(&out, other), ERROR_MAP_FAILED, "VMM-IPC-EVENT-HANDLE");
    EQUAL((uintptr_t)out, 8);
    OK(cuEventDestroy(late));
    OK(cuEventDestroy(event));
}

/* Calls made by a plugin's kernel, one of each kind that checks its arguments first. */
static void inside_kernel(void)
{
    CUlibrary library = NULL;
    CUmodule module = NULL;
    CUkernel kernel = NULL;
    CUdeviceptr variable = 0;
    CUipcMemHandle name;
    CUstreamCaptureStatus status = (CUstreamCaptureStatus)9;
    int value = 7;
    OK(cuLibraryLoadData(&library, "code", NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "nothing"));
    OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleGetGlobal(&variable, NULL, module, "counter"));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    abi_inside_kernel(true);
    IS(cuMemsetD8Async(variable, 1, 1, stream), ERROR_NOT_PERMITTED);
    IS(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, kernel, 0), ERROR_NOT_PERMITTED);
    IS(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64, kernel, 0), ERROR_NOT_PERMITTED);
    IS(cuStreamGetCaptureInfo(stream, &status, NULL, NULL, NULL, NULL, NULL), ERROR_NOT_PERMITTED);
    IS(cuIpcGetMemHandle(&name, variable), ERROR_NOT_PERMITTED);
    abi_inside_kernel(false);
    tap_ok(value == 7 && status == 9, "nothing is written");
    OK(cuStreamIsCapturing(stream, &status));
    EQUAL(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    OK(cuStreamEndCapture(stream, NULL));
    OK(cuCtxSetCurrent(NULL));
    REFUSED(cuIpcGetMemHandle(&name, variable), ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
    OK(cuCtxSetCurrent(own));
    REFUSED(cuIpcGetMemHandle(&name, variable), ERROR_INVALID_VALUE, "VMM-IPC-ADDRESS");
    OK(cuModuleUnload(module));
    OK(cuLibraryUnload(library));
}

/* So many ranges that their table grows; a range that cannot be entered is not registered. */
static CUresult registers(void)
{
    static unsigned char pages[MANY][4096] __attribute__((aligned(4096)));
    return cuMemHostRegister(pages[now], sizeof pages[now], 0);
}

static void many_registered(void)
{
    unsigned refused = 0, wrong = 0;
    for (now = 0; now < MANY; now++) {
        refused += tried("cuMemHostRegister", registers);
        wrong += registers() != CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED;
    }
    tap_ok(refused && !wrong, "%u registrations without memory are refused, and each succeeds with it", refused);
}

static CUresult find_machine(struct sim_machine **machine)
{
    ABI_BY(abi_enter, (*machine = ((struct sim_process *)sys->top)->machine, CUDA_SUCCESS));
}

static void kept(void)
{
    static const char busy[] = "VMM-IPC-SYSTEM";
    char why[SHARE_WHY];
    CUipcEventHandle handle;
    CUipcMemHandle memory;
    CUevent event = made(SHARED), late = made(SHARED), out = NULL;
    CUdeviceptr at = 0;
    struct sim_machine *machine = NULL;
    OK(cuMemAlloc(&at, 4096));
    OK(cuIpcGetEventHandle(&handle, event));
    EQUAL(peer_ask(&b, PEER_EVENT, NULL, 0), CUDA_SUCCESS);
    memcpy(&theirs, b.said.handle, sizeof theirs);
    CUDA_MEM_ALLOC_NODE_PARAMS params = {.poolProps = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}}, .bytesize = 64};
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddMemAllocNode(&node, graph, NULL, 0, &params));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(find_machine(&machine));
    machine->share->patience = 50;
    struct share *other = share_open_there("m-peers", why);
    if (!other || !share_lock(other))
        tap_bail("the lock is not available: %s", why);
    REFUSED(cuIpcGetEventHandle(&handle, event), ERROR_OPERATING_SYSTEM, busy);
    REFUSED(cuIpcGetEventHandle(&handle, late), ERROR_OPERATING_SYSTEM, busy);
    REFUSED(cuIpcOpenEventHandle(&out, theirs), ERROR_OPERATING_SYSTEM, busy);
    REFUSED(cuEventRecord(event, stream), ERROR_OPERATING_SYSTEM, busy);
    REFUSED(cuIpcGetMemHandle(&memory, at), ERROR_OPERATING_SYSTEM, busy);
    IS(cuGraphLaunch(exec, stream), ERROR_OUT_OF_MEMORY);
    EQUAL((uintptr_t)out, 0);
    share_unlock(other);
    share_close(other);
    OK(cuEventRecord(event, stream));
    OK(cuEventSynchronize(event));
    OK(cuIpcOpenEventHandle(&out, theirs));
    OK(cuIpcGetMemHandle(&memory, at));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuMemFree(params.dptr));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy(out));
    OK(cuEventDestroy(late));
    OK(cuEventDestroy(event));
    OK(cuMemFree(at));
}

/* For memory that another process shares, and for events. */
static void faulted(void)
{
    CUmodule module = NULL;
    CUfunction fill = NULL;
    CUipcEventHandle handle;
    CUipcMemHandle memory;
    CUdeviceptr at = 0, wrong = 0x7f0000000000;
    CUevent event = made(SHARED), there = NULL;
    unsigned long long n = 100;
    unsigned value = 3;
    void *params[] = {&wrong, &n, &value};
    OK(cuIpcGetEventHandle(&handle, event));
    EQUAL(peer_ask(&b, PEER_ALLOC, NULL, 1), CUDA_SUCCESS);
    memcpy(&memory, b.said.handle, sizeof memory);
    EQUAL(peer_ask(&b, PEER_EVENT, NULL, 0), CUDA_SUCCESS);
    memcpy(&handle, b.said.handle, sizeof handle);
    OK(cuIpcOpenMemHandle(&at, memory, 1));
    const CUDA_MEMCPY3D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = at, .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                                .dstDevice = at + 64, .WidthInBytes = 16, .Height = 1, .Depth = 1};
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    OK(cuGraphCreate(&graph, 0));
    OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleGetFunction(&fill, module, "fill_span"));
    OK(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    IS(cuIpcCloseMemHandle(at), ERROR_ILLEGAL_ADDRESS);
    IS(cuEventRecord(event, stream), ERROR_ILLEGAL_ADDRESS);
    IS(cuEventQuery(event), ERROR_ILLEGAL_ADDRESS);
    IS(cuGraphAddMemcpyNode(&node, graph, NULL, 0, &copy, own), ERROR_ILLEGAL_ADDRESS);
    EQUAL((uintptr_t)node, 0);
    IS(cuEventSynchronize(event), ERROR_ILLEGAL_ADDRESS);
    IS(cuStreamWaitEvent(stream, event, 0), ERROR_ILLEGAL_ADDRESS);
    IS(cuIpcOpenEventHandle(&there, handle), ERROR_ILLEGAL_ADDRESS);
}

int main(void)
{
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    peer_machine();
    b = peer_begin();
    own = begin();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    without_memory();
    without_thread();
    refusals();
    inside_kernel();
    many_registered();
    kept();
    faulted();
    peer_end(&b, false);
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Results of the driver API when the Nth request that a call makes to the C library or the system fails: OUT_OF_MEMORY or a
 * system error, with outputs unchanged; and the same call then succeeds. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "testing/rig.h"

enum { TRIES = 200, SAME = 600, G = 2 << 20 };

static unsigned refused, wrong;

static void fault(const char *call, unsigned long nth, const char *failed, const char *what)
{
    if (wrong++ < 20)
        tap_note("%s, request %lu (%s): %s", call, nth, failed, what);
}

/* Each try makes one request fail, until further tries use no more memory: caches, such as the last ended handles, reach
 * their limit, but a leak does not. */
struct tries {
    struct inject_out out;
    unsigned long nth;
    long live;
    unsigned same;
};

/* Returns true to try again, with this request or the next. */
static bool again(const char *call, CUresult code, struct tries *tries)
{
    const char *failed = inject_disarm();
    if (code == CUDA_SUCCESS)
        return false;
    if (!inject_untouched(&tries->out))
        fault(call, tries->nth, failed ? failed : "none", "an output was written");
    if (!failed || tries->nth >= TRIES) {
        fault(call, tries->nth, failed ? failed : "none", code_name(code));
        return false;
    }
    if (code != CUDA_ERROR_OUT_OF_MEMORY && code != CUDA_ERROR_OPERATING_SYSTEM)
        fault(call, tries->nth, failed, code_name(code));
    refused++;
    long now = atomic_load(&inject_live);
    bool grows = !tries->same || now > tries->live;
    if (tries->same == SAME)
        fault(call, tries->nth, failed, "memory leaks");
    tries->live = now;
    tries->same = grows && tries->same < SAME ? tries->same + 1 : 0;
    tries->nth += !tries->same;
    return true;
}

#define TRIED(out, call)                                                           \
    do {                                                                           \
        struct tries tries_ = {inject_keep(&(out), sizeof(out)), 1, 0, 0};         \
        INJECT_AGAIN(CUresult, tries_.nth, call, again(#call, result_, &tries_));  \
    } while (0)

static void nothing_more(void *user)
{
    ++*(int *)user;
}

static void CUDA_CB called_back(CUstream stream, CUresult status, void *user)
{
    (void)stream;
    (void)status;
    ++*(int *)user;
}

/* The reported capture status is the actual one. */
static void captured(CUstream stream)
{
    CUgraph graph = NULL;
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    int none = 0;
    TRIED(none, cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuStreamIsCapturing(stream, &status));
    EQUAL(status, CU_STREAM_CAPTURE_STATUS_ACTIVE);
    TRIED(graph, cuStreamEndCapture(stream, &graph));
    OK(cuStreamIsCapturing(stream, &status));
    EQUAL(status, CU_STREAM_CAPTURE_STATUS_NONE);
    TRIED(none, cuGraphDestroy(graph));
}

static void CUDA_CB count_up(void *ended)
{
    ++*(int *)ended;
}

/* A graph with two nodes, their edge, a child and a user object. */
static CUgraph graph_without_memory(CUcontext context, CUdeviceptr at)
{
    static int ended;
    const CUDA_MEMSET_NODE_PARAMS params = {at, 0, 1, 4, 4, 1};
    CUgraph graph = NULL, clone = NULL;
    CUgraphNode a = NULL, b = NULL, c = NULL;
    CUuserObject object = NULL;
    int none = 0;
    TRIED(graph, cuGraphCreate(&graph, 0));
    TRIED(a, cuGraphAddMemsetNode(&a, graph, NULL, 0, &params, context));
    TRIED(b, cuGraphAddEmptyNode(&b, graph, &a, 1));
    TRIED(clone, cuGraphClone(&clone, graph));
    TRIED(c, cuGraphAddChildGraphNode(&c, graph, &b, 1, clone));
    TRIED(none, cuGraphAddDependencies(graph, &a, &c, NULL, 1));
    TRIED(none, cuGraphRemoveDependencies(graph, &a, &c, NULL, 1));
    TRIED(object, cuUserObjectCreate(&object, &ended, count_up, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    TRIED(none, cuGraphRetainUserObject(graph, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    TRIED(none, cuGraphMemsetNodeSetParams(a, &params));
    CUstreamBatchMemOpParams op = {.writeValue = {.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32, .address = at}};
    CUDA_BATCH_MEM_OP_NODE_PARAMS ops = {.count = 1, .paramArray = &op};
    OK(cuCtxGetCurrent(&ops.ctx));
    TRIED(b, cuGraphAddBatchMemOpNode(&b, graph, NULL, 0, &ops));
    TRIED(none, cuGraphBatchMemOpNodeSetParams(b, &ops));
    OK(cuGraphDestroyNode(b));
    OK(cuGraphDestroy(clone));
    return graph;
}

/* Each call on graphs, captures of forks, and the launch. */
static void graphs(CUstream stream, CUdeviceptr at)
{
    CUgraph graph = graph_without_memory(NULL, at), forked = NULL;
    CUgraphExec exec = NULL;
    CUgraphExecUpdateResultInfo info;
    CUstream fork = NULL;
    CUevent event = NULL;
    int none = 0;
    TRIED(exec, cuGraphInstantiate(&exec, graph, 0));
    memset(&info, 0, sizeof info);
    TRIED(none, cuGraphExecUpdate(exec, graph, &info));
    TRIED(none, cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuStreamCreate(&fork, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, 0));
    TRIED(none, cuStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, CU_STREAM_CAPTURE_MODE_RELAXED));
    TRIED(none, cuMemsetD8Async(at, 1, 4, stream));
    TRIED(none, cuEventRecord(event, stream));
    TRIED(none, cuStreamWaitEvent(fork, event, 0));
    TRIED(none, cuMemcpyDtoDAsync(at, at + 64, 16, fork));
    OK(cuEventRecord(event, fork));
    OK(cuStreamWaitEvent(stream, event, 0));
    TRIED(none, cuStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, CU_STREAM_ADD_CAPTURE_DEPENDENCIES));
    OK(cuStreamEndCapture(stream, &forked));
    tap_ok(forked == graph, "the graph that was there");
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(fork));
}

/* ---- the parts of graphs: each kind of request fails in turn ---- */

static CUgraph pattern; /* with a kernel, a child and a user object */
static CUDA_KERNEL_NODE_PARAMS kernel_params;
static int objects_ended;

static CUresult make_graph(void **made)
{
    return cuGraphCreate((CUgraph *)made, 0);
}

static CUresult make_clone(void **made)
{
    return cuGraphClone((CUgraph *)made, pattern);
}

static CUresult end_graph(void *made)
{
    return cuGraphDestroy(made);
}

static CUresult make_node(void **made)
{
    return cuGraphAddKernelNode((CUgraphNode *)made, pattern, NULL, 0, &kernel_params);
}

static CUresult end_node(void *made)
{
    return cuGraphDestroyNode(made);
}

static CUresult make_exec(void **made)
{
    return cuGraphInstantiate((CUgraphExec *)made, pattern, 0);
}

static CUresult end_exec(void *made)
{
    return cuGraphExecDestroy(made);
}

static CUresult make_object(void **made)
{
    return cuUserObjectCreate((CUuserObject *)made, &objects_ended, count_up, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
}

static CUresult end_object(void *made)
{
    return cuUserObjectRelease(made, 1);
}

struct maker {
    const char *name;
    CUresult (*make)(void **made);
    CUresult (*end)(void *made);
};

/* So many that the table of their values grows; true if each was refused without memory for that, and succeeded with it. */
static bool make_many(const struct maker *maker)
{
    enum { MANY = 200 };
    void *made[MANY] = {NULL};
    unsigned failed = 0, right = 0, ended = 0;
    for (unsigned i = 0; i < MANY; i++) {
        inject_arm_at("realloc", 1);
        CUresult code = maker->make(&made[i]);
        if (inject_disarm()) {
            failed++;
            right += code == CUDA_ERROR_OUT_OF_MEMORY && !made[i];
            code = maker->make(&made[i]);
        } else {
            right++;
        }
        right -= code != CUDA_SUCCESS;
    }
    for (unsigned i = MANY; i-- > 0;)
        ended += maker->end(made[i]) == CUDA_SUCCESS;
    return failed && right == MANY && ended == MANY;
}

/* Fails each request to that function; returns the number of failures, or 0 if one had another result or left memory behind. */
static unsigned make_without(const struct maker *maker, const char *function)
{
    const long live = atomic_load(&inject_live);
    unsigned failed = 0, right = 0;
    bool more = true;
    for (unsigned long nth = 1; more && nth < TRIES; nth++) {
        void *made = NULL;
        inject_arm_at(function, nth);
        CUresult code = maker->make(&made);
        more = inject_disarm() != NULL;
        failed += more;
        right += more && (code == CUDA_SUCCESS ? made != NULL : code == CUDA_ERROR_OUT_OF_MEMORY && !made);
        if (made && maker->end(made) != CUDA_SUCCESS)
            return 0;
    }
    return right == failed && atomic_load(&inject_live) == live ? failed : 0;
}

/* A capture that cannot begin, and a record in one that cannot be kept; each leaves things as they were. */
static void captures_without(CUstream stream, const char *function)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
    CUevent event = NULL;
    unsigned failed = 0, right = 0;
    bool more = true;
    for (unsigned long nth = 1; more; nth++) {
        inject_arm_at(function, nth);
        CUresult code = cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED);
        more = inject_disarm() != NULL;
        cuStreamIsCapturing(stream, &status);
        failed += more;
        right += more && status == (code == CUDA_SUCCESS ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_NONE);
        if (more && status == CU_STREAM_CAPTURE_STATUS_ACTIVE)
            OK(cuStreamEndCapture(stream, NULL));
    }
    tap_ok(failed && right == failed, "%u captures without memory from %s", failed, function);
    OK(cuEventCreate(&event, 0));
    inject_arm_at(function, 1);
    CUresult code = cuEventRecord(event, stream);
    tap_ok(inject_disarm() && code == CUDA_ERROR_OUT_OF_MEMORY, "a record in a capture without memory from %s", function);
    OK(cuEventRecord(event, stream));
    OK(cuStreamWaitEvent(stream, event, 0));
    OK(cuStreamEndCapture(stream, NULL));
    OK(cuEventDestroy(event));
}

/* The nodes that a capture has reached cannot be listed: none are reported. */
static void info_without_memory(CUstream stream, CUdeviceptr at)
{
    CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
    const CUgraphNode *nodes = NULL;
    size_t count = 7;
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
    OK(cuMemsetD8Async(at, 5, 16, stream));
    inject_arm_at("calloc", 1);
    CUresult code = cuStreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes, NULL, &count);
    tap_ok(inject_disarm() && code == CUDA_SUCCESS && !nodes && !count, "a list that has no memory is empty");
    OK(cuStreamGetCaptureInfo(stream, &status, NULL, NULL, &nodes, NULL, &count));
    tap_ok(nodes && count == 1, "with memory it has the node");
    OK(cuStreamEndCapture(stream, NULL));
}

static void makers(CUfunction f, CUdeviceptr at)
{
    static const struct maker all[] = {{"a kernel node", make_node, end_node}, {"a graph", make_graph, end_graph},
                                       {"a clone", make_clone, end_graph}, {"an instance", make_exec, end_exec},
                                       {"a user object", make_object, end_object}};
    static uint64_t length = 100;
    static uint8_t value = 9;
    static CUdeviceptr to;
    static void *args[] = {&to, &length, &value};
    CUgraph child = NULL;
    CUgraphNode node = NULL;
    CUuserObject object = NULL;
    to = at;
    kernel_params = (CUDA_KERNEL_NODE_PARAMS){.func = f, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1,
                                              .blockDimY = 1, .blockDimZ = 1, .kernelParams = args};
    OK(cuGraphCreate(&child, 0));
    OK(cuGraphAddKernelNode(&node, child, NULL, 0, &kernel_params));
    OK(cuGraphCreate(&pattern, 0));
    OK(cuGraphAddChildGraphNode(&node, pattern, NULL, 0, child));
    OK(cuUserObjectCreate(&object, &objects_ended, count_up, 1, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC));
    OK(cuGraphRetainUserObject(pattern, object, 1, CU_GRAPH_USER_OBJECT_MOVE));
    OK(cuGraphAddKernelNode(&node, pattern, NULL, 0, &kernel_params));
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        tap_ok(make_many(&all[i]), "%s, many times: refused while the table cannot grow", all[i].name);
        unsigned failed = make_without(&all[i], "calloc") + make_without(&all[i], "malloc");
        tap_ok(failed, "%s without memory: %u requests failed, and nothing leaks", all[i].name, failed);
    }
    int before = objects_ended;
    OK(cuGraphDestroy(child));
    OK(cuGraphDestroy(pattern));
    EQUAL(objects_ended, before + 1);
}

/* Captures one stream after another, so that their notes need more and more memory; without memory, a capture is
 * refused. */
static void many_captures(void)
{
    enum { MANY = 200 };
    CUstream stream[MANY] = {NULL};
    unsigned failed = 0, right = 0, ended = 0;
    for (int i = 0; i < MANY; i++) {
        CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_ACTIVE;
        OK(cuStreamCreate(&stream[i], CU_STREAM_NON_BLOCKING));
        inject_arm_at("calloc", 1);
        CUresult code = cuStreamBeginCapture(stream[i], CU_STREAM_CAPTURE_MODE_RELAXED);
        if (!inject_disarm()) {
            right += code == CUDA_SUCCESS;
            continue;
        }
        failed++;
        cuStreamIsCapturing(stream[i], &status);
        right += code == CUDA_ERROR_OUT_OF_MEMORY && status == CU_STREAM_CAPTURE_STATUS_NONE;
        OK(cuStreamBeginCapture(stream[i], CU_STREAM_CAPTURE_MODE_RELAXED));
    }
    for (int i = 0; i < MANY; i++) {
        CUgraph graph = NULL;
        ended += cuStreamEndCapture(stream[i], &graph) == CUDA_SUCCESS && graph && cuGraphDestroy(graph) == CUDA_SUCCESS;
        OK(cuStreamDestroy(stream[i]));
    }
    tap_ok(failed && right == MANY && ended == MANY,
           "%d streams are captured; %u failed at first for lack of memory", MANY, failed);
}

/* A file that cannot be read, for lack of system resources or because of the file itself. */
static void no_file(void)
{
    static const struct {
        int error;
        CUresult code;
    } why[] = {{EMFILE, CUDA_ERROR_OPERATING_SYSTEM}, {ENFILE, CUDA_ERROR_OPERATING_SYSTEM},
               {ENOMEM, CUDA_ERROR_OPERATING_SYSTEM}, {EIO, CUDA_ERROR_OPERATING_SYSTEM},
               {EACCES, CUDA_ERROR_FILE_NOT_FOUND}, {ELOOP, CUDA_ERROR_FILE_NOT_FOUND}};
    static const char *const functions[] = {"stat", "fopen"};
    for (size_t i = 0; i < 2 * sizeof why / sizeof why[0]; i++) {
        CUmodule module = NULL;
        inject_arm_at(functions[i % 2], 1);
        inject_error = why[i / 2].error;
        CUresult code = cuModuleLoad(&module, "/proc/self/exe");
        tap_ok(inject_disarm() && code == why[i / 2].code && !module, "%s, %s: %s", functions[i % 2], strerror(why[i / 2].error),
               code_name(code));
    }
}

/* Rows issued before the failing one finish before the next try. */
static CUresult done_before(CUresult code)
{
    CUresult done = code == CUDA_SUCCESS ? code : cuCtxSynchronize();
    return done == CUDA_SUCCESS ? code : done;
}

/* Rows, apart and adjacent, one of which cannot be issued. */
static void rows(CUdeviceptr at)
{
    int none = 0;
    for (size_t pitch = 16; pitch <= 64; pitch *= 4) {
        const CUDA_MEMCPY2D copy = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = at, .srcPitch = pitch,
                                    .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = at + 512, .dstPitch = pitch,
                                    .WidthInBytes = 16, .Height = 3};
        TRIED(none, done_before(cuMemsetD2D8(at, pitch, 8, 16, 3)));
        TRIED(none, done_before(cuMemsetD2D8Async(at, pitch, 9, 16, 3, NULL)));
        TRIED(none, done_before(cuMemcpy2D(&copy)));
        TRIED(none, done_before(cuMemcpy2DAsync(&copy, NULL)));
        OK(cuCtxSynchronize());
        EQUAL(byte_at(at + 2 * pitch + 15), 9);
        EQUAL(byte_at(at + 512 + 2 * pitch + 15), 9);
    }
}

/* Allocates again and again: the engine keeps the memory it has, and this library requests its note anew each time. */
static void without_a_note(void)
{
    enum { TIMES = 12 };
    unsigned failed = 0, alike = 0;
    int none = 0;
    for (unsigned i = 0; i < TIMES; i++) {
        void *host = NULL;
        inject_arm_at("malloc", 1 + i % 4);
        CUresult code = cuMemHostAlloc(&host, 5000, 0);
        bool fails = inject_disarm() != NULL;
        failed += fails;
        alike += fails ? code == CUDA_ERROR_OUT_OF_MEMORY && !host : code == CUDA_SUCCESS;
        if (host)
            TRIED(none, cuMemFreeHost(host));
    }
    tap_ok(alike == TIMES && failed >= TIMES / 4, "an allocation whose note cannot be stored fails, %u times", failed);
}

static void host_memory(void)
{
    static char mine[8192];
    void *host = NULL, *other = NULL;
    int none = 0;
    TRIED(host, cuMemAllocHost(&host, 5000));
    TRIED(other, cuMemHostAlloc(&other, 5000, CU_MEMHOSTALLOC_DEVICEMAP));
    CUdeviceptr managed = 0;
    TRIED(managed, cuMemAllocManaged(&managed, 5000, CU_MEM_ATTACH_GLOBAL));
    TRIED(none, cuMemFree(managed));
    without_a_note();
    TRIED(none, cuMemHostRegister(mine, sizeof mine, 0));
    TRIED(none, cuMemHostUnregister(mine));
    TRIED(none, cuMemFreeHost(other));
    TRIED(none, cuMemFreeHost(host));
}

static void code(CUdeviceptr at)
{
    CUmodule module = NULL, other = NULL;
    CUlibrary library = NULL;
    CUkernel kernel = NULL;
    CUfunction f = NULL;
    CUstream stream = NULL;
    CUevent event = NULL;
    CUdeviceptr variable = 0;
    int none = 0, calls = 0;
    uint64_t length = 100;
    uint8_t value = 9;
    void *args[] = {&at, &length, &value};
    TRIED(module, cuModuleLoadData(&module, "any image"));
    inject_arm(1);
    CUresult answer = cuModuleGetFunction(&f, module, "gaps");
    tap_text(inject_disarm(), "calloc", "a kernel that is found cannot be kept");
    IS(answer, ERROR_OUT_OF_MEMORY);
    OK(cuModuleGetFunction(&f, module, "gaps"));
    f = NULL;
    TRIED(f, cuModuleGetFunction(&f, module, "fill_span"));
    TRIED(other, cuModuleLoad(&other, "/proc/self/exe"));
    TRIED(none, cuModuleUnload(other));
    TRIED(library, cuLibraryLoadData(&library, "code", NULL, NULL, 0, NULL, NULL, 0));
    TRIED(kernel, cuLibraryGetKernel(&kernel, library, "nothing"));
    TRIED(variable, cuLibraryGetGlobal(&variable, NULL, library, "counter"));
    TRIED(none, cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64, kernel, 0));
    TRIED(none, cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 64));
    TRIED(stream, cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    TRIED(event, cuEventCreate(&event, 0));
    TRIED(none, cuLaunchKernel(f, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL));
    TRIED(none, cuLaunchHostFunc(stream, nothing_more, &calls));
    TRIED(none, cuStreamAddCallback(stream, called_back, &calls, 0));
    TRIED(none, cuMemsetD8Async(at + 512, 5, 16, stream));
    TRIED(none, cuEventRecord(event, stream));
    TRIED(none, cuStreamSynchronize(stream));
    tap_u64((uint64_t)calls, 2, "a host function and a callback run once each");
    EQUAL(byte_at(at + 99), 9);
    EQUAL(byte_at(at + 512), 5);
    captured(stream);
    captures_without(stream, "calloc");
    captures_without(stream, "malloc");
    info_without_memory(stream, at);
    makers(f, at);
    graphs(stream, at);
    many_captures();
    no_file();
    TRIED(none, cuEventDestroy(event));
    TRIED(none, cuStreamDestroy(stream));
    TRIED(none, cuLibraryUnload(library));
    TRIED(none, cuModuleUnload(module));
}

static void memory(void)
{
    CUmemAllocationProp prop;
    CUmemAccessDesc desc;
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr at = 0, allocated = 0;
    int none = 0;
    memset(&prop, 0, sizeof prop);
    prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    desc.location = prop.location;
    desc.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    TRIED(at, cuMemAddressReserve(&at, G, 0, 0, 0));
    TRIED(handle, cuMemCreate(&handle, G, &prop, 0));
    TRIED(none, cuMemMap(at, G, 0, handle, 0));
    TRIED(none, cuMemSetAccess(at, G, &desc, 1));
    TRIED(allocated, cuMemAlloc(&allocated, 1000));
    TRIED(none, cuMemsetD8(at, 3, 1000));
    TRIED(none, cuMemcpyDtoD(allocated, at, 1000));
    EQUAL(byte_at(allocated + 999), 3);
    rows(at);
    host_memory();
    code(allocated);
    TRIED(none, cuMemFree(allocated));
    TRIED(none, cuMemUnmap(at, G));
    TRIED(none, cuMemRelease(handle));
    TRIED(none, cuMemAddressFree(at, G));
}

/* A copy that neither device can make alone goes through host memory. */
static void between_devices(CUcontext first)
{
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 1}};
    CUmemAccessDesc desc = {.location = prop.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmemGenericAllocationHandle handle = 0;
    CUdeviceptr own = 0, theirs = 0;
    CUcontext second = NULL;
    int none = 0;
    TRIED(second, cuDevicePrimaryCtxRetain(&second, 1));
    TRIED(own, cuMemAlloc(&own, G));
    TRIED(handle, cuMemCreate(&handle, G, &prop, 0));
    TRIED(theirs, cuMemAddressReserve(&theirs, G, 0, 0, 0));
    TRIED(none, cuMemMap(theirs, G, 0, handle, 0));
    TRIED(none, cuMemSetAccess(theirs, G, &desc, 1));
    TRIED(none, cuMemcpyPeer(theirs, second, own, first, G));
    TRIED(none, cuMemcpyPeerAsync(own, first, theirs, second, G, NULL));
    inject_arm_at("malloc", 1);
    CUresult code = cuMemcpyPeer(theirs, second, own, first, G);
    tap_ok(inject_disarm() && code == CUDA_ERROR_OUT_OF_MEMORY, "without memory for a piece, none is moved: %s", code_name(code));
    TRIED(none, cuMemUnmap(theirs, G));
    TRIED(none, cuMemAddressFree(theirs, G));
    TRIED(none, cuMemRelease(handle));
    TRIED(none, cuMemFree(own));
    TRIED(none, cuDevicePrimaryCtxRelease(1));
}

int main(void)
{
    CUcontext context = NULL, primary = NULL;
    int none = 0;
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    tap_note("each request of each call fails in turn");
    TRIED(none, cuInit(0));
    TRIED(context, cuCtxCreate(&context, NULL, 0, 0));
    TRIED(primary, cuDevicePrimaryCtxRetain(&primary, 0));
    memory();
    between_devices(context);
    TRIED(none, cuDevicePrimaryCtxRelease(0));
    TRIED(none, cuCtxDestroy(context));
    tap_ok(!wrong && refused > 50, "%u requests failed; %u of them with a wrong result", refused, wrong);
    return tap_done();
}

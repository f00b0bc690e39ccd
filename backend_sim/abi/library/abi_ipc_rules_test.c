/* SPDX-License-Identifier: Apache-2.0 */
/* Each rule of legacy IPC, boxes and batches (api/rules/ipc.def): a call that breaks it and is refused by it, as the driver's log
 * shows, and the nearest call that is accepted. */
#include "testing/peer.h"
#include "vmm.h"

static const char *rule; /* the id of the rule that the test is about */
static char heard[600];
static unsigned lines;
static CUcontext first, second; /* of device 0; the first is current */
static CUstream stream;
static struct peer b, stranger, dying;
static CUdeviceptr memory;
static CUipcMemHandle mine, of_b;
enum { SIZE = 1 << 16 };

static void CUDA_CB hear(void *user, CUlogLevel level, char *message, size_t length)
{
    (void)user, (void)level, (void)length;
    snprintf(heard, sizeof heard, "%s", message);
    lines++;
}

#define REFUSED(call, code)                                                                     \
    do {                                                                                        \
        char want_[120];                                                                        \
        lines = 0;                                                                              \
        IS(call, code);                                                                         \
        snprintf(want_, sizeof want_, ": %s: ", rule);                                          \
        if (!tap_ok(lines == 1 && strstr(heard, want_) && is_whole_line(heard), "by %s", rule)) \
            tap_note("%u lines, the last: %s", lines, lines ? heard : "none");                  \
    } while (0)

/* Breaks the rule, or barely keeps it. */
#define TEST_RULE(symbol, name) static void name(bool breaks)

/* ---- memory ---- */

TEST_RULE(IPC_NULL, ipc_null)
{
    CUdeviceptr at = 0;
    CUipcMemHandle handle;
    if (breaks) {
        REFUSED(cuIpcGetMemHandle(NULL, memory), ERROR_INVALID_VALUE);
        REFUSED(cuIpcOpenMemHandle(NULL, of_b, 1), ERROR_INVALID_VALUE);
    } else {
        OK(cuIpcGetMemHandle(&handle, memory));
        OK(cuIpcOpenMemHandle(&at, of_b, 1));
        OK(cuIpcCloseMemHandle(at));
    }
}

TEST_RULE(IPC_ADDRESS, ipc_address)
{
    CUipcMemHandle handle;
    if (breaks) {
        REFUSED(cuIpcGetMemHandle(&handle, 0), ERROR_INVALID_VALUE);
        REFUSED(cuIpcGetMemHandle(&handle, memory + (64 << 20)), ERROR_INVALID_VALUE);
    } else {
        OK(cuIpcGetMemHandle(&handle, memory + SIZE - 1));
    }
}

static CUdeviceptr opened(void)
{
    CUdeviceptr at = 0;
    OK(cuIpcOpenMemHandle(&at, of_b, 1));
    return at;
}

TEST_RULE(IPC_OPENED, ipc_opened)
{
    CUipcMemHandle handle;
    CUdeviceptr at = opened();
    if (breaks)
        REFUSED(cuIpcGetMemHandle(&handle, at), ERROR_INVALID_VALUE);
    else
        OK(cuIpcGetMemHandle(&handle, memory));
    OK(cuIpcCloseMemHandle(at));
}

TEST_RULE(IPC_FLAGS, ipc_flags)
{
    CUdeviceptr at = 0;
    if (breaks) {
        REFUSED(cuIpcOpenMemHandle(&at, of_b, 0), ERROR_INVALID_VALUE);
        REFUSED(cuIpcOpenMemHandle(&at, of_b, 2), ERROR_INVALID_VALUE);
    } else {
        OK(cuIpcOpenMemHandle(&at, of_b, 3));
        OK(cuIpcCloseMemHandle(at));
    }
}

TEST_RULE(IPC_HANDLE, ipc_handle)
{
    CUdeviceptr at = 0;
    CUipcMemHandle wrong = of_b;
    wrong.reserved[33] ^= 1;
    if (breaks)
        REFUSED(cuIpcOpenMemHandle(&at, wrong, 1), ERROR_INVALID_VALUE);
    else
        OK(cuIpcCloseMemHandle(opened()));
}

TEST_RULE(IPC_MACHINE, ipc_machine)
{
    CUdeviceptr at = 0;
    CUipcMemHandle other;
    peer_ask(&stranger, PEER_ALLOC, NULL, 1);
    memcpy(&other, stranger.said.handle, sizeof other);
    if (breaks)
        REFUSED(cuIpcOpenMemHandle(&at, other, 1), ERROR_INVALID_VALUE);
    else
        OK(cuIpcCloseMemHandle(opened()));
}

TEST_RULE(IPC_OWN, ipc_own)
{
    CUdeviceptr at = 0;
    if (breaks)
        REFUSED(cuIpcOpenMemHandle(&at, mine, 1), ERROR_INVALID_CONTEXT);
    else
        OK(cuIpcCloseMemHandle(opened()));
}

TEST_RULE(IPC_GONE, ipc_gone)
{
    CUdeviceptr at = 0;
    CUipcMemHandle handle;
    peer_ask(&b, PEER_ALLOC, NULL, 1);
    memcpy(&handle, b.said.handle, sizeof handle);
    if (breaks) {
        EQUAL(peer_ask(&b, PEER_FREE, NULL, 0), CUDA_SUCCESS);
        REFUSED(cuIpcOpenMemHandle(&at, handle, 1), ERROR_INVALID_VALUE);
    } else {
        OK(cuIpcOpenMemHandle(&at, handle, 1));
        EQUAL(peer_ask(&b, PEER_FREE, NULL, 0), CUDA_SUCCESS);
        OK(cuIpcOpenMemHandle(&at, handle, 1)); /* open here already */
        OK(cuIpcCloseMemHandle(at));
        OK(cuIpcCloseMemHandle(at));
    }
}

TEST_RULE(IPC_ENDED, ipc_ended)
{
    static CUipcMemHandle handle;
    static bool ended;
    CUdeviceptr at = 0;
    if (!ended) {
        peer_ask(&dying, PEER_ALLOC, NULL, 1);
        memcpy(&handle, dying.said.handle, sizeof handle);
        OK(cuIpcOpenMemHandle(&at, handle, 1));
        OK(cuIpcCloseMemHandle(at));
        peer_end(&dying, true);
        ended = true;
    }
    if (breaks)
        REFUSED(cuIpcOpenMemHandle(&at, handle, 1), ERROR_INVALID_HANDLE);
    else
        OK(cuIpcCloseMemHandle(opened()));
}

TEST_RULE(IPC_CONTEXT, ipc_context)
{
    CUdeviceptr at = opened(), again = 0;
    if (breaks)
        OK(cuCtxSetCurrent(second));
    if (breaks)
        REFUSED(cuIpcOpenMemHandle(&again, of_b, 1), ERROR_INVALID_HANDLE);
    else
        OK(cuIpcOpenMemHandle(&again, of_b, 1));
    OK(cuCtxSetCurrent(first));
    if (!breaks)
        OK(cuIpcCloseMemHandle(again));
    OK(cuIpcCloseMemHandle(at));
}

/* The form of CUDA 4.1. */
typedef CUresult (*open_once)(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned flags);

TEST_RULE(IPC_ALREADY, ipc_already)
{
    CUdeviceptr at = 0, again = 0;
    void *entry = NULL;
    CUdriverProcAddressQueryResult status;
    open_once once;
    OK(cuGetProcAddress("cuIpcOpenMemHandle", &entry, 4010, 0, &status));
    memcpy(&once, &entry, sizeof once);
    OK(once(&at, of_b, 1));
    if (breaks) {
        REFUSED(once(&again, of_b, 1), ERROR_ALREADY_MAPPED);
    } else {
        OK(cuIpcOpenMemHandle(&again, of_b, 1));
        EQUAL(again, at);
        OK(cuIpcCloseMemHandle(again));
    }
    OK(cuIpcCloseMemHandle(at));
}

TEST_RULE(IPC_CLOSE, ipc_close)
{
    CUdeviceptr at = opened();
    if (breaks) {
        REFUSED(cuIpcCloseMemHandle(memory), ERROR_INVALID_VALUE);
        REFUSED(cuIpcCloseMemHandle(at + 1), ERROR_INVALID_VALUE);
        REFUSED(cuIpcCloseMemHandle(0), ERROR_INVALID_VALUE);
    }
    OK(cuIpcCloseMemHandle(at));
    if (breaks)
        REFUSED(cuIpcCloseMemHandle(at), ERROR_INVALID_VALUE);
}

TEST_RULE(IPC_FREE, ipc_free)
{
    CUdeviceptr at = opened();
    if (breaks)
        REFUSED(cuMemFree(at), ERROR_INVALID_VALUE);
    OK(cuIpcCloseMemHandle(at));
}

/* ---- events ---- */

static CUevent event_with(unsigned flags)
{
    CUevent event = NULL;
    OK(cuEventCreate(&event, flags));
    return event;
}

enum { SHARED = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING };

TEST_RULE(IPC_EVENT, ipc_event)
{
    CUipcEventHandle handle;
    CUevent event = event_with(breaks ? CU_EVENT_DISABLE_TIMING : SHARED), there = NULL;
    if (breaks) {
        REFUSED(cuIpcGetEventHandle(&handle, event), ERROR_INVALID_HANDLE);
        peer_ask(&b, PEER_EVENT, NULL, 0);
        memcpy(&handle, b.said.handle, sizeof handle);
        OK(cuIpcOpenEventHandle(&there, handle));
        REFUSED(cuIpcGetEventHandle(&handle, there), ERROR_INVALID_HANDLE);
        OK(cuEventDestroy(there));
    } else {
        OK(cuIpcGetEventHandle(&handle, event));
    }
    OK(cuEventDestroy(event));
}

TEST_RULE(IPC_EVENT_HANDLE, ipc_event_handle)
{
    CUipcEventHandle handle, wrong;
    CUevent there = NULL;
    peer_ask(&b, PEER_EVENT, NULL, 0);
    memcpy(&handle, b.said.handle, sizeof handle);
    memcpy(&wrong, &mine, sizeof wrong);
    if (breaks) {
        REFUSED(cuIpcOpenEventHandle(&there, wrong), ERROR_MAP_FAILED);
        wrong = handle;
        wrong.reserved[20] ^= 1;
        REFUSED(cuIpcOpenEventHandle(&there, wrong), ERROR_MAP_FAILED);
        return;
    }
    EQUAL(peer_ask(&b, PEER_DESTROY, NULL, 0), CUDA_SUCCESS);
    OK(cuIpcOpenEventHandle(&there, handle)); /* destroyed, and still there */
    OK(cuEventDestroy(there));
}

/* More events than processes can share. */
TEST_RULE(IPC_SYSTEM, ipc_system)
{
    enum { MOST = 1200 };
    static CUevent events[MOST];
    CUipcEventHandle handle;
    unsigned made = 0;
    while (made < (breaks ? MOST : 10u) && cuEventCreate(&events[made], SHARED) == CUDA_SUCCESS &&
           cuIpcGetEventHandle(&handle, events[made]) == CUDA_SUCCESS)
        made++;
    if (breaks)
        REFUSED(cuIpcGetEventHandle(&handle, events[made]), ERROR_OPERATING_SYSTEM);
    else
        EQUAL(made, 10);
    for (unsigned i = 0; i < made + breaks; i++)
        cuEventDestroy(events[i]);
}

/* ---- boxes and batches ---- */

TEST_RULE(BOX_NULL, box_null)
{
    if (breaks) {
        REFUSED(cuMemcpy3D(NULL), ERROR_INVALID_VALUE);
        REFUSED(cuMemcpy3DAsync(NULL, stream), ERROR_INVALID_VALUE);
        REFUSED(cuMemcpy3DPeer(NULL), ERROR_INVALID_VALUE);
        REFUSED(cuMemcpy3DPeerAsync(NULL, stream), ERROR_INVALID_VALUE);
    } else {
        CUDA_MEMCPY3D nothing;
        memset(&nothing, 0, sizeof nothing);
        OK(cuMemcpy3D(&nothing));
    }
}

TEST_RULE(BOX_HEIGHT, box_height)
{
    CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE, .srcDevice = memory, .srcPitch = 64, .srcHeight = 2,
                       .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = memory + SIZE / 2, .dstPitch = 64, .dstHeight = 2,
                       .WidthInBytes = 16, .Height = 2, .Depth = 2};
    OK(cuMemcpy3D(&c));
    c.srcHeight = 1;
    if (breaks)
        REFUSED(cuMemcpy3D(&c), ERROR_INVALID_VALUE);
    c.Depth = 1;
    if (breaks)
        REFUSED(cuMemcpy3D(&c), ERROR_INVALID_VALUE);
    c.srcHeight = 0;
    OK(cuMemcpy3D(&c));
}

static CUresult batch(size_t size, size_t index, unsigned order, unsigned flags, size_t attributes, CUstream in)
{
    CUdeviceptr dst[2] = {memory + SIZE / 2, memory + SIZE / 2 + 64}, src[2] = {memory, memory + 64};
    size_t sizes[2] = {64, size}, indices[2] = {index, index + 1};
    CUmemcpyAttributes attrs[2] = {{.srcAccessOrder = (CUmemcpySrcAccessOrder)order, .flags = flags},
                                   {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM}};
    return cuMemcpyBatchAsync(dst, src, sizes, 2, attrs, indices, attributes, in);
}

static CUresult boxes(size_t row, size_t width, unsigned long long flags, unsigned type)
{
    CUDA_MEMCPY3D_BATCH_OP op = {.extent = {width, 2, 2}, .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
    op.src.type = (CUmemcpy3DOperandType)type;
    op.dst.type = CU_MEMCPY_OPERAND_TYPE_POINTER;
    op.src.op.ptr.ptr = memory;
    op.dst.op.ptr.ptr = memory + SIZE / 2;
    op.src.op.ptr.rowLength = row;
    return cuMemcpy3DBatchAsync(1, &op, flags, stream);
}

TEST_RULE(BATCH_STREAM, batch_stream)
{
    if (breaks) {
        REFUSED(batch(64, 0, 1, 0, 1, NULL), ERROR_INVALID_VALUE);
        REFUSED(batch(64, 0, 1, 0, 1, CU_STREAM_LEGACY), ERROR_INVALID_VALUE);
        OK(cuCtxSetCurrent(NULL));
        REFUSED(batch(64, 0, 1, 0, 1, stream), ERROR_INVALID_VALUE);
        OK(cuCtxSetCurrent(first));
    } else {
        OK(batch(64, 0, 1, 0, 1, CU_STREAM_PER_THREAD));
    }
}

TEST_RULE(BATCH_ARGUMENTS, batch_arguments)
{
    if (breaks) {
        REFUSED(batch(64, 0, 1, 0, 0, stream), ERROR_INVALID_VALUE);
        REFUSED(batch(64, 0, 1, 0, 3, stream), ERROR_INVALID_VALUE);
        REFUSED(boxes(0, 16, 1, 1), ERROR_INVALID_VALUE);
        REFUSED(cuMemcpy3DBatchAsync(0, NULL, 0, stream), ERROR_INVALID_VALUE);
    } else {
        OK(batch(64, 0, 1, 0, 2, stream));
        OK(boxes(0, 16, 0, 1));
    }
}

TEST_RULE(BATCH_ATTRIBUTES, batch_attributes)
{
    if (breaks) {
        REFUSED(batch(64, 1, 1, 0, 1, stream), ERROR_INVALID_VALUE);
        REFUSED(batch(64, 0, 0, 0, 1, stream), ERROR_INVALID_VALUE);
        REFUSED(batch(64, 0, 4, 0, 1, stream), ERROR_INVALID_VALUE);
        REFUSED(batch(64, 0, 1, 2, 1, stream), ERROR_INVALID_VALUE);
        REFUSED(batch(64, 0, 1, 2, 2, stream), ERROR_INVALID_VALUE);
    } else {
        OK(batch(64, 0, 3, 1, 1, stream));
    }
}

TEST_RULE(BATCH_SIZE, batch_size)
{
    OK(cuMemsetD8(memory, 0x21, SIZE / 2));
    OK(cuMemsetD8(memory + SIZE / 2, 0x43, SIZE / 2));
    if (breaks) {
        REFUSED(batch(0, 0, 1, 0, 1, stream), ERROR_INVALID_VALUE);
        OK(cuStreamSynchronize(stream));
        EQUAL(byte_at(memory + SIZE / 2), 0x21); /* the copy before it succeeds */
        REFUSED(boxes(0, 0, 0, 1), ERROR_INVALID_VALUE);
    } else {
        OK(batch(1, 0, 1, 0, 1, stream));
        OK(cuStreamSynchronize(stream));
        EQUAL(byte_at(memory + SIZE / 2 + 64), 0x21);
        EQUAL(byte_at(memory + SIZE / 2 + 65), 0x43);
    }
}

TEST_RULE(BATCH_OPERAND, batch_operand)
{
    if (breaks) {
        REFUSED(boxes(15, 16, 0, 1), ERROR_INVALID_VALUE);
        REFUSED(boxes(0, 16, 0, 7), ERROR_INVALID_VALUE);
        REFUSED(boxes(0, 16, 0, 0), ERROR_INVALID_VALUE);
    } else {
        OK(boxes(16, 16, 0, 1));
    }
}

/* ---- all of them ---- */

static const struct {
    const char *symbol;
    void (*test)(bool breaks);
} tests[] = {
    {"IPC_ADDRESS", ipc_address},   {"IPC_OPENED", ipc_opened},     {"IPC_EVENT", ipc_event},
    {"IPC_EVENT_HANDLE", ipc_event_handle}, {"IPC_FLAGS", ipc_flags}, {"IPC_HANDLE", ipc_handle},
    {"IPC_MACHINE", ipc_machine},   {"IPC_OWN", ipc_own},           {"IPC_GONE", ipc_gone},
    {"IPC_NULL", ipc_null},
    {"IPC_ENDED", ipc_ended},       {"IPC_CONTEXT", ipc_context},   {"IPC_ALREADY", ipc_already},
    {"IPC_CLOSE", ipc_close},       {"IPC_FREE", ipc_free},         {"IPC_SYSTEM", ipc_system},
    {"BOX_NULL", box_null}, {"BOX_HEIGHT", box_height},     {"BATCH_STREAM", batch_stream}, {"BATCH_ARGUMENTS", batch_arguments},
    {"BATCH_ATTRIBUTES", batch_attributes}, {"BATCH_SIZE", batch_size}, {"BATCH_OPERAND", batch_operand},
};

static const struct {
    const char *symbol, *id;
} table[] = {
#define VMM_RULE(symbol, id, ...) {#symbol, id},
#include "rules/ipc.def"
#undef VMM_RULE
};

static void test_rule(size_t i)
{
    const vmm_rule *row = vmm_rule_find(table[i].id);
    size_t t = 0;
    rule = table[i].id;
    while (t < sizeof tests / sizeof tests[0] && strcmp(tests[t].symbol, table[i].symbol) != 0)
        t++;
    if (!tap_ok(t < sizeof tests / sizeof tests[0], "%s has a test", rule))
        return;
    tests[t].test(true);
    tests[t].test(false);
    tap_ok(row && row->message[0] && row->explanation[0] && row->way_out[0], "%s states what, why and the fix", rule);
}

int main(void)
{
    CUlogsCallbackHandle callback;
    peer_machine();
    b = peer_begin();
    dying = peer_begin();
    setenv("CUVMM_MACHINE", "strangers", 1);
    stranger = peer_begin();
    setenv("CUVMM_MACHINE", "peers", 1);
    OK(cuLogsRegisterCallback(hear, NULL, &callback));
    first = begin();
    OK(cuCtxCreate(&second, NULL, 0, 0));
    OK(cuCtxPopCurrent(NULL));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&memory, SIZE));
    OK(cuIpcGetMemHandle(&mine, memory));
    peer_ask(&b, PEER_ALLOC, NULL, 1);
    memcpy(&of_b, b.said.handle, sizeof of_b);
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        test_rule(i);
    OK(cuMemFree(memory));
    peer_end(&b, false);
    peer_end(&stranger, false);
    return tap_done();
}

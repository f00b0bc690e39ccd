/* SPDX-License-Identifier: Apache-2.0 */
/* Events between processes of a machine. */
#include "testing/peer.h"

static struct peer b, dying;
static CUstream stream;
static CUcontext own;

static CUevent shared(CUipcEventHandle *handle)
{
    CUevent event = NULL;
    OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    OK(cuIpcGetEventHandle(handle, event));
    return event;
}

static void wait_for(CUevent event)
{
    while (cuEventQuery(event) == CUDA_ERROR_NOT_READY)
        peer_nap();
}

/* This process records, the other one queries and waits. */
static void test_recorded_here(void)
{
    CUipcEventHandle handle, again;
    CUevent event = shared(&handle);
    OK(cuIpcGetEventHandle(&again, event));
    EQUAL(memcmp(&handle, &again, sizeof handle), 0);
    EQUAL(peer_ask(&b, PEER_OPEN_EVENT, &handle, 0), CUDA_SUCCESS);
    EQUAL(peer_ask(&b, PEER_QUERY, NULL, 0), CUDA_SUCCESS);
    EQUAL(peer_ask(&b, PEER_SYNC, NULL, 0), CUDA_SUCCESS);
    peer_gate = 0;
    OK(cuLaunchHostFunc(stream, peer_wait_for_go, NULL));
    OK(cuEventRecord(event, stream));
    IS(cuEventQuery(event), ERROR_NOT_READY);
    EQUAL(peer_ask(&b, PEER_QUERY, NULL, 0), CUDA_ERROR_NOT_READY);
    EQUAL(peer_ask(&b, PEER_WAIT, NULL, 0), CUDA_SUCCESS);
    EQUAL(peer_ask(&b, PEER_QUERY_STREAM, NULL, 0), CUDA_ERROR_NOT_READY);
    peer_gate = 1;
    EQUAL(peer_ask(&b, PEER_SYNC, NULL, 0), CUDA_SUCCESS);
    EQUAL(peer_ask(&b, PEER_SYNC_STREAM, NULL, 0), CUDA_SUCCESS);
    OK(cuEventSynchronize(event));
    OK(cuEventQuery(event));
    EQUAL(peer_ask(&b, PEER_DESTROY, NULL, 0), CUDA_SUCCESS);
    OK(cuEventDestroy(event));
}

/* The other one records. */
static void test_recorded_there(void)
{
    CUipcEventHandle handle;
    CUevent event = NULL;
    CUstream waits;
    EQUAL(peer_ask(&b, PEER_EVENT, NULL, 0), CUDA_SUCCESS);
    memcpy(&handle, b.said.handle, sizeof handle);
    OK(cuIpcOpenEventHandle(&event, handle));
    OK(cuStreamCreate(&waits, CU_STREAM_NON_BLOCKING));
    EQUAL(peer_ask(&b, PEER_RECORD, NULL, 1), CUDA_SUCCESS);
    IS(cuEventQuery(event), ERROR_NOT_READY);
    OK(cuStreamWaitEvent(waits, event, 0));
    IS(cuStreamQuery(waits), ERROR_NOT_READY);
    EQUAL(peer_ask(&b, PEER_GO, NULL, 0), CUDA_SUCCESS);
    OK(cuStreamSynchronize(waits));
    OK(cuEventSynchronize(event));
    OK(cuEventQuery(event));
    OK(cuEventRecord(event, waits)); /* and now this one */
    wait_for(event);
    EQUAL(peer_ask(&b, PEER_SYNC, NULL, 0), CUDA_SUCCESS);
    OK(cuEventDestroy(event));
    EQUAL(peer_ask(&b, PEER_QUERY, NULL, 0), CUDA_SUCCESS);
    EQUAL(peer_ask(&b, PEER_DESTROY, NULL, 0), CUDA_SUCCESS);
    OK(cuIpcOpenEventHandle(&event, handle)); /* measured: a destroyed event can be opened */
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(waits));
}

/* Two processes record one after another: the second record is complete only when the first is. */
static void test_recorded_twice(void)
{
    CUipcEventHandle handle;
    CUevent event = shared(&handle);
    EQUAL(peer_ask(&b, PEER_OPEN_EVENT, &handle, 0), CUDA_SUCCESS);
    EQUAL(peer_ask(&b, PEER_RECORD, NULL, 1), CUDA_SUCCESS);
    OK(cuEventRecord(event, stream));
    peer_nap();
    IS(cuEventQuery(event), ERROR_NOT_READY);
    EQUAL(peer_ask(&b, PEER_QUERY, NULL, 0), CUDA_ERROR_NOT_READY);
    EQUAL(peer_ask(&b, PEER_GO, NULL, 0), CUDA_SUCCESS);
    wait_for(event);
    EQUAL(peer_ask(&b, PEER_SYNC, NULL, 0), CUDA_SUCCESS);
    EQUAL(peer_ask(&b, PEER_DESTROY, NULL, 0), CUDA_SUCCESS);
    OK(cuEventDestroy(event));
}

/* Recorded before its first handle. */
static void test_shared_late(void)
{
    CUipcEventHandle handle;
    CUevent event = NULL;
    OK(cuEventCreate(&event, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
    peer_gate = 0;
    OK(cuLaunchHostFunc(stream, peer_wait_for_go, NULL));
    OK(cuEventRecord(event, stream));
    OK(cuIpcGetEventHandle(&handle, event));
    EQUAL(peer_ask(&b, PEER_OPEN_EVENT, &handle, 0), CUDA_SUCCESS);
    EQUAL(peer_ask(&b, PEER_QUERY, NULL, 0), CUDA_ERROR_NOT_READY);
    peer_gate = 1;
    EQUAL(peer_ask(&b, PEER_SYNC, NULL, 0), CUDA_SUCCESS);
    EQUAL(peer_ask(&b, PEER_DESTROY, NULL, 0), CUDA_SUCCESS);
    OK(cuEventDestroy(event));
}

/* A refused record leaves the previous one as it was. */
static void test_refused_record(void)
{
    CUipcEventHandle handle;
    CUevent event = shared(&handle);
    CUstream gone = NULL;
    OK(cuStreamCreate(&gone, CU_STREAM_NON_BLOCKING));
    OK(cuStreamDestroy(gone));
    EQUAL(peer_ask(&b, PEER_OPEN_EVENT, &handle, 0), CUDA_SUCCESS);
    IS(cuEventRecord(event, gone), ERROR_INVALID_HANDLE);
    OK(cuEventQuery(event));
    peer_gate = 0;
    OK(cuLaunchHostFunc(stream, peer_wait_for_go, NULL));
    OK(cuEventRecord(event, stream));
    IS(cuEventRecord(event, gone), ERROR_INVALID_HANDLE);
    IS(cuEventQuery(event), ERROR_NOT_READY);
    EQUAL(peer_ask(&b, PEER_QUERY, NULL, 0), CUDA_ERROR_NOT_READY);
    peer_gate = 1;
    EQUAL(peer_ask(&b, PEER_SYNC, NULL, 0), CUDA_SUCCESS);
    OK(cuEventQuery(event));
    EQUAL(peer_ask(&b, PEER_DESTROY, NULL, 0), CUDA_SUCCESS);
    OK(cuEventDestroy(event));
}

/* A child of a fork has no driver, and does not wait for the thread that watches this process's records. */
static void test_forked(void)
{
    CUipcEventHandle handle;
    CUevent event = shared(&handle);
    int status = -1;
    peer_gate = 0;
    OK(cuLaunchHostFunc(stream, peer_wait_for_go, NULL));
    OK(cuEventRecord(event, stream));
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        exit(cuEventRecord(event, stream) == CUDA_ERROR_NOT_INITIALIZED ? 0 : 1);
    }
    waitpid(child, &status, 0);
    EQUAL(status, 0);
    IS(cuEventQuery(event), ERROR_NOT_READY);
    peer_gate = 1;
    OK(cuEventSynchronize(event));
    OK(cuEventDestroy(event));
}

/* If a record completes during the process's own query, the query leaves it to be entered later for waiting processes. */
static void test_queried_meanwhile(void)
{
    enum { ROUNDS = 50 };
    CUipcEventHandle handle;
    CUevent event = shared(&handle);
    unsigned wrong = 0;
    EQUAL(peer_ask(&b, PEER_OPEN_EVENT, &handle, 0), CUDA_SUCCESS);
    alarm(60);
    for (unsigned round = 0; round < ROUNDS; round++) {
        peer_gate = 0;
        wrong += cuLaunchHostFunc(stream, peer_wait_for_go, NULL) != CUDA_SUCCESS;
        wrong += cuEventRecord(event, stream) != CUDA_SUCCESS;
        for (unsigned i = 0; i < 100; i++)
            wrong += cuEventQuery(event) != CUDA_ERROR_NOT_READY;
        peer_gate = 1;
        wrong += peer_ask(&b, PEER_SYNC, NULL, 0) != CUDA_SUCCESS;
    }
    alarm(0);
    EQUAL(wrong, 0);
    EQUAL(peer_ask(&b, PEER_DESTROY, NULL, 0), CUDA_SUCCESS);
    OK(cuEventDestroy(event));
}

/* Work that a killed process had not done stays undone, as measured. A record after it is still pending when this process ends,
 * which does not wait for it. */
static void test_killed(void)
{
    CUipcEventHandle handle;
    CUevent event = NULL;
    EQUAL(peer_ask(&dying, PEER_EVENT, NULL, 0), CUDA_SUCCESS);
    memcpy(&handle, dying.said.handle, sizeof handle);
    OK(cuIpcOpenEventHandle(&event, handle));
    EQUAL(peer_ask(&dying, PEER_RECORD, NULL, 1), CUDA_SUCCESS);
    IS(cuEventQuery(event), ERROR_NOT_READY);
    peer_end(&dying, true);
    IS(cuEventQuery(event), ERROR_NOT_READY);
    peer_nap();
    IS(cuEventQuery(event), ERROR_NOT_READY);
    OK(cuEventRecord(event, stream));
    IS(cuEventQuery(event), ERROR_NOT_READY);
    IS(cuStreamQuery(stream), ERROR_NOT_READY);
}

static void test_refused(void)
{
    CUipcEventHandle handle, wrong, zeros = {.reserved = {1}};
    CUipcMemHandle memory;
    CUevent event = shared(&handle), plain = NULL, out = (CUevent)8;
    CUdeviceptr at = 0, opened = 0;
    OK(cuEventCreate(&plain, CU_EVENT_DISABLE_TIMING));
    OK(cuMemAlloc(&at, 4096));
    OK(cuIpcGetMemHandle(&memory, at));
    wrong = handle;
    wrong.reserved[40] ^= 1;
    IS(cuIpcGetEventHandle(&zeros, plain), ERROR_INVALID_HANDLE);
    EQUAL(zeros.reserved[0], 0); /* measured: written */
    IS(cuIpcGetEventHandle(NULL, event), ERROR_INVALID_VALUE);
    IS(cuIpcGetEventHandle(&handle, NULL), ERROR_INVALID_VALUE);
    IS(cuIpcOpenEventHandle(NULL, handle), ERROR_INVALID_VALUE);
    IS(cuIpcOpenEventHandle(&out, wrong), ERROR_MAP_FAILED);
    IS(cuIpcOpenEventHandle(&out, handle), ERROR_INVALID_CONTEXT); /* its own */
    memcpy(&wrong, &memory, sizeof wrong);
    IS(cuIpcOpenEventHandle(&out, wrong), ERROR_MAP_FAILED);
    memcpy(&memory, &handle, sizeof memory);
    IS(cuIpcOpenMemHandle(&opened, memory, 1), ERROR_INVALID_VALUE);
    EQUAL((uintptr_t)out, 8);
    OK(cuCtxSetCurrent(NULL));
    IS(cuIpcOpenEventHandle(&out, handle), ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(own));
    OK(cuEventDestroy(plain));
    OK(cuEventDestroy(event));
    OK(cuMemFree(at));
}

int main(void)
{
    peer_machine();
    b = peer_begin();
    dying = peer_begin();
    CUipcEventHandle early = {.reserved = {1}};
    IS(cuIpcGetEventHandle(&early, (CUevent)8), ERROR_NOT_INITIALIZED);
    EQUAL(early.reserved[0], 1);
    own = begin();
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    test_recorded_here();
    test_recorded_there();
    test_recorded_twice();
    test_shared_late();
    test_refused_record();
    test_forked();
    test_queried_meanwhile();
    test_refused();
    test_killed();
    peer_end(&b, false);
    return tap_done();
}

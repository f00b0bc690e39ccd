/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that lacks needed functions, and one without contexts: each stream or event call is refused for that reason. */
#include "rt.h"
#include "testing/core_driver.h"
#include "testing/rt_rig.h"

#define LACKS(call) IS(call, ErrorCallRequiresNewerDriver)

static void call_back(cudaStream_t stream, cudaError_t status, void *user)
{
    (void)stream;
    (void)user;
    tap_ok(false, "called, with %s", cudaGetErrorName(status));
}

static void every_call(void)
{
    cudaStream_t stream = NULL;
    cudaEvent_t event = NULL;
    cudaGraph_t graph = NULL;
    cudaIpcEventHandle_t handle = {{0}};
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    unsigned flags = 0;
    int number = 0;
    unsigned long long id = 0;
    float ms = 0;
    LACKS(cudaStreamCreate(&stream));
    LACKS(cudaStreamCreateWithFlags(&stream, 0));
    LACKS(cudaStreamCreateWithPriority(&stream, 0, 0));
    LACKS(cudaStreamDestroy(stream));
    LACKS(cudaStreamGetPriority(stream, &number));
    LACKS(cudaStreamGetFlags(stream, &flags));
    LACKS(cudaStreamGetId(stream, &id));
    LACKS(cudaStreamGetDevice(stream, &number));
    LACKS(cudaStreamQuery(stream));
    LACKS(cudaStreamSynchronize(stream));
    LACKS(cudaStreamWaitEvent(stream, event, 0));
    LACKS(cudaStreamAddCallback(stream, call_back, NULL, 0));
    LACKS(cudaLaunchHostFunc(stream, NULL, NULL));
    LACKS(cudaEventCreate(&event));
    LACKS(cudaEventCreateWithFlags(&event, 0));
    LACKS(cudaEventRecord(event, stream));
    LACKS(cudaEventRecordWithFlags(event, stream, 0));
    LACKS(cudaEventQuery(event));
    LACKS(cudaEventSynchronize(event));
    LACKS(cudaEventElapsedTime(&ms, event, event));
    LACKS(cudaEventDestroy(event));
    LACKS(cudaIpcGetEventHandle(&handle, event));
    LACKS(cudaIpcOpenEventHandle(&event, handle));
    LACKS(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    LACKS(cudaStreamBeginCaptureToGraph(stream, graph, NULL, NULL, 0, cudaStreamCaptureModeGlobal));
    LACKS(cudaStreamEndCapture(stream, &graph));
    LACKS(cudaStreamIsCapturing(stream, &status));
    LACKS(cudaStreamGetCaptureInfo(stream, &status, &id, &graph, NULL, NULL, NULL));
    LACKS(cudaStreamUpdateCaptureDependencies(stream, NULL, NULL, 0, 0));
    tap_ok(!stream && !event && !graph && !id && !number && !flags, "nothing is written");
}

int main(void)
{
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
    setenv("CUVMM_SIM", "sim:h100", 1);
    OK(cudaDeviceSynchronize());
    struct rt_driver has = rt_driver;
    keep_core(&has);
    every_call();
    LACKS(cudaThreadExchangeStreamCaptureMode(&mode));
    rt_driver = has;
    lose_contexts();
    every_call();
    rt_driver = has;
    OK(cudaDeviceSynchronize());
    return tap_done();
}

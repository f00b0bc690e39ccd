/* SPDX-License-Identifier: Apache-2.0 */
/* An event of another process of the machine, opened by its handle. */
#include <stdatomic.h>
#include <time.h>
#include <unistd.h>

#include <sys/socket.h>
#include <sys/wait.h>

#include "child.h"
#include "share_rig.h"
#include "testing/rt_rig.h"

/* The other process: opens the event, queries it, waits for it in a new stream, and sends back the result of each call. */
static int other(int socket)
{
    cudaIpcEventHandle_t handle;
    cudaEvent_t event = NULL;
    cudaError_t told[2] = {cudaErrorUnknown, cudaErrorUnknown};
    char go;
    if (recv(socket, &handle, sizeof handle, MSG_WAITALL) != sizeof handle)
        return 1;
    told[0] = cudaIpcOpenEventHandle(&event, handle);
    told[1] = cudaEventQuery(event);
    if (send(socket, told, sizeof told, 0) != sizeof told || recv(socket, &go, 1, MSG_WAITALL) != 1)
        return 1;
    told[0] = cudaStreamWaitEvent(NULL, event, 0);
    told[1] = cudaStreamSynchronize(NULL);
    if (send(socket, told, sizeof told, 0) != sizeof told)
        return 1;
    told[0] = cudaEventQuery(event);
    told[1] = cudaEventDestroy(event);
    return send(socket, told, sizeof told, 0) != sizeof told || recv(socket, &go, 1, 0) != 0;
}

static void answers(int socket, cudaError_t first, cudaError_t second)
{
    cudaError_t told[2] = {cudaErrorUnknown, cudaErrorUnknown};
    EQUAL(recv(socket, told, sizeof told, MSG_WAITALL), sizeof told);
    tap_text(cudaGetErrorName(told[0]), cudaGetErrorName(first), "the other process's first call");
    tap_text(cudaGetErrorName(told[1]), cudaGetErrorName(second), "its second call");
}

static atomic_int gate;

static void wait_for_gate(void *unused)
{
    const struct timespec moment = {0, 200000};
    (void)unused;
    while (!gate)
        nanosleep(&moment, NULL);
}

static void test_other_process(int socket)
{
    cudaIpcEventHandle_t handle;
    cudaEvent_t event = NULL;
    cudaStream_t stream = NULL;
    OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    OK(cudaEventCreateWithFlags(&event, cudaEventInterprocess | cudaEventDisableTiming));
    OK(cudaIpcGetEventHandle(&handle, event));
    OK(cudaLaunchHostFunc(stream, wait_for_gate, NULL));
    OK(cudaEventRecord(event, stream));
    EQUAL(send(socket, &handle, sizeof handle, 0), sizeof handle);
    answers(socket, cudaSuccess, cudaErrorNotReady);
    EQUAL(send(socket, "g", 1, 0), 1);
    gate = 1;
    OK(cudaEventSynchronize(event));
    answers(socket, cudaSuccess, cudaSuccess);
    answers(socket, cudaSuccess, cudaSuccess);
    OK(cudaEventDestroy(event));
    OK(cudaStreamDestroy(stream));
}

int main(void)
{
    int socket = -1, status = 0;
    rig_begin();
    setenv("CUVMM_SIM", "sim:h100,machine=events", 1);
    pid_t child = child_begin(&socket, 30);
    if (child == 0)
        exit(other(socket));
    alarm(30);
    test_other_process(socket);
    close(socket);
    tap_ok(waitpid(child, &status, 0) == child && status == 0, "the other process is done");
    rig_remove(rig_path("events", ""));
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of another process of the machine, by its handle. */
#include <unistd.h>

#include <sys/socket.h>
#include <sys/wait.h>

#include "child.h"
#include "share_rig.h"
#include "testing/memory_rig.h"

/* The other process: opens the handle that it receives, writes to the memory, and sends back the bytes and results. */
static int other(int socket)
{
    cudaIpcMemHandle_t handle;
    char *p = NULL, told[2] = {0, 0};
    cudaError_t result = cudaSuccess;
    if (recv(socket, &handle, sizeof handle, MSG_WAITALL) != sizeof handle)
        return 1;
    result = cudaIpcOpenMemHandle((void **)&p, handle, cudaIpcMemLazyEnablePeerAccess);
    if (result == cudaSuccess)
        result = cudaMemcpy(told, p + 100, 1, cudaMemcpyDeviceToHost);
    if (result == cudaSuccess)
        result = cudaMemset(p + 101, 0x62, 1);
    if (result == cudaSuccess)
        result = cudaDeviceSynchronize();
    if (result == cudaSuccess)
        result = cudaIpcCloseMemHandle(p);
    told[1] = (char)result;
    return send(socket, told, sizeof told, 0) != sizeof told || recv(socket, told, 1, 0) != 0;
}

static void test_other_process(int socket)
{
    cudaIpcMemHandle_t handle;
    char *p = NULL, told[2] = {0, 0};
    OK(cudaMalloc((void **)&p, 4096));
    OK(cudaMemset(p, 0x61, 4096));
    OK(cudaDeviceSynchronize());
    OK(cudaIpcGetMemHandle(&handle, p));
    EQUAL(send(socket, &handle, sizeof handle, 0), sizeof handle);
    EQUAL(recv(socket, told, sizeof told, MSG_WAITALL), sizeof told);
    EQUAL(told[0], 0x61);
    EQUAL(told[1], cudaSuccess);
    EQUAL(byte_of(p + 100), 0x61);
    EQUAL(byte_of(p + 101), 0x62);
    OK(cudaFree(p));
}

static void test_refused(void)
{
    cudaIpcMemHandle_t handle, forged;
    void *p = NULL, *out = NULL;
    CUmemGenericAllocationHandle block = 0;
    memset(&forged, 0x33, sizeof forged);
    OK(cudaMalloc(&p, 4096));
    OK(cudaIpcGetMemHandle(&handle, p));
    REFUSED(cudaIpcGetMemHandle(NULL, p), ErrorInvalidValue);
    REFUSED(cudaIpcGetMemHandle(&forged, NULL), ErrorInvalidValue);
    REFUSED(cudaIpcOpenMemHandle(NULL, handle, 1), ErrorInvalidValue);
    REFUSED(cudaIpcOpenMemHandle(&out, handle, 0), ErrorInvalidValue);
    REFUSED(cudaIpcOpenMemHandle(&out, handle, 1), ErrorDeviceUninitialized); /* of this process itself */
    tap_ok(cudaIpcOpenMemHandle(&out, forged, 1) != cudaSuccess, "a forged handle opens nothing");
    (void)cudaGetLastError();
    REFUSED(cudaIpcCloseMemHandle(p), ErrorInvalidValue);
    REFUSED(cudaIpcCloseMemHandle(NULL), ErrorInvalidValue);
    char *at = mapped(0, RT_G, &block);
    REFUSED(cudaIpcGetMemHandle(&forged, at), ErrorInvalidValue);
    unmapped(at, RT_G, block);
    OK(cudaFree(p));
}

int main(void)
{
    int socket = -1, status = 0;
    rig_begin();
    setenv("CUVMM_SIM", "sim:h100,machine=ipc", 1);
    pid_t child = child_begin(&socket, 30);
    if (child == 0)
        exit(other(socket));
    alarm(60);
    test_other_process(socket);
    test_refused();
    close(socket);
    EQUAL(waitpid(child, &status, 0), child);
    EQUAL(status, 0);
    rig_remove(rig_path("ipc", ""));
    return tap_done();
}

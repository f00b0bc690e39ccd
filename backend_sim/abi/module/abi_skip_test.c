/* SPDX-License-Identifier: Apache-2.0 */
/* kernels=skip: launches of kernels without a plugin do nothing when the stream reaches them, and are counted. */
#include <sys/wait.h>
#include <unistd.h>

#include "image_rig.h"
#include "testing/rig.h"

static const struct rig_kernel kernels[] = {{.name = "alone"}, {.name = "taker", .param = {8, 4}}, {.name = "wide", .param = {8, 8000}}};
static struct rig_bytes cubin;

static CUfunction function(CUmodule module, const char *name)
{
    CUfunction f = NULL;
    OK(cuModuleGetFunction(&f, module, name));
    return f;
}

/* The output of a process that launches that many times and then ends. */
static void said_by(void (*child)(void), char *text, size_t size)
{
    int ends[2], status = -1;
    size_t length = 0;
    ssize_t got;
    fflush(stdout);
    if (pipe(ends))
        tap_bail("no pipe");
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        if (!freopen("/dev/null", "w", stdout))
            _exit(9);
        child();
        exit(0);
    }
    close(ends[1]);
    while ((got = read(ends[0], text + length, size - 1 - length)) > 0)
        length += (size_t)got;
    text[length] = '\0';
    close(ends[0]);
    waitpid(pid, &status, 0);
    tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 0, "the process ends");
}

static void launches(void)
{
    CUmodule module = NULL, other = NULL;
    int n = 3;
    CUdeviceptr p = 0;
    void *params[] = {&p, &n};
    begin();
    OK(cuModuleLoadData(&module, cubin.at));
    OK(cuModuleLoadData(&other, cubin.at));
    for (int i = 0; i < 5; i++)
        cuLaunchKernel(function(module, "alone"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    cuLaunchKernel(function(module, "taker"), 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
    cuLaunchKernel(function(other, "alone"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    cuCtxSynchronize();
    cuModuleUnload(other);
}

static void one_launch(void)
{
    CUmodule module = NULL;
    begin();
    OK(cuModuleLoadData(&module, cubin.at));
    cuLaunchKernel(function(module, "alone"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
    cuCtxSynchronize();
}

/* Opens the machine and skips nothing. */
static void no_launch(void)
{
    CUmodule module = NULL;
    begin();
    OK(cuModuleLoadData(&module, cubin.at));
    function(module, "alone");
}

/* Launches twice on a machine that refuses it. */
static void refused(void)
{
    CUmodule module = NULL;
    setenv("CUVMM_SIM", "sim:h100", 1);
    begin();
    OK(cuModuleLoadData(&module, cubin.at));
    for (int i = 0; i < 2; i++)
        cuLaunchKernel(function(module, "alone"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL);
}

static void test_end(void)
{
    char text[4000];
    said_by(refused, text, sizeof text);
    const char *told = strstr(text, "cuLaunchKernel is refused (CUDA_ERROR_NOT_SUPPORTED): the cubin for sm_90 that was loaded has the kernel alone");
    tap_ok(told && strstr(told, "kernels=skip") && strchr(told, '\n') == text + strlen(text) - 1, "a refusal is reported once: %s", text);
    said_by(launches, text, sizeof text);
    tap_ok(strstr(text, "kernels=skip: launches of kernels without a plugin in CUVMM_KERNELS do nothing; alone is the first"),
           "the first is reported at once");
    const char *end = strstr(text, "kernels=skip: 7 launches of 2 kernels were skipped");
    tap_ok(end && strstr(end, " 6 alone\n") && strstr(end, " 1 taker\n"), "all of them at the end: %s", text);
    said_by(one_launch, text, sizeof text);
    tap_ok(strstr(text, "kernels=skip: 1 launch of 1 kernel was skipped") != NULL, "one");
    said_by(no_launch, text, sizeof text);
    tap_ok(!strstr(text, "kernel"), "and none, of which nothing is said: %s", text);
}

/* The stream goes on in order, and memory is as it was. */
static void test_order(CUmodule module)
{
    CUdeviceptr at = 0;
    CUstream stream = NULL;
    CUevent event = NULL;
    int n = 7;
    void *params[] = {&at, &n};
    struct {
        CUdeviceptr at;
        char bytes[8000];
    } wide = {0};
    void *of_wide[] = {&wide.at, wide.bytes};
    OK(cuMemAlloc(&at, 64));
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuEventCreate(&event, 0));
    OK(cuMemsetD8Async(at, 5, 64, stream));
    OK(cuLaunchKernel(function(module, "taker"), 1000, 1, 1, 1024, 1, 1, 0, stream, params, NULL));
    OK(cuLaunchKernel(function(module, "wide"), 1, 1, 1, 1, 1, 1, 0, stream, of_wide, NULL));
    OK(cuEventRecord(event, stream));
    OK(cuEventSynchronize(event));
    tap_u64(byte_at(at + 63), 5, "it wrote nothing");
    OK(cuEventDestroy(event));
    OK(cuStreamDestroy(stream));
    IS(cuLaunchKernel(function(module, "alone"), 1, 1, 1, 1, 1, 1, 0, (CUstream)(uintptr_t)0x77, NULL, NULL), ERROR_INVALID_HANDLE);
    IS(cuLaunchKernel(function(module, "alone"), 0, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), ERROR_INVALID_VALUE);
    IS(cuLaunchKernel(function(module, "taker"), 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL), ERROR_INVALID_VALUE);
    OK(cuMemFree(at));
}

/* Attributes that say where and when a device runs its blocks are accepted; others are not, and clusters are checked. */
static void test_attributes(CUmodule module)
{
    CUlaunchAttribute attributes[] = {{.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {2, 1, 1}},
                                      {.id = CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                                       .value.cooperative = 1},
                                      {.id = CU_LAUNCH_ATTRIBUTE_LAUNCH_COMPLETION_EVENT}};
    CUlaunchConfig config = {.gridDimX = 4, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1,
                             .attrs = attributes, .numAttrs = 2};
    CUfunction f = function(module, "alone");
    OK(cuLaunchKernelEx(&config, f, NULL, NULL));
    OK(cuCtxSynchronize());
    config.gridDimX = 3;
    IS(cuLaunchKernelEx(&config, f, NULL, NULL), ERROR_INVALID_CLUSTER_SIZE);
    config.gridDimX = 0;
    IS(cuLaunchKernelEx(&config, f, NULL, NULL), ERROR_INVALID_VALUE);
    config.gridDimX = 4;
    config.numAttrs = 3;
    IS(cuLaunchKernelEx(&config, f, NULL, NULL), ERROR_NOT_SUPPORTED);
    config.numAttrs = 1;
    IS(cuLaunchKernelEx(&config, (CUfunction)(void *)&config, NULL, NULL), ERROR_NOT_SUPPORTED);
    config.numAttrs = 0;
    IS(cuLaunchKernelEx(&config, (CUfunction)(void *)&config, NULL, NULL), ERROR_INVALID_HANDLE);
}

/* In a graph it is a node like any other, which shows its parameters. */
static void test_graph(CUmodule module)
{
    CUstream stream = NULL;
    CUgraph graph = NULL;
    CUgraphExec exec = NULL;
    CUgraphNode node = NULL, other = NULL;
    CUdeviceptr at = 77;
    int n = 7;
    void *params[] = {&at, &n};
    size_t count = 1;
    CUDA_KERNEL_NODE_PARAMS shown;
    OK(cuStreamCreate(&stream, 0));
    OK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
    OK(cuLaunchKernel(function(module, "taker"), 2, 1, 1, 3, 1, 1, 0, stream, params, NULL));
    OK(cuStreamEndCapture(stream, &graph));
    OK(cuGraphGetNodes(graph, &node, &count));
    EQUAL(count, 1);
    OK(cuGraphKernelNodeGetParams(node, &shown));
    tap_ok(shown.func == function(module, "taker") && shown.gridDimX == 2 && *(CUdeviceptr *)shown.kernelParams[0] == 77 &&
               *(int *)shown.kernelParams[1] == 7,
           "what was launched");
    shown.gridDimX = 9;
    OK(cuGraphAddKernelNode(&other, graph, &node, 1, &shown));
    OK(cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphLaunch(exec, stream));
    OK(cuGraphLaunch(exec, stream));
    OK(cuStreamSynchronize(stream));
    OK(cuGraphExecDestroy(exec));
    OK(cuGraphDestroy(graph));
    OK(cuStreamDestroy(stream));
}

int main(void)
{
    CUmodule module = NULL;
    setenv("CUVMM_SIM", "sim:h100,kernels=skip", 1);
    rig_cubin(&cubin, 90, kernels, 3, NULL, 0);
    test_end();
    begin();
    OK(cuModuleLoadData(&module, cubin.at));
    test_order(module);
    test_attributes(module);
    test_graph(module);
    OK(cuModuleUnload(module));
    free(cubin.at);
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The effect of the environment on libcuda.so.1: the machine, the explanation of refusals, the source of kernels. Each case runs
 * in a process of its own, and the test reads its standard error. */
#include <sys/wait.h>
#include <unistd.h>

#include "findings.h"
#include "testing/rig.h"

struct world {
    const char *name;
    const char *sim, *backend, *explain, *kernels;
    int (*work)(const struct world *world);
    int devices;
    const char *says; /* expected on standard error; "": no message about calls */
};

static int asks(const struct world *world)
{
    int devices = 0;
    if (cuInit(0) != CUDA_SUCCESS || cuDeviceGetCount(&devices) != CUDA_SUCCESS)
        return 100;
    return devices == world->devices ? 0 : devices;
}

static int is_refused(const struct world *world)
{
    CUdeviceptr p = 0x77;
    if (asks(world))
        return 1;
    return cuMemAddressReserve(&p, 1, 0, 0, 0) == CUDA_ERROR_INVALID_VALUE && p == 0x77 ? 0 : 2;
}

static int does_not_open(const struct world *world)
{
    CUresult first = cuInit(0);
    int devices = 77;
    (void)world;
    return first != CUDA_SUCCESS && cuInit(0) == first && cuDeviceGetCount(&devices) == first && devices == 77 ? 0 : 1;
}

/* A checked process is counted as one that could not be checked, once. */
static int is_not_checked(const struct world *world)
{
    char shared[] = "/tmp/abi_environment.XXXXXX";
    struct findings_tally tally = {0};
    int fd = mkstemp(shared);
    if (write(fd, &tally, sizeof tally) != (ssize_t)sizeof tally)
        return 1;
    setenv("CUVMM_CHECK", "simulator", 1);
    setenv("CUVMM_CHECK_TALLY", shared, 1);
    int wrong = does_not_open(world);
    bool read = pread(fd, &tally, sizeof tally, 0) == (ssize_t)sizeof tally;
    unlink(shared);
    return wrong || !read || tally.begun != 1 || tally.stopped[FINDINGS_NO_MACHINE] != 1 || tally.checked;
}

static CUresult looked_for(const char *name)
{
    static CUmodule module;
    CUfunction f = NULL;
    CUresult result = module ? CUDA_SUCCESS : cuModuleLoadData(&module, "any image");
    return result == CUDA_SUCCESS ? cuModuleGetFunction(&f, module, name) : result;
}

static int in_context(const struct world *world)
{
    CUcontext context = NULL;
    return asks(world) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context);
}

/* Names as a C++ compiler mangles them; truncated or too long ones are not found. */
static int finds_names(const struct world *world)
{
    static const char *const good[] = {"vectorAdd", "_Z9vectorAddPKfS0_Pfi", "_ZN3one9vectorAddEv"};
    static const char *const bad[] = {"_Z0vectorAdd", "_Z10vectorAdd", "_Z99999999999999999999vectorAdd", "_ZvectorAdd",
                                      "_ZN3one", "_X9vectorAdd", ""};
    if (in_context(world))
        return 1;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        if (looked_for(good[i]) != CUDA_SUCCESS)
            return 10 + (int)i;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        if (looked_for(bad[i]) != CUDA_ERROR_NOT_FOUND)
            return 20 + (int)i;
    return 0;
}

static int finds_none(const struct world *world)
{
    return in_context(world) || looked_for("vectorAdd") != CUDA_ERROR_NOT_FOUND;
}

static int finds_ours(const struct world *world)
{
    return finds_none(world) || looked_for("fill") != CUDA_SUCCESS;
}

/* A layer refuses the query that another call makes internally, and answers the next one. */
static int asks_of_peers(const struct world *world)
{
    int value = 77;
    setenv("CUVMM_LAYERS", "fault=device_can_access_peer:1", 1);
    const CUdevice_P2PAttribute what = CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED;
    if (asks(world) || cuDeviceGetP2PAttribute(&value, what, 0, 1) == CUDA_SUCCESS || value != 77)
        return 1;
    return cuDeviceGetP2PAttribute(&value, what, 0, 1) == CUDA_SUCCESS && value == 1 ? 0 : 2;
}

/* Devices 0 and 1 are peers; 2 has none. */
static int has_no_peer(const struct world *world)
{
    CUcontext other = NULL;
    if (in_context(world) || cuDevicePrimaryCtxRetain(&other, 2) != CUDA_SUCCESS)
        return 1;
    return cuCtxEnablePeerAccess(other, 0) == CUDA_ERROR_PEER_ACCESS_UNSUPPORTED ? 0 : 2;
}

/* The accesses of a plugin's kernel are unknown before it runs: memory may be unmapped under it without a message. Its running
 * time does not count when work runs only while a call waits for it. */
static int waits_late(const struct world *world)
{
    CUmodule module = NULL;
    CUfunction f = NULL;
    CUdeviceptr p = 0, memory = 0;
    CUmemGenericAllocationHandle handle = 0;
    const CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    unsigned long long hour = 3600ull * 1000000000ull;
    unsigned char value = 5;
    void *params[] = {&memory, &hour, &value};
    if (in_context(world) || cuModuleLoadData(&module, "any image") || cuModuleGetFunction(&f, module, "slow") ||
        cuMemAlloc(&memory, 64) || cuMemAddressReserve(&p, 2 << 20, 0, 0, 0) || cuMemCreate(&handle, 2 << 20, &prop, 0) ||
        cuMemMap(p, 2 << 20, 0, handle, 0))
        return 1;
    if (cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL) || cuMemUnmap(p, 2 << 20) || cuCtxSynchronize())
        return 2;
    if (byte_at(memory) != 5)
        return 3;
    return cuMemFree(memory) || cuMemRelease(handle) || cuMemAddressFree(p, 2 << 20) || cuDevicePrimaryCtxRelease(0) ? 4 : 0;
}

static char lengthy[5000], many[70 * sizeof ABI_TEST_KERNELS];

static const struct world worlds[] = {
    {"nothing said", NULL, NULL, NULL, NULL, asks, 1, ""},
    {"a machine", "sim:h200x2", NULL, NULL, NULL, asks, 2, ""},
    {"the simulator without a machine", "sim", NULL, NULL, NULL, asks, 1, ""},
    {"a spec with a device list", "sim:h200x2,visible=1", NULL, NULL, NULL, asks, 1, ""},
    {"a spec with a schedule", "sim:h200x2,schedule=eager", NULL, NULL, NULL, asks, 2, ""},
    {"an empty spec", "", "sim:h200x2", NULL, NULL, asks, 2, ""},
    {"CUVMM_SIM wins over CUVMM_BACKEND", "sim:h100", "sim:h200x2", NULL, NULL, asks, 1, ""},
    {"a backend with layers", NULL, "trace=/dev/null | sim:h200x2", NULL, NULL, asks, 2, ""},
    {"a backend other than the simulator", NULL, "cuda", NULL, NULL, asks, 1, ""},
    {"an unknown machine", "sim:h1000", NULL, NULL, NULL, does_not_open, 0, "there is no machine"},
    {"a spec that is too long", lengthy, NULL, NULL, NULL, does_not_open, 0, "there is no machine"},
    {"explained", NULL, NULL, "1", NULL, is_refused, 1, "VMM-RESERVE-SIZE"},
    {"not explained", NULL, NULL, "0", NULL, is_refused, 1, ""},
    {"refusals without explanation", NULL, NULL, "", NULL, is_refused, 1, ""},
    {"kernels", NULL, NULL, NULL, ABI_TEST_KERNELS, finds_names, 1, "no kernel"},
    {"no kernels", NULL, NULL, NULL, NULL, finds_none, 1, "no kernel"},
    {"a missing library", NULL, NULL, NULL, "/no/such.so", finds_none, 1, "/no/such.so cannot be loaded"},
    {"this project's own kernels", NULL, NULL, NULL, "cuvmm", finds_ours, 1, "no kernel"},
    {"a layer that refuses a query", "sim:h200x2", NULL, NULL, NULL, asks_of_peers, 2, ""},
    {"a device without peers", "sim:odd", NULL, NULL, NULL, has_no_peer, 3, ""},
    {"work done late", "sim:h100,schedule=late", NULL, "1", ABI_TEST_KERNELS, waits_late, 1, ""},
    {"a machine that is checked and does not open", "sim:nosuch", NULL, NULL, NULL, is_not_checked, 0, "cannot be used"},
    {"too many libraries", NULL, NULL, NULL, many, finds_names, 1, "there are too many"},
};

static void set(const char *name, const char *value)
{
    if (value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

static int in_world(const struct world *world)
{
    set("CUVMM_SIM", world->sim);
    set("CUVMM_BACKEND", world->backend);
    set("CUVMM_EXPLAIN", world->explain);
    set("CUVMM_KERNELS", world->kernels);
    unsetenv("CUVMM_LAYERS");
    unsetenv("CUVMM_MACHINE");
    return world->work(world);
}

static void test_world(const struct world *world)
{
    static char said[65536];
    int ends[2], status = -1;
    size_t length = 0;
    ssize_t n;
    fflush(NULL);
    if (pipe(ends))
        tap_bail("no pipe");
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        exit(in_world(world));
    }
    close(ends[1]);
    while (length < sizeof said - 1 && (n = read(ends[0], said + length, sizeof said - 1 - length)) > 0)
        length += (size_t)n;
    said[length] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    tap_u64((uint64_t)status, 0, "%s: output and status are as expected", world->name);
    bool quiet = !strstr(said, "VMM-") && !strstr(said, "libcuda.so.1:"); /* a message about scarce addresses is fine */
    tap_ok(world->says[0] ? strstr(said, world->says) != NULL : quiet, "%s: \"%.60s\"", world->name, said);
}

int main(void)
{
    memset(lengthy, 'x', sizeof lengthy - 1);
    memcpy(lengthy, "sim:", 4);
    for (unsigned i = 0; i < 66; i++)
        snprintf(many + strlen(many), sizeof many - strlen(many), "%s%s", i ? ":" : "", ABI_TEST_KERNELS);
    for (size_t i = 0; i < sizeof worlds / sizeof worlds[0]; i++)
        test_world(&worlds[i]);
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Initialisation, devices and codes through libcuda.so.1. */
#include <sys/wait.h>
#include <unistd.h>

#include "testing/rig.h"

static void test_before_init(void)
{
    int n = -1;
    CUuuid uuid;
    char text[16];
    OK(cuDriverGetVersion(&n));
    EQUAL(n, 13000);
    IS(cuDeviceGetCount(&n), ERROR_NOT_INITIALIZED);
    IS(cuDeviceGetUuid(&uuid, 0), ERROR_NOT_INITIALIZED);
    IS(cuDeviceGetPCIBusId(text, 16, 0), ERROR_NOT_INITIALIZED);
    IS(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), ERROR_NOT_INITIALIZED);
    IS(cuInit(1), ERROR_INVALID_VALUE);
    IS(cuDeviceGetCount(&n), ERROR_NOT_INITIALIZED);
}

static void test_attributes(void)
{
    int n = -1, minor = -1;
    OK(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0));
    EQUAL(n, 1);
    OK(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0));
    EQUAL(n, 32);
    OK(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, 1));
    EQUAL(n, 2);
    OK(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_CLOCK_RATE, 0));
    tap_ok(n > 0, "the clock rate is positive, because programs divide by it: %d", n);
    OK(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0));
    EQUAL(n, 1);
    IS(cuDeviceGetAttribute(&n, (CUdevice_attribute)100000, 0), ERROR_INVALID_VALUE);
    IS(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_MAX, 0), ERROR_INVALID_VALUE);
    IS(cuDeviceGetAttribute(&n, (CUdevice_attribute)0, 0), ERROR_INVALID_VALUE);
    IS(cuDeviceGetAttribute(&n, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 9), ERROR_INVALID_DEVICE);
    IS(cuDeviceGetAttribute(NULL, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0), ERROR_INVALID_VALUE);
    OK(cuDeviceComputeCapability(&n, &minor, 0));
    EQUAL(n, 9);
    EQUAL(minor, 0);
}

/* A driver accepts every attribute that its version knows; programs query them one after another and stop at the first error. */
static void test_every_attribute(void)
{
    int refused = 0;
    for (int i = 1; i < CU_DEVICE_ATTRIBUTE_MAX; i++) {
        int value = -77;
        if (cuDeviceGetAttribute(&value, (CUdevice_attribute)i, 0) != CUDA_SUCCESS || value == -77)
            refused++;
    }
    EQUAL(refused, 0);
}

static void test_identifiers(void)
{
    CUdevice device = -1;
    CUuuid first, second, again;
    char text[16], luid[8];
    unsigned mask;
    OK(cuDeviceGetUuid(&first, 0));
    OK(cuDeviceGetUuid(&second, 1));
    OK(cuDeviceGetUuid(&again, 0));
    tap_ok(memcmp(&first, &second, sizeof first) != 0 && memcmp(&first, &again, sizeof first) == 0,
           "each device has its own UUID, which never changes");
    IS(cuDeviceGetUuid(NULL, 0), ERROR_INVALID_VALUE);
    IS(cuDeviceGetUuid(&first, 2), ERROR_INVALID_DEVICE);
    OK(cuDeviceGetPCIBusId(text, 13, 1));
    tap_text(text, "0000:02:00.0", "the bus address has the device's place");
    IS(cuDeviceGetPCIBusId(text, 12, 1), ERROR_INVALID_VALUE);
    OK(cuDeviceGetByPCIBusId(&device, text));
    EQUAL(device, 1);
    OK(cuDeviceGetByPCIBusId(&device, "01:00.0"));
    EQUAL(device, 0);
    IS(cuDeviceGetByPCIBusId(&device, "0000:77:00.0"), ERROR_INVALID_DEVICE);
    IS(cuDeviceGetByPCIBusId(&device, "nowhere"), ERROR_INVALID_VALUE);
    IS(cuDeviceGetLuid(luid, &mask, 0), ERROR_NOT_SUPPORTED);
}

static void test_peers(void)
{
    int n = -1;
    OK(cuDeviceCanAccessPeer(&n, 0, 1));
    EQUAL(n, 1);
    OK(cuDeviceGetP2PAttribute(&n, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
    EQUAL(n, 1);
    IS(cuDeviceGetP2PAttribute(&n, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0), ERROR_INVALID_DEVICE);
    IS(cuDeviceGetP2PAttribute(&n, (CUdevice_P2PAttribute)77, 0, 1), ERROR_INVALID_VALUE);
    IS(cuDeviceGetP2PAttribute(&n, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 5), ERROR_INVALID_DEVICE);
}

static void test_codes(void)
{
    const char *text = "";
    OK(cuGetErrorName(CUDA_ERROR_NVLINK_UNCORRECTABLE, &text));
    tap_text(text, "CUDA_ERROR_NVLINK_UNCORRECTABLE", "a code's name");
    OK(cuGetErrorString(CUDA_ERROR_NVLINK_UNCORRECTABLE, &text));
    tap_text(text, "uncorrectable NVLink error detected during the execution", "the error has the driver's description");
    OK(cuGetErrorString(CUDA_ERROR_OUT_OF_MEMORY, &text));
    tap_text(text, "out of memory", "the driver's description is used where this project has its own");
    IS(cuGetErrorName((CUresult)12345, &text), ERROR_INVALID_VALUE);
    tap_ok(!text, "an unknown code has no description");
    IS(cuGetErrorString((CUresult)12345, &text), ERROR_INVALID_VALUE);
    tap_ok(!text, "an unknown code has no name");
}

/* The first wrong limit on a machine whose profile lists few limits (0 if none): the others are those of an H100. */
static int bare(void)
{
    CUcontext context = NULL;
    int warp = 0, pitch = 0;
    setenv("CUVMM_SIM", "sim:min", 1);
    if (cuInit(0) || cuDevicePrimaryCtxRetain(&context, 0) || cuCtxSetCurrent(context))
        return 1;
    if (cuDeviceGetAttribute(&warp, CU_DEVICE_ATTRIBUTE_WARP_SIZE, 0) || warp != 32)
        return 2;
    if (cuDeviceGetAttribute(&pitch, CU_DEVICE_ATTRIBUTE_MAX_PITCH, 0) || pitch != 2147483647)
        return 3;
    return 0;
}

static void test_bare(void)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        exit(bare());
    waitpid(child, &status, 0);
    EQUAL(WIFEXITED(status) ? WEXITSTATUS(status) : 99, 0);
}

int main(void)
{
    int n = 0;
    size_t bytes = 0;
    char name[64] = "";
    CUdevice device = -1;
    test_bare();
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    test_before_init();
    OK(cuInit(0));
    OK(cuDeviceGetCount(&n));
    EQUAL(n, 2);
    OK(cuDeviceGet(&device, 1));
    EQUAL(device, 1);
    OK(cuDeviceGetName(name, sizeof name, 0));
    tap_text(name, "NVIDIA H200", "the profile's name");
    OK(cuDeviceTotalMem(&bytes, 0));
    EQUAL(bytes, UINT64_C(150109880320));
    test_attributes();
    test_every_attribute();
    test_identifiers();
    test_peers();
    test_codes();
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* 65,537 objects of each kind that libcuda.so.1 counts itself, and 31 devices: first, middle and last. A plain run checks the
 * full number of objects; slow tools, with CUVMM_TEST_SCALE, check every step of fewer objects. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "random.h"
#include "testing/rig.h"

enum { MANY = 65537, DEVICES = 31, PAGE = 4096 };

/* A machine with as many devices as possible; its file is deleted after the library has read it. */
static void use_machine(char *path)
{
    static char spec[64];
    static const char text[] = "base = max\nname = many\ndevices = 31\n";
    int file = mkstemp(path);
    if (file < 0 || write(file, text, sizeof text - 1) != sizeof text - 1)
        tap_bail("%s cannot be written", path);
    close(file);
    snprintf(spec, sizeof spec, "sim:%s", path);
    setenv("CUVMM_SIM", spec, 1);
}

static bool opened(int device, int owner)
{
    return device != owner && (3 * device + 7 * owner) % 4 == 0;
}

/* A device has access only to the memory of devices that were opened to it, not of their neighbours. */
static void memory_of_peers(const CUcontext *context)
{
    CUdeviceptr memory[DEVICES];
    unsigned wrong = 0, refused = 0;
    for (int device = 0; device < DEVICES; device++) {
        cuCtxSetCurrent(context[device]);
        refused += cuMemAlloc(&memory[device], PAGE) != CUDA_SUCCESS;
        for (int owner = 0; owner < DEVICES; owner++)
            refused += opened(device, owner) && cuCtxEnablePeerAccess(context[owner], 0) != CUDA_SUCCESS;
    }
    EQUAL(refused, 0);
    for (int device = 0; device < DEVICES; device++) {
        cuCtxSetCurrent(context[device]);
        for (int owner = 0; owner < DEVICES; owner++)
            wrong += (cuMemsetD8(memory[owner], 1, 1) == CUDA_SUCCESS) != (device == owner || opened(device, owner));
    }
    EQUAL(wrong, 0);
    for (int device = 0; device < DEVICES; device++) {
        cuCtxSetCurrent(context[device]);
        refused += cuMemFree(memory[device]) != CUDA_SUCCESS;
    }
    EQUAL(refused, 0);
}

static void registered_memory(void)
{
    unsigned char *at = NULL;
    CUdeviceptr device = 0;
    unsigned wrong = 0, type = 0, many = random_rounds(MANY), last = many - 1, looked_at[] = {0, many / 2, last};
    if (posix_memalign((void **)&at, PAGE, (size_t)many * PAGE))
        tap_bail("no memory");
    for (unsigned i = 0; i < many; i++)
        wrong += cuMemHostRegister(at + (size_t)i * PAGE, PAGE, 0) != CUDA_SUCCESS;
    EQUAL(wrong, 0);
    for (unsigned i = 0; i < sizeof looked_at / sizeof looked_at[0]; i++) {
        unsigned char *one = at + (size_t)looked_at[i] * PAGE;
        OK(cuMemHostGetDevicePointer(&device, one, 0));
        OK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, device));
        EQUAL(type, CU_MEMORYTYPE_HOST);
        IS(cuMemHostRegister(one, PAGE, 0), ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    }
    for (unsigned i = 0; i < many; i++)
        wrong += cuMemHostUnregister(at + (size_t)i * PAGE) != CUDA_SUCCESS;
    EQUAL(wrong, 0);
    IS(cuMemHostUnregister(at + (size_t)last * PAGE), ERROR_HOST_MEMORY_NOT_REGISTERED);
    free(at);
}

int main(void)
{
    char path[] = "/tmp/cuvmm-scale.XXXXXX";
    CUcontext context[DEVICES] = {NULL};
    unsigned wrong = 0;
    use_machine(path);
    OK(cuInit(0));
    unlink(path);
    for (int device = 0; device < DEVICES; device++)
        wrong += cuDevicePrimaryCtxRetain(&context[device], device) != CUDA_SUCCESS;
    EQUAL(wrong, 0);
    memory_of_peers(context);
    registered_memory();
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* A driver library with only the essential functions (RT_DRIVER_CORE) and no lookup of others, like an old one:
 * FAKE_VERSION is its version, FAKE_INIT the result of cuInit. If FAKE_CONTEXT is not 0, each thread has a current
 * context of a device unknown to the runtime; else there is no context, and none can be created. */
#include <stdlib.h>

enum { NEEDS_NEWER = 36 }; /* cudaErrorCallRequiresNewerDriver: the result of a call that needs any other function */

#pragma GCC visibility push(default)
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuCtxGetCurrent(void **context);
int cuCtxSetCurrent(void *context);
int cuCtxGetDevice(int *device);
int cuDevicePrimaryCtxRetain(void **context, int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuDevicePrimaryCtxReset_v2(int device);
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active);
#pragma GCC visibility pop

static int number(const char *name)
{
    const char *text = getenv(name);
    return text ? atoi(text) : 0;
}

int cuInit(unsigned flags)
{
    return flags ? 1 : number("FAKE_INIT");
}

int cuDriverGetVersion(int *version)
{
    *version = number("FAKE_VERSION");
    return *version < 0;
}

int cuDeviceGetCount(int *count)
{
    *count = 1;
    return 0;
}

int cuCtxGetCurrent(void **context)
{
    static int only;
    *context = number("FAKE_CONTEXT") ? &only : NULL;
    return 0;
}

int cuCtxGetDevice(int *device)
{
    *device = 64;
    return !number("FAKE_CONTEXT");
}

int cuCtxSetCurrent(void *context)
{
    return context ? NEEDS_NEWER : 0;
}

int cuDevicePrimaryCtxRetain(void **context, int device)
{
    (void)context, (void)device;
    return NEEDS_NEWER;
}

int cuDevicePrimaryCtxRelease_v2(int device)
{
    (void)device;
    return NEEDS_NEWER;
}

int cuDevicePrimaryCtxReset_v2(int device)
{
    (void)device;
    return NEEDS_NEWER;
}

int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    (void)device;
    *flags = 0;
    *active = 0;
    return 0;
}

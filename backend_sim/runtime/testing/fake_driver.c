/* SPDX-License-Identifier: Apache-2.0 */
/* A driver's library that has five functions and nothing to find others by, as an old one: FAKE_VERSION is its version,
 * FAKE_INIT what cuInit answers, FAKE_CONTEXT other than 0 makes each thread have a current context,
 * of a device beyond those that the runtime knows. */
#include <stdlib.h>

#pragma GCC visibility push(default)
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuCtxGetCurrent(void **context);
int cuCtxGetDevice(int *device);
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

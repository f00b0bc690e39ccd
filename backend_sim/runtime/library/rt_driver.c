/* SPDX-License-Identifier: Apache-2.0 */
#include "rt.h"

#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "entries.h"
#include "os_environment.h"

struct rt_driver rt_driver;

typedef CUresult (*get_proc_address)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

static void *handle;
static get_proc_address ask;

/* POSIX lets dlsym return functions as void *, which C cannot convert. */
static void *symbol(const char *name)
{
    return dlsym(handle, name);
}

/* Drivers before CUDA 12.0 have no cuGetProcAddress_v2; their symbols have the version as a suffix. Per-thread forms
 * exist only since CUDA 7.0, even for older names: for an older version, the driver returns the other form. */
static void find(void *pointers, const char *name, int version, const char *entry)
{
    static const cuuint64_t form[] = {CU_GET_PROC_ADDRESS_LEGACY_STREAM, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM};
    const int versions[] = {version, version < 7000 ? 7000 : version};
    void *found[2] = {NULL, NULL};
    for (int i = 0; i < 2; i++) {
        CUdriverProcAddressQueryResult status;
        if (!ask || ask(name, &found[i], versions[i], form[i], &status) != CUDA_SUCCESS)
            found[i] = symbol(entry);
    }
    memcpy(pointers, found, sizeof found);
}

#define NAME_OF(symbol) VMM_ENTRY_NAME(symbol)
#define VERSION_OF(symbol) VMM_ENTRY_VERSION(symbol)
#define TEXT(symbol) #symbol
#define TEXT_OF(symbol) TEXT(symbol)

static void load(void)
{
    const char *path = os_environment("CUVMM_LIBCUDA");
    handle = dlopen(path ? path : "libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return;
    void *found = symbol("cuGetProcAddress_v2");
    memcpy(&ask, &found, sizeof ask);
#define RT_DRIVER(name) find(rt_driver.to_##name, NAME_OF(name), VERSION_OF(name), TEXT_OF(name));
#define RT_DRIVER_AS(member, name, version, entry) find(rt_driver.to_##member, name, version, entry);
#include "rt_driver.def"
}

static bool has_core(void)
{
    const bool has[] = {
#define RT_DRIVER(name)
#define RT_DRIVER_CORE(name) rt_driver.to_##name[0] != NULL,
#include "rt_driver.def"
    };
    return !memchr(has, false, sizeof has);
}

bool rt_driver_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return handle && has_core();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* rig.h - finds the fake libraries and their contents for the tests. The fakes are next to the tests, in BUILD/fake. */
#ifndef CUVMM_CUDA_RIG_H
#define CUVMM_CUDA_RIG_H

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "fake.h"
#include "tap.h"

enum { RIG_PATH = 1024 };

struct rig {
    char path[RIG_PATH];
    char spec[RIG_PATH + 8]; /* "cuda:" path */
    struct fake_driver *driver;
    fake_log_fn log;
};

static inline void rig_find(struct rig *rig, const char *argv0, const char *name)
{
    const char *slash = strrchr(argv0, '/');
    int folder = slash ? (int)(slash - argv0) : 1;
    int length = snprintf(rig->path, sizeof rig->path, "%.*s/../../fake/%s", folder, slash ? argv0 : ".", name);
    if (length >= RIG_PATH)
        tap_bail("the path of the fakes is too long");
    snprintf(rig->spec, sizeof rig->spec, "cuda:%s", rig->path);
}

/* The library stays loaded, as the backend leaves it, so the backend uses this very one. */
static inline void rig_load(struct rig *rig, const char *argv0, const char *name)
{
    fake_driver_fn driver;
    rig_find(rig, argv0, name);
    void *handle = dlopen(rig->path, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle ? dlsym(handle, "fake_driver") : NULL, *log = handle ? dlsym(handle, "fake_log") : NULL;
    if (!symbol || !log)
        tap_bail("%s: %s", rig->path, dlerror());
    memcpy(&driver, &symbol, sizeof driver);
    memcpy(&rig->log, &log, sizeof log);
    rig->driver = driver();
}

/* Resets everything except the registrations. */
static inline void rig_reset(struct rig *rig)
{
    struct fake_driver fresh = {0};
    memcpy(fresh.listener, rig->driver->listener, sizeof fresh.listener);
    *rig->driver = fresh;
}

static inline unsigned rig_listeners(const struct rig *rig)
{
    unsigned count = 0;
    for (unsigned i = 0; i < FAKE_LISTENERS; i++)
        count += rig->driver->listener[i].hear != NULL;
    return count;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "in_place.h"

#include <stdlib.h>
#include <string.h>

/* The backend's part of a spec: what follows the last layer. */
static const char *backend_of(const char *spec)
{
    const char *bar = strrchr(spec, '|'), *backend = bar ? bar + 1 : spec;
    return backend + strspn(backend, " ");
}

static const char *meant_by(const char *spec)
{
    const char *meant = spec ? spec : getenv("CUVMM_BACKEND");
    return meant && *meant ? meant : "sim:h100";
}

static bool is_sim(const char *backend)
{
    return !strcmp(backend, "sim") || !strncmp(backend, "sim:", 4);
}

bool opens_without_arena(const char *spec)
{
    const char *backend = backend_of(meant_by(spec));
    return is_sim(backend) && (!strstr(backend, "arena=") || strstr(backend, "arena=none"));
}

static vmm_result open_with(const char *wanted, const char *spec, vmm_system **sys)
{
    const char *meant = meant_by(spec), *backend = backend_of(meant);
    if (!is_sim(backend) || strstr(backend, "arena="))
        return vmm_open(spec, sys);
    char *placed = malloc(strlen(meant) + 1 + strlen(wanted) + 1);
    if (!placed)
        return VMM_ERROR_OUT_OF_MEMORY;
    strcpy(placed, meant);
    strcat(strcat(placed, strcmp(backend, "sim") ? "" : ":"), wanted);
    vmm_result result = vmm_open(placed, sys);
    free(placed);
    return result == VMM_SUCCESS ? result : vmm_open(spec, sys); /* messages then refer to the requested spec */
}

vmm_result open_in_place(const char *spec, vmm_system **sys)
{
    return open_with(",arena=none", spec, sys);
}

vmm_result open_in_place_backed(const char *spec, vmm_system **sys)
{
    return open_with(",arena=profile", spec, sys);
}

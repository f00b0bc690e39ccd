/* SPDX-License-Identifier: Apache-2.0 */
/* device - is there a device, of what kind, and what is its profile?
 *
 *   device [--backend SPEC]              a TAP point: there is a device that can be used
 *   device [--backend SPEC] --kind       its kind on a line: h100, h200, h200x2 or other, and its name
 *   device [--backend SPEC] --profile NAME SOURCE      its profile (device.h)
 *
 * SPEC as for vmm_open, else sim:h100. Without a device the status is 1 and the reason is on standard error.
 */
#include <stdlib.h>
#include <string.h>

#include "device.h"
#include "tap.h"

struct options {
    const char *spec, *name, *source;
    bool kind;
};

static bool parse(struct options *o, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--backend") == 0 && i + 1 < argc) {
            o->spec = argv[++i];
        } else if (strcmp(argv[i], "--kind") == 0) {
            o->kind = true;
        } else if (strcmp(argv[i], "--profile") == 0 && i + 2 < argc) {
            o->name = argv[++i];
            o->source = argv[++i];
        } else {
            return false;
        }
    }
    return true;
}

/* Opens the backend and looks for a device that supports virtual memory management; NULL, after printing the reason,
 * if there is none. */
static vmm_system *open_device(const char *spec, char *name, int size, int *count)
{
    vmm_system *sys = NULL;
    int supported = 0;
    vmm_result result = vmm_open(spec, &sys);
    if (result == VMM_SUCCESS)
        result = vmm_init(sys, 0);
    if (result == VMM_SUCCESS)
        result = vmm_device_get_count(sys, count);
    if (result == VMM_SUCCESS)
        result = vmm_device_get_name(sys, name, size, 0);
    if (result != VMM_SUCCESS) {
        fprintf(stderr, "device: %s: no device can be used: %s: %s\n", spec, vmm_result_name(result),
                vmm_last_detail()->note);
        vmm_close(sys);
        return NULL;
    }
    vmm_device_get_attribute(sys, &supported, VMM_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 0);
    if (supported)
        return sys;
    fprintf(stderr, "device: %s: %s has no virtual memory management\n", spec, name);
    vmm_close(sys);
    return NULL;
}

int main(int argc, char **argv)
{
    struct options o = {.spec = "sim:h100"};
    char name[128] = "";
    int count = 0, status = 0;
    bool same = false;
    if (!parse(&o, argc, argv)) {
        fprintf(stderr, "usage: device [--backend SPEC] [--kind | --profile NAME SOURCE]\n");
        return 2;
    }
    vmm_system *sys = open_device(o.spec, name, sizeof name, &count);
    bool tap = !o.kind && !o.name;
    if (tap) {
        tap_ok(sys != NULL, "%s has a device: %d of %s", o.spec, count, name);
        status = tap_done();
    } else if (!sys) {
        status = 1;
    } else if (o.kind) {
        size_t nearest = device_nearest(name, count, &same);
        printf("%s %s\n", same ? sim_profile_builtin_name(nearest) : "other", name);
    } else {
        status = device_profile(sys, o.name, o.source, stdout) == VMM_SUCCESS ? 0 : 1;
    }
    vmm_close(sys);
    return status;
}

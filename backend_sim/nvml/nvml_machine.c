/* SPDX-License-Identifier: Apache-2.0 */
#include "nvml_machine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#pragma GCC visibility push(default)
#include "abi/nvml.h"
#pragma GCC visibility pop

#include "detail.h"
#include "lifecycle.h"
#include "sim_open.h"
#include "spec.h"

/* From NVIDIA's data sheets: H100 SXM and H200 have PCIe 5.0 x16, 18 links of NVLink 4 and 128 cores per
 * multiprocessor; HGX B200 has the same with NVLink 5. The video clock was recorded on an H200. */
static const struct nvml_chip chips[] = {
    {9, NVML_DEVICE_ARCH_HOPPER, 5, 16, 18, NVML_NVLINK_VERSION_4_0, 128, 1545},
    {10, NVML_DEVICE_ARCH_BLACKWELL, 5, 16, 18, NVML_NVLINK_VERSION_5_0, 128, 0},
};

/* ---- which machine ---- */

static bool read_profile(struct nvml_machine *machine, const char *args, char why[SHARE_WHY])
{
    struct sim_options options;
    if (sim_read_spec(args, &machine->profile, &options) != VMM_SUCCESS) {
        snprintf(why, SHARE_WHY, "%.199s", vmm_last_detail()->note);
        return false;
    }
    snprintf(machine->name, sizeof machine->name, "%s", options.machine);
    snprintf(machine->imex, sizeof machine->imex, "%s", options.imex);
    for (size_t i = 0; i < sizeof chips / sizeof chips[0]; i++)
        if (chips[i].major == nvml_attribute(machine, VMM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR))
            machine->chip = &chips[i];
    return true;
}

bool nvml_machine_find(struct nvml_machine *machine, char why[SHARE_WHY])
{
    const char *text = sim_spec_of_environment();
    struct spec spec;
    struct spec_error error;
    *machine = (struct nvml_machine){.share = NULL};
    if (!spec_parse(text, &spec, &error)) {
        snprintf(why, SHARE_WHY, "\"%.60s\": %.120s", text, error.text);
        return false;
    }
    const struct spec_part *backend = &spec.part[spec.count - 1];
    bool simulated = strcmp(backend->name, "sim") == 0;
    if (!simulated)
        snprintf(why, SHARE_WHY, "CUVMM_SIM is \"%.60s\", which is not simulated: expected sim:PROFILE", text);
    bool found = simulated && read_profile(machine, backend->args, why);
    spec_free(&spec);
    return found;
}

/* ---- memory in use ---- */

void nvml_machine_close(struct nvml_machine *machine)
{
    if (machine->share)
        share_close(machine->share);
    machine->share = NULL;
}

/* Opens the state, if there is one. False, with the reason in why, when it cannot be looked at. */
static bool look(struct nvml_machine *machine, char why[SHARE_WHY])
{
    char entry[SHARE_NAME_MAX + 3];
    why[0] = '\0';
    if (machine->share && machine->stamp != life_stamp()) /* it is the parent's */
        nvml_machine_close(machine);
    if (machine->share)
        return true;
    snprintf(entry, sizeof entry, "m-%s", machine->name);
    machine->stamp = life_stamp();
    machine->share = share_open_there(entry, why);
    return machine->share || !why[0];
}

static bool shared_use(struct nvml_machine *machine, int place, struct share_inspect_use *use, char why[SHARE_WHY])
{
    if (!look(machine, why))
        return false;
    if (!machine->share || share_inspect_use(machine->share, place, use))
        return true;
    snprintf(why, SHARE_WHY, "%s", share_why(machine->share));
    nvml_machine_close(machine);
    return false;
}

/* A machine without a name belongs only to this process: libcuda.so.1 has it, if it is ours. */
static void own_use(int place, struct share_inspect_use *use)
{
    bool (*used)(int place, uint64_t *bytes) = NULL;
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (!library)
        return;
    *(void **)&used = dlsym(library, "cuvmmDeviceUsed");
    if (used && used(place, &use->used) && use->used) {
        use->processes = 1;
        use->process[0].pid = os_pid();
        use->process[0].bytes = use->used;
    }
    dlclose(library);
}

bool nvml_machine_use(struct nvml_machine *machine, int place, struct share_inspect_use *use, char why[SHARE_WHY])
{
    *use = (struct share_inspect_use){.used = 0};
    if (machine->name[0])
        return shared_use(machine, place, use, why);
    own_use(place, use);
    return true;
}

/* ---- descriptions of the devices ---- */

int nvml_attribute(const struct nvml_machine *machine, int attribute)
{
    int value = 0;
    sim_profile_attribute(&machine->profile, attribute, &value);
    return value;
}

bool nvml_are_peers(const struct nvml_machine *machine, int from, int to)
{
    return machine->profile.peers[from] >> to & 1;
}

unsigned nvml_links(const struct nvml_machine *machine, int place)
{
    return machine->chip && machine->profile.peers[place] ? machine->chip->links : 0;
}

int nvml_node(const struct nvml_machine *machine)
{
    return nvml_attribute(machine, VMM_DEVICE_ATTRIBUTE_HOST_NUMA_ID);
}

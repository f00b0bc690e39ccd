/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_machine.h - the simulated machine that libnvidia-ml.so.1 reports: the one that libcuda.so.1 opens in the same
 * environment, with all its devices, regardless of CUDA_VISIBLE_DEVICES.
 *
 *     CUVMM_SIM, CUVMM_BACKEND, CUVMM_MACHINE    the profile: what the devices are             read once, by nvmlInit
 *     the shared state of that name              memory in use, by all processes               looked at from outside
 *     no name                                    libcuda.so.1 of this process is asked         (cuvmmDeviceUsed)
 *
 * Inspection does not join the machine: it takes no slot, context or memory. The state stays open from the first
 * inspection to the last nvmlShutdown; if no process has created it yet, or a fork has closed it, the next inspection
 * tries again.
 */
#ifndef SIM_NVML_MACHINE_H
#define SIM_NVML_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "open_options.h"
#include "profile.h"
#include "share_inspect.h"

/* Values from an architecture's data sheets that profiles lack. */
struct nvml_chip {
    int major; /* of the compute capability */
    unsigned architecture, pcie_generation, pcie_width, links, link_version, cores; /* cores per multiprocessor */
    unsigned video_clock; /* MHz; 0: not known */
};

struct nvml_machine {
    struct sim_profile profile;
    char name[SHARE_NAME_MAX + 1]; /* "": no other process shares it */
    char imex[IMEX_PATH_MAX];
    const struct nvml_chip *chip; /* NULL: unknown */
    struct share *share;          /* NULL: not inspected yet, or it does not exist */
    uint64_t stamp;               /* the process that opened it (life_stamp) */
};

/* Determines the machine. False, with the reason in why, when there is none. */
bool nvml_machine_find(struct nvml_machine *machine, char why[SHARE_WHY]);
void nvml_machine_close(struct nvml_machine *machine);

/* The processes that use a device's memory. False, with the reason in why, if the shared state is locked by a stopped
 * process, or damaged. */
bool nvml_machine_use(struct nvml_machine *machine, int place, struct share_inspect_use *use, char why[SHARE_WHY]);

/* A device attribute; 0 when the profile does not list it. */
int nvml_attribute(const struct nvml_machine *machine, int attribute);
/* No device is its own peer, or the peer of one that does not exist (profile_check.c). */
bool nvml_are_peers(const struct nvml_machine *machine, int from, int to);
/* The number of a device's connected NVLinks: none without a peer. */
unsigned nvml_links(const struct nvml_machine *machine, int place);
/* The node of the host that the devices are attached to; -1: none. */
int nvml_node(const struct nvml_machine *machine);

#endif

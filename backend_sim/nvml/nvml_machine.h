/* SPDX-License-Identifier: Apache-2.0 */
/* nvml_machine.h - the simulated machine that libnvidia-ml.so.1 reports: the one that libcuda.so.1 opens in the same
 * environment, with all its devices, whatever CUDA_VISIBLE_DEVICES says.
 *
 *     CUVMM_SIM, CUVMM_BACKEND, CUVMM_MACHINE    the profile: what the devices are             read once, by nvmlInit
 *     the shared state of that name              memory in use, by all processes               looked at from outside
 *     no name                                    libcuda.so.1 of this process is asked         (cuvmmDeviceUsed)
 *
 * Looking takes no part in the machine: no slot, no context, no memory. The state stays open from the first look to the last
 * nvmlShutdown; where no process has made it yet, or a fork has closed it, the next look tries again.
 */
#ifndef SIM_NVML_MACHINE_H
#define SIM_NVML_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#include "open_options.h"
#include "profile.h"
#include "share_inspect.h"

/* What the data sheets of an architecture say and no profile does. */
struct nvml_chip {
    int major; /* of the compute capability */
    unsigned architecture, pcie_generation, pcie_width, links, link_version, cores; /* cores of a multiprocessor */
    unsigned video_clock; /* MHz; 0: not known */
};

struct nvml_machine {
    struct sim_profile profile;
    char name[SHARE_NAME_MAX + 1]; /* "": no other process shares it */
    char imex[IMEX_PATH_MAX];
    const struct nvml_chip *chip; /* NULL: nothing is known of it */
    struct share *share;          /* NULL: not looked at, or not there */
    uint64_t stamp;               /* the process that looked (life_stamp) */
};

/* Reads which machine it is. False, with the reason in why, when there is none. */
bool nvml_machine_find(struct nvml_machine *machine, char why[SHARE_WHY]);
void nvml_machine_close(struct nvml_machine *machine);

/* Who uses the memory of a device. False, with the reason in why, when the shared state is held up or damaged. */
bool nvml_machine_use(struct nvml_machine *machine, int place, struct share_inspect_use *use, char why[SHARE_WHY]);

/* A device attribute; 0 when the profile does not list it. */
int nvml_attribute(const struct nvml_machine *machine, int attribute);
/* No device is its own peer, and none of one that is not there (profile_check.c). */
bool nvml_are_peers(const struct nvml_machine *machine, int from, int to);
/* How many NVLinks a device has that lead somewhere: none without a peer. */
unsigned nvml_links(const struct nvml_machine *machine, int place);
/* The node of the host that the devices are attached to; -1: none. */
int nvml_node(const struct nvml_machine *machine);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - describes a machine as a profile of the simulator, through queries of the public API.
 *
 *     driver -> [device_profile] -> "base = h100 / device.memory = 85017493504 / ..." -> sim:FILE
 *
 * The profile holds what queries return; the rest (address choice, host memory) comes from the nearest built-in
 * profile: the one with the same device name and count, else with the same count, else the first.
 */
#ifndef CUVMM_CONFORMANCE_DEVICE_H
#define CUVMM_CONFORMANCE_DEVICE_H

#include <stdio.h>

#include "profile.h"

/* The index of the nearest built-in profile among those recorded on a machine. */
size_t device_nearest(const char *device_name, int devices, bool *same_kind);

/* Writes the profile of the machine that sys is initialised on. name becomes the profile's name, source its origin.
 * Returns the first result other than success; the profile is then incomplete. */
vmm_result device_profile(vmm_system *sys, const char *name, const char *source, FILE *out);

#endif

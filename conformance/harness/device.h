/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - a machine described as a profile of the simulator, by asking it through the public API.
 *
 *     driver -> [device_profile] -> "base = h100 / device.memory = 85017493504 / ..." -> sim:FILE
 *
 * What can be asked is written; the rest (how addresses are dealt out, host memory) is taken from the built-in profile
 * that is nearest: the one of the same device name and count, else of the same count, else the first.
 */
#ifndef CUVMM_CONFORMANCE_DEVICE_H
#define CUVMM_CONFORMANCE_DEVICE_H

#include <stdio.h>

#include "profile.h"

/* The index of the nearest built-in profile among those that were recorded on a machine. */
size_t device_nearest(const char *device_name, int devices, bool *same_kind);

/* Writes the profile of the machine that sys is initialised on. name becomes the profile's name, source tells where it
 * comes from. Returns the first result that was no success; what was written then is incomplete. */
vmm_result device_profile(vmm_system *sys, const char *name, const char *source, FILE *out);

#endif

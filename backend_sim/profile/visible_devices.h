/* SPDX-License-Identifier: Apache-2.0 */
/* visible_devices.h - which devices of a machine a process sees, and their ordinals there: CUDA_VISIBLE_DEVICES.
 *
 *     place      [ 0 ][ 1 ][ 2 ][ 3 ]    in the machine: as in the shared state (share_state.h)
 *     list 2,0     1    -    0    -      the process calls place 2 its device 0, and place 0 its device 1
 *     place[]    = 2, 0, 1, 3            ordinals of hidden devices follow, since memory of theirs can be imported
 *
 * In a process, visible devices have the ordinals 0 to seen - 1, and hidden ones those up to all - 1.
 */
#ifndef SIM_VISIBLE_DEVICES_H
#define SIM_VISIBLE_DEVICES_H

#include <stdbool.h>

#include "profile.h"

struct visible_devices {
    int seen, all;
    int place[VMM_MAX_DEVICES];
};

/* The environment variable, and the option's value that selects it. */
#define VISIBLE_VARIABLE "CUDA_VISIBLE_DEVICES"
#define VISIBLE_ENVIRONMENT "env"

enum { VISIBLE_UUID = 16 };

/* Every device, in the machine's order. */
void visible_devices_all(struct visible_devices *visible, int devices);

/* Reads the variable's value as the driver does; NULL: it is not set. Measured (conformance/recorded/facts/copies.c, group V):
 *
 *     1,0      numbers, read as by strtol and cut to 32 bits; what is no device ends the list
 *     GPU-4f   all are UUIDs, where the first one is: as many digits as tell it from others; what no device has ends the list
 *     0,0      a device twice: INVALID_DEVICE
 *     ""       none: NO_DEVICE, as where the first one is none
 */
vmm_result visible_devices_read(struct visible_devices *visible, const char *list, const struct sim_profile *machine);

/* Ordinals of this machine separated by ':', each at most once. False when list is none. */
bool visible_devices_choose(struct visible_devices *visible, const char *list, int devices);

/* The ordinal of a place below visible->all. */
int visible_devices_ordinal(const struct visible_devices *visible, int place);

/* The machine as the process sees it. */
void visible_devices_apply(const struct visible_devices *visible, const struct sim_profile *machine, struct sim_profile *seen);

/* The UUID of the device at a place, the same for every process. */
void visible_devices_uuid(const struct sim_profile *machine, int place, unsigned char uuid[VISIBLE_UUID]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* visible_devices.h - the devices of a machine that a process sees, and their ordinals in that process: CUDA_VISIBLE_DEVICES.
 *
 *     place      [ 0 ][ 1 ][ 2 ][ 3 ]    the ordinal in the machine, and in the shared state (share_state.h)
 *     list 2,0     1    -    0    -      the process calls place 2 its device 0, and place 0 its device 1
 *     place[]    = 2, 0, 1, 3            hidden devices follow, because the process can import their memory
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

/* Makes every device visible, in the machine's order. */
void visible_devices_all(struct visible_devices *visible, int devices);

/* Parses the variable's value as the driver does; NULL: it is not set. Measured (conformance/recorded/facts/copies.c, group V):
 *
 *     1,0      numbers as parsed by strtol, truncated to 32 bits; a number that is not a device ends the list
 *     GPU-4f   UUIDs throughout, if the first one is: unambiguous prefixes; one that no device has ends the list
 *     0,0      a device twice: INVALID_DEVICE
 *     ""       no device: NO_DEVICE, as when the first entry is not a device
 */
vmm_result visible_devices_read(struct visible_devices *visible, const char *list, const struct sim_profile *machine);

/* Parses ordinals of this machine separated by ':', each at most once. False when list is invalid. */
bool visible_devices_choose(struct visible_devices *visible, const char *list, int devices);

/* The process's ordinal for a place below visible->all. */
int visible_devices_ordinal(const struct visible_devices *visible, int place);

/* Describes the machine as the process sees it. */
void visible_devices_apply(const struct visible_devices *visible, const struct sim_profile *machine, struct sim_profile *seen);

/* The UUID of the device at a place, the same in every process. */
void visible_devices_uuid(const struct sim_profile *machine, int place, unsigned char uuid[VISIBLE_UUID]);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* abi_attribute.h - device attributes that the profile does not define.
 *
 *     cuDeviceGetAttribute(16)    the profile's line       attribute.16 = 132
 *     cuDeviceGetAttribute(33)    from here                the bus of the device
 *     cuDeviceGetAttribute(115)   from here                0: this library has no memory pools, even if the device has
 *     cuDeviceGetAttribute(10)    no line of a profile     32, as for an H100; 0 for a feature instead of a limit
 *     cuDeviceGetAttribute(148)   nowhere                  INVALID_VALUE, as from a driver that does not know it
 */
#ifndef SIM_ABI_ATTRIBUTE_H
#define SIM_ABI_ATTRIBUTE_H

#include <stdbool.h>

#include "profile.h"

/* Every attribute of CUDA 13.0 has a value, as with a driver; false for other numbers. */
bool abi_attribute(const struct sim_profile *profile, int attribute, int device, int *value);

/* The PCI bus number of a device. */
int abi_bus(int device);

#endif

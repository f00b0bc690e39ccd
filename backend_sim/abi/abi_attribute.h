/* SPDX-License-Identifier: Apache-2.0 */
/* abi_attribute.h - attributes of devices that the profile does not list.
 *
 *     cuDeviceGetAttribute(16)   the profile's line      attribute.16 = 132
 *     cuDeviceGetAttribute(10)   none: from here         32, every device's
 *     cuDeviceGetAttribute(148)  none here either        INVALID_VALUE, as of a driver that does not know it
 */
#ifndef SIM_ABI_ATTRIBUTE_H
#define SIM_ABI_ATTRIBUTE_H

#include <stdbool.h>

/* Every attribute of CUDA 13.0 has a value, as a driver has one; false for other numbers. */
bool abi_attribute(int attribute, int device, int *value);

/* The bus that a device sits on. */
int abi_bus(int device);

#endif

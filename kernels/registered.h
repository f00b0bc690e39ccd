/* SPDX-License-Identifier: Apache-2.0 */
/* registered.h - kernels beyond those of kernels.def, registered at run time: host code that accesses memory as a
 * twin does (twin.h).
 *
 *     kernels_register("vectorAdd", code, user)  ->  number
 *     vmm_launch(sys, number, ...)               ->  code(memory, call, user)
 *
 * What such code accesses is known only when it runs: it may depend on what it reads, and a dry run may not be safe.
 * So hazards of in-flight work and aliases are not reported for it beforehand; faults are. Numbers are never reused.
 */
#ifndef KERNELS_REGISTERED_H
#define KERNELS_REGISTERED_H

#include <stdbool.h>

#include "call.h"
#include "twin.h"

enum { KERNELS_REGISTERED_FIRST = 1 << 16, KERNELS_REGISTERED_MOST = 1 << 17 };

/* call holds a copy of the launch's arguments. Returns when done, or when the accessor refuses. */
typedef void (*kernels_code)(struct twin_memory *memory, const struct vmm_call_launch *call, void *user);

/* The number to launch it by; -1 when there are too many. The caller keeps name and user alive. */
vmm_kernel kernels_register(const char *name, kernels_code code, void *user);

bool kernels_is_registered(vmm_kernel kernel);
/* Of one that is registered. */
const char *kernels_registered_name(vmm_kernel kernel);
void kernels_registered_run(struct twin_memory *memory, const struct vmm_call_launch *call);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* registered.h - kernels beyond those of kernels.def, known while the program runs: code of the host that reaches memory as
 * a twin does (twin.h).
 *
 *     kernels_register("vectorAdd", code, user)  ->  number
 *     vmm_launch(sys, number, ...)               ->  code(memory, call, user)
 *
 * What such code touches is known only when it runs: it may decide by what it reads, and may be more than a dry run of it
 * could stand. So nothing is told of it before it is done (hazards of work in flight, aliases), and faults show all the
 * same. Numbers are never given back.
 */
#ifndef KERNELS_REGISTERED_H
#define KERNELS_REGISTERED_H

#include <stdbool.h>

#include "call.h"
#include "twin.h"

enum { KERNELS_REGISTERED_FIRST = 1 << 16, KERNELS_REGISTERED_MOST = 1 << 14 };

/* call's arguments are as they were launched, copied. Returns when done, or where the accessor refused. */
typedef void (*kernels_code)(struct twin_memory *memory, const struct vmm_call_launch *call, void *user);

/* The number under which it is launched; -1 when there are too many. name and user are the caller's to keep. */
vmm_kernel kernels_register(const char *name, kernels_code code, void *user);

bool kernels_is_registered(vmm_kernel kernel);
/* Of one that is registered. */
const char *kernels_registered_name(vmm_kernel kernel);
void kernels_registered_run(struct twin_memory *memory, const struct vmm_call_launch *call);

#endif

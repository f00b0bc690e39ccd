/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_beside.h - an accessor in front of the engine's, for memory that the engine does not know: variables of a module, registered
 * memory of the host.
 *
 *     kernel -> ptx_beside.memory -- run: queries the memory beside, then the engine's '- pause, replicas: the engine's
 */
#ifndef PTX_BESIDE_H
#define PTX_BESIDE_H

#include "ptx_run.h"

/* Local memory of a thread, in bytes: CUDA C++ Programming Guide, technical specifications. */
#define PTX_LOCAL_MOST (UINT32_C(512) << 10)

struct ptx_beside {
    struct twin_memory memory; /* first: the kernel passes this pointer back */
    struct twin_memory *inner;
};

/* Passes everything but accesses on to inner; the caller sets memory.run, which handles both. */
void ptx_beside_set(struct ptx_beside *beside, struct twin_memory *inner);

#endif

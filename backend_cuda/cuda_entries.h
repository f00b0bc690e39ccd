/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_entries.h - the driver's functions as pointers over our types, filled from its library.
 *
 *     entries.def row  ->  struct cuda_entries.mem_map : vmm_result (*)(vmm_deviceptr, uint64_t, ...)
 *
 * Needs no header of the toolkit.
 */
#ifndef CUVMM_CUDA_ENTRIES_H
#define CUVMM_CUDA_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

#include "vmm.h"

#define CUDA_TYPE(name, ours, theirs) typedef ours cuda_##name;
#define CUDA_POINTER(name, ours, theirs) typedef ours *cuda_##name;
#include "types.def"

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "sizes of the driver are 64 bits wide");

#define T(name) cuda_##name
#define CUDA_ENTRY(name, driver, version, suffix, types, arguments) typedef vmm_result(*cuda_##name##_fn) types;
#include "entries.def"

struct cuda_entries {
#define CUDA_ENTRY(name, driver, version, suffix, types, arguments) cuda_##name##_fn name;
#include "entries.def"
};
#undef T

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_entries.h - the driver's functions as pointers over our types, filled from its library.
 *
 *     calls.def row  ->  struct cuda_entries.mem_map : vmm_result (*)(vmm_deviceptr ptr, uint64_t size, ...)
 *
 * Needs no toolkit header.
 */
#ifndef CUVMM_CUDA_ENTRIES_H
#define CUVMM_CUDA_ENTRIES_H

#include <stddef.h>
#include <stdint.h>

#include "call.h"
#include "entries.h"

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "size_t has 64 bits, as in the driver's ABI");

/* A form of calls.def: calls that are one driver call each, and calls that the backend composes. */
#define CUDA_FUNCTION_OWN(name)
#define CUDA_FUNCTION_SAME(name) vmm_result (*name)(VMM_LIST(VMM_TYPED, VMM_PARAMS_##name));

struct cuda_entries {
#define VMM_CALL(name, symbol, form, traits) CUDA_FUNCTION_##form(name)
#include "calls.def"
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* entries.h - the fields of an entry point in entries.def, as constants.
 *
 *     VMM_ENTRY_NAME(cuMemAlloc_v2)     "cuMemAlloc"   the name for cuGetProcAddress
 *     VMM_ENTRY_VERSION(cuMemAlloc_v2)  3020           the CUDA version that introduced this signature
 */
#ifndef CUVMM_ENTRIES_H
#define CUVMM_ENTRIES_H

#define VMM_ENTRY_NAME(symbol) vmm_entry_name_##symbol
#define VMM_ENTRY_VERSION(symbol) ((int)vmm_entry_version_##symbol)

#define VMM_ENTRY(symbol, name, version, streams, here, checked, call) \
    __attribute__((unused)) static const char vmm_entry_name_##symbol[] = #name;
#include "entries.def"

enum {
#define VMM_ENTRY(symbol, name, version, streams, here, checked, call) vmm_entry_version_##symbol = version,
#include "entries.def"
};

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "nvml_absent.h"

#include "absent.h"

#define ENTRY_DONE(symbol)
#define ENTRY_ABSENT(symbol) VMM_ABSENT(symbol, nvml_absent)
#define NVML_ENTRY(symbol, here) ENTRY_##here(symbol)
#include "nvml_entries.def"

/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_absent.h"

#include "absent.h"

#define ENTRY_DONE(symbol)
#define ENTRY_ABSENT(symbol) VMM_ABSENT(symbol, abi_absent)
#define VMM_ENTRY(symbol, name, version, streams, here, checked, call) ENTRY_##here(symbol)
#include "entries.def"

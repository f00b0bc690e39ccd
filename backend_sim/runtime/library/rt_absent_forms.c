/* SPDX-License-Identifier: Apache-2.0 */
/* Entry points that exist only for the linker and return cudaErrorNotSupported. */
#include "rt_absent.h"

#include "absent.h"

#define IF_BOTH(entry) entry
#if CUDART_VERSION < 13000
#define IF_IN12(entry) entry
#define IF_IN13(entry)
#else
#define IF_IN12(entry)
#define IF_IN13(entry) entry
#endif

#define ENTRY_DONE(symbol)
#define ENTRY_ABSENT(symbol) VMM_ABSENT(symbol, rt_absent)
#define RT_ENTRY(symbol, libraries, here) IF_##libraries(ENTRY_##here(symbol))
#include "runtime_entries.def"

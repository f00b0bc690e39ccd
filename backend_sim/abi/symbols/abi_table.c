/* SPDX-License-Identifier: Apache-2.0 */
/* The table of all symbols with their addresses. */
#include "abi_proc.h"

#include <string.h>

/* The parameters do not matter here; the functions are declared properly elsewhere. */
#define VMM_ENTRY(symbol, ...) int symbol(void);
#include "entries.def"

static const struct row {
    const char *name;
    int version;
    enum abi_streams streams;
    abi_function function;
} rows[] = {
#define VMM_ENTRY(symbol, name, version, streams, here, checked, call) {#name, version, ABI_##streams, symbol},
#include "entries.def"
};

enum { ROWS = (int)(sizeof rows / sizeof rows[0]) };

/* Prefers symbols for the wanted stream, else considers the others. A name's versions are in order (entries.def). */
static const struct row *newest(const char *name, int version, enum abi_streams streams)
{
    const struct row *best = NULL;
    for (int i = 0; i < ROWS; i++)
        if (rows[i].streams == streams && rows[i].version <= version && strcmp(rows[i].name, name) == 0)
            best = &rows[i];
    return best;
}

enum abi_found abi_find(const char *name, int version, bool per_thread, abi_function *function)
{
    const struct row *row = per_thread ? newest(name, version, ABI_PER_THREAD) : NULL;
    if (!row)
        row = newest(name, version, ABI_LEGACY);
    *function = row ? row->function : NULL;
    if (row)
        return ABI_FOUND;
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0)
            return ABI_TOO_OLD;
    return ABI_NO_SUCH_NAME;
}

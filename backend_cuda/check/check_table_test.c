/* SPDX-License-Identifier: Apache-2.0 */
/* The table of what is stood before, held to that of all of the driver's symbols: names, versions, streams; and every form of
 * a call that the newest programs are given is there. */
#include <string.h>

#include "tap.h"

enum { LEGACY, PER_THREAD };

struct row {
    const char *symbol, *base;
    int version, streams;
};

static const struct row ours[] = {
#define CHECK_CALL(symbol, base, version, streams, name, types) {#symbol, #base, version, streams},
#define CHECK_ASYNC(symbol, base, version, streams, name, types) {#symbol, #base, version, streams},
#define CHECK_OWN(symbol, base, version, streams) {#symbol, #base, version, streams},
#include "check_entries.def"
};

static const struct row drivers[] = {
#define ABI_DONE(symbol, base, version, streams) {#symbol, #base, version, streams},
#define ABI_ABSENT(symbol, base, version, streams) {#symbol, #base, version, streams},
#include "symbols/entries.def"
};

enum { OURS = sizeof ours / sizeof ours[0], DRIVERS = sizeof drivers / sizeof drivers[0] };

static const struct row *find(const struct row *rows, int count, const char *symbol)
{
    for (int i = 0; i < count; i++)
        if (strcmp(rows[i].symbol, symbol) == 0)
            return &rows[i];
    return NULL;
}

static bool newest(const struct row *row)
{
    for (int i = 0; i < DRIVERS; i++)
        if (strcmp(drivers[i].base, row->base) == 0 && drivers[i].streams == row->streams &&
            drivers[i].version > row->version)
            return false;
    return true;
}

int main(void)
{
    for (int i = 0; i < OURS; i++) {
        const struct row *row = find(drivers, DRIVERS, ours[i].symbol);
        tap_ok(row && strcmp(row->base, ours[i].base) == 0 && row->version == ours[i].version &&
                   row->streams == ours[i].streams,
               "%s is the driver's", ours[i].symbol);
    }
    for (int i = 0; i < DRIVERS; i++)
        for (int j = 0; j < OURS; j++)
            if (strcmp(drivers[i].base, ours[j].base) == 0 && newest(&drivers[i])) {
                tap_ok(find(ours, OURS, drivers[i].symbol) != NULL, "%s, which programs of today get, is there",
                       drivers[i].symbol);
                break;
            }
    return tap_done();
}

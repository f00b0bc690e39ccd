/* SPDX-License-Identifier: Apache-2.0 */
/* The intercepted functions among all driver symbols: every form of a call that new programs get, each checked as the right API
 * call. */
#include <string.h>

#include "tap.h"

enum { LEGACY, PER_THREAD };
enum { PASSED, OWN, CALL, ASYNC };

static const struct row {
    const char *symbol, *name;
    int version, streams, checked;
    const char *call;
} rows[] = {
#define VMM_ENTRY(symbol, name, version, streams, here, checked, call) {#symbol, #name, version, streams, checked, #call},
#include "entries.def"
};

static const struct call {
    const char *name, *symbol;
} calls[] = {
#define VMM_CALL(name, symbol, form, traits) {#name, #symbol},
#include "calls.def"
};

enum { ROWS = sizeof rows / sizeof rows[0], CALLS = sizeof calls / sizeof calls[0] };

static const struct row *find(const char *symbol)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].symbol, symbol) == 0)
            return &rows[i];
    return NULL;
}

static bool newest(const struct row *row)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, row->name) == 0 && rows[i].streams == row->streams && rows[i].version > row->version)
            return false;
    return true;
}

static bool intercepted(const char *name)
{
    for (int i = 0; i < ROWS; i++)
        if (strcmp(rows[i].name, name) == 0 && rows[i].checked != PASSED)
            return true;
    return false;
}

/* A form that bypasses the checker would hide half of the program's calls from it. */
static void test_newest(void)
{
    for (int i = 0; i < ROWS; i++)
        if (intercepted(rows[i].name) && newest(&rows[i]))
            tap_ok(rows[i].checked != PASSED, "%s, which today's programs get, is intercepted", rows[i].symbol);
}

/* An entry point is checked as its own call: other forms of the name have the same name. */
static void test_calls(void)
{
    for (int i = 0; i < ROWS; i++) {
        const struct row *of = NULL;
        for (int j = 0; j < CALLS; j++)
            if (strcmp(calls[j].name, rows[i].call) == 0)
                of = find(calls[j].symbol);
        if (rows[i].checked == CALL || rows[i].checked == ASYNC)
            tap_ok(of && strcmp(of->name, rows[i].name) == 0, "%s has the driver's name", rows[i].symbol);
        else if (of || strcmp(rows[i].call, "none") != 0)
            tap_ok(false, "%s names a call, but is not checked as one", rows[i].symbol);
    }
}

/* The backend calls existing forms, and never per-thread ones: its stream 0 is the legacy default stream. */
static void test_symbols(void)
{
    for (int i = 0; i < CALLS; i++) {
        const struct row *row = find(calls[i].symbol);
        tap_ok(row && row->streams == LEGACY, "%s of %s", calls[i].symbol, calls[i].name);
    }
}

int main(void)
{
    test_newest();
    test_calls();
    test_symbols();
    return tap_done();
}

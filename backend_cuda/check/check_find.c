/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* RTLD_NEXT; before any header */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "check.h"

/* The parameters do not matter here; other files declare them. */
#define CHECK_ENTRY(symbol, name, version, streams, checked, call) int symbol(void);
#include "checked.def"

enum { LEGACY, PER_THREAD };

static const struct row {
    const char *symbol, *base;
    int version, streams;
    int (*wrapper)(void);
} rows[CHECK_ROWS] = {
#define CHECK_ENTRY(symbol, name, version, streams, checked, call) {#symbol, #name, version, streams, symbol},
#include "checked.def"
};

static _Atomic(check_function) drivers[CHECK_ROWS];

enum check_row check_symbol(const char *symbol)
{
    int row = 0;
    /* analysers: negativeIndex is wrong: it does not look into api/, where the rows are */
    while (row < CHECK_ROWS && strcmp(rows[row].symbol, symbol) != 0)
        row++;
    return (enum check_row)row;
}

static enum check_row newest(const char *base, int version, int streams)
{
    int best = CHECK_ROWS;
    for (int i = 0; i < CHECK_ROWS; i++)
        if (rows[i].streams == streams && rows[i].version <= version && strcmp(rows[i].base, base) == 0 &&
            (best == CHECK_ROWS || rows[best].version < rows[i].version))
            best = i;
    return (enum check_row)best;
}

enum check_row check_newest(const char *base, int version, bool per_thread)
{
    enum check_row row = per_thread ? newest(base, version, PER_THREAD) : CHECK_ROWS;
    return row == CHECK_ROWS ? newest(base, version, LEGACY) : row;
}

const char *check_name(enum check_row row)
{
    return rows[row].base;
}

bool check_per_thread(enum check_row row)
{
    return rows[row].streams == PER_THREAD;
}

check_function check_wrapper(enum check_row row)
{
    return (check_function)rows[row].wrapper;
}

/* Searches after this library if the program is linked with the driver, otherwise wherever the program loaded the driver. */
check_function check_driver_symbol(const char *symbol)
{
    check_function function;
    void *found = check_real_dlsym(RTLD_NEXT, symbol);
    if (!found) {
        void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
        found = library ? check_real_dlsym(library, symbol) : NULL;
        if (library)
            dlclose(library);
    }
    memcpy(&function, &found, sizeof function);
    return function;
}

check_function check_driver(enum check_row row)
{
    check_function function = atomic_load_explicit(&drivers[row], memory_order_acquire);
    if (function)
        return function;
    function = check_driver_symbol(rows[row].symbol);
    check_found(row, function);
    return function;
}

void check_found(enum check_row row, check_function function)
{
    check_function none = NULL;
    if (function && function != check_wrapper(row))
        atomic_compare_exchange_strong(&drivers[row], &none, function);
}

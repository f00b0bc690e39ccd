/* SPDX-License-Identifier: Apache-2.0 */
#include "optional.h"

#include <string.h>

#include "tap.h"

static size_t strnlen_of(const char *text, size_t most)
{
    return strnlen(text, most);
}

#define FUNCTIONS(X) X(strlen) X(strnlen)

int main(void)
{
    static const char *const names[] = {FUNCTIONS(OPTIONAL_NAME)}, *const wrong[] = {"strlen", "no_such_function"};
    struct {
        FUNCTIONS(OPTIONAL_MEMBER)
    } library = {.strnlen = strnlen_of};
    tap_ok(!optional_load("libno-such.so.7", names, 2, &library), "no such library");
    tap_ok(!optional_load("libc.so.6", wrong, 2, &library), "a library without one of the functions");
    tap_ok(!library.strlen && library.strnlen == strnlen_of, "nothing was filled in");
    if (!optional_load("libc.so.6", names, 2, &library)) {
        tap_skip("a library of that name", "another C library");
        return tap_done();
    }
    tap_u64(library.strlen("seven b"), 7, "the first function");
    tap_u64(library.strnlen("seven b", 3), 3, "and the second");
    return tap_done();
}

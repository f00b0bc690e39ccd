/* SPDX-License-Identifier: Apache-2.0 */
/* Compares our declarations of NVML's ABI with the toolkit's header, at compile time; skipped where it is not installed. Numbers
 * and layouts are compared through common lists, prototypes by a second declaration. */
#include "layout_check.h"
#include "tap.h"

#ifdef __has_include
#if __has_include(<nvml.h>)
#define HAVE_NVML_H
#endif
#endif

#ifdef HAVE_NVML_H

#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>
#include <stddef.h>
#include <string.h>

#include "abi/nvml_functions.h"

#define NVML_VALUE(name, value) _Static_assert((long long)(name) == (long long)(value), #name);
#include "abi/nvml_values.def"

#define NVML_STRUCT(name, size) LAYOUT_STRUCT(name, size)
#define NVML_FIELD(name, field, offset, size) LAYOUT_FIELD(name, field, offset, size)
#define NVML_VERSION(name, value) _Static_assert((name) == (value), #name);
#include "abi/nvml_layout.def"

int main(void)
{
    tap_ok(true, "values, layouts and prototypes are the toolkit's");
    return tap_done();
}

#else

int main(void)
{
    tap_skip("no nvml.h", "values, layouts and prototypes are the toolkit's");
    return tap_done();
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of NVML's ABI have the layouts of nvml_layout.def; checked at compile time. */
#include <stddef.h>

#include "abi/nvml.h"

#include "tap.h"

#define NVML_STRUCT(name, size) _Static_assert(sizeof(name) == (size), #name);
#define NVML_FIELD(name, field, offset, size)                            \
    _Static_assert(offsetof(name, field) == (offset), #name "." #field); \
    _Static_assert(sizeof(((name *)0)->field) == (size), #name "." #field);
#define NVML_VERSION(name, value) _Static_assert((name) == (value), #name);
#include "abi/nvml_layout.def"

int main(void)
{
    tap_ok(true, "layouts are as written down");
    return tap_done();
}

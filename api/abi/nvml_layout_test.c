/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of NVML's ABI have the layouts of nvml_layout.def; checked at compile time. */
#include <stddef.h>

#include "abi/nvml.h"

#include "layout_check.h"
#include "tap.h"

#define NVML_STRUCT(name, size) LAYOUT_STRUCT(name, size)
#define NVML_FIELD(name, field, offset, size) LAYOUT_FIELD(name, field, offset, size)
#define NVML_VERSION(name, value) _Static_assert((name) == (value), #name);
#include "abi/nvml_layout.def"

int main(void)
{
    tap_ok(true, "layouts are as written down");
    return tap_done();
}

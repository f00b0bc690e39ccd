/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of the ABI have the layouts of cuda_layout.def; checked at compile time. */
#include "cuda.h"

#include "layout_check.h"
#include "tap.h"

#define CU_STRUCT(name, size) LAYOUT_STRUCT(name, size)
#define CU_FIELD(name, field, offset, size) LAYOUT_FIELD(name, field, offset, size)
#include "cuda_layout.def"

int main(void)
{
    tap_ok(true, "layouts are as written down");
    return tap_done();
}

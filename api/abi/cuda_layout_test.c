/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of the ABI have the layouts of cuda_layout.def; checked at compile time. */
#include "cuda.h"

#include "tap.h"

#define CU_STRUCT(name, size) _Static_assert(sizeof(name) == (size), #name);
#define CU_FIELD(name, field, offset, size)                           \
    _Static_assert(offsetof(name, field) == (offset), #name "." #field); \
    _Static_assert(sizeof(((name *)0)->field) == (size), #name "." #field);
#include "cuda_layout.def"

int main(void)
{
    tap_ok(true, "layouts are as written down");
    return tap_done();
}

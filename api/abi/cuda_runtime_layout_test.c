/* SPDX-License-Identifier: Apache-2.0 */
/* Our declarations of the runtime's ABI have the layouts of layout.def; checked at compile time. */
#include "cuda_runtime_api.h"

#include "tap.h"

#define CU_STRUCT(name, size) _Static_assert(sizeof(name) == (size), #name);
#define CU_FIELD(name, field, offset, size)                           \
    _Static_assert(offsetof(name, field) == (offset), #name "." #field); \
    _Static_assert(sizeof(((name *)0)->field) == (size), #name "." #field);
#include "runtime/layout.def"

int main(void)
{
    tap_ok(true, "layouts are as written down");
    return tap_done();
}

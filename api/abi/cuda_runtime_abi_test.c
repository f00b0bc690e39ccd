/* SPDX-License-Identifier: Apache-2.0 */
/* Compares our declarations of the runtime's ABI with the toolkit's header, at compile time; skipped without a toolkit. Numbers
 * and layouts are compared through common lists, prototypes by a second declaration. */
#include "layout_check.h"
#include "tap.h"

#ifdef CUVMM_HAVE_CUDA_H

#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stddef.h>

#if CUDART_VERSION >= 13000 && CUDART_VERSION < 14000

#include "runtime/array.h"
#include "runtime/code.h"
#include "runtime/device.h"
#include "runtime/graph.h"
#include "runtime/memory.h"
#include "runtime/stream.h"

#define CU_VALUE(name, value) _Static_assert((long long)(name) == (long long)(value), #name);
#include "runtime/values.def"

#define CU_STRUCT(name, size) LAYOUT_STRUCT(name, size)
#define CU_FIELD(name, field, offset, size) LAYOUT_FIELD(name, field, offset, size)
#include "runtime/layout.def"

int main(void)
{
    tap_ok(true, "values, layouts and prototypes are the toolkit's");
    return tap_done();
}

#else

int main(void)
{
    tap_skip("the toolkit's header is of another major version", "values, layouts and prototypes are the toolkit's");
    return tap_done();
}

#endif

#else

int main(void)
{
    tap_skip("no toolkit", "values, layouts and prototypes are the toolkit's");
    return tap_done();
}

#endif

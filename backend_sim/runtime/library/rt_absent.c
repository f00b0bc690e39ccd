/* SPDX-License-Identifier: Apache-2.0 */
/* Separate from rt_absent_forms.c, which declares the functions without parameters and so cannot include their header. */
#include "rt_absent.h"

#include "rt.h"

int rt_absent(const char *symbol, atomic_flag *said)
{
    if (!atomic_flag_test_and_set(said))
        rt_say("%s is not implemented. It answers cudaErrorNotSupported (docs/runtime.md)", symbol);
    return (int)rt_leave(cudaErrorNotSupported);
}

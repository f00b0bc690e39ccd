/* SPDX-License-Identifier: Apache-2.0 */
/* Separate from abi_absent.c, which declares the functions without parameters and so cannot include their header. */
#include "abi_absent.h"

#include "abi.h"

int abi_absent(const char *symbol, atomic_flag *said)
{
    VMM_ENTRY_POINT(entry);
    struct abi_call call;
    CUresult result = abi_enter_initialised(&entry, &call);
    if (result != CUDA_SUCCESS)
        return (int)result;
    if (!atomic_flag_test_and_set(said))
        abi_say("%s is not simulated. It answers CUDA_ERROR_NOT_SUPPORTED (docs/unmodified.md)", symbol);
    result = abi_refuse(VMM_RULE_ENTRY_ABSENT, symbol, "the simulator does not have this entry point");
    abi_leave(&call);
    return (int)result;
}

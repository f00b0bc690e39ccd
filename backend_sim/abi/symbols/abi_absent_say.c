/* SPDX-License-Identifier: Apache-2.0 */
/* Separate from abi_absent.c, which declares the functions without parameters and so cannot include their header. */
#include "abi_absent.h"

#include "abi.h"

int abi_absent(const char *symbol, atomic_flag *said)
{
    vmm_system *sys;
    CUresult result = abi_enter_initialised(&sys);
    if (result != CUDA_SUCCESS)
        return (int)result;
    if (!atomic_flag_test_and_set(said))
        abi_say("%s is not simulated. It answers CUDA_ERROR_NOT_SUPPORTED (docs/unmodified.md)", symbol);
    result = abi_refuse(CUDA_ERROR_NOT_SUPPORTED, symbol, "the simulator does not have this entry point");
    abi_leave();
    return (int)result;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Separate from nvml_absent.c, which declares the functions without parameters and so cannot include their header. */
#include "nvml_absent.h"

#include "nvml_call.h"

static nvmlReturn_t say(const char *symbol, atomic_flag *said)
{
    if (!atomic_flag_test_and_set(said))
        nvml_say("%s is not simulated. It answers NVML_ERROR_NOT_SUPPORTED (docs/nvml.md)", symbol);
    return NVML_ERROR_NOT_SUPPORTED;
}

int nvml_absent(const char *symbol, atomic_flag *said)
{
    struct nvml_call call;
    nvmlReturn_t result = nvml_enter(&call, symbol);
    if (result != NVML_SUCCESS)
        return (int)result;
    result = say(symbol, said);
    nvml_leave(&call);
    return (int)result;
}

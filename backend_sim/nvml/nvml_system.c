/* SPDX-License-Identifier: Apache-2.0 */
/* Versions, error codes, and properties of the whole system. */
#include <stdio.h>

#include "nvml_call.h"
#include "os_inspect.h"

/* ---- codes ---- */

static const struct {
    nvmlReturn_t code;
    const char *text;
} errors[] = {
    {NVML_SUCCESS, "Success"},
    {NVML_ERROR_UNINITIALIZED, "Uninitialized"},
    {NVML_ERROR_INVALID_ARGUMENT, "Invalid Argument"},
    {NVML_ERROR_NOT_SUPPORTED, "Not Supported"},
    {NVML_ERROR_NO_PERMISSION, "Insufficient Permissions"},
    {NVML_ERROR_ALREADY_INITIALIZED, "Already Initialized"},
    {NVML_ERROR_NOT_FOUND, "Not Found"},
    {NVML_ERROR_INSUFFICIENT_SIZE, "Insufficient Size"},
    {NVML_ERROR_INSUFFICIENT_POWER, "Insufficient External Power"},
    {NVML_ERROR_DRIVER_NOT_LOADED, "Driver Not Loaded"},
    {NVML_ERROR_TIMEOUT, "Timeout"},
    {NVML_ERROR_IRQ_ISSUE, "Interrupt Request Issue"},
    {NVML_ERROR_LIBRARY_NOT_FOUND, "NVML Shared Library Not Found"},
    {NVML_ERROR_FUNCTION_NOT_FOUND, "Function Not Found"},
    {NVML_ERROR_CORRUPTED_INFOROM, "Corrupted infoROM"},
    {NVML_ERROR_GPU_IS_LOST, "GPU is lost"},
    {NVML_ERROR_RESET_REQUIRED, "GPU requires reset"},
    {NVML_ERROR_OPERATING_SYSTEM, "GPU access blocked by the operating system"},
    {NVML_ERROR_LIB_RM_VERSION_MISMATCH, "Driver/library version mismatch"},
    {NVML_ERROR_IN_USE, "In use by another client"},
    {NVML_ERROR_MEMORY, "Insufficient Memory"},
    {NVML_ERROR_NO_DATA, "No data"},
    {NVML_ERROR_VGPU_ECC_NOT_SUPPORTED, "vGPU ECC not supported"},
    {NVML_ERROR_INSUFFICIENT_RESOURCES, "Insufficient Resources"},
    {NVML_ERROR_FREQ_NOT_SUPPORTED, "Invalid Frequency"},
    {NVML_ERROR_ARGUMENT_VERSION_MISMATCH, "Argument version mismatch"},
    {NVML_ERROR_DEPRECATED, "Requested functionality has been deprecated"},
    {NVML_ERROR_NOT_READY, "System is not in ready state"},
    {NVML_ERROR_GPU_NOT_FOUND, "No supported GPUs were found"},
    {NVML_ERROR_INVALID_STATE, "Resource not in correct state to perform requested operation"},
    {NVML_ERROR_RESET_TYPE_NOT_SUPPORTED, "Reset type is not supported for given device"},
};

const char *nvmlErrorString(nvmlReturn_t result)
{
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (errors[i].code == result)
            return errors[i].text;
    return "Unknown Error";
}

/* ---- versions ---- */

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned length)
{
    NVML(nvml_text(call, SIM_DRIVER, version, length, "version"));
}

static nvmlReturn_t nvml_library_version(const struct nvml_call *call, char *version, unsigned length)
{
    char text[NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE];
    snprintf(text, sizeof text, "%d." SIM_DRIVER, call->machine->profile.driver_version / 1000);
    return nvml_text(call, text, version, length, "version");
}

/* As recorded, this one checks its argument before it checks for initialisation. */
nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned length)
{
    if (!version)
        return nvml_refuse(__func__, NVML_ERROR_INVALID_ARGUMENT, "version is NULL");
    NVML(nvml_library_version(call, version, length));
}

static nvmlReturn_t cuda_version(const struct nvml_call *call, int *version)
{
    if (!version)
        return nvml_null(call, "cudaDriverVersion");
    *version = call->machine->profile.driver_version;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion(int *cudaDriverVersion)
{
    NVML(cuda_version(call, cudaDriverVersion));
}

nvmlReturn_t nvmlSystemGetCudaDriverVersion_v2(int *cudaDriverVersion)
{
    NVML(cuda_version(call, cudaDriverVersion));
}

/* ---- the rest of the system ---- */

/* The name with which the process was started, with or without a folder. */
static nvmlReturn_t process_name(const struct nvml_call *call, unsigned pid, char *name, unsigned length)
{
    char program[OS_COMMAND];
    if (!name)
        return nvml_null(call, "name");
    os_command(pid, program);
    if (!program[0])
        return nvml_refuse(call->name, NVML_ERROR_NOT_FOUND, "there is no process %u", pid);
    if (!length)
        return nvml_refuse(call->name, NVML_ERROR_INVALID_ARGUMENT, "length is 0: there is no room for any text");
    snprintf(name, length, "%s", program); /* as much as fits, as recorded */
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length)
{
    NVML(process_name(call, pid, name, length));
}

static nvmlReturn_t none(const struct nvml_call *call, unsigned *count, const char *argument)
{
    if (!count)
        return nvml_null(call, argument);
    *count = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlUnitGetCount(unsigned *unitCount)
{
    NVML(none(call, unitCount, "unitCount"));
}

nvmlReturn_t nvmlGetExcludedDeviceCount(unsigned *deviceCount)
{
    NVML(none(call, deviceCount, "deviceCount"));
}

static nvmlReturn_t compute_state(const struct nvml_call *call, nvmlConfComputeSystemState_t *state)
{
    if (!state)
        return nvml_null(call, "state");
    *state = (nvmlConfComputeSystemState_t){.environment = NVML_CC_SYSTEM_ENVIRONMENT_UNAVAILABLE,
                                            .ccFeature = NVML_CC_SYSTEM_FEATURE_DISABLED,
                                            .devToolsMode = NVML_CC_SYSTEM_DEVTOOLS_MODE_OFF};
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetConfComputeState(nvmlConfComputeSystemState_t *state)
{
    NVML(compute_state(call, state));
}

static nvmlReturn_t compute_settings(const struct nvml_call *call, nvmlSystemConfComputeSettings_t *settings)
{
    if (!settings)
        return nvml_null(call, "settings");
    nvmlReturn_t result = nvml_version(call, settings->version, nvmlSystemConfComputeSettings_v1);
    if (result == NVML_SUCCESS)
        *settings = (nvmlSystemConfComputeSettings_t){.version = nvmlSystemConfComputeSettings_v1,
                                                      .environment = NVML_CC_SYSTEM_ENVIRONMENT_UNAVAILABLE,
                                                      .ccFeature = NVML_CC_SYSTEM_FEATURE_DISABLED,
                                                      .devToolsMode = NVML_CC_SYSTEM_DEVTOOLS_MODE_OFF,
                                                      .multiGpuMode = NVML_CC_SYSTEM_MULTIGPU_NONE};
    return result;
}

nvmlReturn_t nvmlSystemGetConfComputeSettings(nvmlSystemConfComputeSettings_t *settings)
{
    NVML(compute_settings(call, settings));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptions of a device: the profile's attributes, its architecture's data sheet, and features that no simulated
 * device has. */
#include "abi/cuda.h"
#include "nvml_call.h"

static nvmlReturn_t name_of(const struct nvml_call *call, nvmlDevice_t device, char *name, unsigned length)
{
    int place;
    nvmlReturn_t result = nvml_place(call, device, &place);
    return result == NVML_SUCCESS ? nvml_text(call, call->machine->profile.device_name, name, length, "name") : result;
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned length)
{
    NVML(name_of(call, device, name, length));
}

/* ---- one number ---- */

/* A number that is the same for every device of a simulated machine. */
static nvmlReturn_t number(const struct nvml_call *call, nvmlDevice_t device, unsigned *to, const char *argument, unsigned value)
{
    int place;
    nvmlReturn_t result = nvml_asks(call, device, to, argument, &place);
    if (result == NVML_SUCCESS)
        *to = value;
    return result;
}

/* A value that the profile or the data sheet may lack: 0. */
static nvmlReturn_t known(const struct nvml_call *call, nvmlDevice_t device, unsigned *to, const char *argument, unsigned value)
{
    int place;
    nvmlReturn_t result = nvml_asks(call, device, to, argument, &place);
    if (result == NVML_SUCCESS && !value)
        return nvml_lacks(call, argument);
    if (result == NVML_SUCCESS)
        *to = value;
    return result;
}

static unsigned attribute(const struct nvml_call *call, int which)
{
    return (unsigned)nvml_attribute(call->machine, which);
}

nvmlReturn_t nvmlDeviceGetArchitecture(nvmlDevice_t device, nvmlDeviceArchitecture_t *arch)
{
    NVML(number(call, device, arch, "arch", call->machine->chip ? call->machine->chip->architecture : NVML_DEVICE_ARCH_UNKNOWN));
}

nvmlReturn_t nvmlDeviceGetBusType(nvmlDevice_t device, nvmlBusType_t *type)
{
    NVML(number(call, device, type, "type", NVML_BUS_TYPE_PCIE));
}

static unsigned cores(const struct nvml_call *call)
{
    return call->machine->chip ? attribute(call, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT) * call->machine->chip->cores : 0;
}

nvmlReturn_t nvmlDeviceGetNumGpuCores(nvmlDevice_t device, unsigned *numCores)
{
    NVML(known(call, device, numCores, "numCores", cores(call)));
}

nvmlReturn_t nvmlDeviceGetMemoryBusWidth(nvmlDevice_t device, unsigned *busWidth)
{
    NVML(known(call, device, busWidth, "busWidth", attribute(call, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH)));
}

nvmlReturn_t nvmlDeviceIsMigDeviceHandle(nvmlDevice_t device, unsigned *isMigDevice)
{
    NVML(number(call, device, isMigDevice, "isMigDevice", 0));
}

/* ---- the link to the host ---- */

static unsigned generation(const struct nvml_call *call)
{
    return call->machine->chip ? call->machine->chip->pcie_generation : 0;
}

static unsigned width(const struct nvml_call *call)
{
    return call->machine->chip ? call->machine->chip->pcie_width : 0;
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkGeneration(nvmlDevice_t device, unsigned *maxLinkGen)
{
    NVML(known(call, device, maxLinkGen, "maxLinkGen", generation(call)));
}

nvmlReturn_t nvmlDeviceGetGpuMaxPcieLinkGeneration(nvmlDevice_t device, unsigned *maxLinkGenDevice)
{
    NVML(known(call, device, maxLinkGenDevice, "maxLinkGenDevice", generation(call)));
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkGeneration(nvmlDevice_t device, unsigned *currLinkGen)
{
    NVML(known(call, device, currLinkGen, "currLinkGen", generation(call)));
}

nvmlReturn_t nvmlDeviceGetMaxPcieLinkWidth(nvmlDevice_t device, unsigned *maxLinkWidth)
{
    NVML(known(call, device, maxLinkWidth, "maxLinkWidth", width(call)));
}

nvmlReturn_t nvmlDeviceGetCurrPcieLinkWidth(nvmlDevice_t device, unsigned *currLinkWidth)
{
    NVML(known(call, device, currLinkWidth, "currLinkWidth", width(call)));
}

/* NVML_PCIE_LINK_MAX_SPEED_32000MBPS is the fifth, of generation 5: the numbers are the same. */
nvmlReturn_t nvmlDeviceGetPcieLinkMaxSpeed(nvmlDevice_t device, unsigned *maxSpeed)
{
    NVML(known(call, device, maxSpeed, "maxSpeed", generation(call)));
}

/* ---- modes and states ---- */

static nvmlReturn_t brand(const struct nvml_call *call, nvmlDevice_t device, nvmlBrandType_t *type)
{
    int place;
    nvmlReturn_t result = nvml_asks(call, device, type, "type", &place);
    if (result == NVML_SUCCESS)
        *type = NVML_BRAND_NVIDIA;
    return result;
}

nvmlReturn_t nvmlDeviceGetBrand(nvmlDevice_t device, nvmlBrandType_t *type)
{
    NVML(brand(call, device, type));
}

static nvmlReturn_t capability(const struct nvml_call *call, nvmlDevice_t device, int *major, int *minor)
{
    int place;
    nvmlReturn_t result = nvml_place(call, device, &place);
    if (result != NVML_SUCCESS)
        return result;
    if (!major || !minor)
        return nvml_null(call, major ? "minor" : "major");
    *major = nvml_attribute(call->machine, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    *minor = nvml_attribute(call->machine, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t device, int *major, int *minor)
{
    NVML(capability(call, device, major, minor));
}

/* Partitions are not simulated, so they are off. */
static nvmlReturn_t mig(const struct nvml_call *call, nvmlDevice_t device, unsigned *current, unsigned *pending)
{
    if (!current)
        return nvml_null(call, "currentMode");
    nvmlReturn_t result = number(call, device, pending, "pendingMode", 0);
    return result == NVML_SUCCESS ? number(call, device, current, "currentMode", 0) : result;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t device, unsigned *currentMode, unsigned *pendingMode)
{
    NVML(mig(call, device, currentMode, pendingMode));
}

static nvmlReturn_t state(const struct nvml_call *call, nvmlDevice_t device, nvmlEnableState_t *to, const char *argument, bool on)
{
    int place;
    nvmlReturn_t result = nvml_asks(call, device, to, argument, &place);
    if (result == NVML_SUCCESS)
        *to = on ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
    return result;
}

static bool corrects(const struct nvml_call *call)
{
    return attribute(call, CU_DEVICE_ATTRIBUTE_ECC_ENABLED) != 0;
}

static nvmlReturn_t ecc(const struct nvml_call *call, nvmlDevice_t device, nvmlEnableState_t *current, nvmlEnableState_t *pending)
{
    if (!current)
        return nvml_null(call, "current");
    nvmlReturn_t result = state(call, device, pending, "pending", corrects(call));
    return result == NVML_SUCCESS ? state(call, device, current, "current", corrects(call)) : result;
}

nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t *current, nvmlEnableState_t *pending)
{
    NVML(ecc(call, device, current, pending));
}

nvmlReturn_t nvmlDeviceGetDefaultEccMode(nvmlDevice_t device, nvmlEnableState_t *defaultMode)
{
    NVML(state(call, device, defaultMode, "defaultMode", corrects(call)));
}

/* Simulated memory has no errors. */
static nvmlReturn_t ecc_errors(const struct nvml_call *call, nvmlDevice_t device, nvmlMemoryErrorType_t type,
                               nvmlEccCounterType_t counter, unsigned long long *errors)
{
    int place;
    nvmlReturn_t result = nvml_asks(call, device, errors, "eccCounts", &place);
    if (result != NVML_SUCCESS)
        return result;
    if ((unsigned)type >= NVML_MEMORY_ERROR_TYPE_COUNT || (unsigned)counter >= NVML_ECC_COUNTER_TYPE_COUNT)
        return nvml_refuse(call->name, NVML_ERROR_INVALID_ARGUMENT, "errorType is %u and counterType %u: each is 0 or 1",
                           (unsigned)type, (unsigned)counter);
    if (!corrects(call))
        return nvml_lacks(call, "ECC");
    *errors = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t device, nvmlMemoryErrorType_t errorType,
                                         nvmlEccCounterType_t counterType, unsigned long long *eccCounts)
{
    NVML(ecc_errors(call, device, errorType, counterType, eccCounts));
}

/* There is no persistence mode: nothing keeps a machine alive that no process has open. */
nvmlReturn_t nvmlDeviceGetPersistenceMode(nvmlDevice_t device, nvmlEnableState_t *mode)
{
    NVML(state(call, device, mode, "mode", false));
}

/* As recorded: a display could be connected, but none is. */
nvmlReturn_t nvmlDeviceGetDisplayMode(nvmlDevice_t device, nvmlEnableState_t *display)
{
    NVML(state(call, device, display, "display", true));
}

nvmlReturn_t nvmlDeviceGetDisplayActive(nvmlDevice_t device, nvmlEnableState_t *isActive)
{
    NVML(state(call, device, isActive, "isActive", false));
}

static nvmlReturn_t compute_mode(const struct nvml_call *call, nvmlDevice_t device, nvmlComputeMode_t *mode)
{
    int place;
    nvmlReturn_t result = nvml_asks(call, device, mode, "mode", &place);
    if (result == NVML_SUCCESS)
        *mode = (nvmlComputeMode_t)attribute(call, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
    return result;
}

nvmlReturn_t nvmlDeviceGetComputeMode(nvmlDevice_t device, nvmlComputeMode_t *mode)
{
    NVML(compute_mode(call, device, mode));
}

/* The attributes are in kHz, the result in MHz. */
static nvmlReturn_t max_clock(const struct nvml_call *call, nvmlDevice_t device, nvmlClockType_t type, unsigned *clock)
{
    static const int attributes[NVML_CLOCK_COUNT] = {[NVML_CLOCK_GRAPHICS] = CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
                                                     [NVML_CLOCK_SM] = CU_DEVICE_ATTRIBUTE_CLOCK_RATE,
                                                     [NVML_CLOCK_MEM] = CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE};
    int place;
    nvmlReturn_t result = nvml_place(call, device, &place);
    if (result == NVML_SUCCESS && (unsigned)type >= NVML_CLOCK_COUNT)
        return nvml_refuse(call->name, NVML_ERROR_INVALID_ARGUMENT, "type is %u: expected less than %u", (unsigned)type,
                           (unsigned)NVML_CLOCK_COUNT);
    if (result == NVML_SUCCESS && type == NVML_CLOCK_VIDEO)
        return known(call, device, clock, "clock", call->machine->chip ? call->machine->chip->video_clock : 0);
    return result == NVML_SUCCESS ? known(call, device, clock, "clock", attribute(call, attributes[type]) / 1000) : result;
}

nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned *clock)
{
    NVML(max_clock(call, device, type, clock));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Field values: each has a result of its own. */
#include <time.h>

#include "abi/cuda.h"
#include "nvml_call.h"
#include "posix.h"

/* False: the field is not simulated. */
static bool value_of(const struct nvml_machine *machine, int place, unsigned field, unsigned *value)
{
    switch (field) {
    case NVML_FI_DEV_ECC_CURRENT:
    case NVML_FI_DEV_ECC_PENDING: *value = nvml_attribute(machine, CU_DEVICE_ATTRIBUTE_ECC_ENABLED) != 0; return true;
    case NVML_FI_DEV_NVLINK_LINK_COUNT: *value = nvml_links(machine, place); return true;
    default: return false;
    }
}

static long long microseconds(void)
{
    struct timespec now = {0, 0};
    posix.clock_gettime(CLOCK_REALTIME, &now);
    return (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static nvmlReturn_t fields(const struct nvml_call *call, nvmlDevice_t device, int count, nvmlFieldValue_t *values)
{
    int place;
    nvmlReturn_t result = nvml_asks(call, device, values, "values", &place);
    if (result != NVML_SUCCESS)
        return result;
    if (count <= 0)
        return nvml_refuse(call->name, NVML_ERROR_INVALID_ARGUMENT, "valuesCount is %d: expected at least 1", count);
    long long now = microseconds();
    for (int i = 0; i < count; i++) {
        unsigned value = 0;
        bool known = value_of(call->machine, place, values[i].fieldId, &value);
        values[i].timestamp = now;
        values[i].latencyUsec = 0;
        values[i].nvmlReturn = known ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
        values[i].valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
        values[i].value = (nvmlValue_t){.uiVal = value};
    }
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int valuesCount, nvmlFieldValue_t *values)
{
    NVML(fields(call, device, valuesCount, values));
}

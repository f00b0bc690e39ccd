/* SPDX-License-Identifier: Apache-2.0 */
/* Field values: each has a separate result. */
#include <time.h>

#include "abi/cuda.h"
#include "nvml_call.h"
#include "posix.h"

/* False: the field is not simulated. */
static bool value_of(const struct nvml_machine *machine, int place, nvmlFieldValue_t *value)
{
    switch (value->fieldId) {
    case NVML_FI_DEV_ECC_CURRENT:
    case NVML_FI_DEV_ECC_PENDING:
        value->valueType = NVML_VALUE_TYPE_UNSIGNED_LONG_LONG;
        value->value.ullVal = nvml_attribute(machine, CU_DEVICE_ATTRIBUTE_ECC_ENABLED) != 0;
        return true;
    case NVML_FI_DEV_NVLINK_LINK_COUNT: value->value.uiVal = nvml_links(machine, place); return value->value.uiVal != 0;
    default: return false;
    }
}

enum { NO_FIELD = 1000 }; /* nvml.h 13.0 has no fields from here on, and none with number 0 */

static nvmlReturn_t one(const struct nvml_machine *machine, int place, nvmlFieldValue_t *value)
{
    value->latencyUsec = 0;
    value->valueType = NVML_VALUE_TYPE_UNSIGNED_INT;
    value->value = (nvmlValue_t){.ullVal = 0};
    if (value_of(machine, place, value))
        return NVML_SUCCESS;
    return value->fieldId && value->fieldId < NO_FIELD ? NVML_ERROR_NOT_SUPPORTED : NVML_ERROR_INVALID_ARGUMENT;
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
        values[i].timestamp = now;
        values[i].nvmlReturn = one(call->machine, place, &values[i]);
    }
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetFieldValues(nvmlDevice_t device, int valuesCount, nvmlFieldValue_t *values)
{
    NVML(fields(call, device, valuesCount, values));
}

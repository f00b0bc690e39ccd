/* SPDX-License-Identifier: Apache-2.0 */
/* The devices and their identifiers: index, UUID, bus address. */
#include <stdio.h>
#include <string.h>

#include "abi/cuda.h"
#include "nvml_call.h"
#include "visible_devices.h"

static nvmlReturn_t count_of(const struct nvml_call *call, unsigned *count)
{
    if (!count)
        return nvml_null(call, "deviceCount");
    *count = (unsigned)call->machine->profile.devices;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCount(unsigned *deviceCount)
{
    NVML(count_of(call, deviceCount));
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *deviceCount)
{
    NVML(count_of(call, deviceCount));
}

/* ---- handles ---- */

static nvmlReturn_t by_index(const struct nvml_call *call, unsigned index, nvmlDevice_t *device)
{
    int devices = call->machine->profile.devices;
    if (!device)
        return nvml_null(call, "device");
    if (index >= (unsigned)devices)
        return nvml_refuse(call->name, NVML_ERROR_INVALID_ARGUMENT, "index is %u, but the machine has %d devices, numbered "
                                                                    "from 0", index,
                           devices);
    *device = nvml_handle((int)index);
    return NVML_SUCCESS;
}

/* As recorded, the first form writes NULL when it refuses an index. */
static nvmlReturn_t by_index_1(const struct nvml_call *call, unsigned index, nvmlDevice_t *device)
{
    if (device)
        *device = NULL;
    return by_index(call, index, device);
}

nvmlReturn_t nvmlDeviceGetHandleByIndex(unsigned index, nvmlDevice_t *device)
{
    NVML(by_index_1(call, index, device));
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device)
{
    NVML(by_index(call, index, device));
}

static void uuid_text(const struct nvml_machine *machine, int place, char text[NVML_DEVICE_UUID_ASCII_LEN])
{
    unsigned char uuid[VISIBLE_UUID];
    visible_devices_uuid(&machine->profile, place, uuid);
    int length = snprintf(text, NVML_DEVICE_UUID_ASCII_LEN, "GPU-");
    for (int i = 0; i < VISIBLE_UUID; i++)
        length += snprintf(text + length, (size_t)(NVML_DEVICE_UUID_ASCII_LEN - length), "%s%02x",
                           i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", uuid[i]);
}

static nvmlReturn_t by_uuid(const struct nvml_call *call, const char *uuid, nvmlDevice_t *device)
{
    char text[NVML_DEVICE_UUID_ASCII_LEN];
    if (!uuid || !device)
        return nvml_null(call, uuid ? "device" : "uuid");
    for (int i = 0; i < call->machine->profile.devices; i++) {
        uuid_text(call->machine, i, text);
        if (strcmp(text, uuid) == 0) {
            *device = nvml_handle(i);
            return NVML_SUCCESS;
        }
    }
    return nvml_refuse(call->name, NVML_ERROR_NOT_FOUND, "no device has the UUID %.60s; nvmlDeviceGetUUID returns them", uuid);
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device)
{
    NVML(by_uuid(call, uuid, device));
}

static nvmlReturn_t by_bytes(const struct nvml_call *call, const unsigned char *bytes, nvmlDevice_t *device)
{
    unsigned char uuid[VISIBLE_UUID];
    for (int i = 0; i < call->machine->profile.devices; i++) {
        visible_devices_uuid(&call->machine->profile, i, uuid);
        if (memcmp(uuid, bytes, sizeof uuid) == 0) {
            *device = nvml_handle(i);
            return NVML_SUCCESS;
        }
    }
    return nvml_refuse(call->name, NVML_ERROR_NOT_FOUND, "no device has this UUID; nvmlDeviceGetUUID returns them");
}

static nvmlReturn_t by_uuid_struct(const struct nvml_call *call, const nvmlUUID_t *uuid, nvmlDevice_t *device)
{
    char text[NVML_DEVICE_UUID_ASCII_LEN + 1];
    if (!uuid || !device)
        return nvml_null(call, uuid ? "device" : "uuid");
    nvmlReturn_t result = nvml_version(call, uuid->version, nvmlUUID_v1);
    if (result != NVML_SUCCESS)
        return result;
    if (uuid->type == NVML_UUID_TYPE_BINARY)
        return by_bytes(call, uuid->value.bytes, device);
    if (uuid->type != NVML_UUID_TYPE_ASCII)
        return nvml_refuse(call->name, NVML_ERROR_INVALID_ARGUMENT, "type is %u: expected 1 (text) or 2 (bytes)", uuid->type);
    snprintf(text, sizeof text, "%.*s", NVML_DEVICE_UUID_ASCII_LEN, uuid->value.str);
    return by_uuid(call, text, device);
}

nvmlReturn_t nvmlDeviceGetHandleByUUIDV(const nvmlUUID_t *uuid, nvmlDevice_t *device)
{
    NVML(by_uuid_struct(call, uuid, device));
}

/* The bus of a device, as cuDeviceGetPCIBusId returns it. */
static unsigned bus_of(int place)
{
    return (unsigned)place + 1;
}

struct address {
    unsigned domain, bus, device, function;
};

/* The domain and the function are optional. */
static bool read_address(const char *text, struct address *is)
{
    int end = -1, whole = (int)strlen(text);
    *is = (struct address){.domain = 0};
    if (sscanf(text, "%x:%x:%x.%x%n", &is->domain, &is->bus, &is->device, &is->function, &end) == 4 && end == whole)
        return true;
    is->function = 0;
    if (sscanf(text, "%x:%x:%x%n", &is->domain, &is->bus, &is->device, &end) == 3 && end == whole)
        return true;
    is->domain = 0;
    return sscanf(text, "%x:%x.%x%n", &is->bus, &is->device, &is->function, &end) == 3 && end == whole;
}

static nvmlReturn_t by_bus(const struct nvml_call *call, const char *text, nvmlDevice_t *device)
{
    struct address is;
    if (!text || !device)
        return nvml_null(call, text ? "device" : "pciBusId");
    if (!read_address(text, &is) || is.function)
        return nvml_refuse(call->name, NVML_ERROR_INVALID_ARGUMENT, "\"%.40s\" does not have the form 00000000:01:00.0", text);
    for (int i = 0; i < call->machine->profile.devices; i++)
        if (!is.domain && !is.device && is.bus == bus_of(i)) {
            *device = nvml_handle(i);
            return NVML_SUCCESS;
        }
    return nvml_refuse(call->name, NVML_ERROR_NOT_FOUND, "no device is at %.40s; nvmlDeviceGetPciInfo_v3 returns their addresses",
                       text);
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId(const char *pciBusId, nvmlDevice_t *device)
{
    NVML(by_bus(call, pciBusId, device));
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *pciBusId, nvmlDevice_t *device)
{
    NVML(by_bus(call, pciBusId, device));
}

/* ---- lookup by handle ---- */

static nvmlReturn_t index_of(const struct nvml_call *call, nvmlDevice_t device, unsigned *index, const char *argument)
{
    int place;
    nvmlReturn_t result = nvml_asks(call, device, index, argument, &place);
    if (result == NVML_SUCCESS)
        *index = (unsigned)place;
    return result;
}

nvmlReturn_t nvmlDeviceGetIndex(nvmlDevice_t device, unsigned *index)
{
    NVML(index_of(call, device, index, "index"));
}

nvmlReturn_t nvmlDeviceGetMinorNumber(nvmlDevice_t device, unsigned *minorNumber)
{
    NVML(index_of(call, device, minorNumber, "minorNumber"));
}

static nvmlReturn_t uuid_of(const struct nvml_call *call, nvmlDevice_t device, char *uuid, unsigned length)
{
    char text[NVML_DEVICE_UUID_ASCII_LEN];
    int place;
    nvmlReturn_t result = nvml_place(call, device, &place);
    if (result != NVML_SUCCESS)
        return result;
    uuid_text(call->machine, place, text);
    return nvml_text(call, text, uuid, length, "uuid");
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t device, char *uuid, unsigned length)
{
    NVML(uuid_of(call, device, uuid, length));
}

enum {
    NV_SWITCH = 0x22a310de, /* H100's NVSwitch, in the list of PCI devices */
    CLASS_DISPLAY = 3,
    SUBCLASS_3D = 2,
    FORM_1 = 32, /* the size of the first version's struct: up to pciDeviceId, */
    FORM_2 = 36  /* and of the second version's: up to pciSubSystemId */
};

void nvml_fill_pci(const struct nvml_machine *machine, int place, nvmlPciInfo_t *pci)
{
    bool device = place < machine->profile.devices;
    *pci = (nvmlPciInfo_t){.bus = bus_of(place)};
    pci->pciDeviceId = device ? (unsigned)nvml_attribute(machine, CU_DEVICE_ATTRIBUTE_GPU_PCI_DEVICE_ID) : NV_SWITCH;
    if (device)
        pci->pciSubSystemId = (unsigned)nvml_attribute(machine, CU_DEVICE_ATTRIBUTE_GPU_PCI_SUBSYSTEM_ID);
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "0000:%02X:00.0", pci->bus);
    snprintf(pci->busId, sizeof pci->busId, "00000000:%02X:00.0", pci->bus);
}

/* Earlier versions have a shorter struct, and only that is written. */
static nvmlReturn_t pci_of(const struct nvml_call *call, nvmlDevice_t device, nvmlPciInfo_t *pci, size_t size)
{
    nvmlPciInfo_t is;
    int place;
    nvmlReturn_t result = nvml_asks(call, device, pci, "pci", &place);
    if (result != NVML_SUCCESS)
        return result;
    nvml_fill_pci(call->machine, place, &is);
    memcpy(pci, &is, size);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfo(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    NVML(pci_of(call, device, pci, FORM_1));
}

nvmlReturn_t nvmlDeviceGetPciInfo_v2(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    NVML(pci_of(call, device, pci, FORM_2));
}

nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t device, nvmlPciInfo_t *pci)
{
    NVML(pci_of(call, device, pci, sizeof *pci));
}

static nvmlReturn_t pci_ext(const struct nvml_call *call, nvmlDevice_t device, nvmlPciInfoExt_t *pci)
{
    nvmlPciInfo_t is;
    int place;
    nvmlReturn_t result = nvml_asks(call, device, pci, "pci", &place);
    if (result == NVML_SUCCESS)
        result = nvml_version(call, pci->version, nvmlPciInfoExt_v1);
    if (result != NVML_SUCCESS)
        return result;
    nvml_fill_pci(call->machine, place, &is);
    *pci = (nvmlPciInfoExt_t){.version = nvmlPciInfoExt_v1,
                              .bus = is.bus,
                              .pciDeviceId = is.pciDeviceId,
                              .pciSubSystemId = is.pciSubSystemId,
                              .baseClass = CLASS_DISPLAY,
                              .subClass = SUBCLASS_3D};
    memcpy(pci->busId, is.busId, sizeof pci->busId);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPciInfoExt(nvmlDevice_t device, nvmlPciInfoExt_t *pci)
{
    NVML(pci_ext(call, device, pci));
}

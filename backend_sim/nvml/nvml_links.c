/* SPDX-License-Identifier: Apache-2.0 */
/* Connections between devices: peers, NVLinks, the fabric.
 *
 *     peers, and multicast      device 0 ==18 links== switch ==18 links== device 1
 *     peers alone               device 0 ====18 links, in turn to each peer==== device 1
 *     no peer                   links that lead nowhere: NOT_SUPPORTED
 */
#include <string.h>

#include "imex.h"
#include "nvml_call.h"

/* ---- peers ---- */

static nvmlGpuP2PStatus_t p2p_of(const struct nvml_machine *machine, int from, int to, nvmlGpuP2PCapsIndex_t what)
{
    bool peers = nvml_are_peers(machine, from, to);
    if (from == to) /* a device is never its own peer, regardless of the query */
        return NVML_P2P_STATUS_NOT_SUPPORTED;
    if ((unsigned)what >= NVML_P2P_CAPS_INDEX_PCI) /* combinations with NVLink were not measured */
        return NVML_P2P_STATUS_UNKNOWN;
    if (what == NVML_P2P_CAPS_INDEX_NVLINK)
        return peers && nvml_links(machine, from) ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
    return peers ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
}

static nvmlReturn_t p2p(const struct nvml_call *call, nvmlDevice_t device1, nvmlDevice_t device2, nvmlGpuP2PCapsIndex_t what,
                        nvmlGpuP2PStatus_t *status)
{
    int from, to;
    nvmlReturn_t result = nvml_place(call, device1, &from);
    if (result == NVML_SUCCESS)
        result = nvml_asks(call, device2, status, "p2pStatus", &to);
    if (result != NVML_SUCCESS)
        return result;
    *status = p2p_of(call->machine, from, to, what);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetP2PStatus(nvmlDevice_t device1, nvmlDevice_t device2, nvmlGpuP2PCapsIndex_t p2pIndex,
                                    nvmlGpuP2PStatus_t *p2pStatus)
{
    NVML(p2p(call, device1, device2, p2pIndex, p2pStatus));
}

/* ---- NVLinks ---- */

static nvmlReturn_t in_range(const struct nvml_call *call, unsigned link)
{
    unsigned links = call->machine->chip->links;
    if (link < links)
        return NVML_SUCCESS;
    return nvml_refuse(call->name, NVML_ERROR_INVALID_ARGUMENT, "link is %u: a device has %u, numbered from 0", link, links);
}

/* A link of a device whose architecture has links: NOT_SUPPORTED without links and for a device without peers, as
 * recorded on one H200; INVALID_ARGUMENT after the last link. */
static nvmlReturn_t link_of(const struct nvml_call *call, nvmlDevice_t device, unsigned link, const void *answer,
                            const char *argument, int *place)
{
    nvmlReturn_t result = nvml_asks(call, device, answer, argument, place);
    if (result == NVML_SUCCESS && !call->machine->chip)
        return nvml_lacks(call, "NVLinks");
    if (result == NVML_SUCCESS && !nvml_links(call->machine, *place))
        return nvml_refuse(call->name, NVML_ERROR_NOT_SUPPORTED, "device %d has no peer, so its links lead nowhere", *place);
    return result == NVML_SUCCESS ? in_range(call, link) : result;
}

static nvmlReturn_t link_state(const struct nvml_call *call, nvmlDevice_t device, unsigned link, nvmlEnableState_t *active)
{
    int place;
    nvmlReturn_t result = link_of(call, device, link, active, "isActive", &place);
    if (result == NVML_SUCCESS)
        *active = NVML_FEATURE_ENABLED;
    return result;
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link, nvmlEnableState_t *isActive)
{
    NVML(link_state(call, device, link, isActive));
}

static nvmlReturn_t link_version(const struct nvml_call *call, nvmlDevice_t device, unsigned link, unsigned *version)
{
    int place;
    nvmlReturn_t result = link_of(call, device, link, version, "version", &place);
    if (result == NVML_SUCCESS)
        *version = call->machine->chip->link_version;
    return result;
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t device, unsigned link, unsigned *version)
{
    NVML(link_version(call, device, link, version));
}

/* Devices access each other over an active link, with atomics; they access host memory over PCIe. */
static nvmlReturn_t link_can(const struct nvml_call *call, nvmlDevice_t device, unsigned link, nvmlNvLinkCapability_t what,
                             unsigned *can)
{
    int place;
    nvmlReturn_t result = nvml_asks(call, device, can, "capResult", &place);
    if (result == NVML_SUCCESS && call->machine->chip)
        result = in_range(call, link);
    if (result == NVML_SUCCESS)
        result = link_of(call, device, link, can, "capResult", &place);
    if (result != NVML_SUCCESS)
        return result;
    if ((unsigned)what >= NVML_NVLINK_CAP_COUNT)
        return nvml_refuse(call->name, NVML_ERROR_INVALID_ARGUMENT, "capability is %u: expected less than %u", (unsigned)what,
                           (unsigned)NVML_NVLINK_CAP_COUNT);
    *can = what == NVML_NVLINK_CAP_VALID ||
           ((what == NVML_NVLINK_CAP_P2P_SUPPORTED || what == NVML_NVLINK_CAP_P2P_ATOMICS) && nvml_links(call->machine, place));
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkCapability(nvmlDevice_t device, unsigned link, nvmlNvLinkCapability_t capability,
                                           unsigned *capResult)
{
    NVML(link_can(call, device, link, capability, capResult));
}

/* ---- the other end of a link ---- */

/* Multicast needs the switch. */
static bool switched(const struct nvml_machine *machine)
{
    return nvml_attribute(machine, VMM_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED) != 0;
}

/* The peer at the other end of a link: peers take turns, starting with the next device. The device must have one. */
static int behind(const struct nvml_machine *machine, int place, unsigned link)
{
    int devices = machine->profile.devices, at = place;
    if (switched(machine))
        return devices;
    for (unsigned left = link + 1; left;) {
        at = at + 1 < devices ? at + 1 : 0;
        left -= nvml_are_peers(machine, place, at);
    }
    return at;
}

static nvmlReturn_t remote_type(const struct nvml_call *call, nvmlDevice_t device, unsigned link, nvmlIntNvLinkDeviceType_t *type)
{
    int place;
    nvmlReturn_t result = link_of(call, device, link, type, "pNvLinkDeviceType", &place);
    if (result == NVML_SUCCESS)
        *type = switched(call->machine) ? NVML_NVLINK_DEVICE_TYPE_SWITCH : NVML_NVLINK_DEVICE_TYPE_GPU;
    return result;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned link,
                                                 nvmlIntNvLinkDeviceType_t *pNvLinkDeviceType)
{
    NVML(remote_type(call, device, link, pNvLinkDeviceType));
}

enum { FORM_1 = 36 /* the size of the first version's struct: up to pciSubSystemId */ };

static nvmlReturn_t remote_pci(const struct nvml_call *call, nvmlDevice_t device, unsigned link, nvmlPciInfo_t *pci, size_t size)
{
    nvmlPciInfo_t is;
    int place;
    nvmlReturn_t result = link_of(call, device, link, pci, "pci", &place);
    if (result != NVML_SUCCESS)
        return result;
    nvml_fill_pci(call->machine, behind(call->machine, place, link), &is);
    memcpy(pci, &is, size);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo(nvmlDevice_t device, unsigned link, nvmlPciInfo_t *pci)
{
    NVML(remote_pci(call, device, link, pci, FORM_1));
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t device, unsigned link, nvmlPciInfo_t *pci)
{
    NVML(remote_pci(call, device, link, pci, sizeof *pci));
}

/* ---- the fabric ---- */

/* A process with an IMEX channel is part of a domain: all of its machines form one clique. */
static void fabric_of(const struct nvml_machine *machine, nvmlGpuFabricInfo_t *fabric)
{
    char why[IMEX_WHY];
    uint64_t domain;
    *fabric = (nvmlGpuFabricInfo_t){.status = NVML_SUCCESS, .state = NVML_GPU_FABRIC_STATE_NOT_SUPPORTED};
    if (imex_lowest(machine->imex, &machine->profile, why) == IMEX_NONE)
        return;
    if (!imex_domain(machine->imex, &machine->profile, &domain, why)) /* LCOV_EXCL_BR_LINE: unless the folder goes just now */
        return; /* LCOV_EXCL_LINE: as above */
    fabric->state = NVML_GPU_FABRIC_STATE_COMPLETED;
    for (unsigned i = 0; i < NVML_GPU_FABRIC_UUID_LEN; i++)
        fabric->clusterUuid[i] = (unsigned char)(domain >> i % 8 * 8);
}

static nvmlReturn_t fabric_1(const struct nvml_call *call, nvmlDevice_t device, nvmlGpuFabricInfo_t *fabric)
{
    int place;
    nvmlReturn_t result = nvml_asks(call, device, fabric, "gpuFabricInfo", &place);
    if (result == NVML_SUCCESS)
        fabric_of(call->machine, fabric);
    return result;
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfo(nvmlDevice_t device, nvmlGpuFabricInfo_t *gpuFabricInfo)
{
    NVML(fabric_1(call, device, gpuFabricInfo));
}

/* Both versions begin with the same fields; health is not simulated, which 0 in each of its parts means. */
static nvmlReturn_t fabric_v(const struct nvml_call *call, nvmlDevice_t device, nvmlGpuFabricInfoV_t *fabric)
{
    nvmlGpuFabricInfo_t is;
    int place;
    nvmlReturn_t result = nvml_asks(call, device, fabric, "gpuFabricInfo", &place);
    bool older = result == NVML_SUCCESS && fabric->version == nvmlGpuFabricInfo_v2;
    if (result == NVML_SUCCESS && !older)
        result = nvml_version(call, fabric->version, nvmlGpuFabricInfo_v3);
    if (result != NVML_SUCCESS)
        return result;
    fabric_of(call->machine, &is);
    memcpy(fabric->clusterUuid, is.clusterUuid, sizeof is.clusterUuid);
    fabric->status = is.status;
    fabric->cliqueId = is.cliqueId;
    fabric->state = is.state;
    fabric->healthMask = 0;
    if (!older)
        fabric->healthSummary = 0;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetGpuFabricInfoV(nvmlDevice_t device, nvmlGpuFabricInfoV_t *gpuFabricInfo)
{
    NVML(fabric_v(call, device, gpuFabricInfo));
}

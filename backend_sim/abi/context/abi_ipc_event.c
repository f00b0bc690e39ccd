/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_ipc_event.h"

#include <stdatomic.h>
#include <string.h>

#include "abi_capture.h"
#include "abi_parts.h"

static atomic_bool any; /* has an event ever been shared? */

bool abi_ipc_event_is(CUevent event)
{
    return atomic_load_explicit(&any, memory_order_relaxed) && abi_note_get((uint64_t)(uintptr_t)event).shared;
}

CUresult abi_ipc_event_not_captured(CUevent event, vmm_stream stream, const char *function)
{
    if (!abi_ipc_event_is(event) || abi_capture_status(stream) == CU_STREAM_CAPTURE_STATUS_NONE)
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_CAPTURE_FORBIDS, function, "the event is shared by processes, and a graph cannot contain such "
                                                          "an event");
}

static bool remember(CUevent event)
{
    struct abi_note note = abi_note_get((uint64_t)(uintptr_t)event);
    note.flags = CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING;
    note.shared = true;
    atomic_store(&any, true);
    return abi_note_set((uint64_t)(uintptr_t)event, &note);
}

static CUresult get(vmm_system *sys, CUipcEventHandle *handle, CUevent event)
{
    CUresult result = (CUresult)vmm_ipc_get_event_handle(sys, (vmm_ipc_event_handle *)(void *)handle, abi_event(event));
    if (result == CUDA_SUCCESS)
        remember(event); /* its flags are noted already, so this needs no memory */
    return result;
}

CUresult cuIpcGetEventHandle(CUipcEventHandle *pHandle, CUevent event)
{
    ABI(get(sys, pHandle, event));
}

static CUresult open_event(vmm_system *sys, CUevent *event, const CUipcEventHandle *handle)
{
    static const char name[] = "cuIpcOpenEventHandle";
    vmm_event made = NULL;
    vmm_ipc_event_handle bytes;
    memcpy(&bytes, handle, sizeof bytes);
    CUresult result = (CUresult)vmm_ipc_open_event_handle(sys, event ? &made : NULL, bytes);
    if (result != CUDA_SUCCESS)
        return result;
    if (!remember((CUevent)(void *)made)) {
        vmm_event_destroy(sys, made);
        return abi_no_memory(name);
    }
    /* analysers: clang-analyzer-core.NullDereference is wrong: vmm_ipc_open_event_handle refuses NULL */
    *event = (CUevent)(void *)made;
    return CUDA_SUCCESS;
}

CUresult cuIpcOpenEventHandle(CUevent *phEvent, CUipcEventHandle handle)
{
    ABI(open_event(sys, phEvent, &handle));
}

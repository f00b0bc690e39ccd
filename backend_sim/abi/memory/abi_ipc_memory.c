/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for other processes: handles of memory of cuMemAlloc (call_ipc.h). */
#include <string.h>

#include "abi.h"
#include "abi_ipc.h"
#include "abi_variable_memory.h"

/* A module variable's memory does not count as cuMemAlloc memory, as recorded. */
static CUresult refuse_variable(vmm_system *sys, CUdeviceptr at)
{
    static const char name[] = "cuIpcGetMemHandle";
    uint64_t current;
    struct abi_query_context context;
    CUresult result = abi_current(sys, name, &current, &context);
    return result == CUDA_SUCCESS ? abi_refuse_by(sys, VMM_RULE_IPC_ADDRESS, name, at) : result;
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
    if (pHandle && abi_variable_memory(dptr))
        ABI_INITIALISED(refuse_variable(sys, dptr));
    ABI(ABI_PART(call_, ipc_get_mem_handle, (vmm_ipc_mem_handle *)pHandle, dptr));
}

static vmm_ipc_mem_handle handle_of(const CUipcMemHandle *handle)
{
    vmm_ipc_mem_handle same;
    _Static_assert(sizeof same == sizeof *handle, "64 bytes");
    memcpy(&same, handle, sizeof same);
    return same;
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    ABI(ABI_PART(call_, ipc_open_mem_handle, (vmm_deviceptr *)pdptr, handle_of(&handle), Flags));
}

/* The form of CUDA 4.1 opens memory only once. */
#undef cuIpcOpenMemHandle
#pragma GCC visibility push(default)
CUresult cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags);
#pragma GCC visibility pop

static CUresult open_once(vmm_system *sys, CUdeviceptr *pdptr, const CUipcMemHandle *handle, unsigned flags)
{
    if (pdptr && (flags & CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) && abi_ipc_is_open(sys, handle))
        return abi_refuse(VMM_RULE_IPC_ALREADY, "cuIpcOpenMemHandle", "the memory is already open");
    return (CUresult)vmm_ipc_open_mem_handle(sys, (vmm_deviceptr *)pdptr, handle_of(handle), flags);
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    ABI(open_once(sys, pdptr, &handle, Flags));
}

CUresult cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    ABI(ABI_PART(call_, ipc_close_mem_handle, dptr));
}

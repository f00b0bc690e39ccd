/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for other processes: handles of memory of cuMemAlloc (abi_ipc.h). */
#include "abi.h"
#include "abi_capture.h"
#include "abi_ipc.h"
#include "abi_variable_memory.h"

/* What a refusal says, as far as calls share it. */
static CUresult refuse(const vmm_system *sys, enum abi_ipc answer, const char *function, CUdeviceptr at, const char *why)
{
    switch (answer) {
    case ABI_IPC_DONE: return CUDA_SUCCESS;
    case ABI_IPC_NO_ALLOCATION: return abi_refuse_by(sys, VMM_RULE_IPC_ADDRESS, function, at);
    case ABI_IPC_OPENED: return abi_refuse_by(sys, VMM_RULE_IPC_OPENED, function, at);
    case ABI_IPC_FOREIGN:
        return abi_refuse(VMM_RULE_IPC_HANDLE, function, "the bytes of the handle are not those of memory, or not as they were made");
    case ABI_IPC_MACHINE: return abi_refuse(VMM_RULE_IPC_MACHINE, function, "the handle names memory of another simulated machine");
    case ABI_IPC_OWN: return abi_refuse(VMM_RULE_IPC_OWN, function, "the memory was allocated by this process");
    case ABI_IPC_GONE: return abi_refuse(VMM_RULE_IPC_GONE, function, "the memory was freed");
    case ABI_IPC_ENDED: return abi_refuse(VMM_RULE_IPC_ENDED, function, "the process that allocated the memory has ended");
    case ABI_IPC_CONTEXT: return abi_refuse(VMM_RULE_IPC_CONTEXT, function, "the memory is open in another context");
    case ABI_IPC_ALREADY: return abi_refuse(VMM_RULE_IPC_ALREADY, function, "the memory is open already");
    case ABI_IPC_SYSTEM: return abi_refuse(VMM_RULE_IPC_SYSTEM, function, "%s", why);
    default: return abi_no_memory(function);
    }
}

static CUresult get(vmm_system *sys, CUipcMemHandle *handle, CUdeviceptr at)
{
    static const char name[] = "cuIpcGetMemHandle";
    char why[SHARE_WHY];
    uint64_t current;
    struct abi_query_context context;
    CUresult result = abi_current(sys, name, &current, &context);
    if (result == CUDA_SUCCESS && abi_variable_memory(at))
        return abi_refuse_by(sys, VMM_RULE_IPC_ADDRESS, name, at);
    return result == CUDA_SUCCESS ? refuse(sys, abi_ipc_name(sys, at, handle, why), name, at, why) : result;
}

/* What is checked even before cuInit, as recorded. */
static CUresult get_at_all(const CUipcMemHandle *handle, CUdeviceptr at)
{
    static const char name[] = "cuIpcGetMemHandle";
    if (!handle)
        return abi_null(name, "pHandle");
    return at ? CUDA_SUCCESS : abi_refuse(VMM_RULE_IPC_ADDRESS, name, "dptr is 0");
}

CUresult cuIpcGetMemHandle(CUipcMemHandle *pHandle, CUdeviceptr dptr)
{
    CUresult refused = get_at_all(pHandle, dptr);
    if (refused != CUDA_SUCCESS)
        return refused;
    ABI_INITIALISED(get(sys, pHandle, dptr));
}

/* The number of the program's call, which a part of it that is a call of the API brings. */
static CUresult numbered(vmm_system *sys, const char *function, uint64_t *number)
{
    uint64_t current;
    struct abi_query_context context;
    vmm_device device;
    CUresult result = abi_current(sys, function, &current, &context);
    if (result == CUDA_SUCCESS)
        result = (CUresult)vmm_ctx_get_device(sys, &device);
    *number = vmm_last_detail()->call;
    return result;
}

static CUresult open_handle(vmm_system *sys, CUdeviceptr *at, const CUipcMemHandle *handle, bool once)
{
    static const char name[] = "cuIpcOpenMemHandle";
    char why[SHARE_WHY];
    uint64_t number, address = 0;
    CUresult result = numbered(sys, name, &number);
    if (result == CUDA_SUCCESS)
        result = refuse(sys, abi_ipc_open(sys, handle, once, number, &address, why), name, 0, why);
    if (result == CUDA_SUCCESS)
        *at = address;
    return result;
}

/* Checked even before cuInit. Of the flags the lowest counts. */
static CUresult open_at_all(const CUdeviceptr *at, unsigned flags)
{
    static const char name[] = "cuIpcOpenMemHandle";
    if (!at)
        return abi_null(name, "pdptr");
    return flags & CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS ? CUDA_SUCCESS : abi_refuse(VMM_RULE_IPC_FLAGS, name, "Flags is 0x%x", flags);
}

CUresult cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    CUresult refused = open_at_all(pdptr, Flags);
    if (refused != CUDA_SUCCESS)
        return refused;
    ABI_INITIALISED(open_handle(sys, pdptr, &handle, false));
}

/* The form of CUDA 4.1 opens memory once. */
#undef cuIpcOpenMemHandle
#pragma GCC visibility push(default)
CUresult cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags);
#pragma GCC visibility pop

CUresult cuIpcOpenMemHandle(CUdeviceptr *pdptr, CUipcMemHandle handle, unsigned int Flags)
{
    CUresult refused = open_at_all(pdptr, Flags);
    if (refused != CUDA_SUCCESS)
        return refused;
    ABI_INITIALISED(open_handle(sys, pdptr, &handle, true));
}

static CUresult close_address(vmm_system *sys, CUdeviceptr at)
{
    static const char name[] = "cuIpcCloseMemHandle";
    uint64_t number;
    CUresult result = numbered(sys, name, &number);
    if (result != CUDA_SUCCESS)
        return result;
    switch (abi_ipc_close(sys, at, number)) {
    case ABI_IPC_DONE: return CUDA_SUCCESS;
    case ABI_IPC_LOST: return (CUresult)vmm_ctx_synchronize(sys);
    default: return abi_refuse_by(sys, VMM_RULE_IPC_CLOSE, name, at);
    }
}

CUresult cuIpcCloseMemHandle(CUdeviceptr dptr)
{
    ABI_INITIALISED(close_address(sys, dptr));
}

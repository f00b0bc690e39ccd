/* Memory for other devices of the machine: a range of addresses as a dma-buf, which here is a file with a copy of the
 * bytes, for there is no other device that could share them.
 *
 *   range    [ part of M1 ][  M2  ][ part of M3 ]
 *   file     [ bytes ......  (hole) ........... ]     where nothing was written the file has no bytes either
 */
#include <string.h>

#include "os.h"
#include "reach.h"

typedef struct vmm_call_mem_get_handle_for_address_range request;

static vmm_result refuse(enum vmm_rule_id rule, uint64_t value, uint64_t expected)
{
    return vmm_detail_refuse(rule, value, expected, NULL);
}

static vmm_result check_arguments(const request *call)
{
    uint64_t page = os_page_size();
    if (!call->handle)
        return refuse(VMM_RULE_DMABUF_NULL_HANDLE, 0, 0);
    if (!call->size)
        return refuse(VMM_RULE_DMABUF_SIZE_ZERO, 0, 0);
    if (call->handle_type != VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD)
        return refuse(VMM_RULE_DMABUF_TYPE, (uint64_t)(int64_t)call->handle_type, VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD);
    if (call->flags & ~(uint64_t)VMM_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE)
        return refuse(VMM_RULE_DMABUF_FLAGS, call->flags, 0);
    if (call->dptr % page || call->size % page) {
        bool start = call->dptr % page != 0;
        vmm_result result = refuse(VMM_RULE_DMABUF_ALIGNMENT, start ? call->dptr : call->size, page);
        vmm_detail_argument(start ? "dptr" : "size");
        return result;
    }
    return VMM_SUCCESS;
}

/* Every byte has memory behind it. A range that passes the end of the addresses has none there. */
static vmm_result check_mapped(const struct sim_process *process, const request *call)
{
    struct reach_run run;
    for (uint64_t done = 0; done < call->size; done += run.length) {
        uint64_t at = call->dptr + done;
        if (reach_run(process, at, call->size - done, &run))
            continue;
        vmm_object nearest = sim_object_nearest(process, at);
        if (!done)
            return vmm_detail_refuse(VMM_RULE_DMABUF_NOT_MAPPED, at, 0, &nearest);
        vmm_result result = vmm_detail_refuse(VMM_RULE_DMABUF_HOLE, call->size, done, &nearest);
        vmm_detail_note("nothing is mapped at 0x%llx", (unsigned long long)at);
        return result;
    }
    return VMM_SUCCESS;
}

/* What the properties say, and the usages that do not read back. */
static bool alike(const struct sim_process *process, uint64_t one, uint64_t other)
{
    const struct sim_mapping *m = sim_mapping_at(process, one), *n = sim_mapping_at(process, other);
    if (!m || !n)
        return !m && !n; /* memory of cuMemAlloc, which goes on in no other */
    const vmm_mem_allocation_prop *a = &m->handle->prop, *b = &n->handle->prop;
    return a->type == b->type && a->requested_handle_types == b->requested_handle_types &&
           a->location.type == b->location.type && a->location.id == b->location.id &&
           a->alloc_flags.compression_type == b->alloc_flags.compression_type &&
           a->alloc_flags.gpu_direct_rdma_capable == b->alloc_flags.gpu_direct_rdma_capable &&
           m->handle->tile_pool == n->handle->tile_pool && m->handle->decompress == n->handle->decompress;
}

static vmm_result check_alike(const struct sim_process *process, const request *call)
{
    struct reach_run run;
    for (uint64_t done = 0; done < call->size; done += run.length) {
        reach_run(process, call->dptr + done, call->size - done, &run);
        if (alike(process, call->dptr, call->dptr + done))
            continue;
        vmm_object nearest = sim_object_nearest(process, call->dptr + done);
        vmm_result result = vmm_detail_refuse(VMM_RULE_DMABUF_MIXED, call->size, done, &nearest);
        vmm_detail_note("other memory than at dptr begins at 0x%llx", (unsigned long long)(call->dptr + done));
        return result;
    }
    return VMM_SUCCESS;
}

/* What the machine can do, of memory that is all of one kind. */
static vmm_result check_machine(const struct sim_process *process, const request *call)
{
    struct reach_run run;
    int supported = 0;
    reach_run(process, call->dptr, call->size, &run);
    vmm_object nearest = sim_object_nearest(process, call->dptr);
    if (run.block->prop.location.type != VMM_MEM_LOCATION_TYPE_DEVICE)
        return vmm_detail_refuse(VMM_RULE_DMABUF_HOST, call->dptr, 0, &nearest);
    sim_profile_attribute(&process->machine->profile, VMM_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED, &supported);
    if (!supported)
        return vmm_detail_refuse(VMM_RULE_DMABUF_UNSUPPORTED, call->dptr, 0, &nearest);
    if (call->flags)
        return refuse(VMM_RULE_DMABUF_PCIE, call->flags, 0);
    return VMM_SUCCESS;
}

static bool all_zero(const unsigned char *bytes, uint64_t length)
{
    return !bytes[0] && !memcmp(bytes, bytes + 1, (size_t)length - 1);
}

/* Chunk by chunk, so that what is zero takes no room. */
static bool put(int file, uint64_t at, const unsigned char *bytes, uint64_t length)
{
    for (uint64_t done = 0, n; done < length; done += n) {
        n = length - done < BYTES_CHUNK ? length - done : BYTES_CHUNK;
        if (!all_zero(bytes + done, n) && !os_file_write(file, at + done, bytes + done, n))
            return false;
    }
    return true;
}

static bool copy(const struct sim_process *process, const request *call, int file)
{
    struct reach_run run;
    for (uint64_t done = 0; done < call->size; done += run.length) {
        reach_run(process, call->dptr + done, call->size - done, &run);
        uint64_t n = run.length;
        const unsigned char *bytes = bytes_run(&run.block->bytes, run.offset, &n);
        run.length = n; /* what lies together of it */
        if (bytes && !put(file, done, bytes, n))
            return false;
    }
    return true;
}

static vmm_result make(const struct sim_process *process, const request *call, int *made)
{
    int file = os_file_new();
    if (file >= 0 && os_file_grow(file, call->size)) {
        if (copy(process, call, file)) {
            *made = file;
            return VMM_SUCCESS;
        }
        os_file_close(file);
        return sim_out_of_host_memory();
    }
    vmm_result result = refuse(VMM_RULE_DMABUF_FILE, 0, 0);
    vmm_detail_note(file < 0 ? "the process has no descriptor left for another file"
                             : "no file may become 0x%llx bytes long", (unsigned long long)call->size);
    if (file >= 0)
        os_file_close(file);
    return result;
}

vmm_result sim_mem_get_handle_for_address_range(struct sim_process *process, const request *call)
{
    int file = -1; /* where no contents are kept, as in the shadow of another backend, there is none to be had */
    vmm_result result = check_arguments(call);
    if (result == VMM_SUCCESS)
        result = check_mapped(process, call);
    if (result == VMM_SUCCESS)
        result = check_alike(process, call);
    if (result == VMM_SUCCESS)
        result = check_machine(process, call);
    if (result == VMM_SUCCESS && process->machine->bytes)
        result = make(process, call, &file);
    if (result == VMM_SUCCESS)
        memcpy(call->handle, &file, sizeof file);
    return result;
}

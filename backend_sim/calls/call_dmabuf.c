/* SPDX-License-Identifier: Apache-2.0 */
/* Memory for other devices of the machine: a range of addresses as a dma-buf. Here it is a file with a copy of the bytes,
 * because no other device could share them.
 *
 *   range    [ part of M1 ][  M2  ][ part of M3 ]
 *   file     [ bytes ......  (hole) ........... ]     where nothing was written the file has no bytes either
 */
#include <string.h>

#include "launch.h"
#include "os.h"
#include "translate.h"
#include "sim.h"

#define PCIE ((uint64_t)VMM_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE)

typedef struct vmm_call_mem_get_handle_for_address_range request;

static vmm_result refuse(enum vmm_rule_id rule, uint64_t value, uint64_t expected)
{
    return vmm_detail_refuse(rule, value, expected, NULL);
}

static vmm_result check_alignment(const request *call)
{
    uint64_t page = os_page_size();
    bool start = call->dptr % page != 0;
    if (!start && call->size % page == 0)
        return VMM_SUCCESS;
    vmm_result result = refuse(VMM_RULE_DMABUF_ALIGNMENT, start ? call->dptr : call->size, page);
    vmm_detail_argument(start ? "dptr" : "size");
    return result;
}

static vmm_result check_arguments(const request *call)
{
    if (!call->handle)
        return refuse(VMM_RULE_DMABUF_NULL_HANDLE, 0, 0);
    if (!call->size)
        return refuse(VMM_RULE_DMABUF_SIZE_ZERO, 0, 0);
    if (!call->dptr)
        return refuse(VMM_RULE_DMABUF_PTR_ZERO, 0, 0);
    if (call->handle_type != VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD)
        return refuse(VMM_RULE_DMABUF_TYPE, (uint64_t)(int64_t)call->handle_type, VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD);
    if (call->flags && !(call->flags & PCIE)) /* measured: with the PCIE bit the driver ignores the others */
        return refuse(VMM_RULE_DMABUF_FLAGS, call->flags, 0);
    vmm_result result = check_alignment(call);
    if (result == VMM_SUCCESS && call->size > UINT64_MAX - call->dptr)
        result = refuse(VMM_RULE_DMABUF_OVERFLOW, call->size, UINT64_MAX - call->dptr);
    return result;
}

/* A pool's memory. As measured, a range that begins in an allocation may continue past it, up to the end of the chunk. */
static bool pooled_run_of(const struct sim_process *process, uint64_t address, uint64_t size, struct translate_run *run)
{
    const struct sim_allocation *a = sim_allocation_at(process, address);
    return a && translate_run(process, address, size, run);
}

/* Translates an address. An allocation of cuMemAlloc extends to the end of its span, beyond the requested size: measured with
 * 100 bytes, of which a whole page can be exported. As measured, memory of another process's pool cannot. */
static bool run_of(const struct sim_process *process, uint64_t address, uint64_t size, struct translate_run *run)
{
    const struct mempool_chunk *chunk = process->chunks.count ? sim_chunk_at(process, address) : NULL;
    if (chunk)
        return !sim_pool_of(chunk->pool)->imports && pooled_run_of(process, address, size, run);
    const struct sim_allocation *a = addrmap_floor(&process->allocations, address);
    uint64_t offset = a ? address - a->start : 0;
    if (a && (a->opens || a->managed) && offset < a->span) /* measured: not of another process's memory, nor of managed memory */
        return false;
    if (!a || offset >= a->span || sim_mapping_at(process, address))
        return translate_run(process, address, size, run);
    *run = (struct translate_run){a->block, offset, size < a->span - offset ? size : a->span - offset};
    return true;
}

/* Checks that every byte of the range is mapped. */
static vmm_result check_mapped(const struct sim_process *process, const request *call)
{
    struct translate_run run;
    for (uint64_t done = 0; done < call->size; done += run.length) {
        uint64_t at = call->dptr + done;
        if (run_of(process, at, call->size - done, &run))
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

/* Makes the checks that do not depend on the memory: the machine's support and the PCIE flag. */
static vmm_result check_machine(const struct sim_process *process, const request *call)
{
    if (!sim_profile_has(&process->machine->profile, VMM_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED)) {
        vmm_object nearest = sim_object_nearest(process, call->dptr);
        return vmm_detail_refuse(VMM_RULE_DMABUF_UNSUPPORTED, call->dptr, 0, &nearest);
    }
    return call->flags & PCIE ? refuse(VMM_RULE_DMABUF_PCIE, call->flags, 0) : VMM_SUCCESS;
}

/* Is the memory at an address of that kind? first is the start of the range, to compare with. */
typedef bool kind_of_memory(const struct sim_process *process, uint64_t first, uint64_t at);

static const vmm_mem_allocation_prop *block_prop(const struct sim_process *process, uint64_t at)
{
    struct translate_run run;
    run_of(process, at, 1, &run);
    /* analysers: clang-analyzer-core.uninitialized.UndefReturn is wrong: check_mapped found the whole range mapped */
    return &run.block->prop;
}

static bool is_hosts(const struct sim_process *process, uint64_t first, uint64_t at)
{
    (void)first;
    return sim_on_host(block_prop(process, at)->location);
}

static bool is_multicast(const struct sim_process *process, uint64_t first, uint64_t at)
{
    (void)first;
    return block_prop(process, at)->location.type == VMM_MEM_LOCATION_TYPE_INVALID;
}

static bool is_compressed(const struct sim_process *process, uint64_t first, uint64_t at)
{
    (void)first;
    return block_prop(process, at)->alloc_flags.compression_type != VMM_MEM_ALLOCATION_COMP_NONE;
}

static bool is_other_device(const struct sim_process *process, uint64_t first, uint64_t at)
{
    return block_prop(process, at)->location.id != block_prop(process, first)->location.id;
}

/* Does the memory differ from the first in its properties, or in its usages, which a query does not return? */
static bool is_other(const struct sim_process *process, uint64_t first, uint64_t at)
{
    const struct sim_mapping *m = sim_mapping_at(process, first), *n = sim_mapping_at(process, at);
    if (!m || !n)
        return m != n; /* memory of cuMemAlloc is all alike */
    const vmm_mem_allocation_prop *a = &m->handle->prop, *b = &n->handle->prop;
    return a->requested_handle_types != b->requested_handle_types ||
           a->alloc_flags.gpu_direct_rdma_capable != b->alloc_flags.gpu_direct_rdma_capable ||
           m->handle->decompress != n->handle->decompress;
}

/* The offset of the first memory of a kind in the range; the size of the range if there is none. */
static uint64_t find(const struct sim_process *process, const request *call, kind_of_memory *is)
{
    struct translate_run run;
    uint64_t done = 0;
    /* analysers: clang-analyzer-core.uninitialized.Assign is wrong: check_mapped found the whole range mapped */
    for (; done < call->size && !is(process, call->dptr, call->dptr + done); done += run.length)
        run_of(process, call->dptr + done, call->size - done, &run);
    return done;
}

static vmm_result check_memory(const struct sim_process *process, const request *call)
{
    static const struct {
        enum vmm_rule_id rule;
        kind_of_memory *is;
        const char *what;
    } kinds[] = {{VMM_RULE_DMABUF_MULTICAST, is_multicast, "a multicast object"},
                 {VMM_RULE_DMABUF_HOST, is_hosts, "host memory"},
                 {VMM_RULE_DMABUF_COMPRESSED, is_compressed, "compressible memory"},
                 {VMM_RULE_DMABUF_DEVICES, is_other_device, "memory of a different device than at dptr"},
                 {VMM_RULE_DMABUF_MIXED, is_other, "memory with different properties than at dptr"}};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        uint64_t done = find(process, call, kinds[i].is);
        if (done == call->size)
            continue;
        vmm_object nearest = sim_object_nearest(process, call->dptr + done);
        vmm_result result = VMM_ERROR_INVALID_VALUE;
        if (kinds[i].rule != VMM_RULE_DMABUF_MIXED)
            result = vmm_detail_refuse(kinds[i].rule, done ? call->size : call->dptr, done, &nearest);
        else if (sim_warn_or_refuse(process, kinds[i].rule, call->size, done, &nearest))
            result = VMM_SUCCESS;
        vmm_detail_argument(done ? "size" : "dptr");
        vmm_detail_note("%s begins at 0x%llx", kinds[i].what, (unsigned long long)call->dptr + done);
        return result;
    }
    return VMM_SUCCESS;
}

static bool all_zero(const unsigned char *bytes, uint64_t length)
{
    return !bytes[0] && !memcmp(bytes, bytes + 1, (size_t)length - 1);
}

/* Writes bytes to the file, except chunks of zeros, which then take no space. */
static bool put(int file, uint64_t at, const unsigned char *bytes, uint64_t length)
{
    for (uint64_t done = 0, n; done < length; done += n) {
        n = length - done < BLOCK_DATA_CHUNK ? length - done : BLOCK_DATA_CHUNK;
        if (!all_zero(bytes + done, n) && !os_file_write(file, at + done, bytes + done, n))
            return false;
    }
    return true;
}

static bool copy(const struct sim_process *process, const request *call, int file)
{
    struct translate_run run;
    for (uint64_t done = 0; done < call->size; done += run.length) {
        run_of(process, call->dptr + done, call->size - done, &run);
        uint64_t n = run.length;
        const unsigned char *bytes = block_data_run_to_read(&run.block->bytes, run.offset, &n);
        run.length = n; /* the contiguous part of the run */
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
                             : "the system allows no file of 0x%llx bytes", (unsigned long long)call->size);
    if (file >= 0)
        os_file_close(file);
    return result;
}

static vmm_result check_context(struct sim_process *process)
{
    const struct sim_context *context = sim_current(process);
    return context ? sim_context_check(process, context, false) : sim_no_context(process);
}

vmm_result sim_mem_get_handle_for_address_range(struct sim_process *process, const request *call)
{
    int file = -1; /* without contents, as in the shadow of another backend, no file is created */
    vmm_result result = check_arguments(call);
    if (result == VMM_SUCCESS)
        result = check_context(process);
    if (result != VMM_SUCCESS)
        return result;
    result = check_mapped(process, call);
    if (result == VMM_SUCCESS)
        result = check_machine(process, call);
    if (result == VMM_SUCCESS)
        result = check_memory(process, call);
    if (result == VMM_SUCCESS && process->machine->bytes)
        result = make(process, call, &file);
    memcpy(call->handle, &file, sizeof file); /* measured: from here on a refused call writes -1 */
    return result;
}

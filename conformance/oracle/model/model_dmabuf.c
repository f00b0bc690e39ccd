/* SPDX-License-Identifier: Apache-2.0 */
/* model_dmabuf.c - ranges for other devices of the machine: which can be exported, and what the descriptor then
 * contains. */
#include <unistd.h>

#include "model_parts.h"

#define INVALID VMM_ERROR_INVALID_VALUE

/* Mistakes whatever is mapped: R.null to R.far+size0, R.wraps and R.to_the_end. The handle is not written. */
static const char *wrong_argument(const struct vmm_call_mem_get_handle_for_address_range *c)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = c->dptr + c->size;
    bool pcie = c->flags % 2 == 1; /* R.flags3 is answered as R.flags1 */
    if (!c->handle)
        return "VMM-DMABUF-NULL-HANDLE";
    if (c->size == 0)
        return "VMM-DMABUF-SIZE-ZERO";
    if (c->dptr == 0)
        return "VMM-DMABUF-PTR-ZERO";
    if (c->handle_type != 1)
        return "VMM-DMABUF-TYPE";
    if (c->flags != 0 && !pcie)
        return "VMM-DMABUF-FLAGS";
    if ((c->dptr | c->size) & (page - 1))
        return "VMM-DMABUF-ALIGNMENT";
    return end <= c->dptr ? "VMM-DMABUF-OVERFLOW" : NULL; /* an end at 2^64 reads as 0 */
}

/* The memory in a range, from its start to its end. */
struct contents {
    bool nothing, hole;                        /* at its start, and anywhere after it */
    bool host, compressed, devices, different; /* from memory that is in it anywhere */
};

/* The memory at an address, up to an end, which for memory of a pool is that of the chunk that the allocation ends in. */
struct part {
    bool pooled, host, compressed, decompress, rdma;
    int device, handle_types;
    uint64_t end; /* 0: nothing is there */
};

static struct part part_at(struct model *m, uint64_t at)
{
    const struct model_mapping *here = model_mapping_at(m, at);
    const struct model_block *block = here ? NULL : model_block_at(m, at);
    const uint64_t slot = block ? block->pool->heap.slot : 0, from = block ? block->pool->start : 0;
    if (block)
        return (struct part){.pooled = true, .host = model_on_host(block->pool), .device = block->pool->device,
                             .end = from + ((block->start + block->size - 1 - from) / slot + 1) * slot};
    if (!here)
        return (struct part){.end = 0};
    const struct model_memory *memory = model_memory_of(m, here->handle);
    return (struct part){.host = !model_in_device(m, here), .compressed = memory->prop.alloc_flags.compression_type == 1,
                         .decompress = memory->decompress, .rdma = memory->prop.alloc_flags.gpu_direct_rdma_capable,
                         .device = memory->prop.location.id, .handle_types = memory->prop.requested_handle_types,
                         .end = here->start + here->size};
}

static struct contents look(struct model *m, uint64_t start, uint64_t size)
{
    const struct part first = part_at(m, start);
    struct contents in = {.nothing = !first.end};
    for (uint64_t at = start; first.end && !in.hole && at < start + size;) {
        const struct part here = part_at(m, at);
        in.hole = !here.end;
        if (in.hole)
            break;
        in.host |= here.host;
        in.compressed |= here.compressed;
        in.devices |= here.device != first.device;
        in.different |= here.pooled != first.pooled || here.handle_types != first.handle_types ||
                        here.decompress != first.decompress || here.rdma != first.rdma;
        at = here.end;
    }
    return in;
}

/* What the driver refuses (R.hole to R.gone, R.kind), in its order of two mistakes: what is mapped, the flag, and the
 * type of memory. */
static bool refused_memory(struct model *m, struct contents in, bool pcie, struct model_answer *a)
{
    if (in.nothing || in.hole)
        return !model_refuse(a, INVALID, in.nothing ? "VMM-DMABUF-NOT-MAPPED" : "VMM-DMABUF-HOLE");
    if (!model_attribute(m, VMM_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED))
        return !model_refuse(a, VMM_ERROR_NOT_SUPPORTED, "VMM-DMABUF-UNSUPPORTED");
    if (pcie)
        return !model_refuse(a, VMM_ERROR_NOT_SUPPORTED, "VMM-DMABUF-PCIE");
    if (in.host)
        return !model_refuse(a, INVALID, "VMM-DMABUF-HOST");
    if (in.compressed)
        return !model_refuse(a, VMM_ERROR_UNKNOWN, "VMM-DMABUF-COMPRESSED");
    if (in.devices)
        return !model_refuse(a, INVALID, "VMM-DMABUF-DEVICES");
    return in.different && !model_breach(m, a, "VMM-DMABUF-MIXED");
}

/* The file's bytes at an offset of the range, where the model knows them. */
static void expect_bytes(struct model *m, int fd, uint64_t start, uint64_t at, struct model_answer *a)
{
    unsigned char got[MODEL_WINDOW];
    if (pread(fd, got, sizeof got, (off_t)(at - start)) != (ssize_t)sizeof got) {
        model_expect(a, "handle (bytes that can be read)", false, true);
        return;
    }
    for (uint64_t i = 0; i < sizeof got; i++) {
        int want = model_byte(m, at + i);
        if (want >= 0)
            model_expect(a, "handle (a byte)", got[i], (uint64_t)want);
    }
}

static void expect_file(struct model *m, int fd, uint64_t start, uint64_t size, struct model_answer *a)
{
    model_expect(a, "handle (a descriptor)", fd >= 0, true);
    model_expect(a, "handle (length of the file)", (uint64_t)lseek(fd, 0, SEEK_END), size);
    expect_bytes(m, fd, start, start + size - MODEL_WINDOW, a);
    for (uint64_t at = start; at < start + size;) {
        const struct model_mapping *here = model_mapping_at(m, at);
        uint64_t granule = here ? model_memory_of(m, here->handle)->granularity : 0;
        expect_bytes(m, fd, start, at, a);
        /* the next granule, here or in another mapping */
        at = !here ? part_at(m, at).end : here->start + ((at - here->start) / granule + 1) * granule;
    }
}

MODEL_ON(mem_get_handle_for_address_range)
{
    const char *rule = wrong_argument(c);
    if (rule)
        model_refuse(a, INVALID, rule);
    else if (model_current_device(m) < 0)
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT"); /* R.no_context, R.no_context_far */
    else if (refused_memory(m, look(m, c->dptr, c->size), c->flags != 0, a))
        a->writes_no_fd = true;
    else if (model_succeeded(a))
        expect_file(m, *(const int *)c->handle, c->dptr, c->size, a);
}

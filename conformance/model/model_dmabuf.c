/* model_dmabuf.c - ranges for other devices of the machine: which are handed on, and what the descriptor then shows. */
#include <unistd.h>

#include "model_parts.h"

#define INVALID VMM_ERROR_INVALID_VALUE

/* What is wrong whatever is mapped. */
static const char *wrong_argument(const struct vmm_call_mem_get_handle_for_address_range *c)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    if (!c->handle)
        return "VMM-DMABUF-NULL-HANDLE";
    if (c->size == 0)
        return "VMM-DMABUF-SIZE-ZERO";
    if (c->handle_type != 1)
        return "VMM-DMABUF-TYPE";
    if (c->flags > 1)
        return "VMM-DMABUF-FLAGS";
    return (c->dptr | c->size) & (page - 1) ? "VMM-DMABUF-ALIGNMENT" : NULL;
}

static bool same_kind(const struct model_memory *a, const struct model_memory *b)
{
    const vmm_mem_allocation_prop *p = &a->prop, *q = &b->prop;
    bool place = p->location.type == q->location.type && p->location.id == q->location.id;
    bool ways = p->requested_handle_types == q->requested_handle_types &&
                p->alloc_flags.gpu_direct_rdma_capable == q->alloc_flags.gpu_direct_rdma_capable;
    bool form = p->alloc_flags.compression_type == q->alloc_flags.compression_type && a->tile_pool == b->tile_pool &&
                a->decompress == b->decompress;
    return place && ways && form;
}

/* What the mappings of the range do not allow, from its start to its end. A hole anywhere counts before anything else. */
static const char *wrong_memory(struct model *m, uint64_t start, uint64_t size)
{
    const struct model_mapping *first = model_mapping_at(m, start), *here = first;
    bool mixed = false;
    if (!first)
        return "VMM-DMABUF-NOT-MAPPED";
    for (uint64_t left = size; left;) {
        uint64_t at = start + (size - left);
        here = model_mapping_at(m, at);
        if (!here)
            return "VMM-DMABUF-HOLE";
        mixed |= !same_kind(model_memory_of(m, first->handle), model_memory_of(m, here->handle));
        uint64_t here_left = here->start + here->size - at;
        left -= here_left < left ? here_left : left;
    }
    return mixed ? "VMM-DMABUF-MIXED" : NULL;
}

/* The file's bytes at a place of the range, where the model knows them. */
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
        uint64_t granule = model_memory_of(m, here->handle)->granularity;
        expect_bytes(m, fd, start, at, a);
        at = here->start + ((at - here->start) / granule + 1) * granule; /* the next granule, here or in another mapping */
    }
}

MODEL_ON(mem_get_handle_for_address_range)
{
    const char *rule = wrong_argument(c);
    if (!rule)
        rule = wrong_memory(m, c->dptr, c->size);
    if (rule) {
        model_refuse(a, INVALID, rule);
        return;
    }
    if (!model_in_device(m, model_mapping_at(m, c->dptr)))
        rule = "VMM-DMABUF-HOST";
    else if (!model_attribute(m, VMM_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED))
        rule = "VMM-DMABUF-UNSUPPORTED";
    else if (c->flags)
        rule = "VMM-DMABUF-PCIE";
    if (rule)
        model_refuse(a, VMM_ERROR_NOT_SUPPORTED, rule);
    else if (model_succeeded(a))
        expect_file(m, *(const int *)c->handle, c->dptr, c->size, a);
}

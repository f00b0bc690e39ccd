/* SPDX-License-Identifier: Apache-2.0 */
/* An address range as a dma-buf: reserved, mapped, in parts, with a flag, over two mappings. */
#include <unistd.h>

#include "facts_calls.h"

#define G FACTS_G

vmm_result fc_dmabuf(struct facts *f, void *handle, vmm_deviceptr ptr, uint64_t size, int type, uint64_t flags)
{
    fc_begin(f, "cuMemGetHandleForAddressRange");
    fc_arg_pointer(f, "handle", handle);
    fc_arg(f, "dptr", ptr);
    fc_arg(f, "size", size);
    fc_arg_int(f, "handleType", type);
    fc_arg(f, "flags", flags);
    return vmm_mem_get_handle_for_address_range(f->sys, handle, ptr, size, type, flags);
}

/* One question, and whether it was answered with a descriptor; the recording left them open. */
static void ask(struct facts *f, const char *name, vmm_deviceptr ptr, uint64_t size, uint64_t flags)
{
    int fd = -1;
    vmm_result result = fc_dmabuf(f, &fd, ptr, size, VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, flags);
    facts_result(f, result, name);
    facts_value(f, name, "fd=%d", fd >= 0);
    if (fd >= 0)
        close(fd);
}

void facts_dmabuf(struct facts *f)
{
    vmm_deviceptr p = fc_take(f, 8 * G);
    vmm_mem_generic_allocation_handle first = fc_make(f, 2 * G), second = fc_make(f, 2 * G);
    ask(f, "dmabuf.reserved", p, G, 0);
    fc_put(f, p, 2 * G, first);
    ask(f, "dmabuf.mapped", p, 2 * G, 0);
    fc_grant(f, p, 2 * G, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    ask(f, "dmabuf.access", p, 2 * G, 0);
    ask(f, "dmabuf.sub", p, G, 0);
    ask(f, "dmabuf.un", p, 4096, 0);
    ask(f, "dmabuf.fl1", p, 2 * G, VMM_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE);
    fc_put(f, p + 2 * G, 2 * G, second);
    fc_grant(f, p + 2 * G, 2 * G, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    ask(f, "dmabuf.two", p, 4 * G, 0);
}

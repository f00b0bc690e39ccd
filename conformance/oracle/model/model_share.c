/* SPDX-License-Identifier: Apache-2.0 */
/* model_share.c - export and import within one process: what is exported, what an import is, what counts.
 *
 * The model knows the last descriptor, and takes every other for an invalid one. An import has no separate size: its
 * memory is counted while the original lives, which the caller must ensure. */
#include <string.h>

#include "model_parts.h"

#define INVALID VMM_ERROR_INVALID_VALUE

static bool one_type(int type)
{
    return type > 0 && type <= VMM_MEM_HANDLE_TYPE_FABRIC && (type & (type - 1)) == 0;
}

MODEL_ON(mem_export_to_shareable_handle)
{
    const struct model_memory *memory = model_memory_of(m, c->handle);
    if (!c->shareable_handle)
        model_refuse(a, INVALID, "VMM-EXPORT-NULL-HANDLE");
    else if (c->flags)
        model_refuse(a, INVALID, "VMM-EXPORT-FLAGS");
    else if (!one_type(c->handle_type))
        model_refuse(a, INVALID, "VMM-EXPORT-TYPE");
    else if (!c->handle)
        model_refuse(a, INVALID, "VMM-EXPORT-HANDLE-ZERO");
    else if (!memory)
        model_refuse(a, INVALID, model_past_of(m, c->handle) ? "VMM-EXPORT-HANDLE-STALE" : "VMM-EXPORT-HANDLE-FORGED");
    else if (memory->original)
        model_refuse(a, INVALID, "VMM-EXPORT-IMPORTED");
    else if (!(memory->prop.requested_handle_types & c->handle_type))
        model_refuse(a, INVALID, "VMM-EXPORT-NOT-REQUESTED");
    else if (c->handle_type == VMM_MEM_HANDLE_TYPE_FABRIC)
        a->fabric = true; /* it was created exportable, so there is a channel */
    else if (model_succeeded(a)) {
        memcpy(&m->exported_fd, c->shareable_handle, sizeof m->exported_fd);
        m->exported = c->handle;
        model_expect(a, "shareableHandle", m->exported_fd >= 0, true);
    }
}

MODEL_ON(mem_import_from_shareable_handle)
{
    uint64_t value = (uint64_t)(uintptr_t)c->os_handle;
    struct model_memory *original = model_memory_of(m, m->exported);
    if (!c->handle)
        model_refuse(a, INVALID, "VMM-IMPORT-NULL-HANDLE");
    else if (!one_type(c->sh_handle_type))
        model_refuse(a, INVALID, "VMM-IMPORT-TYPE");
    else if (!value && c->sh_handle_type != VMM_MEM_HANDLE_TYPE_FABRIC)
        model_refuse(a, INVALID, "VMM-IMPORT-ZERO");
    else if (c->sh_handle_type == VMM_MEM_HANDLE_TYPE_FABRIC)
        model_refuse(a, value ? VMM_ERROR_NOT_SUPPORTED : INVALID, value ? "VMM-IMPORT-FABRIC" : "VMM-IMPORT-FABRIC-NULL");
    else if (c->sh_handle_type != VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
        model_refuse(a, VMM_ERROR_NOT_SUPPORTED, "VMM-IMPORT-WINDOWS");
    else if (!original || (int)(uint32_t)value != m->exported_fd)
        model_refuse(a, VMM_ERROR_UNKNOWN, "VMM-IMPORT-CLOSED");
    else if (model_succeeded(a)) {
        struct model_memory import = *original;
        model_expect(a, "handle is 0", *c->handle == 0, false);
        model_expect(a, "handle equals a live one", model_memory_of(m, *c->handle) != NULL, false);
        import.original = import.handle;
        import.handle = *c->handle;
        import.references = 1;
        import.tag = m->tag;
        import.tile_pool = import.decompress = false;
        import.home = import.strayed = 0;
        import.prop.requested_handle_types = VMM_MEM_HANDLE_TYPE_NONE;
        import.prop.alloc_flags.gpu_direct_rdma_capable = 0;
        m->memories = model_room(m->memories, &m->memory_room, m->memory_count, sizeof *m->memories);
        m->memories[m->memory_count++] = import;
    }
}

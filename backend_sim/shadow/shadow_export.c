/* SPDX-License-Identifier: Apache-2.0 */
/* Exports of the process, as far as later results depend on them.
 *
 *   cuIpcGetMemHandle             64 bytes          opened by the same process, they are refused as if the thread had no context
 *   cuMemExportToShareableHandle  descriptor 7      the opening is tagged: if it is still open at the end, it was never closed
 *   cuMemPoolExport..., fabric    64 bytes          known as a pool's
 */
#include <stdio.h>

#include "heap.h"
#include "os_share.h"
#include "shadow_state.h"
#include "stacks_call.h"
#include "trace_descriptors.h"

/* The values of byte handles, by their hash. */
static void know(struct pairs *pairs, const void *bytes)
{
    const uint64_t handle = trace_fabric(bytes);
    pairs_set(pairs, handle, handle);
}

/* ---- descriptors ---- */

/* The entry of that number, used for the latest export; NULL when memory is exhausted. */
static struct shadow_descriptor *entry_of(struct shadow *shadow, int file)
{
    uint64_t place = pairs_get(&shadow->descriptor_of, (uint64_t)file + 1);
    if (place)
        return &shadow->descriptors[place - 1];
    if (shadow->descriptor_count == shadow->descriptor_room) {
        struct shadow_descriptor *grown = heap_grow(shadow->descriptors, &shadow->descriptor_room, 16, sizeof *grown);
        if (!grown)
            return NULL;
        shadow->descriptors = grown;
    }
    if (!pairs_set(&shadow->descriptor_of, (uint64_t)file + 1, shadow->descriptor_count + 1))
        return NULL;
    return &shadow->descriptors[shadow->descriptor_count++];
}

/* If the opening cannot be tagged, a leak could not be distinguished from another file with that number. */
static void note_descriptor(struct shadow *shadow, const struct vmm_call_mem_export_to_shareable_handle *export)
{
    enum { TAGS = 64 };
    const int file = *(const int *)export->shareable_handle, tag = (int)(shadow->exports++ % TAGS) + 1;
    struct shadow_descriptor *descriptor = file >= 0 && os_file_tag(file, tag) ? entry_of(shadow, file) : NULL;
    if (descriptor)
        *descriptor = (struct shadow_descriptor){
            .file = file,
            .tag = tag,
            .handle = pairs_get(&shadow->pairs.handles, export->handle),
            .made = {vmm_reported_name(vmm_reported_call(export->head.id)), export->head.number, call_stack()}};
}

/* The next descriptor from *i on that is still open although its handle was released; unreleased handles are reported
 * separately. */
static bool next_open(struct shadow *shadow, size_t *i, struct shadow_descriptor *open)
{
    vmm_detail found;
    bool is = false;
    int cancel = life_no_cancel();
    life_acquire(&shadow->lock);
    for (; !is && *i < shadow->descriptor_count; ++*i) {
        *open = shadow->descriptors[*i];
        is = os_file_has_tag(open->file, open->tag) && shadow_is_stale(shadow, open->handle, &found);
    }
    life_release(&shadow->lock);
    life_may_cancel(cancel);
    return is;
}

uint64_t shadow_open_descriptors(struct shadow *shadow, vmm_report_fn report, void *user)
{
    struct shadow_descriptor open;
    uint64_t count = 0;
    for (size_t i = 0; next_open(shadow, &i, &open); count++) {
        vmm_detail leak = {.severity = VMM_SEVERITY_LEAK, .rule = vmm_rule_row(VMM_RULE_LEAK_DESCRIPTOR)->id,
                           .function = open.made.function, .call = open.made.call,
                           .nearest = {.created_stack = open.made.stack}}; /* the place of the export */
        snprintf(leak.note, sizeof leak.note, "held by this process: descriptor %d", open.file);
        if (report)
            report(user, &leak);
    }
    return count;
}

/* ---- all kinds ---- */

void shadow_note_export(struct shadow *shadow, const struct vmm_call *call, vmm_result inner)
{
    const union vmm_any_call *any = (const void *)call;
    if (inner != VMM_SUCCESS)
        return;
    if (call->id == VMM_CALL_mem_pool_export_to_shareable_handle) {
        if (any->mem_pool_export_to_shareable_handle.handle_type == VMM_MEM_HANDLE_TYPE_FABRIC &&
            any->mem_pool_export_to_shareable_handle.handle_out)
            know(&shadow->pairs.fabrics, any->mem_pool_export_to_shareable_handle.handle_out);
    } else if (call->id == VMM_CALL_ipc_get_mem_handle) {
        if (any->ipc_get_mem_handle.p_handle)
            know(&shadow->pairs.offers, any->ipc_get_mem_handle.p_handle);
    } else if (call->id == VMM_CALL_mem_export_to_shareable_handle) {
        if (any->mem_export_to_shareable_handle.handle_type == VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR &&
            any->mem_export_to_shareable_handle.shareable_handle)
            note_descriptor(shadow, &any->mem_export_to_shareable_handle);
    }
}

bool shadow_opened_own(struct shadow *shadow, const struct vmm_call *call, vmm_result inner)
{
    const struct vmm_call_ipc_open_mem_handle *open = (const void *)call;
    if (call->id != VMM_CALL_ipc_open_mem_handle || inner != VMM_ERROR_INVALID_CONTEXT ||
        !pairs_get(&shadow->pairs.offers, trace_fabric(&open->handle)))
        return false;
    vmm_detail_begin(call);
    vmm_detail_refuse(VMM_RULE_IPC_OWN, 0, 0, NULL);
    return true;
}

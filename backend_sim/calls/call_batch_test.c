/* SPDX-License-Identifier: Apache-2.0 */
/* Results of batches of copies that the suite does not cover: before the process is initialised, on captured streams, without
 * host addresses, and when the device is lost. */
#include <string.h>

#include "tap.h"
#include "vmm.h"

static const uint64_t G = UINT64_C(2) << 20;

struct rig {
    vmm_system *sys;
    vmm_deviceptr mapped, memory; /* one granule that is mapped before one that is not; memory of vmm_mem_alloc */
    vmm_stream stream;
    vmm_deviceptr dst, src;
    uint64_t size, first, failed;
    vmm_memcpy_attributes attributes;
    vmm_memcpy3d_batch_op box;
};

static void begin(struct rig *rig)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    const vmm_mem_access_desc desc = {prop.location, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    vmm_mem_generic_allocation_handle handle;
    vmm_context ctx;
    memset(rig, 0, sizeof *rig);
    if (vmm_open("sim:h100", &rig->sys) || vmm_init(rig->sys, 0) || vmm_ctx_create(rig->sys, &ctx, 0, 0) ||
        vmm_mem_address_reserve(rig->sys, &rig->mapped, 2 * G, 0, 0, 0) || vmm_mem_create(rig->sys, &handle, G, &prop, 0) ||
        vmm_mem_map(rig->sys, rig->mapped, G, 0, handle, 0) || vmm_mem_set_access(rig->sys, rig->mapped, G, &desc, 1) ||
        vmm_mem_alloc(rig->sys, &rig->memory, G) || vmm_stream_create(rig->sys, &rig->stream, VMM_STREAM_NON_BLOCKING))
        tap_bail("no rig: %s", vmm_last_detail()->note);
    rig->dst = rig->memory;
    rig->src = rig->mapped;
    rig->size = 64;
    rig->attributes.src_access_order = VMM_MEMCPY_SRC_ACCESS_ORDER_STREAM;
    rig->box = (vmm_memcpy3d_batch_op){.src = {.type = VMM_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = rig->mapped},
                                       .dst = {.type = VMM_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = rig->memory},
                                       .extent = {16, 2, 1}, .src_access_order = VMM_MEMCPY_SRC_ACCESS_ORDER_ANY};
}

static vmm_result copied(struct rig *rig, vmm_stream stream)
{
    rig->failed = 77;
    return vmm_memcpy_batch_async_v1(rig->sys, &rig->dst, &rig->src, &rig->size, 1, &rig->attributes, &rig->first, 1, &rig->failed,
                                     stream);
}

static vmm_result boxed(struct rig *rig, vmm_stream stream)
{
    rig->failed = 77;
    return vmm_memcpy_3d_batch_async_v1(rig->sys, 1, &rig->box, &rig->failed, 0, stream);
}

static void told(vmm_result result, vmm_result expected, const char *rule, const char *what)
{
    tap_result(result, expected, "%s", what);
    tap_text(vmm_last_detail()->rule, rule, "by its rule");
}

static void before_init(void)
{
    struct rig rig;
    vmm_stream stream = (vmm_stream)(uintptr_t)0x1000;
    memset(&rig, 0, sizeof rig);
    if (vmm_open("sim:h100", &rig.sys))
        tap_bail("no system");
    told(copied(&rig, NULL), VMM_ERROR_INVALID_VALUE, "VMM-BATCH-STREAM", "NULL is refused before the process is initialised");
    tap_u64(rig.failed, 77, "and the index is not written");
    told(boxed(&rig, NULL), VMM_ERROR_INVALID_VALUE, "VMM-BATCH-STREAM", "of boxes, too");
    told(vmm_memcpy_batch_async(rig.sys, NULL, NULL, NULL, 0, NULL, NULL, 0, NULL), VMM_ERROR_INVALID_VALUE, "VMM-BATCH-STREAM",
         "and in the form of CUDA 13.0");
    told(vmm_memcpy_3d_batch_async(rig.sys, 0, NULL, 0, NULL), VMM_ERROR_INVALID_VALUE, "VMM-BATCH-STREAM", "of boxes");
    told(copied(&rig, stream), VMM_ERROR_NOT_INITIALIZED, "VMM-INIT-REQUIRED", "no other stream is");
    told(boxed(&rig, stream), VMM_ERROR_NOT_INITIALIZED, "VMM-INIT-REQUIRED", "of boxes");
    vmm_close(rig.sys);
}

/* Measured: the capture stays valid. For ranges the arguments are checked before it, for boxes after it. */
static void captured(void)
{
    struct rig rig;
    vmm_graph graph = NULL;
    begin(&rig);
    tap_result(vmm_stream_begin_capture(rig.sys, rig.stream, VMM_STREAM_CAPTURE_MODE_GLOBAL), VMM_SUCCESS, "a capture");
    told(copied(&rig, rig.stream), VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS", "no graph holds a batch");
    tap_u64(rig.failed, UINT64_MAX, "the failure was in none of its copies");
    told(boxed(&rig, rig.stream), VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS", "nor one of boxes");
    tap_u64(rig.failed, 77, "the index is not written");
    rig.attributes.src_access_order = 0;
    rig.box.src_access_order = 0;
    told(copied(&rig, rig.stream), VMM_ERROR_INVALID_VALUE, "VMM-BATCH-ATTRIBUTES", "attributes of ranges are checked first");
    told(boxed(&rig, rig.stream), VMM_ERROR_STREAM_CAPTURE_UNSUPPORTED, "VMM-CAPTURE-FORBIDS", "those of boxes are not");
    tap_result(vmm_stream_end_capture(rig.sys, rig.stream, &graph), VMM_SUCCESS, "the capture has stayed valid");
    tap_result(vmm_graph_destroy(rig.sys, graph), VMM_SUCCESS, "its graph ends");
    vmm_close(rig.sys);
}

static void no_address(void)
{
    struct rig rig;
    unsigned char byte = 1;
    begin(&rig);
    rig.dst = 0;
    rig.src = (vmm_deviceptr)(uintptr_t)&byte;
    told(copied(&rig, rig.stream), VMM_ERROR_INVALID_VALUE, "VMM-COPY-NULL", "no address of the host to copy to");
    tap_text(vmm_last_detail()->argument, "dsts", "is named");
    rig.src = 0;
    rig.dst = (vmm_deviceptr)(uintptr_t)&byte;
    told(copied(&rig, rig.stream), VMM_ERROR_INVALID_VALUE, "VMM-COPY-NULL", "nor one to copy from");
    tap_text(vmm_last_detail()->argument, "srcs", "is named");
    tap_u64(rig.failed, 0, "and which copy it was");
    vmm_close(rig.sys);
}

/* A box that leaves its mapping through its rows is issued, and its fault ends the batches after it. */
static void faults(void)
{
    struct rig rig;
    begin(&rig);
    rig.box.src.op.ptr.ptr = rig.mapped + G - 64;
    rig.box.src.op.ptr.row_length = 32;
    tap_result(boxed(&rig, rig.stream), VMM_SUCCESS, "rows up to the end of a mapping");
    tap_result(vmm_mem_unmap(rig.sys, rig.mapped, G), VMM_SUCCESS, "their memory goes before their turn");
    tap_ok(vmm_stream_synchronize(rig.sys, rig.stream) != VMM_SUCCESS, "they fault");
    tap_ok(copied(&rig, rig.stream) != VMM_SUCCESS && rig.failed == 0, "and a batch is refused at its first copy");
    vmm_close(rig.sys);
}

int main(void)
{
    before_init();
    captured();
    no_address();
    faults();
    return tap_done();
}

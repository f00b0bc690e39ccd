/* SPDX-License-Identifier: Apache-2.0 */
/* What a call's pointers point to, as C literals in the spelling of either interface. See program_state.h. */
#include <inttypes.h>
#include <string.h>

#include "program_state.h"

const char *const program_prefix[PROGRAM_APIS] = {"VMM", "CU"};

void program_location(struct text *out, enum program_api api, vmm_mem_location location)
{
    const char *name = location.type == VMM_MEM_LOCATION_TYPE_DEVICE       ? "DEVICE"
                       : location.type == VMM_MEM_LOCATION_TYPE_HOST       ? "HOST"
                       : location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA  ? "HOST_NUMA"
                       : location.type == VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT ? "HOST_NUMA_CURRENT"
                                                                           : NULL;
    if (name)
        text_add(out, "{.type = %s_MEM_LOCATION_TYPE_%s, .id = %d}", program_prefix[api], name, location.id);
    else
        text_add(out, "{.type = %s%d, .id = %d}", api == PROGRAM_DRIVER ? "(CUmemLocationType)" : "", location.type, location.id);
}

void program_handle_types(struct text *out, enum program_api api, int types)
{
    const char *name = types == VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR ? "POSIX_FILE_DESCRIPTOR"
                       : types == VMM_MEM_HANDLE_TYPE_FABRIC              ? "FABRIC"
                       : types == VMM_MEM_HANDLE_TYPE_NONE                ? "NONE"
                                                                          : NULL;
    if (name)
        text_add(out, "%s_MEM_HANDLE_TYPE_%s", program_prefix[api], name);
    else
        text_add(out, "%s%d", api == PROGRAM_DRIVER ? "(CUmemAllocationHandleType)" : "", types);
}

/* The fields of a memory's kind that are not 0, in the interface's spelling. */
void program_prop(struct text *out, enum program_api api, const vmm_mem_allocation_prop *prop)
{
    static const char *const types[] = {"requested_handle_types", "requestedHandleTypes"},
                             *const meta[] = {"win32_handle_meta_data", "win32HandleMetaData"},
                             *const flags[] = {"alloc_flags", "allocFlags"},
                             *const compression[] = {"compression_type", "compressionType"},
                             *const rdma[] = {"gpu_direct_rdma_capable", "gpuDirectRDMACapable"};
    const unsigned char *reserved = prop->alloc_flags.reserved;
    text_add(out, "&(%s){", api == PROGRAM_VMM ? "vmm_mem_allocation_prop" : "CUmemAllocationProp");
    if (prop->type == VMM_MEM_ALLOCATION_TYPE_PINNED)
        text_add(out, ".type = %s_MEM_ALLOCATION_TYPE_PINNED", program_prefix[api]);
    else
        text_add(out, ".type = %s%d", api == PROGRAM_DRIVER ? "(CUmemAllocationType)" : "", prop->type);
    text_add(out, ", .location = ");
    program_location(out, api, prop->location);
    if (prop->requested_handle_types) {
        text_add(out, ", .%s = ", types[api]);
        program_handle_types(out, api, prop->requested_handle_types);
    }
    if (prop->win32_handle_meta_data)
        text_add(out, ", .%s = (void *)(uintptr_t)%" PRIu64, meta[api], (uint64_t)(uintptr_t)prop->win32_handle_meta_data);
    if (prop->alloc_flags.compression_type)
        text_add(out, ", .%s.%s = %u", flags[api], compression[api], prop->alloc_flags.compression_type);
    if (prop->alloc_flags.gpu_direct_rdma_capable)
        text_add(out, ", .%s.%s = %u", flags[api], rdma[api], prop->alloc_flags.gpu_direct_rdma_capable);
    if (prop->alloc_flags.usage)
        text_add(out, ", .%s.usage = %u", flags[api], prop->alloc_flags.usage);
    if (reserved[0] || reserved[1] || reserved[2] || reserved[3])
        text_add(out, ", .%s.reserved = {%u, %u, %u, %u}", flags[api], reserved[0], reserved[1], reserved[2], reserved[3]);
    text_add(out, "}");
}

void program_pool_props(struct text *out, enum program_api api, const vmm_mem_pool_props *props)
{
    static const char *const type[] = {"alloc_type", "allocType"}, *const handles[] = {"handle_types", "handleTypes"},
                             *const max[] = {"max_size", "maxSize"};
    text_add(out, "&(%s){.%s = ", api == PROGRAM_VMM ? "vmm_mem_pool_props" : "CUmemPoolProps", type[api]);
    if (props->alloc_type == VMM_MEM_ALLOCATION_TYPE_PINNED)
        text_add(out, "%s_MEM_ALLOCATION_TYPE_PINNED", program_prefix[api]);
    else
        text_add(out, "%s%d", api == PROGRAM_DRIVER ? "(CUmemAllocationType)" : "", props->alloc_type);
    text_add(out, ", .location = ");
    program_location(out, api, props->location);
    if (props->handle_types) {
        text_add(out, ", .%s = ", handles[api]);
        program_handle_types(out, api, props->handle_types);
    }
    if (props->max_size)
        text_add(out, ", .%s = UINT64_C(%" PRIu64 ")", max[api], props->max_size);
    if (props->usage)
        text_add(out, ", .usage = %u", props->usage);
    if (props->reserved[0])
        text_add(out, ", .reserved = {%u}", props->reserved[0]);
    text_add(out, "}");
}

void program_grants(struct text *out, enum program_api api, const vmm_mem_access_desc *grants, uint64_t count)
{
    static const char *const names[] = {"NONE", "READ", NULL, "READWRITE"};
    text_add(out, "(%s[]){", api == PROGRAM_VMM ? "vmm_mem_access_desc" : "CUmemAccessDesc");
    for (uint64_t i = 0; i < STEP_GRANTS && (i < count || i == 0); i++) {
        int flags = grants[i].flags;
        text_add(out, "%s{.location = ", i ? ", " : "");
        program_location(out, api, grants[i].location);
        if (flags >= 0 && flags <= 3 && names[flags])
            text_add(out, ", .flags = %s_MEM_ACCESS_FLAGS_PROT_%s}", program_prefix[api], names[flags]);
        else
            text_add(out, ", .flags = %s%d}", api == PROGRAM_DRIVER ? "(CUmemAccess_flags)" : "", flags);
    }
    text_add(out, "}");
}

void program_attribute(struct text *out, enum program_api api, const char *kind, const char *name, int value)
{
    bool pool = strcmp(kind, "MEMPOOL") == 0;
    if (name)
        text_add(out, "%s_%s_%s_%s", program_prefix[api], kind, pool ? "ATTR" : "ATTRIBUTE", name);
    else if (api == PROGRAM_DRIVER)
        text_add(out, "(CU%s_attribute)%d", pool ? "memPool" : strcmp(kind, "DEVICE") == 0 ? "device" : "pointer", value);
    else
        text_add(out, "%d", value);
}

void program_attributes(struct text *out, enum program_api api, const struct step *step)
{
    unsigned count = step->call.pointer_get_attributes.num_attributes;
    text_add(out, "(%s[]){", api == PROGRAM_VMM ? "vmm_pointer_attribute" : "CUpointer_attribute");
    for (unsigned i = 0; i < STEP_ATTRIBUTES && (i < count || i == 0); i++) {
        text_add(out, i ? ", " : "");
        program_attribute(out, api, "POINTER", step_attribute_name(step->attributes[i]), step->attributes[i]);
    }
    text_add(out, "}");
}

static void add_mem_op(struct text *out, enum program_api api, const vmm_stream_batch_mem_op_params *op)
{
    static const char *const names[] = {"WAIT_VALUE_32", "WRITE_VALUE_32", "FLUSH_REMOTE_WRITES",
                                        "WAIT_VALUE_64", "WRITE_VALUE_64", "BARRIER"};
    static const char *const values[] = {"wait_value", "waitValue"}, *const barriers[] = {"memory_barrier", "memoryBarrier"};
    const bool value = vmm_mem_op_has_value(op->operation), named = op->operation >= 1 && op->operation <= 6;
    const char *member = value ? values[api] : barriers[api];
    text_add(out, "{.%s = {.operation = ", member);
    if (named)
        text_add(out, "%s_STREAM_MEM_OP_%s", program_prefix[api], names[op->operation - 1]);
    else
        text_add(out, "%s%d", api == PROGRAM_DRIVER ? "(CUstreamBatchMemOpType)" : "", op->operation);
    if (value)
        text_add(out, ", .address = UINT64_C(%" PRIu64 "), .value64 = UINT64_C(%" PRIu64 ")", op->wait_value.address,
                 op->wait_value.value64);
    text_add(out, ", .flags = %uU}}", value ? op->wait_value.flags : op->memory_barrier.flags);
}

void program_mem_ops(struct text *out, enum program_api api, const struct step *step)
{
    const unsigned count = step->call.stream_batch_mem_op.count;
    text_add(out, "(%s[]){", api == PROGRAM_VMM ? "vmm_stream_batch_mem_op_params" : "CUstreamBatchMemOpParams");
    for (unsigned i = 0; i < STEP_MEM_OPS && (i < count || i == 0); i++) {
        text_add(out, i ? ", " : "");
        add_mem_op(out, api, &step->mem_ops[i]);
    }
    text_add(out, "}");
}

/* The fields that are not 0, in the interface's spelling; contexts stand where a copy within one has nothing. */
void program_box(struct text *out, enum program_api api, const vmm_memcpy3d *box, bool peer, const char *const arrays[2])
{
    static const char *const types[PROGRAM_APIS][2] = {{"vmm_memcpy3d", "vmm_memcpy3d_peer"}, {"CUDA_MEMCPY3D", "CUDA_MEMCPY3D_PEER"}};
    static const char *const type[2][PROGRAM_APIS] = {{"src_memory_type", "srcMemoryType"}, {"dst_memory_type", "dstMemoryType"}};
    static const char *const host[2][PROGRAM_APIS] = {{"src_host", "srcHost"}, {"dst_host", "dstHost"}};
    static const char *const device[2][PROGRAM_APIS] = {{"src_device", "srcDevice"}, {"dst_device", "dstDevice"}};
    static const char *const array[2][PROGRAM_APIS] = {{"src_array", "srcArray"}, {"dst_array", "dstArray"}};
    static const char *const context[2][PROGRAM_APIS] = {{"src_context", "srcContext"}, {"dst_context", "dstContext"}};
    const vmm_memorytype memory[] = {box->src_memory_type, box->dst_memory_type};
    const uint64_t address[] = {vmm_box_src(box), vmm_box_dst(box)};
    const void *const of[] = {box->reserved0, box->reserved1};
    text_add(out, "&(%s){", types[api][peer]);
    for (int side = 0; side < 2; side++) {
        text_add(out, "%s.%s = %s%d", side ? ", " : "", type[side][api], api == PROGRAM_DRIVER ? "(CUmemorytype)" : "", memory[side]);
        if (memory[side] == VMM_MEMORYTYPE_ARRAY && arrays[side])
            text_add(out, ", .%s = %s", array[side][api], arrays[side]);
        else if (memory[side] == VMM_MEMORYTYPE_ARRAY)
            text_add(out, ", .%s = (%s)(uintptr_t)UINT64_C(0x%" PRIx64 ")", array[side][api], program_types[PROGRAM_ARRAY][api],
                     address[side]);
        else if (memory[side] == VMM_MEMORYTYPE_HOST)
            text_add(out, ", .%s = (void *)(uintptr_t)UINT64_C(0x%" PRIx64 ")", host[side][api], address[side]);
        else
            text_add(out, ", .%s = UINT64_C(0x%" PRIx64 ")", device[side][api], address[side]);
        if (peer && of[side])
            text_add(out, ", .%s = (%s)(uintptr_t)UINT64_C(0x%" PRIx64 ")", context[side][api],
                     program_types[PROGRAM_CONTEXT][api], (uint64_t)(uintptr_t)of[side]);
    }
    for (int i = 0; i < VMM_BOX_SIZES; i++)
        if (*vmm_box_size_at(box, &vmm_box_sizes[i]))
            text_add(out, ", .%s = %zu", api == PROGRAM_VMM ? vmm_box_sizes[i].name : vmm_box_sizes[i].theirs,
                     *vmm_box_size_at(box, &vmm_box_sizes[i]));
    text_add(out, "}");
}

void program_copy_attributes(struct text *out, enum program_api api, const struct step *step)
{
    static const char *const names[][PROGRAM_APIS] = {{"src_access_order", "srcAccessOrder"}, {"src_loc_hint", "srcLocHint"},
                                                      {"dst_loc_hint", "dstLocHint"}};
    const uint64_t count = step->call.memcpy_batch_async.num_attrs;
    text_add(out, "(%s[]){", api == PROGRAM_VMM ? "vmm_memcpy_attributes" : "CUmemcpyAttributes");
    for (uint64_t i = 0; i < STEP_COPIES && (i < count || i == 0); i++) {
        const vmm_memcpy_attributes *one = &step->copy_attributes[i];
        text_add(out, "%s{.%s = %s%d, .%s = ", i ? ", " : "", names[0][api],
                 api == PROGRAM_DRIVER ? "(CUmemcpySrcAccessOrder)" : "", one->src_access_order, names[1][api]);
        program_location(out, api, one->src_loc_hint);
        text_add(out, ", .%s = ", names[2][api]);
        program_location(out, api, one->dst_loc_hint);
        text_add(out, ", .flags = %uU}", one->flags);
    }
    text_add(out, "}");
}

static void add_operand(struct text *out, enum program_api api, const vmm_memcpy3d_operand *operand)
{
    static const char *const rows[] = {"row_length", "rowLength"}, *const layers[] = {"layer_height", "layerHeight"};
    text_add(out, "{.type = %s%d, .op.ptr = {.ptr = UINT64_C(0x%" PRIx64 "), .%s = %" PRIu64 ", .%s = %" PRIu64 "}}",
             api == PROGRAM_DRIVER ? "(CUmemcpy3DOperandType)" : "", operand->type, operand->op.ptr.ptr, rows[api],
             operand->op.ptr.row_length, layers[api], operand->op.ptr.layer_height);
}

void program_boxes(struct text *out, enum program_api api, const struct step *step)
{
    const uint64_t count = step->call.memcpy_3d_batch_async.num_ops;
    text_add(out, "(%s[]){", api == PROGRAM_VMM ? "vmm_memcpy3d_batch_op" : "CUDA_MEMCPY3D_BATCH_OP");
    for (uint64_t i = 0; i < STEP_COPIES && (i < count || i == 0); i++) {
        const vmm_memcpy3d_batch_op *box = &step->boxes[i];
        text_add(out, "%s{.src = ", i ? ", " : "");
        add_operand(out, api, &box->src);
        text_add(out, ", .dst = ");
        add_operand(out, api, &box->dst);
        text_add(out, ", .extent = {%" PRIu64 ", %" PRIu64 ", %" PRIu64 "}, .%s = %s%d, .flags = %uU}", box->extent.width,
                 box->extent.height, box->extent.depth, api == PROGRAM_VMM ? "src_access_order" : "srcAccessOrder",
                 api == PROGRAM_DRIVER ? "(CUmemcpySrcAccessOrder)" : "", box->src_access_order, box->flags);
    }
    text_add(out, "}");
}

/* The number of a kernel of this library by its name in vmm.h; of a file by a call of the helper that loads it. */
void program_kernel(struct program *program, const struct script *script, struct text *out, int kernel)
{
    const char *name = vmm_kernel_name(kernel);
    const struct script_kernel *loaded = script_kernel_find(script, kernel);
    if (loaded) {
        program_use(program, PROGRAM_USES_KERNEL);
        text_add(out, "loaded(");
        program_quote(out, loaded->path, strlen(loaded->path));
        text_add(out, ", (vmm_ptx_kernel){.name = ");
        program_quote(out, loaded->name, strlen(loaded->name));
        text_add(out, ", .grid_y = %u, .grid_z = %u, .block_y = %u, .block_z = %u, .shared_bytes = %u})", loaded->shape.grid_y,
                 loaded->shape.grid_z, loaded->shape.block_y, loaded->shape.block_z, loaded->shape.shared_bytes);
        return;
    }
    if (!name || kernel < 0 || kernel >= vmm_kernel_count()) {
        text_add(out, "%d", kernel);
        return;
    }
    text_add(out, "VMM_KERNEL_");
    for (; *name; name++)
        text_add(out, "%c", *name >= 'a' && *name <= 'z' ? *name - 'a' + 'A' : *name);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* array.h - arrays and the tiles of sparse arrays. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_ARRAY_H
#define CUVMM_VMM_ARRAY_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int vmm_array_format; /* of an element's components; CUarray_format */
#define VMM_AD_FORMAT_UNSIGNED_INT8 0x01
#define VMM_AD_FORMAT_UNSIGNED_INT16 0x02
#define VMM_AD_FORMAT_UNSIGNED_INT32 0x03
#define VMM_AD_FORMAT_SIGNED_INT8 0x08
#define VMM_AD_FORMAT_SIGNED_INT16 0x09
#define VMM_AD_FORMAT_SIGNED_INT32 0x0a
#define VMM_AD_FORMAT_HALF 0x10
#define VMM_AD_FORMAT_FLOAT 0x20
#define VMM_AD_FORMAT_NV12 0xb0

#define VMM_ARRAY3D_LAYERED 0x01          /* depth is the number of layers */
#define VMM_ARRAY3D_SURFACE_LDST 0x02
#define VMM_ARRAY3D_CUBEMAP 0x04
#define VMM_ARRAY3D_TEXTURE_GATHER 0x08
#define VMM_ARRAY3D_DEPTH_TEXTURE 0x10
#define VMM_ARRAY3D_COLOR_ATTACHMENT 0x20
#define VMM_ARRAY3D_SPARSE 0x40           /* its memory is mapped tile by tile, with vmm_mem_map_array_async */
#define VMM_ARRAY3D_DEFERRED_MAPPING 0x80 /* its memory is mapped all at once, with the same call */
#define VMM_ARRAY3D_VIDEO_ENCODE_DECODE 0x100

/* The description of an array; CUDA_ARRAY3D_DESCRIPTOR. height 0: one dimension; depth 0: two. */
typedef struct vmm_array3d_descriptor {
    uint64_t width, height, depth; /* in elements */
    vmm_array_format format;
    unsigned int num_channels;   /* components of an element: 1, 2 or 4 */
    unsigned int flags;          /* VMM_ARRAY3D_ */
} vmm_array3d_descriptor;

#define VMM_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL 0x1

/* How a sparse array is divided into tiles; CUDA_ARRAY_SPARSE_PROPERTIES. */
typedef struct vmm_array_sparse_properties {
    struct vmm_array_tile_extent {
        unsigned int width, height, depth; /* in elements */
    } tile_extent;
    unsigned int miptail_first_level; /* this level and all later ones lie in the mip tail */
    unsigned long long miptail_size;  /* bytes of the mip tail, per layer or, with the flag, for all layers; 0: none */
    unsigned int flags;               /* VMM_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL */
    unsigned int reserved[4];
} vmm_array_sparse_properties;

/* What an array with deferred mapping needs; CUDA_ARRAY_MEMORY_REQUIREMENTS. */
typedef struct vmm_array_memory_requirements {
    uint64_t size, alignment;
    unsigned int reserved[4];
} vmm_array_memory_requirements;

typedef int vmm_resource_type;
#define VMM_RESOURCE_TYPE_ARRAY 0
#define VMM_RESOURCE_TYPE_MIPMAPPED_ARRAY 1
#define VMM_RESOURCE_TYPE_LINEAR 2
#define VMM_RESOURCE_TYPE_PITCH2D 3

typedef int vmm_array_sparse_subresource_type;
#define VMM_ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL 0
#define VMM_ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL 1

typedef int vmm_mem_operation_type;
#define VMM_MEM_OPERATION_TYPE_MAP 1
#define VMM_MEM_OPERATION_TYPE_UNMAP 2

typedef int vmm_mem_handle_type;
#define VMM_MEM_HANDLE_TYPE_GENERIC 0

/* One map or unmap; CUarrayMapInfo. Zero the struct first. */
typedef struct vmm_array_map_info {
    vmm_resource_type resource_type;
    union {
        vmm_mipmapped_array mipmap; /* of MIPMAPPED_ARRAY */
        vmm_array array;            /* of ARRAY */
    } resource;
    vmm_array_sparse_subresource_type subresource_type;
    union {
        struct vmm_array_sparse_level { /* for SPARSE_LEVEL, in elements; offsets and extents are multiples of the tile's */
            unsigned int level, layer, offset_x, offset_y, offset_z, extent_width, extent_height, extent_depth;
        } sparse_level;
        struct vmm_array_miptail {      /* of MIPTAIL, in bytes */
            unsigned int layer;
            unsigned long long offset, size;
        } miptail;
    } subresource;
    vmm_mem_operation_type mem_operation_type;
    vmm_mem_handle_type mem_handle_type;
    union {
        vmm_mem_generic_allocation_handle mem_handle; /* of MAP; 0 of UNMAP */
    } mem_handle;
    unsigned long long offset;    /* where the first tile begins in that memory */
    unsigned int device_bit_mask; /* the stream's device */
    unsigned int flags;           /* 0 */
    unsigned int reserved[2];     /* 0 */
} vmm_array_map_info;

VMM_API vmm_result vmm_array_3d_create(vmm_system *sys, vmm_array *p_handle, const vmm_array3d_descriptor *p_allocate_array);
VMM_API vmm_result vmm_array_3d_get_descriptor(vmm_system *sys, vmm_array3d_descriptor *p_array_descriptor, vmm_array h_array);
VMM_API vmm_result vmm_array_get_plane(vmm_system *sys, vmm_array *p_plane_array, vmm_array h_array, unsigned int plane_idx);
VMM_API vmm_result vmm_array_get_sparse_properties(vmm_system *sys, vmm_array_sparse_properties *sparse_properties, vmm_array array);
VMM_API vmm_result vmm_array_get_memory_requirements(vmm_system *sys, vmm_array_memory_requirements *memory_requirements,
                                                     vmm_array array, vmm_device device);
VMM_API vmm_result vmm_array_destroy(vmm_system *sys, vmm_array h_array);
VMM_API vmm_result vmm_mipmapped_array_create(vmm_system *sys, vmm_mipmapped_array *p_handle,
                                              const vmm_array3d_descriptor *p_mipmapped_array_desc, unsigned int num_mipmap_levels);
VMM_API vmm_result vmm_mipmapped_array_get_level(vmm_system *sys, vmm_array *p_level_array, vmm_mipmapped_array h_mipmapped_array,
                                                 unsigned int level);
VMM_API vmm_result vmm_mipmapped_array_get_sparse_properties(vmm_system *sys, vmm_array_sparse_properties *sparse_properties,
                                                             vmm_mipmapped_array mipmap);
VMM_API vmm_result vmm_mipmapped_array_get_memory_requirements(vmm_system *sys, vmm_array_memory_requirements *memory_requirements,
                                                               vmm_mipmapped_array mipmap, vmm_device device);
VMM_API vmm_result vmm_mipmapped_array_destroy(vmm_system *sys, vmm_mipmapped_array h_mipmapped_array);
VMM_API vmm_result vmm_mem_map_array_async(vmm_system *sys, const vmm_array_map_info *map_info_list, unsigned int count,
                                           vmm_stream stream);

#ifdef __cplusplus
}
#endif

#endif

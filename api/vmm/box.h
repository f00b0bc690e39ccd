/* SPDX-License-Identifier: Apache-2.0 */
/* box.h - copies of boxes. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_BOX_H
#define CUVMM_VMM_BOX_H

#include "query.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A copy of a box of memory; CUDA_MEMCPY3D. Zero the struct first. */
typedef struct vmm_memcpy3d {
    uint64_t src_x_in_bytes, src_y, src_z, src_lod; /* where the first row begins, in bytes, rows and layers; lod: of arrays, 0 */
    vmm_memorytype src_memory_type;                 /* VMM_MEMORYTYPE_HOST, DEVICE, UNIFIED for either, ARRAY */
    const void *src_host;                           /* of HOST */
    vmm_deviceptr src_device;                       /* of DEVICE and UNIFIED */
    vmm_array src_array;                            /* of ARRAY */
    void *reserved0;                                /* NULL */
    uint64_t src_pitch, src_height;                 /* bytes between rows, rows between layers; 0: adjacent */
    uint64_t dst_x_in_bytes, dst_y, dst_z, dst_lod; /* where the first row begins, in bytes, rows and layers; lod: of arrays, 0 */
    vmm_memorytype dst_memory_type;                 /* VMM_MEMORYTYPE_HOST, DEVICE, UNIFIED for either, ARRAY */
    void *dst_host;                                 /* of HOST */
    vmm_deviceptr dst_device;                       /* of DEVICE and UNIFIED */
    vmm_array dst_array;                            /* of ARRAY */
    void *reserved1;                                /* NULL */
    uint64_t dst_pitch, dst_height;                 /* bytes between rows, rows between layers; 0: adjacent */
    uint64_t width_in_bytes, height, depth;         /* bytes per row, rows per layer, layers */
} vmm_memcpy3d;

/* The same between two contexts; CUDA_MEMCPY3D_PEER. Zero the struct first. */
typedef struct vmm_memcpy3d_peer {
    uint64_t src_x_in_bytes, src_y, src_z, src_lod; /* where the first row begins, in bytes, rows and layers; lod: of arrays, 0 */
    vmm_memorytype src_memory_type;                 /* VMM_MEMORYTYPE_HOST, DEVICE, UNIFIED for either, ARRAY */
    const void *src_host;                           /* of HOST */
    vmm_deviceptr src_device;                       /* of DEVICE and UNIFIED */
    vmm_array src_array;                            /* of ARRAY */
    vmm_context src_context;                        /* NULL: the current one */
    uint64_t src_pitch, src_height;                 /* bytes between rows, rows between layers; 0: adjacent */
    uint64_t dst_x_in_bytes, dst_y, dst_z, dst_lod; /* where the first row begins, in bytes, rows and layers; lod: of arrays, 0 */
    vmm_memorytype dst_memory_type;                 /* VMM_MEMORYTYPE_HOST, DEVICE, UNIFIED for either, ARRAY */
    void *dst_host;                                 /* of HOST */
    vmm_deviceptr dst_device;                       /* of DEVICE and UNIFIED */
    vmm_array dst_array;                            /* of ARRAY */
    vmm_context dst_context;                        /* NULL: the current one */
    uint64_t dst_pitch, dst_height;                 /* bytes between rows, rows between layers; 0: adjacent */
    uint64_t width_in_bytes, height, depth;         /* bytes per row, rows per layer, layers */
} vmm_memcpy3d_peer;

/* ---------------------------------------------------------------------------------------------------- copies of boxes
 *
 *   row      width_in_bytes from base + (z * rows + y) * pitch + x on          base: src_host or src_device, as its type says
 *   layer    height rows, src_pitch bytes apart                                src_height rows from one layer to the next
 *   box      depth layers
 *
 * Mapped memory is treated as what it is, regardless of the type given. An extent of 0 copies nothing. The calls check the
 * context and the stream, then each side, src first: INVALID_VALUE [VMM-ROWS-MEMORY, VMM-ROWS-PITCH, VMM-BOX-HEIGHT,
 * VMM-ROWS-END]; and then the range from the first row to the last, including its gaps, as for any other copy, ignoring x, y
 * and z (580). A row that still runs past its memory is accepted, and the copy ends in a fault (580); strict mode refuses
 * it. A copy to the host is complete when the call returns. */

/* Copies a box at once, or in stream order. INVALID_VALUE [VMM-BOX-NULL]; INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE
 * [VMM-STREAM-UNKNOWN], and the checks above. cuMemcpy3D, cuMemcpy3DAsync. */
VMM_API vmm_result vmm_memcpy_3d(vmm_system *sys, const vmm_memcpy3d *p_copy);
VMM_API vmm_result vmm_memcpy_3d_async(vmm_system *sys, const vmm_memcpy3d *p_copy, vmm_stream stream);
/* The same between two contexts. INVALID_CONTEXT [VMM-PEER-CONTEXT]: a driver uses a value that is not a context without
 * checking it. cuMemcpy3DPeer, cuMemcpy3DPeerAsync. */
VMM_API vmm_result vmm_memcpy_3d_peer(vmm_system *sys, const vmm_memcpy3d_peer *p_copy);
VMM_API vmm_result vmm_memcpy_3d_peer_async(vmm_system *sys, const vmm_memcpy3d_peer *p_copy, vmm_stream stream);

#ifdef __cplusplus
}
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* vmm.h - CUDA Virtual Memory Management on the real driver or on a simulator: the public header of cuvmm
 * (vmm_fd.h, which sends file descriptors, comes with it).
 *
 * Every cuX(args...) of the driver is vmm_x(sys, args...) here: the same parameters in the same order with the same
 * numbers, after the system that the call is made on. CU_X is VMM_X, CUX is vmm_x. What holds for one holds for the
 * other; where the driver differs from its documentation, both are stated ("Documents:" / "Observed:").
 *
 *   reserve        [........ reserved addresses ........]         vmm_mem_address_reserve
 *   create         (physical memory, no address)                  vmm_mem_create
 *   map            [== mapped ==|........ reserved .....]         vmm_mem_map
 *   set access     [RW mapped RW|........ reserved .....]         vmm_mem_set_access
 *   use it         vmm_memcpy_*, vmm_memset_*
 *   and back       vmm_mem_unmap, vmm_mem_release, vmm_mem_address_free
 *
 * Units and conventions, unless a function says otherwise:
 *   - Sizes, offsets, alignments and addresses are bytes in uint64_t; ranges are half-open [start, start + size).
 *   - G is the granularity of the profile (2 MiB on the recorded H100 and H200).
 *   - Outputs are written on success only. Exceptions were measured and are documented.
 *   - A refused call changes nothing. The one measured exception is documented at vmm_mem_set_access.
 *   - After a kernel's fault every call that needs a context is refused; see "kernels" below.
 *   - Every function may be called from any thread at any time; vmm_open and vmm_close of one system may not overlap
 *     other calls on it.
 *   - Before vmm_init, and in a forked child of a process that called it, every call returns
 *     VMM_ERROR_NOT_INITIALIZED [VMM-INIT-REQUIRED, VMM-INIT-FORKED]. In such a child vmm_init returns it as well. Only
 *     destroying a NULL context or stream, and destroying, querying or synchronising a NULL event, keeps its usual
 *     error. This is not repeated below.
 *   - On a machine that processes share (vmm_open, machine=NAME), vmm_init and the calls that read the free memory
 *     return VMM_ERROR_OPERATING_SYSTEM [VMM-SHARE-STATE] when the shared state is not accessible.
 *   - Errors are listed with the ids of the rules behind them. `cuvmm explain ID` explains a rule; vmm_last_detail()
 *     returns the rule, the object and the fix.
 *   - "cuda.h 13.0" cites the toolkit's header by function; "guide" the CUDA C++ Programming Guide's chapter on
 *     virtual memory management; "580" marks behaviour measured on driver 580.159.04.
 */
#ifndef CUVMM_VMM_H
#define CUVMM_VMM_H

#define VMM_VERSION_MAJOR 0
#define VMM_VERSION_MINOR 1
#define VMM_VERSION_PATCH 0

#include "vmm/base.h"        /* results, values that name objects, locations of memory, rights */
#include "vmm/system.h"      /* open and close */
#include "vmm/detail.h"      /* why a call was refused, objects, leaks */
#include "vmm/rule.h"        /* the rules */
#include "vmm/device.h"      /* initialisation and devices */
#include "vmm/context.h"     /* contexts and streams, in-flight work */
#include "vmm/event.h"       /* events */
#include "vmm/mem_op.h"      /* values that streams write or wait for */
#include "vmm/graph.h"       /* graphs and the order of their nodes */
#include "vmm/graph_node.h"  /* nodes and their parameters */
#include "vmm/graph_exec.h"  /* instances and launches */
#include "vmm/user_object.h"/* program data that graphs refer to */
#include "vmm/capture.h"     /* captured streams */
#include "vmm/alloc.h"       /* ordinary memory */
#include "vmm/pool.h"        /* stream-ordered memory, pools */
#include "vmm/memory.h"      /* physical memory and handles */
#include "vmm/address.h"     /* reservations and mappings */
#include "vmm/access.h"      /* access rights */
#include "vmm/query.h"       /* queries about an address */
#include "vmm/share.h"       /* memory for other processes */
#include "vmm/ipc.h"         /* the older way: IPC handles of memory and events */
#include "vmm/multicast.h"   /* multicast objects */
#include "vmm/dmabuf.h"      /* memory for other devices of the machine */
#include "vmm/array.h"       /* arrays and the tiles of sparse arrays */
#include "vmm/managed.h"     /* memory that the host and devices use at the same address */
#include "vmm/copy.h"        /* copies and fills */
#include "vmm/box.h"         /* copies of boxes */
#include "vmm/batch.h"       /* batches of copies */
#include "vmm/kernel.h"      /* kernels and host functions */

#endif

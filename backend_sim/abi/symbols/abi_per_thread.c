/* SPDX-License-Identifier: Apache-2.0 */
/* The forms whose stream 0 is the thread's own default stream: the same sources, with the names that the header then defines. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM

#include "abi_capture_info.c"
#include "abi_boxes.c"
#include "abi_copy.c"
#include "abi_fill.c"
#include "abi_graph_launch.c"
#include "abi_launch.c"
#include "abi_mem_op.c"
#include "abi_ordered.c"
#include "abi_batches.c"
#include "abi_pool_alloc.c"
#include "abi_array_copy.c"
#include "abi_managed_work.c"

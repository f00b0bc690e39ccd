/* SPDX-License-Identifier: Apache-2.0 */
/* registration.h - the part of a dma-buf that a network card registers with ibv_reg_dmabuf_mr of libibverbs. The driver does
 * not see it.
 *
 *     cuMemGetAddressRange    [start, start + 20 MiB), one of many mappings side by side
 *     its dma-buf             20 MiB
 *     ibv_reg_dmabuf_mr       offset 8 MiB, length 1828 MiB: EINVAL, VMM-DMABUF-REGISTRATION
 */
#ifndef VMM_REGISTRATION_H
#define VMM_REGISTRATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vmm.h"

/* ibv_reg_dmabuf_mr; pd and the result are structures of libibverbs. */
typedef void *(*registration_function)(void *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access);

/* Does the range end beyond the file's end? Then detail says so. Also false if the system does not report the file's size. */
bool registration_past_end(int fd, uint64_t offset, uint64_t length, vmm_detail *detail);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* verbs.h - the one function of libibverbs that these programs call. verbs.c is the library, for machines without a network card. */
#ifndef CHECKER_VERBS_H
#define CHECKER_VERBS_H

#include <stddef.h>
#include <stdint.h>

/* Registers length bytes of a dma-buf from offset on; NULL with errno where they are not all in it. The two pointers are structures
 * of libibverbs, which the programs do not look into. */
void *ibv_reg_dmabuf_mr(void *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* abi_peer_copy.h - what copies between contexts have in common. */
#ifndef SIM_ABI_PEER_COPY_H
#define SIM_ABI_PEER_COPY_H

#include "abi.h"

/* Are the two contexts alive? NULL stands for the current one, as recorded. Else PEER_CONTEXT, where a driver ends the process. */
CUresult abi_peer_contexts(const vmm_system *sys, const char *function, CUcontext to, CUcontext from);

#endif

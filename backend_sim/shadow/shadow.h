/* SPDX-License-Identifier: Apache-2.0 */
/* shadow.h - the simulator beside a backend: what the rules say about calls that something else answers.
 *
 *   shadow|cuda        call -> driver answers -> the same call on the simulator -> the driver's answer, with the
 *                              |                         |                         simulator's reason
 *                              +----- compared ----------+
 *
 * The answers are the inner backend's own, to the last output. The shadow adds which rule a refusal broke, which object
 * is in the way, what a successful call is warned of, and at the end what is still held. It learns the machine through
 * the inner backend when it is initialised, takes over addresses, handles and contexts as that gives them, and keeps
 * no bytes. shadow=nodes=N says how many NUMA nodes the host has, which no driver tells; without it, that a node is not
 * there is known once the backend refused it. Memory of cuMemAlloc, streams, events, multicast objects and
 * kernels are left to the inner backend alone; who maps a multicast object loses the shadow.
 *
 * A driver ends before its program does, and answers DEINITIALIZED to what handlers call at exit. From the first such answer
 * on nothing is compared; what is held is what was held then.
 *
 * A released handle that is mapped or exported takes the process of a recorded driver down. Then the thread's record tells of
 * it before the inner backend is called, and that may pass it on (backend_cuda/check does).
 *
 * When the two disagree, that is said [VMM-SHADOW-DIFFERS] with both results, and where their states can no longer be
 * the same the shadow falls silent after saying so once [VMM-SHADOW-LOST]: no advice is better than a wrong one.
 */
#ifndef CUVMM_LAYERS_SHADOW_H
#define CUVMM_LAYERS_SHADOW_H

#include "backend.h"

vmm_result vmm_shadow_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend);

#endif

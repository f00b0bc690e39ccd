/* SPDX-License-Identifier: Apache-2.0 */
/* shadow.h - runs the simulator beside another backend, and explains that backend's answers by the rules.
 *
 *   shadow|cuda        call -> driver answers -> the same call on the simulator -> the driver's answer, with the
 *                              |                         |                         simulator's reason
 *                              +----- compared ----------+
 *
 * All results and outputs are the inner backend's own. The shadow adds the rule that a refused call broke, the object in the way,
 * warnings about successful calls, and at the end the leaks. It queries the inner backend for the machine when it is initialised,
 * takes over the inner backend's addresses, handles and contexts, and stores no bytes. shadow=nodes=N gives the number of the
 * host's NUMA nodes, which no driver reports; without it, the shadow learns that a node does not exist when the backend refuses
 * it. The inner backend alone handles memory of cuMemAlloc, streams, events, multicast objects and kernels; a program that maps a
 * multicast object loses the shadow.
 *
 * A driver ends before its program does, and answers DEINITIALIZED to calls of exit handlers. From the first such answer on the
 * shadow compares nothing; the leaks are those at that moment.
 *
 * Mapping or exporting a released handle crashes the process with a recorded driver. For such a call the shadow fills the
 * thread's record before it calls the inner backend, which may report it (backend_cuda/check does).
 *
 * When the two results disagree, the shadow reports both [VMM-SHADOW-DIFFERS]. When their states can no longer be the same, it
 * reports that once [VMM-SHADOW-LOST] and is silent from then on: no advice is better than wrong advice.
 */
#ifndef CUVMM_LAYERS_SHADOW_H
#define CUVMM_LAYERS_SHADOW_H

#include "backend.h"

vmm_result vmm_shadow_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend);

#endif

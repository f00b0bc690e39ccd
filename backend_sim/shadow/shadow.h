/* SPDX-License-Identifier: Apache-2.0 */
/* shadow.h - runs the simulator beside another backend, and explains that backend's answers by the rules.
 *
 *   shadow|cuda        call -> driver answers -> the same call on the simulator -> the driver's answer, with the
 *                              |                         |                         simulator's reason
 *                              +----- compared ----------+
 *
 * All results and outputs come from the inner backend. The shadow adds the rule that a refused call broke, the object in the
 * way, warnings about successful calls, and at the end the leaks. It queries the inner backend for the machine when it is
 * initialised, takes over the inner backend's addresses, handles and contexts, and stores no bytes. shadow=nodes=N gives the
 * number of the host's NUMA nodes, which no driver reports; without it, the shadow learns that a node does not exist when the
 * backend refuses it. shadow=runtime is for programs of the CUDA runtime, which uses allocations, frees and copies to learn
 * whether a thread has a context: INVALID_CONTEXT from such a call is not reported. Ordinary memory and imports are adopted at
 * the backend's addresses (adopt.h). Only the inner backend handles streams, events, graphs, multicast objects and kernels.
 *
 * When the two results disagree, the shadow reports both [VMM-SHADOW-DIFFERS]. When their states can no longer match, it stops
 * tracking the object of the call, and reports that [VMM-SHADOW-OPAQUE]: calls on it are passed through, everything else is
 * still compared (shadow_state.h). A call that the backend refused is only checked on the simulator, without changing anything
 * there. Without the machine's description, or without memory, the shadow reports that once [VMM-SHADOW-LOST] and is silent
 * from then on: no advice is better than wrong advice.
 *
 * A driver shuts down before its program ends, and returns DEINITIALIZED to calls from exit handlers. After the first such
 * result the shadow compares nothing; the leaks are those at that moment.
 *
 * Mapping or exporting a released handle crashes the process with a recorded driver. For such a call the shadow fills the
 * thread's record before it calls the inner backend, which may report it (backend_cuda/check does).
 */
#ifndef CUVMM_LAYERS_SHADOW_H
#define CUVMM_LAYERS_SHADOW_H

#include "backend.h"

vmm_result vmm_shadow_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend);

#endif

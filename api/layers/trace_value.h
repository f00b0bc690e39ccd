/* SPDX-License-Identifier: Apache-2.0 */
/* trace_value.h - parameters of a call record as JSON, by the kinds that trace.h lists. */
#ifndef CUVMM_LAYERS_TRACE_VALUE_H
#define CUVMM_LAYERS_TRACE_VALUE_H

#include "call.h"
#include "json.h"

/* "args": every parameter as it was passed. done: the call succeeded, so memory that it had to read is readable; but for
 * device addresses in the place of the host's, which are written down as such. */
void trace_args(struct json *json, const struct vmm_call *call, bool done, bool device);

/* "out": what a successful call wrote; nothing where there is no output. */
void trace_outs(struct json *json, const struct vmm_call *call, bool device);

/* The host bytes that the call reads or writes; NULL. */
const void *trace_host_bytes(const struct vmm_call *call);

/* The value of a parameter that may name an object: its own, or what an output points to. false when there is none. */
bool trace_object(const struct vmm_call *call, const struct vmm_param *param, bool done, uint64_t *value);

/* Whether the call writes through the parameter. */
bool trace_is_out(enum vmm_param_kind kind);

/* Is it an export or import of a fabric handle? And what stands for such a handle, which is no descriptor's number. */
bool trace_is_fabric(const struct vmm_call *call);
uint64_t trace_fabric(const void *bytes);

/* Closing is no call: which file the number stands for now, of whose lower half a driver knows descriptors; 0 for none of this
 * process (any more). What stands for a fabric handle is its own file. */
uint64_t trace_file(uint64_t value);

#endif

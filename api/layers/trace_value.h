/* SPDX-License-Identifier: Apache-2.0 */
/* trace_value.h - parameters of a call as JSON, by the kinds that trace.h lists, and other facts about calls. */
#ifndef CUVMM_LAYERS_TRACE_VALUE_H
#define CUVMM_LAYERS_TRACE_VALUE_H

#include "json.h"
#include "trace_event.h"

/* The input that the call will overwrite with its output; 0 for other calls. */
uint64_t trace_before(const struct vmm_call *call);

/* "args": every parameter as it was passed. */
void trace_args(struct json *json, const struct trace_event *event);

/* "out": the outputs that were written; nothing if there are none. */
void trace_outs(struct json *json, const struct trace_event *event);

/* The host bytes that the call reads or writes, or NULL. */
const void *trace_host_bytes(const struct vmm_call *call);

/* The value of the parameter with that name, which the call has: the length of a list, say. */
uint64_t trace_length(const struct vmm_call *call, const char *name);

/* The size of an attribute whose value a trace holds, 4 or 8; else 0. */
size_t trace_attribute_size(vmm_pointer_attribute attribute);

/* Are its host bytes valid only when the stream has reached the call? */
bool trace_is_async(const struct vmm_call *call);

/* Does a call that succeeded write its output of that kind? For a stream that is not being captured only the status is
 * written. */
bool trace_writes(const struct vmm_call *call, enum vmm_param_kind kind);

/* The value of a parameter that may name an object other than a descriptor: its own value, or the one that an output points to.
 * False when there is none. */
bool trace_object(const struct trace_event *event, const struct vmm_param *param, uint64_t *value);

/* Does the call write through the parameter? */
bool trace_is_out(enum vmm_param_kind kind);

/* Is it an export or import of a fabric handle? */
bool trace_is_fabric(const struct vmm_call *call);

#endif

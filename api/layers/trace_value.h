/* SPDX-License-Identifier: Apache-2.0 */
/* trace_value.h - parameters of a call record as JSON, by the kinds that trace.h lists. */
#ifndef CUVMM_LAYERS_TRACE_VALUE_H
#define CUVMM_LAYERS_TRACE_VALUE_H

#include "call.h"
#include "json.h"

/* What the call will read where it writes its answer; 0 for other calls. */
uint64_t trace_before(const struct vmm_call *call);

/* "args": every parameter as it was passed. done: the call succeeded, so memory that it had to read is readable, except for
 * device addresses in place of host addresses, which are written as addresses. */
void trace_args(struct json *json, const struct vmm_call *call, bool done, bool device, uint64_t before);

/* "out": the outputs of a successful call; nothing if there are none. */
void trace_outs(struct json *json, const struct vmm_call *call, bool device);

/* The host bytes that the call reads or writes, or NULL. */
const void *trace_host_bytes(const struct vmm_call *call);

/* The value of a parameter that may name an object: its own, or the one that an output points to. False when there is none. */
bool trace_object(const struct vmm_call *call, const struct vmm_param *param, bool done, uint64_t *value);

/* Does the call write through the parameter? */
bool trace_is_out(enum vmm_param_kind kind);

/* Is it an export or import of a fabric handle? And the value that stands for such a handle, which is not a descriptor. */
bool trace_is_fabric(const struct vmm_call *call);
uint64_t trace_fabric(const void *bytes);

/* Closing is not a traced call, so this identifies the file that the number refers to now (a driver uses the lower half of the
 * value); 0 if it is not open in this process. A fabric handle's value stands for itself. */
uint64_t trace_file(uint64_t value);

/* What a successful export or import names, as other processes know it too: the file of a descriptor, or the bytes of a fabric or
 * IPC handle. 0: the call shares nothing, or its file cannot be told from others (a driver's descriptors are all of one device). */
uint64_t trace_shared(const struct vmm_call *call);

#endif

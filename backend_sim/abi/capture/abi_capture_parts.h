/* SPDX-License-Identifier: Apache-2.0 */
/* abi_capture_parts.h - what the files of captures share. With the lock of abi_graphs.h, but for the first one. */
#ifndef SIM_ABI_CAPTURE_PARTS_H
#define SIM_ABI_CAPTURE_PARTS_H

#include "abi_capture.h"

/* Does an event stand for what a captured stream had reached? Takes no lock. */
bool abi_capture_events(void);

/* The key of a stream in captures; the default stream of a thread has one for each thread. */
uint64_t abi_capture_key(vmm_stream stream);
struct capture_stream *abi_capture_find(vmm_stream stream);
/* The stream, if it is captured and the capture is valid; NULL: result says why not. */
struct capture_stream *abi_capture_going_on(const char *function, vmm_stream stream, CUresult *result);
CUresult abi_capture_invalidated(const char *function);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* trace_read.h - turns a record of a trace (api/layers/trace_record.h) back into an event.
 *
 *     [ 7 | mem_map | thread 1 ][ n | result ][ ptr ][ size ] ...   ->   struct trace_event, with a call whose pointers can be followed
 *
 * The event and everything that it points to are valid until the next record is read into the same room. Its memory
 * may be changed, as replays do. A record may come from anywhere: inconsistent ones are refused.
 */
#ifndef CUVMM_TOOLS_TRACE_READ_H
#define CUVMM_TOOLS_TRACE_READ_H

#include "trace_event.h"

enum { TRACE_ROOM = 256 << 10 };

/* The memory into which an event is read. */
struct trace_room {
    struct trace_event event;
    union vmm_any_call call;
    vmm_detail detail;
    const char *frame[64];
    size_t used;
    _Alignas(64) unsigned char bytes[TRACE_ROOM];
};

/* size zeroed bytes of the room, aligned for everything; NULL: it is full. */
void *trace_room_take(struct trace_room *room, size_t size);

/* Makes an output point to zeros, enough for the largest value of its kind. NULL: the room is full. */
void *trace_room_output(struct trace_room *room, const struct vmm_param *param);

/* Begins an event of that call with all parameters zero and everything else unknown. */
void trace_room_begin(struct trace_room *room, enum vmm_call_id id);

/* Reads the record of a call. words: its length from its head, at most a chunk's. own: records have a time. Returns
 * NULL, or the error. */
const char *trace_read(struct trace_room *room, const uint64_t *record, size_t words, enum vmm_call_id id, uint64_t number, bool own);

#endif

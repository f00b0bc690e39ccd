/* SPDX-License-Identifier: Apache-2.0 */
/* trace_record.h - one call in the binary form of a trace, which trace_binary.h describes: its words, and how they are written.
 *
 *   mem_map(R1, 2 MiB, 0, H1, 0) = CUDA_SUCCESS                                               56 bytes
 *
 *     [ 7 | mem_map | thread 1 | TRACE_WROTE ][ n | result ] [ ptr ][ size ][ offset ][ handle ][ flags ]
 *
 * Words are of 64 bits in the order of the machine that wrote them. A record is, in this order:
 *
 *   HEAD        its length in words, the call's row in the table of calls, the thread, and flags, 16 bits each, from the
 *   lowest; then the
 *               lower 32 bits of n, and the result's number. Flags are those below, and a bit for each parameter that is a
 *               pointer
 *               and not NULL, from TRACE_POINTERS on. A thread above 65,534 is TRACE_THREAD_FOLLOWS, and in a word of its own
 *   MOMENT      of a process's own trace: time in nanoseconds since its clock; the place; with TRACE_HAS_SHARED that number
 *   LACKS       with TRACE_LACKS: bit i for parameter i, an output that was written, and of which OUTPUTS has nothing
 *   ARGUMENTS   a word for each that is a number, in the driver's order; INTs with their sign. Of pointers there is the bit alone, so
 *               that the same calls are the same bytes; but a word for an FD that is not NULL, bit 0 if it was closed and from
 *               bit 1
 *               on 3 for D3; one for an IPC_HANDLE, 3 for D3; the structure of a LOCATION_VALUE; and a word for IO_COUNT,
 *               IO_INT with the value before the call
 *   MEMORY      what the pointers of arguments led to, for each one that is not NULL and not an output, in their order (see below)
 *   OUTPUTS     with TRACE_WROTE: the same of the outputs
 *   DETAIL      with TRACE_HAS_DETAIL: severity and what else there is; value; expected; the nearest object's kind and its number;
 *               lengths of three texts; the texts rule, argument, note, filled up with zeros to a whole word
 *
 * MEMORY and OUTPUTS by kind (call.h). Structures are those of trace_pack.h. A list has as many elements as the arguments say,
 * but at most TRACE_LIST_MAX; a list of outputs has a word before it with their number.
 *
 *   PROP TEAM LOCATION POOL_PROPS FILL_NODE MEMCPY3D MEMCPY3D_PEER KERNEL_NODE    the structure; a KERNEL_NODE's arguments after it
 *   DESCS COPY_ATTRIBUTES BOXES                                                   a list of structures
 *   STRUCT STRUCTS     a word for each field of call_structs.def, 0 for one of a union that is not used; and a list of such
 *   MEM_OPS            the same; none for more than TRACE_LIST_MAX, which are refused
 *   ARGS ADDRESSES SIZES NODES EDGES      a list of words
 *   ATTRIBUTES         a list of words with numbers of attributes
 *   POOL_VALUE         a word of the attribute's size; nothing where the call failed or the attribute is not known
 *   BYTES              with TRACE_DEVICE the device address; else, of a call that succeeded, the bytes, filled up to a word, or
 *                      for more than TRACE_BYTES_MAX their hash; nothing of one that failed
 *   OUT_BYTES          as memory: with TRACE_DEVICE the device address. As output: as BYTES, and nothing of an _async call
 *   OUT_ATTRIBUTES     as memory: four words, bit i for each element that is not NULL. As output: a word for each of those whose
 *                      attribute has 4 or 8 bytes
 *   OUT_INT IO_INT     the value with its sign;  OUT_POOL_VALUE, OUT_ATTRIBUTE a word, or nothing if its size is not 4 or 8 bytes
 *   OUT_FD OUT_IPC_HANDLE                 a word: 3 for D3, 0 for none
 *   OUT_PROP OUT_MEMCPY3D OUT_FILL_NODE OUT_UPDATE      the structure
 *   OUT_STRUCT         as STRUCT;  OUT_RANGE as many ints of 4 bytes as fit into what the call asks for, filled up to a word
 *   OUT_NODES OUT_EDGES OUT_NODES_AT OUT_EDGES_AT       a list of words
 *   OUT_TEXT           its length, and the text, filled up to a word
 *   every other OUT_   a word
 *   POOL_POINTER FUNCTION USER_DATA HOST_NODE, and those as outputs: nothing
 *
 * The place of a call has its frames in records before it, the first time: TRACE_FRAME in place of a call, the place's number in
 * place of n, a word with the frame's index and the length of its text, and the text with a zero behind it, filled up to a word.
 */
#ifndef CUVMM_LAYERS_TRACE_RECORD_H
#define CUVMM_LAYERS_TRACE_RECORD_H

#include "trace_event.h"

enum { TRACE_HEAD_WORDS = 2, TRACE_RECORD_MOST = 60 << 10 /* bytes */ };
enum { TRACE_FRAME = 0xffff, TRACE_THREAD_FOLLOWS = 0xffff };
enum { TRACE_WROTE = 1, TRACE_DEVICE = 2, TRACE_HAS_DETAIL = 4, TRACE_HAS_SHARED = 8, TRACE_POINTERS = 16, TRACE_LACKS = 1 << 13 };

static inline uint64_t trace_head(size_t words, uint16_t call, uint16_t thread, uint16_t flags)
{
    return (uint64_t)words | (uint64_t)call << 16 | (uint64_t)thread << 32 | (uint64_t)flags << 48;
}
static inline size_t trace_head_words(uint64_t head)
{
    return head & 0xffff;
}
static inline uint16_t trace_head_call(uint64_t head)
{
    return (uint16_t)(head >> 16);
}
static inline uint16_t trace_head_thread(uint64_t head)
{
    return (uint16_t)(head >> 32);
}
static inline uint16_t trace_head_flags(uint64_t head)
{
    return (uint16_t)(head >> 48);
}

/* Writes the event as a record; own: with its time and place, but not its frames. Returns its length in words, which is no more
 * than trace_record_room() promised. */
size_t trace_record_write(uint64_t *at, const struct trace_event *event, bool own);

/* The most words that the event's record may take. */
size_t trace_record_room(const struct trace_event *event);

/* The record of a frame of the event's place: fewer than TRACE_FRAME_TEXT bytes. */
size_t trace_frame_write(uint64_t *at, uint32_t place, uint32_t index, const char *text);

/* The calls that records name by their row, "mem_map ptr:ADDRESS size:SIZE ...", types as in call_types.def; and all of them, a
 * line each. Returns its length; to may be NULL. */
extern const char *const trace_calls[VMM_CALL_COUNT];
size_t trace_calls_write(char *to);

/* How many elements of the list the call passed, whether they are written or not. param is a list. */
uint64_t trace_listed(const struct vmm_call *call, const struct vmm_param *param);

#endif

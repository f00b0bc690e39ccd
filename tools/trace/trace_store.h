/* SPDX-License-Identifier: Apache-2.0 */
/* trace_store.h - reads a trace of either form: the calls in order, or from any position.
 *
 *     FILE.vtrace   mapped                                  \
 *                                                             chunks of records   ->   trace_store_next: an event at a time
 *     lines         read, and written as records in memory  /
 *
 * So the readers of traces (replay, timeline, export) know only one form, and a trace of ten million calls takes no
 * memory except for the accessed pages. Lines are read to the end, or to the first invalid one; reading them needs jansson.
 */
#ifndef CUVMM_TOOLS_TRACE_STORE_H
#define CUVMM_TOOLS_TRACE_STORE_H

#include <stdio.h>

#include "text.h"
#include "trace_binary.h"
#include "trace_read.h"

/* The position of a record: the chunk, and the word in it. As a number: below 2^32 in traces of up to 32 GiB. */
struct trace_at {
    uint32_t chunk, word;
};
enum { TRACE_AT_BITS = 13 };
_Static_assert(TRACE_CHUNK / 8 == 1 << TRACE_AT_BITS, "words of a chunk");
static inline uint64_t trace_at_number(struct trace_at at)
{
    return (uint64_t)at.chunk << TRACE_AT_BITS | at.word;
}
static inline struct trace_at trace_at_of(uint64_t number)
{
    return (struct trace_at){(uint32_t)(number >> TRACE_AT_BITS), (uint32_t)(number & ((1 << TRACE_AT_BITS) - 1))};
}

struct trace_store {
    const char *name;           /* for messages; owned by the caller */
    char *header;               /* the first line, as text */
    bool own;                   /* a process's own trace */
    bool driver;                /* it was recorded from a driver */
    bool binary;                /* it came in the binary form */
    bool whole;                 /* it has its end */
    uint64_t said;              /* the number of calls according to its end */
    struct text complaint;      /* the error, "NAME:LINE:COLUMN: ..."; everything before that position is still available */

    const uint64_t **chunk;     /* each begins with struct trace_chunk */
    uint32_t *used;             /* bytes of each */
    size_t chunks, room;
    void *mapped;               /* the file, or */
    size_t mapped_size;
    void *loaded;               /* its contents; neither: each chunk is separate memory */
    void *last;                 /* for a file: a copy of its window */
    uint16_t *row;              /* by the row that records name: our call; VMM_CALL_COUNT: unknown */
    size_t rows;
};

/* Reads a trace. False: it is not a trace, and complaint has the reason. In both cases trace_store_close ends it. name is kept.
 * */
bool trace_store_open(struct trace_store *store, FILE *in, const char *name);
void trace_store_close(struct trace_store *store);

/* Reads the next call from a position, initially {0}, and advances past it; *found is the position of its record. It
 * has the frames of its stack if they precede it. False at the end, or at an invalid record: complaint then has the reason. */
bool trace_store_next(struct trace_store *store, struct trace_at *at, struct trace_room *room, struct trace_at *found);

/* ---- making one ---- */

/* Appends the event, with its frames, in memory. */
void trace_store_add(struct trace_store *store, const struct trace_event *event);

/* Fills an empty store from lines (trace_lines_read.c). */
bool trace_lines_read(struct trace_store *store, FILE *in);

#endif

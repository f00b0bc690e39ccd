/* SPDX-License-Identifier: Apache-2.0 */
/* trace_store.h - a trace for reading: the calls of either form, one after the other or from any place.
 *
 *     FILE.vtrace   mapped                                  \
 *                                                             chunks of records   ->   trace_store_next: an event at a time
 *     lines         read, and written as records in memory  /
 *
 * So what reads traces (replay, timeline, export) knows one form, and a trace of ten million calls takes no memory but the pages
 * that are looked at. Lines are read to their end, or to the first that is wrong; reading them needs jansson.
 */
#ifndef CUVMM_TOOLS_TRACE_STORE_H
#define CUVMM_TOOLS_TRACE_STORE_H

#include <stdio.h>

#include "text.h"
#include "trace_binary.h"
#include "trace_read.h"

/* Where a record is: the chunk, and the word in it. As a number: below 2^32 in traces of up to 32 GiB. */
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
    const char *name;           /* for messages; the caller's */
    char *header;               /* the first line, as text */
    bool own;                   /* a process's own trace */
    bool driver;                /* it was recorded from a driver */
    bool binary;                /* it came in the binary form */
    bool whole;                 /* it has its end */
    uint64_t said;              /* calls, as its end says */
    struct text complaint;      /* what is wrong with it, "NAME:LINE:COLUMN: ..."; what precedes that place is there all the same */

    const uint64_t **chunk;     /* each begins with struct trace_chunk */
    uint32_t *used;             /* bytes of each */
    size_t chunks, room;
    void *mapped;               /* the file, or */
    size_t mapped_size;
    void *loaded;               /* its contents; neither: each chunk is memory of its own */
    void *last;                 /* of a file: a copy of its window */
    uint16_t *row;              /* by the row that records name: our call, VMM_CALL_COUNT: none that we know */
    size_t rows;
};

/* Reads a trace. False: it is none, and complaint says why. In both cases trace_store_close ends it. name is kept. */
bool trace_store_open(struct trace_store *store, FILE *in, const char *name);
void trace_store_close(struct trace_store *store);

/* Reads the next call from a place on, {0} at first, and moves on behind it; *found is where its record is. It has the frames of
 * its place where they stand before it. False at the end, or where a record is wrong: complaint then says why. */
bool trace_store_next(struct trace_store *store, struct trace_at *at, struct trace_room *room, struct trace_at *found);

/* ---- making one ---- */

/* Appends the event, with its frames, in memory. */
void trace_store_add(struct trace_store *store, const struct trace_event *event);

/* Fills an empty store from lines (trace_lines_read.c). */
bool trace_lines_read(struct trace_store *store, FILE *in);

#endif

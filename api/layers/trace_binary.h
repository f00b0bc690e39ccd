/* SPDX-License-Identifier: Apache-2.0 */
/* trace_binary.h - the binary form of a trace: a file of records (trace_record.h), for traces of millions of calls.
 *
 *   trace=FILE.vtrace        the name's end chooses the form; trace=FILE.%p.vtrace as well
 *
 *   [ head | header line | table of calls | zeros ][ window ][ chunk 0 ][ chunk 1 ] ...
 *      |                                            |
 *      commit: 2 chunks, 4096 bytes in the window   |
 *                                                   will be chunk 2
 *
 * Head and window are written with zeros first and mapped then, so that what is touched has its place on the disk. A call's record
 * goes into the window, and one store, of `commit`, makes it count. A full window is appended to the file by write(2), and one
 * store begins the next chunk. So the trace is whole after every store, whatever ends the process: the kernel keeps the pages of a
 * mapped file. A disk that is full is an error of write(2), not a signal; the trace then ends with the window. (A mapped page costs
 * three times as much as one that is written: first touches and faults. Hence one window and no mapping of the rest.)
 *
 * What this does not survive is the machine's own end: pages reach the disk in any order. A reader believes no length and no offset,
 * and ends where a chunk or record cannot be right.
 *
 * HEAD         struct trace_binary. All numbers are in the order of bytes of the machine that wrote them; `order` shows which.
 * header line  the first line of the readable form (trace.h), with its newline: version, inner backends, and the process of a
 *              process's own trace
 * table        trace_calls_write(): the calls that records name by row, with the names and types of their parameters. A reader of
 *              another cuvmm finds its own calls by these names, and refuses a record of a call that it does not have in this form
 * CHUNK        of head.chunk bytes: struct trace_chunk, then records without gaps. What follows `used` bytes is zero
 * WINDOW       a chunk of which `used` and `calls` are not yet known; commit has the bytes
 *
 * The file is made under a name beside its own and then renamed: an older trace stays until then, and a process that still writes
 * to it is not disturbed. A trace without chunks ends with its last record.
 *
 * Calls that the trace counts, `n` of each, results, details, names: as in the readable form. `cuvmm export --format=lines` makes
 * that of it, and --format=binary the other way; both ways give the same bytes again.
 */
#ifndef CUVMM_LAYERS_TRACE_BINARY_H
#define CUVMM_LAYERS_TRACE_BINARY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define TRACE_BINARY_END ".vtrace"
#define TRACE_BINARY_MAGIC "\x89VMMT\r\n\x1a"
enum { TRACE_BINARY_FORMAT = 1, TRACE_BINARY_ORDER = 0x01020304, TRACE_BINARY_PAGE = 4096, TRACE_CHUNK = 65536 };

struct trace_binary {
    char magic[8];             /* TRACE_BINARY_MAGIC, which a transfer as text would change */
    uint32_t format, order;
    uint32_t start, chunk;     /* bytes before the window; of the window and of each chunk */
    uint32_t header, calls;    /* bytes of the header line, which begins behind this structure, and of the table after it */
    uint32_t own, unused;      /* 1: a process's own trace, whose records have their moment */
    _Atomic uint64_t commit;   /* chunks << 32 | bytes in the window, with its struct trace_chunk; 0 bytes: nothing yet */
    _Atomic uint64_t end;      /* 1 + calls, when the trace is whole; 0: it was cut off, or goes on */
};

struct trace_chunk {
    uint64_t index;  /* 0, 1, ... */
    uint64_t before; /* calls before it */
    uint64_t number; /* near those of its calls: n of the call before it, say. Records hold the lower half of theirs, and the upper half
                        is the one that brings it nearest to this one */
    uint32_t used, calls; /* bytes of it and of its records; calls in it */
};

static inline uint64_t trace_commit(uint64_t chunks, uint32_t used)
{
    return chunks << 32 | used;
}

/* Is it the name of a trace in this form? */
static inline bool trace_is_binary(const char *name)
{
    const size_t length = strlen(name), end = sizeof TRACE_BINARY_END - 1;
    return length > end && strcmp(name + length - end, TRACE_BINARY_END) == 0;
}

/* The whole number of a call, from its lower half and the chunk's; and can it be told from that? */
static inline uint64_t trace_number(uint64_t near, uint32_t low)
{
    return near + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)near);
}
static inline bool trace_number_fits(uint64_t near, uint64_t number)
{
    return trace_number(near, (uint32_t)number) == number;
}

#endif

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
 * Head and window are written with zeros first and mapped then, so that what is touched has its place on the disk. A call's
 * record goes into the window, and one store, of `commit`, makes it count. A full window is appended to the file by write(2),
 * and one store begins the next chunk. So the trace is whole after every store, whatever ends the process: the kernel keeps the
 * pages of a mapped file. A disk that is full is an error of write(2), not a signal; the trace then ends with the window. (A
 * mapped page costs three times as much as a written one, because of first-touch faults. Hence one window and no mapping of the
 *
 * rest.) It does not survive a crash of the machine, because pages reach the disk in any order. A reader trusts no length and
 * no offset, and stops at the first chunk or record that cannot be valid.
 *
 * HEAD         struct trace_binary. All numbers are in the byte order of the machine that wrote them; `order` shows which one.
 * header line  the first line of the readable form (trace.h), with its newline: version, inner backends, and the process of a
 *              process's own trace
 * table        trace_calls_write(): the calls that records name by row, with the names and types of their parameters. A reader
 *              of another version of cuvmm finds its own calls by these names, and refuses a record of a call that it
 *              does not know in this form
 * CHUNK        of head.chunk bytes: struct trace_chunk, then records without gaps. What follows `used` bytes is zero
 * WINDOW       a chunk of which `used` and `calls` are not yet known; commit has the bytes
 *
 * The file is created under a temporary name in the same folder and then renamed: an older trace stays until then, and a
 * process that still writes to it is not disturbed. A trace without chunks ends with its last record.
 *
 * Calls that the trace counts, `n` of each, results, details, names: as in the readable form. `cuvmm export --format=lines`
 * converts to that form, and --format=binary back; a round trip reproduces the same bytes.
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
    char magic[8];             /* TRACE_BINARY_MAGIC, which a text-mode transfer would corrupt */
    uint32_t format, order;
    uint32_t start, chunk;     /* bytes before the window; of the window and of each chunk */
    uint32_t header, calls;    /* bytes of the header line, which follows this structure, and of the table after it */
    uint32_t own, unused;      /* 1: a per-process trace, whose records have times and call sites */
    _Atomic uint64_t commit;   /* chunks << 32 | bytes in the window, with its struct trace_chunk; 0 bytes: nothing yet */
    _Atomic uint64_t end;      /* 1 + calls if the trace is whole; 0 if it was cut off or is still being written */
};

struct trace_chunk {
    uint64_t index;  /* 0, 1, ... */
    uint64_t before; /* calls before it */
    uint64_t number; /* near those of its calls: n of the call before it, say. Records hold the lower half of theirs, and the
                        upper half is chosen so that the number is nearest to this one */
    uint32_t used, calls; /* bytes of the chunk with its records; number of calls in it */
};

static inline uint64_t trace_commit(uint64_t chunks, uint32_t used)
{
    return chunks << 32 | used;
}

/* Does the name denote a trace in this form? */
static inline bool trace_is_binary(const char *name)
{
    const size_t length = strlen(name), end = sizeof TRACE_BINARY_END - 1;
    return length > end && strcmp(name + length - end, TRACE_BINARY_END) == 0;
}

/* The full number of a call, from its lower half and the chunk's number; and whether those determine it. */
static inline uint64_t trace_number(uint64_t near, uint32_t low)
{
    return near + (uint64_t)(int64_t)(int32_t)(low - (uint32_t)near);
}
static inline bool trace_number_fits(uint64_t near, uint64_t number)
{
    return trace_number(near, (uint32_t)number) == number;
}

#endif

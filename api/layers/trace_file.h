/* SPDX-License-Identifier: Apache-2.0 */
/* trace_file.h - writing a trace in its binary form (trace_binary.h).
 *
 *     trace_file_begin    the file with its head, under its own name when it is ready
 *     trace_file_room     where a record of so many words goes: in the window, which is appended first if it is full
 *     trace_file_commit   the record counts
 *     trace_file_end      the file is whole
 *
 * The caller does all locking, and lets no child of a fork write.
 */
#ifndef CUVMM_LAYERS_TRACE_FILE_H
#define CUVMM_LAYERS_TRACE_FILE_H

#include <stddef.h>

#include "trace_binary.h"

struct trace_file {
    int fd;                    /* -1: there is none */
    struct trace_binary *head; /* and the window behind it */
    size_t mapped;
    uint64_t *window;
    size_t used, room;         /* words of the window */
    uint64_t chunks, calls, number;
    uint32_t in_chunk;         /* calls of this chunk */
};

/* Creates the file; header: its first line, without a newline. 0 or an errno, and then nothing is left. ENOTSUP: something else
 * than a file has that name. */
int trace_file_begin(struct trace_file *file, const char *path, const char *header, size_t length, bool own);

/* Appends the window, and begins the next chunk. 0 or an errno: the trace ends with what is in it. */
int trace_file_append(struct trace_file *file);

/* Room for a record of at most that many words; NULL with the reason in *error. */
static inline uint64_t *trace_file_room(struct trace_file *file, size_t words, int *error)
{
    if (words > file->room - file->used && (*error = trace_file_append(file)) != 0)
        return NULL;
    return file->window + file->used;
}

/* The same for a call with any number: a new chunk where this one cannot tell it. Calls of one system are never that far apart. */
uint64_t *trace_file_room_for(struct trace_file *file, size_t words, uint64_t number, int *error);

/* The record in that room counts from now on; call: it is one of a call, with that number. */
static inline void trace_file_commit(struct trace_file *file, size_t words, bool call, uint64_t number)
{
    file->used += words;
    file->calls += call;
    file->in_chunk += call;
    file->number = call ? number : file->number;
    atomic_store_explicit(&file->head->commit, trace_commit(file->chunks, (uint32_t)(file->used * 8)), memory_order_release);
}

/* Ends it; whole: no call is missing in it. Does nothing where none was begun. */
void trace_file_end(struct trace_file *file, bool whole);

#endif

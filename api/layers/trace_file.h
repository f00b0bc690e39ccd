/* SPDX-License-Identifier: Apache-2.0 */
/* trace_file.h - writing a trace in its binary form (trace_binary.h).
 *
 *     trace_file_begin    the file with its head, under its own name when it is ready
 *     trace_file_room     where a record of that many words goes: in the window, which is appended first if it is full
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
    struct trace_binary *head; /* followed by the window */
    size_t mapped;
    uint64_t *window;
    size_t used, room;         /* words of the window */
    uint64_t chunks, calls, number;
    uint32_t in_chunk;         /* calls of this chunk */
};

/* Creates the file; header: its first line, without a newline. Returns 0, or an errno and leaves no file behind.
 * ENOTSUP: the name belongs to something other than a regular file. */
int trace_file_begin(struct trace_file *file, const char *path, const char *header, size_t length, bool own);

/* Appends the window, and begins the next chunk. Returns 0, or an errno: the trace then ends with the window. */
int trace_file_append(struct trace_file *file);

/* Returns room for a record of at most that many words, or NULL with the reason in *error. */
static inline uint64_t *trace_file_room(struct trace_file *file, size_t words, int *error)
{
    if (words > file->room - file->used && (*error = trace_file_append(file)) != 0)
        return NULL;
    return file->window + file->used;
}

/* The same for a call with any number: begins a new chunk if the current one cannot represent it. Calls of one system are never
 * that far apart. */
uint64_t *trace_file_room_for(struct trace_file *file, size_t words, uint64_t number, int *error);

/* Makes the record in that room count; `call`: it records a call, with that number. */
static inline void trace_file_commit(struct trace_file *file, size_t words, bool call, uint64_t number)
{
    file->used += words;
    file->calls += call;
    file->in_chunk += call;
    file->number = call ? number : file->number;
    atomic_store_explicit(&file->head->commit, trace_commit(file->chunks, (uint32_t)(file->used * 8)), memory_order_release);
}

/* Ends it; `whole`: no call is missing from it. Does nothing if none was begun. */
void trace_file_end(struct trace_file *file, bool whole);

#endif

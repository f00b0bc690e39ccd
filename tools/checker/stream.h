/* SPDX-License-Identifier: Apache-2.0 */
/* stream.h - the parent's end of findings_stream.h: records are read while the program runs.
 *
 *     stream_open(&s, handle, user)   CUVMM_CHECK_STREAM=s->path       process --connect, record, close--> handle(user, text, length)
 *     stream_read(s, end)             until there is something to read at end
 *     stream_close(s)                 what was sent before is read; from then on there is no reader, and processes that are still running write text
 *
 * handle is called by those two, record by record, in the order in which a process sent them.
 */
#ifndef CUVMM_TOOLS_STREAM_H
#define CUVMM_TOOLS_STREAM_H

#include <stdbool.h>
#include <stddef.h>

enum { STREAM_PATH = 108 }; /* of a socket's name */

typedef void (*stream_handler)(void *user, const char *text, size_t length);

struct stream;

/* Returns NULL and sets errno on failure. */
struct stream *stream_open(stream_handler handle, void *user);
const char *stream_path(const struct stream *stream);
/* Returns when the descriptor `until` becomes readable. */
void stream_read(struct stream *stream, int until);
void stream_close(struct stream *stream);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* findings_stream.h - records for the parent, `cuvmm check`: a JSON object is a message, a message is whole.
 *
 *     record_begin(&r, "mark")  jsonw_text(&r, "text", "step 12")  record_send(&r)
 *
 *     thread, process   --connect, {"v":1,"pid":4711,"kind":"mark","text":"step 12"}, close-->   $CUVMM_CHECK_STREAM   the parent reads
 *
 * Each record has a connection of its own, so that no descriptor stays open which the program could close, count or use again,
 * and a forked child, a new program and one whose descriptors are all closed send as their parent did. What was sent is not
 * lost when the process is killed. A program that has changed its root directory finds the same name among the abstract ones.
 *
 * Safe in any thread and in signal handlers: uses no heap, no lock and little stack. A send blocks while the parent lags
 * behind, and notices at once if the parent is gone.
 */
#ifndef CUVMM_FINDINGS_STREAM_H
#define CUVMM_FINDINGS_STREAM_H

#include <stdbool.h>
#include <stddef.h>

#include "json.h"

enum { RECORD_MOST = 64 << 10 }; /* bytes of a record */

/* Does this process have a parent that reads its records? */
bool findings_streamed(void);

/* Begins {"v":1,"pid":..,"kind":kind; the caller adds keys. kind is a plain word. Returns false if there is no memory or no
 * stream. */
bool record_begin(struct json *record, const char *kind);

/* Makes it empty again, and begins it. */
void record_again(struct json *record, const char *kind);

/* Closes the object and sends it. The record remains valid, so that it can be shortened if it was too long. */
enum record_fate { RECORD_SENT, RECORD_TOO_LONG, RECORD_UNREAD };
enum record_fate record_send(struct json *record);
void record_end(struct json *record);

/* Turns sharing of one connection on, for the many records at the end of a process, and off again. */
void findings_hold_stream(void);
void findings_close_stream(void);

#endif

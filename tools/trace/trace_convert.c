/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_convert.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace_file.h"
#include "trace_lines.h"
#include "trace_record.h"

static void put_line(struct json *json, FILE *out)
{
    jsonw_newline(json);
    fwrite(json->text, 1, json->length, out);
    jsonw_reset(json);
}

bool trace_to_lines(struct trace_store *store, FILE *out, uint64_t *calls)
{
    struct trace_room *room = text_grow(NULL, sizeof *room);
    struct trace_at at = {0, 0}, found;
    struct names names = {0};
    struct json json = {0};
    *calls = 0;
    fprintf(out, "%s\n", store->header);
    for (; !json.failed && trace_store_next(store, &at, room, &found); ++*calls) {
        trace_put_event(&json, &room->event, &names, store->own);
        put_line(&json, out);
    }
    if (store->whole && !store->complaint.length) {
        trace_put_footer(&json, *calls);
        put_line(&json, out);
    }
    const bool good = !json.failed;
    names_free(&names);
    jsonw_free(&json);
    free(room);
    return good;
}

static int put_event(struct trace_file *file, const struct trace_event *event, bool own)
{
    int error = 0;
    const uint64_t number = event->call->number;
    for (uint32_t i = 0; i < event->frames && !error; i++) {
        uint64_t *at = trace_file_room(file, TRACE_FRAME_TEXT / sizeof *at + TRACE_HEAD_WORDS + 2, &error);
        if (at)
            trace_file_commit(file, trace_frame_write(at, event->place, i, event->frame[i]), false, 0);
    }
    uint64_t *at = error ? NULL : trace_file_room_for(file, trace_record_room(event), number, &error);
    if (at)
        trace_file_commit(file, trace_record_write(at, event, own), true, number);
    return error;
}

int trace_to_binary(struct trace_store *store, const char *path, uint64_t *calls)
{
    struct trace_file file;
    struct trace_at at = {0, 0}, found;
    *calls = 0;
    int error = trace_file_begin(&file, path, store->header, strlen(store->header), store->own);
    if (error)
        return error;
    struct trace_room *room = text_grow(NULL, sizeof *room);
    while (!error && trace_store_next(store, &at, room, &found))
        error = put_event(&file, &room->event, store->own);
    *calls = file.calls;
    free(room);
    trace_file_end(&file, store->whole && !store->complaint.length);
    if (error)
        unlink(path);
    return error;
}

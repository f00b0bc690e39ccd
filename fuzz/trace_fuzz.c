/* SPDX-License-Identifier: Apache-2.0 */
/* Traces: the bytes are a trace in either form, or 'R', '0' or '1', and the records of one in the binary form, which gets its
 * head here (1: a process's own trace, whose records have their moment). It is replayed on a small machine, written in the
 * readable form, and read as a timeline with all that is made of it. Lines need jansson; without it those in the binary form
 * are tested. */
#include "fuzz.h"

#include <stdlib.h>

#include <stdatomic.h>
#include <string.h>

#include "export.h"
#include "replay.h"
#include "trace_convert.h"
#include "trace_record.h"
#include "view.h"
#include "view_server.h"

enum { MOST = 65536 };

static void play(const uint8_t *data, size_t size, const char *spec)
{
    char *out = NULL, *err = NULL;
    size_t out_size, err_size;
    FILE *in = fuzz_reading(data, size), *out_file = open_memstream(&out, &out_size), *err_file = open_memstream(&err, &err_size);
    int status = replay(in, "fuzz", spec, out_file, err_file);
    fclose(in);
    fclose(out_file);
    fclose(err_file);
    if (status < 0 || status > 2 || (status == 2) != (err_size != 0))
        fuzz_finding("status %d, and on standard error: %s", status, err_size ? err : "nothing");
    if (status < 2 && !out_size)
        fuzz_finding("status %d, without a message", status);
    free(out);
    free(err);
}

static bool known(uint32_t index, size_t count)
{
    return index == TIMELINE_NONE || index < count;
}

/* Does every reference name an existing object? */
static void check_indices(const struct timeline *t)
{
    for (size_t i = 0; i < t->objects; i++) {
        const struct timeline_object *o = &t->object[i];
        if (!known(o->born, t->calls) || !known(o->died, t->calls) || !known(o->released, t->calls) ||
            !known(o->handle, t->objects) || !known(o->memory, t->objects) || !known(o->context, t->objects))
            fuzz_finding("object %zu refers to a missing object", i);
    }
    for (size_t i = 0; i < t->changes; i++)
        if (t->change[i].call >= t->calls || t->change[i].object >= t->objects)
            fuzz_finding("change %zu is of a missing object", i);
    for (size_t i = 0; i < t->calls; i++) {
        const struct timeline_call *call = timeline_call(t, (uint32_t)i);
        if (!timeline_words(t, (uint32_t)i)[0] || !timeline_answers(t, (uint32_t)i) || !known(call->nearest_object, t->objects) ||
            t->mark[i].first_touched > t->mark[i + 1].first_touched || t->mark[i + 1].first_touched > t->touches)
            fuzz_finding("call %zu refers to a missing object, or has no text", i);
    }
    for (size_t i = 0; i < t->touches; i++)
        if (t->touched[i] >= t->objects)
            fuzz_finding("access %zu refers to a missing object", i);
}

static void serve(struct view_pages *pages, FILE *to)
{
    static const char *const asked[] = {"", "window?trace=0&first=1", "object?trace=0&object=1&near=2", "search?trace=0&q=M",
                                        "search?trace=0&q=0x10000000", "search?trace=0&q=cu"};
    char request[200];
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        snprintf(request, sizeof request, "GET /key/%s HTTP/1.1\r\nHost: host:1\r\n\r\n", asked[i]);
        view_answer(pages, request, "host:1", "key", to);
    }
}

static void show_pages(struct timeline *timeline, FILE *to)
{
    struct view_pages pages;
    const struct view_traces traces = {timeline, &(const char *){"fuzz"}, 1};
    view_pages_of(&pages, &traces, 0, UINT32_MAX, false);
    if (!view_page(to, &pages))
        fuzz_finding("the timeline cannot be shown");
    view_pages_free(&pages);
    view_pages_of(&pages, &traces, 0, 4, true);
    serve(&pages, to);
    view_pages_free(&pages);
}

/* Its readable form; NULL if it is not a trace. */
static char *lines_of(const uint8_t *data, size_t size, const char *name, size_t *length, bool *whole)
{
    struct trace_store store;
    char *text = NULL;
    uint64_t calls;
    FILE *in = fuzz_reading(data, size), *out = open_memstream(&text, length);
    const bool good = trace_store_open(&store, in, name);
    if (good && !trace_to_lines(&store, out, &calls))
        fuzz_finding("the trace cannot be written");
    *whole = !store.complaint.length;
    if (!good && *whole)
        fuzz_finding("refused without a message");
    const bool without = store.complaint.length && strstr(store.complaint.data, "without jansson");
    trace_store_close(&store);
    fclose(in);
    fclose(out);
    if (good)
        return text;
    free(text);
    *whole = without; /* lines cannot be read here */
    return NULL;
}

/* Whatever can be read is written in the readable form, and reads back the same. Only lines always read back; records may
 * contain values that no layer writes, such as thread 0, which lines cannot hold. */
static void convert(const uint8_t *data, size_t size)
{
    size_t length = 0, again_length = 0;
    bool whole;
    char *lines = lines_of(data, size, "fuzz", &length, &whole);
    if (!lines)
        return;
    char *again = lines_of((const uint8_t *)lines, length, "again", &again_length, &whole);
    if (!whole && data[0] != (uint8_t)TRACE_BINARY_MAGIC[0])
        fuzz_finding("what was written cannot be read");
    if (again && whole && (length != again_length || memcmp(lines, again, length) != 0))
        fuzz_finding("what was written and read is not the same");
    free(lines);
    free(again);
}

static void show(const uint8_t *data, size_t size)
{
    struct timeline timeline;
    char *out = NULL;
    size_t out_size;
    FILE *in = fuzz_reading(data, size), *to = open_memstream(&out, &out_size);
    if (timeline_read(&timeline, in, "fuzz")) {
        check_indices(&timeline);
        if (!export_chrome(&timeline, to))
            fuzz_finding("the timeline cannot be exported");
        show_pages(&timeline, to);
        export_memory_viz(&timeline, "fuzz", to);
        if (timeline.calls)
            export_dot(&timeline, (uint32_t)timeline.calls - 1, to);
    } else if (!timeline.complaint.length) {
        fuzz_finding("refused without a message");
    }
    timeline_free(&timeline);
    fclose(in);
    fclose(to);
    free(out);
}

static void read_all(const uint8_t *data, size_t size, const char *spec)
{
    play(data, size, spec);
    convert(data, size);
    show(data, size);
}

/* A trace in the binary form with these records: those of one chunk. */
static void read_records(const uint8_t *records, size_t size, bool own, const char *spec)
{
    static const char *const headers[] = {"{\"cuvmm-trace\":1,\"version\":\"0\",\"inner\":[\"sim\"]}\n",
                                          "{\"cuvmm-trace\":1,\"version\":\"0\",\"inner\":[\"sim\"],\"host\":\"h\",\"boot\":\"b\",\"process\":1,"
                                          "\"parent\":0,\"program\":\"p\",\"started\":\"s\",\"clock\":5}\n"};
    const size_t header = strlen(headers[own]), calls = trace_calls_write(NULL),
                 start = (sizeof(struct trace_binary) + header + calls + TRACE_BINARY_PAGE - 1) / TRACE_BINARY_PAGE * TRACE_BINARY_PAGE;
    const size_t used = sizeof(struct trace_chunk) + size / 8 * 8;
    if (used > TRACE_CHUNK)
        return;
    struct trace_binary *head = calloc(1, start + used);
    if (!head)
        return;
    memcpy(head->magic, TRACE_BINARY_MAGIC, sizeof head->magic);
    head->format = TRACE_BINARY_FORMAT;
    head->order = TRACE_BINARY_ORDER;
    head->start = (uint32_t)start;
    head->chunk = TRACE_CHUNK;
    head->header = (uint32_t)header;
    head->calls = (uint32_t)calls;
    head->own = own;
    atomic_store(&head->commit, trace_commit(0, (uint32_t)used));
    memcpy(head + 1, headers[own], header);
    trace_calls_write((char *)(head + 1) + header);
    memcpy((char *)head + start + sizeof(struct trace_chunk), records, size / 8 * 8);
    read_all((const uint8_t *)head, start + used, spec);
    free(head);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char spec[FUZZ_SPEC];
    if (!size || size > MOST)
        return 0;
    fuzz_machine("", spec);
    if (size > 2 && data[0] == 'R' && (data[1] == '0' || data[1] == '1'))
        read_records(data + 2, size - 2, data[1] == '1', spec);
    else
        read_all(data, size, spec);
    return 0;
}

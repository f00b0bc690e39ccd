/* SPDX-License-Identifier: Apache-2.0 */
#include "trace_store.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "trace_pack.h"
#include "trace_record.h"

enum { CHUNK_BYTES = sizeof(struct trace_chunk), CHUNK_WORDS = CHUNK_BYTES / 8, STACK_MOST = 64 };

static bool wrong(struct trace_store *store, uint64_t byte, const char *what)
{
    if (!store->complaint.length)
        text_add(&store->complaint, "%s: byte %" PRIu64 ": %s", store->name, byte, what);
    return false;
}

/* ---- chunks ---- */

static void add_chunk(struct trace_store *store, const uint64_t *chunk, uint32_t used)
{
    if (store->chunks == store->room) {
        store->room = 2 * store->room + 16;
        store->chunk = text_grow(store->chunk, store->room * sizeof *store->chunk);
        store->used = text_grow(store->used, store->room * sizeof *store->used);
    }
    store->chunk[store->chunks] = chunk;
    store->used[store->chunks++] = used;
}

static struct trace_chunk head_of(const uint64_t *chunk)
{
    struct trace_chunk head;
    memcpy(&head, chunk, sizeof head);
    return head;
}

static uint64_t *new_chunk(struct trace_store *store, uint64_t number)
{
    const struct trace_chunk head = {.index = store->chunks, .number = number};
    uint64_t *chunk = text_grow(NULL, TRACE_CHUNK);
    memset(chunk, 0, TRACE_CHUNK);
    memcpy(chunk, &head, sizeof head);
    add_chunk(store, chunk, CHUNK_BYTES);
    return chunk;
}

/* Room in the last chunk, or in a new one, for a record of a call with that number. */
static uint64_t *room_for(struct trace_store *store, size_t words, uint64_t number)
{
    const size_t last = store->chunks - 1;
    if (store->chunks && words * 8 <= TRACE_CHUNK - store->used[last] &&
        trace_number_fits(head_of(store->chunk[last]).number, number))
        return (uint64_t *)(uintptr_t)store->chunk[last] + store->used[last] / 8; /* memory owned by the store */
    return new_chunk(store, number) + CHUNK_WORDS;
}

void trace_store_add(struct trace_store *store, const struct trace_event *event)
{
    const uint64_t number = event->call->number;
    for (uint32_t i = 0; i < event->frames; i++) {
        uint64_t *at = room_for(store, TRACE_FRAME_TEXT / 8 + TRACE_HEAD_WORDS + 2, number);
        store->used[store->chunks - 1] += (uint32_t)(8 * trace_frame_write(at, event->place, i, event->frame[i]));
    }
    uint64_t *at = room_for(store, trace_record_room(event), number);
    store->used[store->chunks - 1] += (uint32_t)(8 * trace_record_write(at, event, store->own));
}

/* ---- a file in the binary form ---- */

/* Maps the rows of the table to our calls with the same parameters. */
static void read_table(struct trace_store *store, const char *table, size_t length)
{
    for (const char *end = table + length; table < end; store->rows++) {
        const size_t line = (size_t)((const char *)memchr(table, '\n', (size_t)(end - table)) - table);
        int id = (int)store->rows; /* usually it is the same table */
        store->row = text_grow(store->row, (store->rows + 1) * sizeof *store->row);
        if (id >= VMM_CALL_COUNT || strlen(trace_calls[id]) != line || memcmp(trace_calls[id], table, line) != 0)
            for (id = 0; id < VMM_CALL_COUNT; id++)
                if (strlen(trace_calls[id]) == line && memcmp(trace_calls[id], table, line) == 0)
                    break;
        store->row[store->rows] = (uint16_t)id;
        table += line + 1;
    }
}

/* The head and its texts. */
static bool read_head(struct trace_store *store, const struct trace_binary *head, size_t size)
{
    if (size < sizeof *head || memcmp(head->magic, TRACE_BINARY_MAGIC, sizeof head->magic) != 0)
        return wrong(store, 0, "this is not a trace of cuvmm");
    if (head->order != TRACE_BINARY_ORDER)
        return wrong(store, 12, "written by a machine with another byte order; convert it to lines there: cuvmm export "
                                "--format=lines");
    if (head->format != TRACE_BINARY_FORMAT) {
        text_add(&store->complaint, "%s: byte 8: binary trace format %" PRIu32 "; this cuvmm reads format %d", store->name,
                 head->format, TRACE_BINARY_FORMAT);
        return false;
    }
    const char *text = (const char *)(head + 1);
    const uint64_t texts = sizeof *head + (uint64_t)head->header + head->calls;
    if (head->chunk != TRACE_CHUNK || head->start % 8 || texts > head->start || head->start > size || !head->header ||
        text[head->header - 1] != '\n' || !head->calls || text[head->header + head->calls - 1] != '\n')
        return wrong(store, 16, "the head is invalid");
    store->own = head->own & 1;
    store->header = text_grow(NULL, head->header);
    memcpy(store->header, text, head->header - 1);
    store->header[head->header - 1] = '\0';
    read_table(store, text + head->header, head->calls);
    return true;
}

static bool chunk_is_right(const uint64_t *chunk, uint64_t index, uint32_t used)
{
    return head_of(chunk).index == index && used >= CHUNK_BYTES && used <= TRACE_CHUNK && used % 8 == 0;
}

/* A copy of the window, because a running program may still be writing to it. Returns its commit. */
static uint64_t copy_window(struct trace_binary *head, size_t size, uint64_t *copy)
{
    uint64_t commit, after = atomic_load_explicit(&head->commit, memory_order_acquire);
    do {
        commit = after;
        const uint64_t used = commit & UINT32_MAX, there = size - head->start, most = there < TRACE_CHUNK ? there : TRACE_CHUNK;
        memset(copy, 0, TRACE_CHUNK);
        memcpy(copy, (const char *)head + head->start, (size_t)(used < most ? used : most));
        after = atomic_load_explicit(&head->commit, memory_order_acquire);
    } while (after >> 32 != commit >> 32);
    return commit;
}

static void read_chunks(struct trace_store *store, struct trace_binary *head, size_t size)
{
    uint64_t *window = text_grow(NULL, TRACE_CHUNK);
    const uint64_t commit = copy_window(head, size, window), used = commit & UINT32_MAX;
    for (uint64_t i = 0; i < commit >> 32; i++) {
        const uint64_t at = head->start + (i + 1) * TRACE_CHUNK;
        const uint64_t *chunk = (const uint64_t *)(const void *)((const char *)head + at);
        if (at > size || size - at < TRACE_CHUNK || !chunk_is_right(chunk, i, head_of(chunk).used)) {
            wrong(store, at, "a part of the trace is missing or damaged; the rest is ignored");
            free(window);
            return;
        }
        add_chunk(store, chunk, head_of(chunk).used);
    }
    if (used && (used > size - head->start || !chunk_is_right(window, commit >> 32, (uint32_t)used)))
        wrong(store, head->start, "the last part of the trace is damaged");
    store->last = window;
    if (used && !store->complaint.length)
        add_chunk(store, window, (uint32_t)used);
    const uint64_t end = atomic_load_explicit(&head->end, memory_order_acquire);
    store->whole = end && !store->complaint.length;
    store->said = end ? end - 1 : 0;
}

/* Maps the file, or reads it if it cannot be mapped. NULL: complaint has the reason. */
static void *load(struct trace_store *store, FILE *in, size_t *size)
{
    struct stat status;
    const int fd = fileno(in);
    if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 && ftell(in) == 0) {
        void *memory = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (memory != MAP_FAILED) {
            store->mapped = memory;
            store->mapped_size = *size = (size_t)status.st_size;
            return memory;
        }
    }
    struct text text = {0};
    char part[65536];
    for (size_t got; (got = fread(part, 1, sizeof part, in)) > 0;)
        text_add_bytes(&text, part, got);
    store->loaded = text.data;
    *size = text.length;
    if (!text.data)
        wrong(store, 0, "it is empty");
    return text.data;
}

static bool read_binary(struct trace_store *store, FILE *in)
{
    size_t size = 0;
    struct trace_binary *head = load(store, in, &size);
    store->binary = true;
    if (!head || !read_head(store, head, size))
        return false;
    read_chunks(store, head, size);
    return true;
}

/* ---- opening and closing ---- */

/* Is the innermost backend that the header names a driver? Quoted text in it contains no quotes, so this is not inside a text. */
static bool is_of_driver(const char *header)
{
    static const char driver[] = "\"cuda\"";
    const char *begin = strstr(header, "\"inner\""), *end = begin ? strchr(begin, ']') : NULL;
    const size_t length = sizeof driver - 1;
    while (end && end > begin && (end[-1] == ' ' || end[-1] == '\t'))
        end--;
    return end && (size_t)(end - begin) > length && memcmp(end - length, driver, length) == 0;
}

bool trace_store_open(struct trace_store *store, FILE *in, const char *name)
{
    *store = (struct trace_store){.name = name};
    const int first = getc(in);
    if (first != EOF)
        ungetc(first, in);
    const bool good = first == (unsigned char)TRACE_BINARY_MAGIC[0] ? read_binary(store, in) : trace_lines_read(store, in);
    store->driver = good && is_of_driver(store->header);
    return good;
}

void trace_store_close(struct trace_store *store)
{
    if (!store->binary)
        for (size_t i = 0; i < store->chunks; i++)
            free((void *)(uintptr_t)store->chunk[i]);
    if (store->mapped)
        munmap(store->mapped, store->mapped_size);
    free(store->loaded);
    free(store->last);
    free(store->chunk);
    free(store->used);
    free(store->header);
    free(store->row);
    text_free(&store->complaint);
    *store = (struct trace_store){0};
}

/* ---- reading ---- */

/* A frame of a stack. */
static const char *read_frame(const uint64_t *record, size_t words, struct trace_room *room, uint32_t *frames)
{
    const uint32_t index = words > TRACE_HEAD_WORDS ? (uint32_t)pack_low(record[2]) : UINT32_MAX;
    const size_t length = words > TRACE_HEAD_WORDS ? (uint32_t)pack_high(record[2]) : 0,
                 there = (words - TRACE_HEAD_WORDS - 1) * 8;
    const char *text = (const char *)(record + TRACE_HEAD_WORDS + 1);
    if (index >= STACK_MOST || index > *frames || length >= there || memchr(text, '\0', there) != text + length)
        return "a frame is invalid";
    room->frame[index] = text;
    *frames = index + 1;
    return NULL;
}

static uint64_t byte_of(const struct trace_store *store, const uint64_t *record, struct trace_at at)
{
    const char *bytes = (const char *)record, *file = store->mapped;
    const bool mapped = file && bytes >= file && bytes < file + store->mapped_size;
    return mapped ? (uint64_t)(bytes - file) : (uint64_t)at.chunk * TRACE_CHUNK + 8 * (uint64_t)at.word;
}

/* The record at that position; NULL at the end, or if it cannot be a record. */
static const uint64_t *record_at(struct trace_store *store, struct trace_at *at)
{
    for (; at->chunk < store->chunks; at->chunk++, at->word = 0) {
        at->word = at->word ? at->word : CHUNK_WORDS;
        const size_t words = store->used[at->chunk] / 8;
        if (at->word >= words)
            continue;
        const uint64_t *record = store->chunk[at->chunk] + at->word;
        const size_t length = trace_head_words(*record);
        if (length >= TRACE_HEAD_WORDS && length <= words - at->word)
            return record;
        wrong(store, byte_of(store, record, *at), "this is not the record of a call");
        return NULL;
    }
    return NULL;
}

/* Reads the call at that position. */
static const char *read_call(const struct trace_store *store, const uint64_t *record, struct trace_at at, struct trace_room *room)
{
    const uint16_t row = trace_head_call(*record);
    const int id = store->binary ? row < store->rows ? store->row[row] : VMM_CALL_COUNT : row;
    const uint64_t near = head_of(store->chunk[at.chunk]).number;
    if (id >= VMM_CALL_COUNT)
        return "a call that is unknown to this cuvmm, or has other parameters here";
    return trace_read(room, record, trace_head_words(*record), (enum vmm_call_id)id,
                      trace_number(near, (uint32_t)pack_low(record[1])), store->own);
}

bool trace_store_next(struct trace_store *store, struct trace_at *at, struct trace_room *room, struct trace_at *found)
{
    uint32_t frames = 0, place = 0;
    const uint64_t *record;
    while ((record = record_at(store, at)) != NULL) {
        const bool frame = trace_head_call(*record) == TRACE_FRAME;
        *found = *at;
        const char *said = frame ? read_frame(record, trace_head_words(*record), room, &frames) : read_call(store, record, *at, room);
        if (said)
            return wrong(store, byte_of(store, record, *at), said);
        at->word += (uint32_t)trace_head_words(*record);
        if (!frame)
            break;
        place = (uint32_t)record[1];
    }
    if (record && frames && room->event.place == place) {
        room->event.frames = frames;
        room->event.frame = room->frame;
    }
    return record != NULL;
}

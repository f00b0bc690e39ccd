/* SPDX-License-Identifier: Apache-2.0 */
#include "capture.h"

#include <string.h>

#include "heap.h"

/* ---- what was reached ---- */

static bool is_among(const struct capture_reached *reached, const struct graph_node *node)
{
    for (size_t i = 0; i < reached->count; i++)
        if (reached->node[i] == node)
            return true;
    return false;
}

/* Both lists, each node once, in a new list. */
static bool unite(struct capture_reached *to, const struct capture_reached *from, struct graph_node *const *nodes, size_t count)
{
    struct capture_reached all = {heap.malloc((from->count + count + 1) * sizeof(struct graph_node *)), from->count};
    if (!all.node)
        return false;
    if (from->count)
        memcpy(all.node, from->node, from->count * sizeof(struct graph_node *));
    for (size_t i = 0; i < count; i++)
        if (!is_among(&all, nodes[i]))
            all.node[all.count++] = nodes[i];
    *to = all;
    return true;
}

static bool replace(struct capture_reached *reached, const struct capture_reached *keep, struct graph_node *const *nodes,
                    size_t count)
{
    struct capture_reached all;
    if (!unite(&all, keep, nodes, count))
        return false;
    heap.free(reached->node);
    *reached = all;
    return true;
}

bool capture_set(struct capture_stream *stream, struct graph_node *const *nodes, size_t count)
{
    return replace(&stream->reached, &(struct capture_reached){NULL, 0}, nodes, count);
}

bool capture_reach(struct capture_stream *stream, struct graph_node *const *nodes, size_t count)
{
    return replace(&stream->reached, &stream->reached, nodes, count);
}

static void forget_in(struct capture_reached *reached, const struct graph_node *node)
{
    size_t kept = 0;
    for (size_t i = 0; i < reached->count; i++)
        if (reached->node[i] != node)
            reached->node[kept++] = reached->node[i];
    reached->count = kept;
}

bool capture_work(struct capture_stream *stream, struct graph_node *node)
{
    if (!capture_set(stream, &node, 1))
        return false;
    return stream->worked = true;
}

/* ---- streams ---- */

struct capture_stream *capture_find(const struct captures *captures, uint64_t key)
{
    for (struct capture *capture = captures->first; capture; capture = capture->next)
        for (struct capture_stream *stream = capture->streams; stream; stream = stream->next)
            if (stream->key == key)
                return stream;
    return NULL;
}

struct capture *capture_into(const struct captures *captures, const struct graph *graph)
{
    struct capture *capture = captures->first;
    while (capture && capture->graph != graph)
        capture = capture->next;
    return capture;
}

static struct capture_stream *add_stream(struct capture *capture, uint64_t key, const struct capture_reached *keep,
                                         struct graph_node *const *nodes, size_t count)
{
    struct capture_stream *stream = heap.calloc(1, sizeof *stream);
    if (!stream || !unite(&stream->reached, keep, nodes, count)) {
        heap.free(stream);
        return NULL;
    }
    stream->key = key;
    stream->capture = capture;
    stream->next = capture->streams;
    capture->streams = stream;
    return stream;
}

static void free_stream(struct capture_stream *stream)
{
    heap.free(stream->reached.node);
    heap.free(stream->shown);
    heap.free(stream);
}

struct capture *capture_begin(struct captures *captures, uint64_t key, struct graph *graph, struct graph_node *const *nodes,
                              size_t count)
{
    struct capture *capture = heap.calloc(1, sizeof *capture);
    if (!capture || !add_stream(capture, key, &(struct capture_reached){NULL, 0}, nodes, count)) {
        heap.free(capture);
        return NULL;
    }
    capture->id = ++captures->begun;
    capture->origin = key;
    capture->graph = graph;
    capture->next = captures->first;
    captures->first = capture;
    return capture;
}

void capture_end(struct captures *captures, struct capture *capture)
{
    struct capture **link = &captures->first;
    while (*link != capture)
        link = &(*link)->next;
    *link = capture->next;
    for (struct capture_event *event = captures->events; event; event = event->next)
        if (event->capture == capture) {
            event->capture = NULL;
            event->reached.count = 0;
        }
    while (capture->streams) {
        struct capture_stream *next = capture->streams->next;
        free_stream(capture->streams);
        capture->streams = next;
    }
    heap.free(capture);
}

/* ---- events ---- */

struct capture_event *capture_event_find(const struct captures *captures, uint64_t event)
{
    struct capture_event *found = captures->events;
    while (found && found->key != event)
        found = found->next;
    return found;
}

bool capture_record(struct captures *captures, const struct capture_stream *stream, uint64_t event)
{
    struct capture_event *kept = capture_event_find(captures, event);
    struct capture_event *fresh = kept ? NULL : heap.calloc(1, sizeof *fresh);
    struct capture_event *found = kept ? kept : fresh;
    if (!found || !replace(&found->reached, &stream->reached, NULL, 0)) {
        heap.free(fresh);
        return false;
    }
    found->key = event;
    found->capture = stream->capture;
    if (fresh) {
        fresh->next = captures->events;
        captures->events = fresh;
    }
    return true;
}

void capture_event_drop(struct captures *captures, uint64_t event)
{
    struct capture_event **link = &captures->events;
    while (*link && (*link)->key != event)
        link = &(*link)->next;
    struct capture_event *found = *link;
    if (!found)
        return;
    *link = found->next;
    heap.free(found->reached.node);
    heap.free(found);
}

bool capture_wait(struct captures *captures, uint64_t key, const struct capture_event *event)
{
    struct capture_stream *stream = capture_find(captures, key);
    if (stream)
        return capture_reach(stream, event->reached.node, event->reached.count);
    return add_stream(event->capture, key, &event->reached, NULL, 0) != NULL;
}

/* ---- ends ---- */

/* Marks what the marked nodes depend on. Returns true if a node was marked whose own dependencies came earlier in the walk. */
static bool mark_backwards(const struct graph *graph)
{
    bool again = false;
    graph_number(graph);
    for (const struct graph_node *node = graph->last; node; node = node->before)
        for (size_t i = 0; node->left && i < node->in.count; i++) {
            struct graph_node *on = node->in.edge[i].node;
            again |= !on->left && on->index > node->index;
            on->left = 1;
        }
    return again;
}

static const struct capture_stream *origin_of(const struct capture *capture)
{
    const struct capture_stream *stream = capture->streams;
    while (stream->key != capture->origin)
        stream = stream->next;
    return stream;
}

/* Marks what the origin has reached, and all that comes before it. */
static void mark_reached(const struct capture *capture)
{
    const struct capture_stream *origin = origin_of(capture);
    for (struct graph_node *node = capture->graph->first; node; node = node->after)
        node->left = 0;
    for (size_t i = 0; i < origin->reached.count; i++)
        origin->reached.node[i]->left = 1;
    while (mark_backwards(capture->graph))
        ;
}

static bool is_marked(const struct capture_stream *stream)
{
    for (size_t i = 0; i < stream->reached.count; i++)
        if (!stream->reached.node[i]->left)
            return false;
    return true;
}

bool capture_joined(const struct capture *capture)
{
    mark_reached(capture);
    for (const struct capture_stream *stream = capture->streams; stream; stream = stream->next)
        if (stream->worked && !is_marked(stream))
            return false;
    return true;
}

void capture_keep_joined(const struct capture *capture)
{
    mark_reached(capture);
    for (struct capture_stream *stream = capture->streams; stream; stream = stream->next)
        stream->worked = stream->worked && !is_marked(stream);
}

void capture_forget_node(struct captures *captures, const struct graph_node *node)
{
    for (struct capture *capture = captures->first; capture; capture = capture->next)
        for (struct capture_stream *stream = capture->streams; stream; stream = stream->next)
            forget_in(&stream->reached, node);
    for (struct capture_event *event = captures->events; event; event = event->next)
        forget_in(&event->reached, node);
}

void capture_forget_stream(struct captures *captures, uint64_t key)
{
    struct capture_stream *stream = capture_find(captures, key);
    if (!stream)
        return;
    struct capture_stream **link = &stream->capture->streams;
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    free_stream(stream);
}

void captures_clear(struct captures *captures)
{
    while (captures->first)
        capture_end(captures, captures->first);
    while (captures->events)
        capture_event_drop(captures, captures->events->key);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Captured streams as data: what each has reached, which streams join, and what is forgotten; and every allocation fails once. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "capture.h"

static bool copy_work(struct graph_node *to, const struct graph_node *from)
{
    (void)to;
    (void)from;
    return true;
}

static void drop_work(struct graph_node *node)
{
    (void)node;
}

static const struct graph_owner owner = {copy_work, drop_work};

enum { A = 10, B = 20, C = 30, D = 40, E = 1, F = 2 };

/* A node in the stream. */
static struct graph_node *work(struct captures *captures, uint64_t key)
{
    struct capture_stream *stream = capture_find(captures, key);
    struct graph_node *node = graph_add(stream->capture->graph, stream->reached.node, NULL, stream->reached.count);
    capture_work(stream, node);
    return node;
}

static bool has(const struct captures *captures, uint64_t key, size_t count, const struct graph_node *node)
{
    const struct capture_reached *reached = &capture_find(captures, key)->reached;
    for (size_t i = 0; i < reached->count; i++)
        if (reached->node[i] == node)
            return reached->count == count;
    return false;
}

/* The picture of capture.h. */
static void test_fork(void)
{
    struct captures captures = {0};
    struct graph *graph = graph_new(&owner);
    struct capture *capture = capture_begin(&captures, A, graph, NULL, 0);
    tap_ok(capture && capture->id == 1 && capture_find(&captures, A) && !capture_find(&captures, B), "A is captured, B is not");
    struct graph_node *fill = work(&captures, A);
    capture_record(&captures, capture_find(&captures, A), E);
    struct graph_node *kernel = work(&captures, A);
    capture_wait(&captures, B, capture_event_find(&captures, E));
    tap_ok(has(&captures, B, 1, fill), "B has reached what A had when it recorded the event");
    tap_ok(capture_joined(capture), "B has no work of its own yet");
    struct graph_node *other = work(&captures, B);
    tap_ok(graph_edge_between(fill, other) && !graph_edge_between(kernel, other), "B's work comes after it");
    tap_ok(!capture_joined(capture), "A does not wait for B's work");
    capture_record(&captures, capture_find(&captures, B), F);
    capture_wait(&captures, A, capture_event_find(&captures, F));
    capture_wait(&captures, A, capture_event_find(&captures, F));
    tap_ok(has(&captures, A, 2, kernel) && has(&captures, A, 2, other), "A has reached both, each once");
    tap_ok(capture_joined(capture), "now A does");
    struct graph_node *copy = work(&captures, A);
    tap_u64(copy->in.count, 2, "and its next node depends on both");
    capture_end(&captures, capture);
    tap_ok(!capture_find(&captures, A) && !capture_find(&captures, B), "neither is captured any more");
    tap_ok(capture_event_find(&captures, E) && !capture_event_find(&captures, E)->capture, "the event is left of an ended capture");
    capture_event_drop(&captures, E);
    capture_event_drop(&captures, E);
    tap_ok(!capture_event_find(&captures, E) && capture_event_find(&captures, F), "until it is recorded elsewhere");
    tap_u64(captures.begun, 1, "one capture was begun");
    captures_clear(&captures);
    graph_free(graph);
}

/* An edge that leads back to an older node: being joined does not depend on the order in which nodes were added. */
static void test_joined_backwards(void)
{
    struct captures captures = {0};
    struct graph *graph = graph_new(&owner);
    struct capture *capture = capture_begin(&captures, A, graph, NULL, 0);
    struct graph_node *first = work(&captures, A);
    capture_record(&captures, capture_find(&captures, A), E);
    capture_set(capture_find(&captures, A), NULL, 0);
    struct graph_node *older = work(&captures, A);
    capture_wait(&captures, B, capture_event_find(&captures, E));
    struct graph_node *newer = work(&captures, B), *newest = work(&captures, B);
    tap_ok(!capture_joined(capture), "nothing connects the streams");
    graph_connect(newest, older, 0);
    tap_ok(capture_joined(capture), "an edge to an older node does, with all that comes before it");
    graph_disconnect(first, newer, 0);
    tap_ok(capture_joined(capture), "also what B began with is not needed any more");
    capture_set(capture_find(&captures, B), &first, 1);
    tap_ok(!capture_joined(capture), "but A has to reach it once B stands there");
    captures_clear(&captures);
    graph_free(graph);
}

static void test_forget(void)
{
    struct captures captures = {0};
    struct graph *graph = graph_new(&owner), *other = graph_new(&owner);
    struct capture *capture = capture_begin(&captures, A, graph, NULL, 0);
    struct graph_node *node = work(&captures, A), *kept = graph_add(graph, NULL, NULL, 0);
    capture_reach(capture_find(&captures, A), &kept, 1);
    capture_record(&captures, capture_find(&captures, A), E);
    capture_wait(&captures, B, capture_event_find(&captures, E));
    capture_forget_node(&captures, node);
    graph_remove(node);
    tap_ok(has(&captures, A, 1, kept) && has(&captures, B, 1, kept), "a node that is removed is not reached");
    tap_u64(capture_event_find(&captures, E)->reached.count, 1, "nor does an event stand for it");
    tap_ok(capture_into(&captures, graph) == capture && !capture_into(&captures, other), "a capture is found by its graph");
    capture_forget_stream(&captures, B);
    capture_forget_stream(&captures, C);
    tap_ok(capture_find(&captures, A) && !capture_find(&captures, B), "a stream that ends leaves the capture");
    for (uint64_t key = D; key <= D + 2; key++)
        capture_wait(&captures, key, capture_event_find(&captures, E));
    capture_forget_stream(&captures, D + 1);
    tap_ok(capture_find(&captures, A) && capture_find(&captures, D) && !capture_find(&captures, D + 1) && capture_find(&captures, D + 2),
           "and those before and behind it stay");
    struct capture *second = capture_begin(&captures, C, other, NULL, 0);
    tap_ok(second && second->id == 2 && capture_find(&captures, C)->capture == second, "two captures beside each other");
    capture_end(&captures, capture);
    tap_ok(capture_find(&captures, C) && !capture_find(&captures, A), "end one by one");
    captures_clear(&captures);
    graph_free(graph);
    graph_free(other);
}

/* Tries the step with each allocation failing; a failing step must change nothing. */
#define WITHOUT_MEMORY(step, unchanged, what)                     \
    do {                                                          \
        bool done_ = false, same_ = true;                         \
        for (unsigned long nth = 1; !done_ && nth < 9; nth++) {   \
            inject_arm(nth);                                      \
            done_ = (step);                                       \
            inject_disarm();                                      \
            same_ = same_ && (done_ || (unchanged));              \
        }                                                         \
        tap_ok(done_ && same_, "without memory: %s", what);       \
    } while (0)

static void test_no_memory(void)
{
    struct captures captures = {0};
    struct graph *graph = graph_new(&owner);
    struct graph_node *node = graph_add(graph, NULL, NULL, 0);
    long live = atomic_load(&inject_live);
    WITHOUT_MEMORY(capture_begin(&captures, A, graph, &node, 1) != NULL, !captures.first && !captures.begun, "begin");
    struct capture_stream *stream = capture_find(&captures, A);
    WITHOUT_MEMORY(capture_set(stream, &node, 1), stream->reached.count == 1, "set");
    WITHOUT_MEMORY(capture_record(&captures, stream, E), !captures.events, "record");
    WITHOUT_MEMORY(capture_record(&captures, stream, E), capture_event_find(&captures, E)->reached.count == 1, "record again");
    WITHOUT_MEMORY(capture_wait(&captures, B, capture_event_find(&captures, E)), !capture_find(&captures, B), "join");
    captures_clear(&captures);
    tap_ok(atomic_load(&inject_live) == live, "nothing stays");
    graph_free(graph);
}

int main(void)
{
    test_fork();
    test_joined_backwards();
    test_forget();
    test_no_memory();
    return tap_done();
}

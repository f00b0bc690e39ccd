/* SPDX-License-Identifier: Apache-2.0 */
/* follow: how each call of a program affects the order of its work. The driver's answers and the memory are simulated by this
 * test. */
#include "follow.h"

#include <pthread.h>
#include <string.h>

#include "tap.h"

enum { LEGACY = 1, OWN = 2, S = 0x100, T = 0x200, B = 0x300, STRANGE = 0x900, NOBODYS = 0x990, E = 0x50, F = 0x60 };
enum { DEVICE_AT = 0x10000, PINNED_AT = 0x20000, MANAGED_AT = 0x30000, SIZE = 0x10000, ALIAS_AT = 0x80000, PAGEABLE = 0x500000, LISTED = 0x600000 };

static struct {
    uint64_t context, captured, asked; /* asked: the stream that was queried last */
    bool refuses_strangers;
} driver;

static struct follow *follow;
static uint64_t number;
static struct follow_step last;

static uint64_t context_of(void *user)
{
    (void)user;
    return driver.context;
}

static bool stream_of(void *user, uint64_t stream, uint64_t *context, bool *non_blocking)
{
    (void)user;
    driver.asked = stream;
    *context = 7;
    *non_blocking = true;
    return stream == STRANGE && !driver.refuses_strangers;
}

static bool is_captured(void *user, uint64_t stream, bool per_thread)
{
    (void)user;
    return driver.captured == (stream ? stream : per_thread ? OWN : LEGACY);
}

/* Two addresses map the device's memory; runs end every 0x1000 bytes. */
static bool memory_of(void *user, uint64_t address, uint64_t size, struct follow_memory *memory)
{
    (void)user;
    const uint64_t at = address >= ALIAS_AT && address < ALIAS_AT + SIZE ? address - ALIAS_AT + DEVICE_AT : address;
    const uint64_t room = 0x1000 - at % 0x1000;
    if (at < DEVICE_AT || at >= MANAGED_AT + SIZE)
        return false;
    *memory = (struct follow_memory){at / SIZE, at % SIZE, size < room ? size : room,
                                     at < PINNED_AT ? FOLLOW_DEVICE : at < MANAGED_AT ? FOLLOW_PINNED : FOLLOW_MANAGED};
    return true;
}

static void open_it(void)
{
    const struct follow_asks asks = {context_of, stream_of, is_captured, memory_of, NULL};
    memset(&driver, 0, sizeof driver);
    driver.context = 7;
    number = 0;
    follow = follow_open(&asks);
    if (!follow)
        tap_bail("no memory");
    follow_stream_made(follow, S, true);
    follow_stream_made(follow, T, true);
    follow_stream_made(follow, B, false);
    follow_event_made(follow, E);
}

/* Also checks the state after a test. */
static void close_it(void)
{
    const char *wrong = follow_check(follow);
    if (wrong)
        tap_ok(false, "%s", wrong);
    follow_close(follow);
}

struct copy {
    uint64_t stream, from, to, size; /* from, to: 0 means no such side */
    bool waits, own, refused;
    uint64_t pitch, rows, layer, layers;
};

static unsigned copied(struct copy copy)
{
    const struct follow_call call = {.function = copy.from ? "copy" : "fill", .number = ++number, .stream = copy.stream, .per_thread = copy.own,
                                     .waits = copy.waits, .copies = copy.from != 0};
    struct follow_rows rows = {copy.from, copy.size, copy.pitch, copy.rows ? copy.rows : 1, copy.layer, copy.layers ? copy.layers : 1, ORDER_READ};
    follow_begin(follow, &last, &call);
    if (copy.from)
        follow_host_side(follow, &last, copy.from);
    if (copy.to)
        follow_host_side(follow, &last, copy.to);
    if (copy.from)
        follow_access(follow, &last, &rows);
    rows.address = copy.to;
    rows.use = ORDER_WRITE;
    if (copy.to)
        follow_access(follow, &last, &rows);
    follow_end(follow, &last, !copy.refused);
    return last.count;
}

static unsigned fill(uint64_t stream, uint64_t to, uint64_t size)
{
    return copied((struct copy){.stream = stream, .to = to, .size = size});
}

/* A fill on S, the test's action, and a fill of the same bytes on T; returns the number of findings. */
#define AFTER(what) (open_it(), fill(S, DEVICE_AT, 64), (void)(what), between_end())
static unsigned between_end(void)
{
    unsigned found = fill(T, DEVICE_AT, 64);
    close_it();
    return found;
}

static void test_two_streams(void)
{
    tap_u64(AFTER(0), 1, "two fills of two streams are found");
    const struct order_found *found = &last.found[0];
    tap_ok(!strcmp(found->side[0].name.what, "fill") && found->side[0].name.call == 1 && found->side[1].name.call == 2 &&
               found->side[0].name.stream == 1 && found->side[1].name.stream == 2 && found->side[1].name.value == T &&
               found->range.first == 0 && found->range.last == 63 && !found->side[1].name.host,
           "with their calls, their streams and the bytes");
    open_it();
    fill(S, DEVICE_AT, 64);
    tap_u64(fill(S, DEVICE_AT, 64), 0, "one stream is in order");
    tap_u64(fill(T, DEVICE_AT + 64, 64), 0, "bytes beside them are others");
    tap_u64(copied((struct copy){.stream = T, .from = ALIAS_AT + 63, .to = DEVICE_AT + 0x800, .size = 2}), 1, "another address of the memory is the same");
    tap_u64(last.found[0].range.last, 63, "and the bytes are those of the memory that both use");
    close_it();
    open_it();
    fill(S, DEVICE_AT, 0x3000);
    tap_u64(fill(T, DEVICE_AT + 0x2fff, 1), 1, "the last byte of three runs");
    close_it();
    open_it();
    for (uint64_t i = 0; i < 6; i++) {
        follow_stream_made(follow, 0x1000 + i, true);
        fill(0x1000 + i, DEVICE_AT + 8 * i, 8);
    }
    tap_u64(fill(T, DEVICE_AT, 64), FOLLOW_FOUND, "a call reports the first of what is found");
    close_it();
}

static void test_waits(void)
{
    tap_u64(AFTER(follow_stream_done(follow, S, false)), 0, "the host waited for the stream");
    tap_u64(AFTER(follow_stream_done(follow, T, false)), 1, "for another one");
    tap_u64(AFTER(follow_stream_done(follow, 0, false)), 1, "for the default stream, which is not ordered with it");
    tap_u64(AFTER(follow_context_done(follow, 0)), 0, "for the current context");
    tap_u64(AFTER(follow_context_done(follow, 7)), 0, "for the context by its name");
    tap_u64(AFTER(follow_context_done(follow, 8)), 1, "for another context");
    tap_u64(AFTER(follow_all_done(follow)), 0, "for anything");
    tap_u64(AFTER((follow_record(follow, E, S, false), follow_wait(follow, E, T, false))), 0, "an event");
    tap_u64(AFTER((follow_wait(follow, E, T, false), follow_record(follow, E, S, false))), 1, "that is waited for before it is recorded");
    tap_u64(AFTER((follow_record(follow, E, T, false), follow_wait(follow, E, T, false))), 1, "that is recorded on the wrong stream");
    tap_u64(AFTER((follow_record(follow, E, S, false), follow_event_done(follow, E))), 0, "that the host waited for");
    tap_u64(AFTER(follow_event_done(follow, E)), 1, "that was not recorded");
    tap_u64(AFTER((follow_event_ends(follow, E), follow_wait(follow, E, T, false))), 0, "an event that was not seen comes after everything");
    tap_u64(AFTER((follow_event_ends(follow, E), follow_event_done(follow, E))), 0, "for the host, too");
    tap_u64(AFTER((follow_event_ends(follow, E), follow_record(follow, E, T, false), follow_event_done(follow, E))), 1, "until it is recorded");
    tap_u64(AFTER((follow_event_shared(follow, E), follow_wait(follow, E, T, false))), 0, "and one that other processes record");
    tap_u64(AFTER((follow_record(follow, E, S, false), follow_event_made(follow, E), follow_event_done(follow, E))), 1, "a new event of the same value");
}

static void test_tells(void)
{
    tap_u64(AFTER(follow_tells(follow, S, false)), 0, "a kernel may tell what comes before it");
    tap_u64(AFTER(follow_tells(follow, T, false)), 1, "not what it does not come after");
    open_it();
    follow_tells(follow, S, false);
    fill(S, DEVICE_AT, 64);
    tap_u64(fill(T, DEVICE_AT, 64), 1, "nor later work");
    close_it();
    tap_u64(AFTER((follow_record(follow, E, S, false), follow_wait(follow, E, B, false), follow_tells(follow, B, false))), 0, "but what its stream waited for");
    tap_u64(AFTER(follow_graph(follow, S, false)), 0, "a graph as well");
    tap_u64(AFTER(follow_graph(follow, T, false)), 1, "on its stream");
    tap_u64(AFTER((follow_graphs_order(follow), follow_graph(follow, B, false))), 0, "and everything, when its nodes may wait or record");
    open_it();
    follow_graphs_order(follow);
    follow_record(follow, E, T, false);
    follow_graph(follow, B, false);
    fill(S, DEVICE_AT, 64);
    follow_event_done(follow, E);
    tap_u64(fill(T, DEVICE_AT, 64), 0, "the graph may have recorded the event again");
    close_it();
    tap_u64(AFTER(follow_stream_waits(follow, T, false)), 0, "a stream that waits for a value comes after something");
    open_it();
    follow_stream_waits(follow, T, false);
    fill(T, DEVICE_AT, 64);
    tap_u64(fill(S, DEVICE_AT, 64), 0, "and what comes behind it, perhaps before what is issued later");
    close_it();
    open_it();
    follow_stream_waits(follow, T, false);
    follow_stream_done(follow, T, false);
    fill(S, DEVICE_AT, 64);
    tap_u64(fill(T, DEVICE_AT, 64), 1, "until the host has waited for it");
    close_it();
}

static void *fill_own(void *user)
{
    *(unsigned *)user = fill(OWN, DEVICE_AT, 64);
    return NULL;
}

static void test_default_streams(void)
{
    tap_u64(AFTER(fill(0, DEVICE_AT, 8)), 2, "the default stream is not ordered with streams that are not blocking");
    open_it();
    fill(B, DEVICE_AT, 64);
    tap_u64(fill(LEGACY, DEVICE_AT, 64) + fill(0, DEVICE_AT, 64) + fill(B, DEVICE_AT, 64), 0, "with one that is, it is");
    follow_stream_done(follow, 0, false);
    tap_u64(fill(T, DEVICE_AT, 64), 0, "a wait for it is one for those");
    close_it();
    open_it();
    fill(LEGACY, DEVICE_AT, 64);
    driver.context = 8;
    tap_u64(fill(LEGACY, DEVICE_AT, 64), 1, "each context has its own");
    close_it();
    open_it();
    driver.context = 0;
    fill(LEGACY, DEVICE_AT, 64);
    fill(S, DEVICE_AT, 64);
    fill(0, DEVICE_AT, 64);
    tap_u64(fill(T, DEVICE_AT, 64), 0, "without a context it is not known, and orders everything");
    tap_ok(driver.asked != LEGACY, "the driver is not asked what it is");
    close_it();
    open_it();
    unsigned found = 0;
    pthread_t thread;
    copied((struct copy){.stream = 0, .own = true, .to = DEVICE_AT, .size = 64});
    tap_u64(fill(OWN, DEVICE_AT, 64), 0, "the thread's own default stream has two names");
    if (pthread_create(&thread, NULL, fill_own, &found) || pthread_join(thread, NULL))
        tap_bail("no thread");
    tap_ok(found == 1 && last.found[0].side[0].name.per_thread, "and each thread has another");
    close_it();
}

static void test_strangers(void)
{
    open_it();
    fill(S, DEVICE_AT, 64);
    fill(STRANGE, DEVICE_AT, 64);
    tap_ok(driver.asked == STRANGE && !fill(T, DEVICE_AT, 64), "the first call of an unseen stream orders everything");
    tap_u64(fill(STRANGE, DEVICE_AT, 64), 1, "then it is known");
    driver.asked = 0;
    follow_tells(follow, STRANGE, false);
    tap_u64(driver.asked, 0, "and not asked for again");
    follow_stream_ends(follow, STRANGE);
    follow_record(follow, E, STRANGE, false);
    tap_u64(driver.asked, STRANGE, "until it has ended");
    close_it();
    tap_u64(AFTER(copied((struct copy){.stream = STRANGE, .to = DEVICE_AT, .size = 8, .refused = true})), 1, "a refused "
        "call changes nothing");
    tap_ok(driver.asked == 0, "and not asked for");
    open_it();
    driver.refuses_strangers = true;
    fill(STRANGE, DEVICE_AT, 64);
    fill(S, DEVICE_AT, 64);
    follow_stream_done(follow, NOBODYS, false);
    follow_wait(follow, E, NOBODYS, false);
    follow_stream_waits(follow, NOBODYS, false);
    follow_graph(follow, NOBODYS, false);
    tap_u64(fill(T, DEVICE_AT, 64), 0, "streams that the driver says nothing of go on ordering everything");
    close_it();
    tap_u64(AFTER((follow_record(follow, F, NOBODYS, false), follow_record(follow, F, T, false), fill(S, DEVICE_AT + 8, 1), follow_event_done(follow, F))), 0,
            "an event that was recorded there is not known");
    tap_u64(AFTER(follow_contexts_end(follow)), 0, "contexts that end take their work with them");
    tap_u64(AFTER((follow_contexts_end(follow), fill(STRANGE, DEVICE_AT, 64), fill(STRANGE, DEVICE_AT, 64))), 0, "and their streams");
}

static void test_captures(void)
{
    open_it();
    fill(S, DEVICE_AT, 64);
    driver.captured = T;
    tap_u64(fill(T, DEVICE_AT, 64), 1, "nothing is captured before a capture began");
    follow_captures(follow);
    fill(S, DEVICE_AT, 64);
    tap_u64(fill(T, DEVICE_AT, 64), 0, "work on a captured stream does not count");
    follow_tells(follow, T, false);
    follow_graph(follow, T, false);
    follow_stream_done(follow, T, false);
    follow_record(follow, E, T, false);
    follow_wait(follow, E, T, false);
    driver.captured = 0;
    tap_u64(fill(T, DEVICE_AT, 64), 1, "and it orders nothing");
    follow_event_done(follow, E);
    tap_u64(fill(T, DEVICE_AT, 64), 0, "the event that it recorded is not known");
    driver.captured = T;
    follow_stream_waits(follow, T, false);
    driver.captured = 0;
    fill(S, DEVICE_AT, 64);
    follow_graph(follow, B, false);
    tap_u64(fill(T, DEVICE_AT, 64), 0, "a captured wait for a value is a graph's");
    close_it();
    open_it();
    follow_captures(follow);
    driver.captured = LEGACY;
    fill(S, DEVICE_AT, 64);
    tap_u64(fill(0, DEVICE_AT, 64), 1, "the legacy stream cannot be captured, and is not asked for");
    close_it();
}

static void test_host(void)
{
    open_it();
    copied((struct copy){.stream = S, .from = DEVICE_AT, .to = PINNED_AT, .size = 64});
    tap_u64(copied((struct copy){.stream = 0, .from = PINNED_AT, .to = DEVICE_AT + 64, .size = 64, .waits = true}), 1, "the host copies from what is not done");
    tap_ok(last.found[0].side[1].name.host && !last.found[0].side[0].name.host, "the second access is the host's");
    follow_stream_done(follow, S, false);
    copied((struct copy){.stream = LEGACY, .from = PINNED_AT, .to = DEVICE_AT + 64, .size = 64, .waits = true});
    tap_u64(fill(S, DEVICE_AT + 64, 8), 0, "its copy is done when the call returns");
    close_it();
    open_it();
    copied((struct copy){.stream = LEGACY, .from = DEVICE_AT + 64, .to = DEVICE_AT, .size = 64, .waits = true});
    tap_u64(fill(S, DEVICE_AT, 8), 1, "one between two places of a device is not");
    copied((struct copy){.stream = LEGACY, .to = PINNED_AT, .size = 64, .waits = true});
    tap_u64(copied((struct copy){.stream = S, .from = PINNED_AT, .to = DEVICE_AT, .size = 8}), 0, "a fill of the host's memory is");
    close_it();
    open_it();
    copied((struct copy){.stream = S, .from = PAGEABLE, .to = DEVICE_AT, .size = 64});
    tap_u64(fill(T, DEVICE_AT, 64), 0, "a copy from untracked memory counts as done");
    copied((struct copy){.stream = S, .from = DEVICE_AT, .to = PAGEABLE, .size = 64});
    tap_u64(fill(T, DEVICE_AT, 64), 0, "and to it");
    copied((struct copy){.stream = S, .from = DEVICE_AT, .to = PINNED_AT, .size = 8});
    tap_u64(fill(T, DEVICE_AT, 64), 0, "a value in memory that the host reads shows itself");
    copied((struct copy){.stream = S, .from = DEVICE_AT, .to = PINNED_AT, .size = 9});
    tap_u64(fill(T, DEVICE_AT, 64), 1, "more than a value does not");
    close_it();
    open_it();
    copied((struct copy){.stream = S, .from = DEVICE_AT, .to = MANAGED_AT, .size = 64});
    tap_u64(fill(T, DEVICE_AT, 64), 0, "managed memory is anywhere");
    copied((struct copy){.stream = 0, .from = MANAGED_AT, .to = DEVICE_AT, .size = 64, .waits = true});
    tap_u64(fill(S, DEVICE_AT, 64), 0, "for a call that waits, too");
    close_it();
    open_it();
    follow_registered(follow, LISTED, 0x2000);
    copied((struct copy){.stream = S, .from = LISTED + 0x1ff0, .to = DEVICE_AT, .size = 0x10});
    tap_u64(copied((struct copy){.stream = T, .from = DEVICE_AT + 64, .to = LISTED + 0x1ff8, .size = 64}), 1, "registered memory is followed");
    tap_u64(fill(S, DEVICE_AT + 64, 64), 0, "up to its end");
    follow_unregistered(follow, LISTED);
    copied((struct copy){.stream = S, .from = LISTED, .to = DEVICE_AT, .size = 64});
    tap_u64(fill(T, DEVICE_AT, 64), 0, "and no longer than it is registered");
    follow_unregistered(follow, LISTED);
    follow_registered(follow, LISTED, 0);
    follow_unregistered(follow, LISTED);
    follow_registered(follow, LISTED, 64);
    tap_u64(copied((struct copy){.stream = T, .from = DEVICE_AT + 64, .to = LISTED, .size = 64}), 0, "then it is other memory");
    close_it();
}

static void test_rows(void)
{
    open_it();
    copied((struct copy){.stream = S, .to = DEVICE_AT, .size = 16, .pitch = 64, .rows = 4, .layer = 256, .layers = 2});
    tap_u64(copied((struct copy){.stream = T, .to = DEVICE_AT + 16, .size = 48, .pitch = 64, .rows = 8}), 0, "columns beside each other");
    tap_u64(fill(T, DEVICE_AT + 256 + 3 * 64 + 15, 1), 1, "the last byte of the last row");
    close_it();
    open_it();
    copied((struct copy){.stream = S, .to = DEVICE_AT, .size = 16, .pitch = 16, .rows = 4096});
    tap_u64(fill(T, DEVICE_AT + 0xffff, 1), 1, "rows without gaps are one, however many");
    copied((struct copy){.stream = S, .to = DEVICE_AT, .size = 1, .pitch = 2, .rows = FOLLOW_ROWS + 1});
    tap_u64(fill(T, DEVICE_AT + 2 * (FOLLOW_ROWS - 1), 1), 1, "with gaps the first ones are followed");
    close_it();
    open_it();
    copied((struct copy){.stream = S, .to = DEVICE_AT, .size = 1, .pitch = 2, .rows = FOLLOW_ROWS + 1});
    tap_u64(fill(T, DEVICE_AT + 2 * FOLLOW_ROWS, 1), 0, "those behind are not");
    tap_u64(copied((struct copy){.stream = T, .to = DEVICE_AT, .size = UINT64_MAX / 2, .pitch = UINT64_MAX / 2, .rows = 4}), 0, "sizes that no memory has are not followed");
    tap_u64(fill(T, DEVICE_AT, 0), 0, "nor is nothing");
    struct follow_step step;
    follow_begin(follow, &step, &(struct follow_call){.function = "fill", .stream = T});
    follow_access(follow, &step, &(struct follow_rows){.address = DEVICE_AT, .width = 8, .rows = 0, .layers = 1, .use = ORDER_WRITE});
    follow_access(follow, &step, &(struct follow_rows){.address = DEVICE_AT, .width = 8, .rows = 1, .layers = 0, .use = ORDER_WRITE});
    follow_end(follow, &step, true);
    tap_u64(step.count, 0, "and no rows");
    close_it();
}

static void test_refused(void)
{
    open_it();
    fill(S, DEVICE_AT, 64);
    tap_u64(copied((struct copy){.stream = T, .to = DEVICE_AT, .size = 64, .refused = true}), 0, "a refused call is not "
        "an access");
    tap_u64(fill(B, DEVICE_AT, 64), 0, "neither later");
    close_it();
}

static unsigned pool_call(uint64_t stream, bool allocates)
{
    struct follow_step step;
    follow_begin(follow, &step, &(struct follow_call){.function = allocates ? "alloc" : "free", .number = ++number, .stream = stream,
                                                      .allocates = allocates, .frees = !allocates});
    follow_access(follow, &step, &(struct follow_rows){.address = DEVICE_AT, .width = 64, .rows = 1, .layers = 1, .use = ORDER_WRITE});
    follow_end(follow, &step, true);
    last = step;
    return step.count;
}

static void test_pools(void)
{
    open_it();
    pool_call(S, true);
    tap_u64(pool_call(T, false), 0, "memory that nothing used may be freed on any stream");
    close_it();
    open_it();
    pool_call(S, true);
    tap_ok(fill(T, DEVICE_AT, 64) == 1 && last.found[0].side[0].name.allocates, "it may be used where it is allocated");
    tap_ok(pool_call(S, false) == 1 && last.found[0].side[1].name.frees, "and not while it is freed");
    close_it();
}

/* A program that never waits. */
static void test_bound(void)
{
    open_it();
    for (uint64_t i = 0; i + 1 < FOLLOW_STEPS; i++)
        fill(S, DEVICE_AT + 8 * i % SIZE, 4);
    tap_u64(fill(T, DEVICE_AT, 4), 1, "few open accesses are all kept");
    close_it();
    open_it();
    for (uint64_t i = 0; i < 2 * FOLLOW_STEPS - 1; i++)
        fill(i < FOLLOW_STEPS ? S : T, DEVICE_AT + 4 * (i % (2 * FOLLOW_STEPS)), 2);
    tap_u64(fill(T, DEVICE_AT, 2), 0, "with many, some calls are taken to order everything");
    tap_u64(fill(S, DEVICE_AT, 2), 1, "later work is tracked as before");
    close_it();
}

static void test_stop(void)
{
    open_it();
    fill(S, DEVICE_AT, 64);
    follow_stop(follow);
    fill(STRANGE, DEVICE_AT, 64);
    follow_all_done(follow);
    follow_context_done(follow, 0);
    follow_contexts_end(follow);
    follow_event_done(follow, E);
    follow_event_made(follow, E);
    follow_stream_made(follow, T, true);
    follow_tells(follow, T, false);
    follow_record(follow, E, T, false);
    copied((struct copy){.stream = T, .to = DEVICE_AT, .size = 64, .refused = true});
    tap_u64(fill(T, DEVICE_AT, 64), 0, "once it has stopped, nothing is followed");
    close_it();
    open_it();
    struct follow_step step;
    follow_begin(follow, &step, &(struct follow_call){.function = "fill", .stream = S});
    follow_stop(follow);
    follow_access(follow, &step, &(struct follow_rows){.address = DEVICE_AT, .width = 8, .rows = 1, .layers = 1, .use = ORDER_WRITE});
    follow_end(follow, &step, false);
    tap_u64(step.count, 0, "a call during which it stops ends in order");
    close_it();
}

/* Dozens of threads, each with a stream and an event, and waits for those of the others. */
enum { THREADS = 24, ROUNDS = 200 };

static unsigned in_order;

static void *works(void *user)
{
    const uint64_t self = (uint64_t)(uintptr_t)user, stream = 0x1000 + self, event = 0x2000 + self;
    unsigned found = 0;
    follow_stream_made(follow, stream, true);
    follow_event_made(follow, event);
    for (unsigned i = 0; i < ROUNDS; i++) {
        struct follow_step step;
        follow_begin(follow, &step, &(struct follow_call){.function = "fill", .number = i, .stream = stream});
        follow_access(follow, &step, &(struct follow_rows){.address = DEVICE_AT + 64 * self, .width = 64, .rows = 1, .layers = 1, .use = ORDER_WRITE});
        follow_end(follow, &step, true);
        found += step.count;
        follow_record(follow, event, stream, false);
        follow_wait(follow, 0x2000 + (self + i) % THREADS, stream, false);
        if (i % 16 == 0)
            follow_stream_done(follow, stream, false);
    }
    follow_event_ends(follow, event);
    follow_stream_ends(follow, stream);
    __atomic_fetch_add(&in_order, found, __ATOMIC_RELAXED);
    return NULL;
}

static void test_threads(void)
{
    pthread_t thread[THREADS];
    open_it();
    for (uint64_t i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, works, (void *)(uintptr_t)i))
            tap_bail("no thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    tap_u64(in_order, 0, "nothing is found of threads that use each its own bytes");
    tap_ok(follow_check(follow) == NULL, "and nothing has changed");
    close_it();
}

int main(void)
{
    test_two_streams();
    test_waits();
    test_tells();
    test_default_streams();
    test_strangers();
    test_captures();
    test_host();
    test_rows();
    test_refused();
    test_pools();
    test_bound();
    test_stop();
    test_threads();
    return tap_done();
}

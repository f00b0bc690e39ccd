/* SPDX-License-Identifier: Apache-2.0 */
/* follow: every request for memory fails once. After that nothing is tracked or found, and nothing leaks. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "follow.h"

enum { S = 0x100, T = 0x200, STRANGE = 0x300, E = 0x10, F = 0x20, MEMORY = 0x1000, HOST = 0x9000 };

static struct follow *follow;
static long live;
static unsigned found;

static uint64_t context_of(void *user)
{
    (void)user;
    return 1;
}

static bool stream_of(void *user, uint64_t stream, uint64_t *context, bool *non_blocking)
{
    (void)user, (void)stream;
    *context = 1;
    *non_blocking = true;
    return true;
}

static bool is_captured(void *user, uint64_t stream, bool per_thread)
{
    (void)user, (void)stream, (void)per_thread;
    return false;
}

static bool memory_of(void *user, uint64_t address, uint64_t size, struct follow_memory *memory)
{
    (void)user;
    *memory = (struct follow_memory){1, address, size, FOLLOW_DEVICE};
    return address < HOST;
}

static void fill(uint64_t stream, uint64_t at)
{
    struct follow_step step;
    follow_begin(follow, &step, &(struct follow_call){.function = "fill", .stream = stream});
    follow_host_side(follow, &step, at);
    follow_access(follow, &step, &(struct follow_rows){.address = at, .width = 8, .rows = 1, .layers = 1, .use = ORDER_WRITE});
    follow_end(follow, &step, true);
    found += step.count;
}

static void begin(void)
{
    follow = NULL;
    live = inject_live;
    found = 0;
}

static bool in_order(void)
{
    const struct follow_asks asks = {context_of, stream_of, is_captured, memory_of, NULL};
    follow = follow_open(&asks);
    if (!follow)
        return false;
    follow_stream_made(follow, S, true);
    follow_stream_made(follow, T, true);
    follow_event_made(follow, E);
    follow_registered(follow, HOST, 64);
    fill(S, MEMORY);
    follow_record(follow, E, S, false);
    follow_wait(follow, E, T, false);
    fill(T, MEMORY);
    fill(T, HOST);
    follow_record(follow, F, T, false);
    follow_event_done(follow, F);
    fill(S, MEMORY + 4);
    fill(STRANGE, MEMORY);
    fill(STRANGE, MEMORY);
    follow_event_shared(follow, E);
    follow_wait(follow, E, S, false);
    fill(S, MEMORY);
    follow_stream_waits(follow, S, false);
    follow_tells(follow, S, false);
    follow_unregistered(follow, HOST);
    struct follow_step step;
    follow_begin(follow, &step, &(struct follow_call){.function = "fill", .stream = S});
    const bool follows = step.work != NULL;
    follow_end(follow, &step, true);
    return follows;
}

static bool given_up(void)
{
    return true; /* in_order has seen it */
}

static bool nothing_is_left(void)
{
    const char *wrong = follow ? follow_check(follow) : NULL;
    if (follow)
        follow_close(follow);
    return !found && !wrong && inject_live == live;
}

int main(void)
{
    inject_try(&(struct inject_case){.name = "a program in order", .begin = begin, .call = in_order, .reported = given_up,
                                     .end = nothing_is_left, .least = 20});
    return tap_done();
}

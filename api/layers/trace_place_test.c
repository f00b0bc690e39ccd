/* SPDX-License-Identifier: Apache-2.0 */
/* Places of calls in a trace: each stack once, even if several share a slot, and none when the table is full. */
#include <stdlib.h>
#include <string.h>

#include "stacks.h"
#include "tap.h"

static uint32_t stack_now;
static enum stacks_mode mode_set = STACKS_NONE;

static uint32_t made_stack(void)
{
    return stack_now;
}

static void made_set(enum stacks_mode mode)
{
    mode_set = mode;
}

/* A native frame, one of Python, and one of Python whose function is unknown. */
static unsigned made_frames(uint32_t stack, struct stacks_frame *frames, unsigned most)
{
    if (!stack || most < 3)
        return 0;
    frames[0] = (struct stacks_frame){.module = "/opt/app/step", .build = "5f3a", .offset = 0x17bd};
    frames[1] = (struct stacks_frame){.python = "pool.py", .line = 12, .function = "grow"};
    frames[2] = (struct stacks_frame){.python = "train.py", .line = 40};
    return 3;
}

#define stacks_here made_stack
#define stacks_set made_set
#define stacks_frames made_frames
#include "trace_place.c"
#undef stacks_here
#undef stacks_set
#undef stacks_frames

static struct trace_places places;

static struct trace_place at(uint32_t stack)
{
    stack_now = stack;
    return trace_place_here(&places);
}

static void test_ids(void)
{
    struct trace_place first = at(1), again = at(1), none = at(0);
    tap_ok(first.id && first.stack == 1, "a stack that is new gets an id");
    tap_ok(again.id == first.id && !again.stack, "a known stack keeps its id");
    tap_ok(!none.id && !none.stack, "no stack, no id");
    /* stacks 1 and TRACE_PLACES + 1 share a slot */
    struct trace_place other = at(TRACE_PLACES + 1), later = at(TRACE_PLACES + 1);
    tap_ok(other.stack && other.id && other.id != first.id && later.id == other.id && !later.stack,
           "two stacks that begin at one slot have an id each");
}

static void test_full(void)
{
    bool each = true;
    memset(&places, 0, sizeof places);
    for (uint32_t stack = 1; stack <= TRACE_PLACES; stack++) {
        struct trace_place place = at(stack);
        each = each && place.id && place.stack;
    }
    tap_ok(each, "%d stacks have their places", TRACE_PLACES);
    struct trace_place over = at(TRACE_PLACES + 1), known = at(TRACE_PLACES / 2);
    tap_ok(!over.id && !over.stack, "one more has none");
    tap_ok(known.id && !known.stack, "the others keep theirs");
}

static void written(const struct trace_place *place, const char *wants, const char *name)
{
    static char text[2000];
    struct stacks_frame frames[STACKS_MOST];
    struct trace_event event = {0};
    struct json json = {.text = text, .room = sizeof text - 1, .fixed = true};
    trace_place_note(place, &event, frames);
    jsonw_open(&json, NULL, '{');
    trace_place_write(&json, &event);
    jsonw_close(&json, '}');
    text[json.length] = '\0';
    tap_text(text, wants, "%s", name);
}

static void test_written(void)
{
    written(&(struct trace_place){.stack = 5}, "{}", "no place, no members");
    written(&(struct trace_place){.id = 7, .stack = 5},
            "{\"place\":7,\"frames\":[\"/opt/app/step+0x17bd\",\"pool.py:12 grow\",\"train.py:40 \"]}", "the first has its frames");
    written(&(struct trace_place){.id = 7}, "{\"place\":7}", "a later one has only the number");
}

static void test_begin(void)
{
    setenv("CUVMM_CHECK_STACKS", "full", 1);
    trace_place_begin();
    tap_u64(mode_set, STACKS_NONE, "the user's choice stays");
    setenv("CUVMM_CHECK_STACKS", "", 1);
    trace_place_begin();
    tap_u64(mode_set, STACKS_SHORT, "an empty one does not count");
    mode_set = STACKS_NONE;
    unsetenv("CUVMM_CHECK_STACKS");
    trace_place_begin();
    tap_u64(mode_set, STACKS_SHORT, "without one stacks are short");
}

int main(void)
{
    test_ids();
    test_full();
    test_written();
    test_begin();
    return tap_done();
}

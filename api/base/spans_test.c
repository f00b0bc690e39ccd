/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges chosen by hand, and random ones compared with an array that has a value for each number. */
#include "spans.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "tap.h"

static struct spans spans;

/* The ranges as "start+size=value ...". */
static const char *drawn(void)
{
    static char text[2000];
    size_t length = 0;
    text[0] = '\0';
    for (uint64_t at = 0;;) {
        const struct span *span = spans_from(&spans, at);
        if (!span || length > sizeof text - 100)
            break;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%" PRIu64 "+%" PRIu64 "=%" PRIu64, length ? " " : "",
                                   span->start, span->size, span->value);
        if (span_last(span) == UINT64_MAX)
            break;
        at = span_last(span) + 1;
    }
    return text;
}

static void is(const char *want, const char *what)
{
    const char *wrong = spans_check(&spans);
    tap_text(drawn(), want, "%s", what);
    if (wrong)
        tap_ok(false, "%s: %s", what, wrong);
}

static void test_pictures(void)
{
    is("", "empty");
    tap_ok(!spans_at(&spans, 5) && !spans_from(&spans, 0), "nothing is found where nothing is");
    spans_put(&spans, 2, 8, 1);
    spans_put(&spans, 4, 3, 2);
    is("2+2=1 4+3=2 7+3=1", "a range in the middle of another one cuts it in two");
    tap_ok(!spans_at(&spans, 1) && spans_at(&spans, 2)->value == 1 && spans_at(&spans, 6)->value == 2 &&
               spans_at(&spans, 9)->value == 1 && !spans_at(&spans, 10),
           "each number has its range");
    spans_put(&spans, 0, 3, 3);
    is("0+3=3 3+1=1 4+3=2 7+3=1", "over the beginning of one");
    spans_put(&spans, 9, 4, 4);
    is("0+3=3 3+1=1 4+3=2 7+2=1 9+4=4", "over the end of one");
    spans_put(&spans, 1, 9, 5);
    is("0+1=3 1+9=5 10+3=4", "over several");
    spans_drop(&spans, spans_at(&spans, 4));
    is("0+1=3 10+3=4", "and one is dropped");
    tap_ok(spans_from(&spans, 1)->start == 10 && !spans_from(&spans, 13), "the first that ends at or after a number");
    spans_clear(&spans);
    is("", "cleared");
}

static void test_edges(void)
{
    spans_put(&spans, UINT64_MAX, 1, 1);
    spans_put(&spans, UINT64_MAX - 4, 100, 2);
    tap_ok(spans.count == 1 && spans_at(&spans, UINT64_MAX)->value == 2 && spans_at(&spans, UINT64_MAX)->size == 5,
           "a range ends at the greatest number");
    spans_put(&spans, 0, 0, 3);
    tap_ok(spans.count == 1 && span_last(spans_at(&spans, 7)) == UINT64_MAX && !spans_check(&spans), "size 0 is everything");
    spans_put(&spans, 1, 1, 4);
    tap_ok(spans.count == 3 && spans_at(&spans, 2)->value == 3 && spans_at(&spans, 0)->size == 1 && !spans_check(&spans),
           "the merged span can be cut, too");
    spans_clear(&spans);
}

/* More ranges than a block holds: added in order, in reverse order, and with every second one removed. */
static void test_many(uint64_t most)
{
    for (uint64_t i = 0; i < most; i++)
        spans_put(&spans, i * 16, 8, i);
    tap_ok(spans.count == most && !spans_check(&spans) && spans.blocks == (most + SPANS_BLOCK - 1) / SPANS_BLOCK,
           "%" PRIu64 " ranges in order fill their blocks", most);
    bool found = true;
    for (uint64_t i = 0; i < most; i++)
        found = found && spans_at(&spans, i * 16 + 7)->value == i && !spans_at(&spans, i * 16 + 8);
    tap_ok(found, "and each is found");
    for (uint64_t i = 1; i < most; i += 2)
        spans_drop(&spans, spans_at(&spans, i * 16));
    tap_ok(spans.count == most / 2 && !spans_check(&spans), "every second one is dropped");
    for (uint64_t i = 0; i < most; i++)
        if (i % 200)
            spans_put(&spans, i * 16, 8, 0), spans_drop(&spans, spans_at(&spans, i * 16));
    tap_ok(spans.count == most / 200 && spans.blocks <= 4 * (spans.count / SPANS_BLOCK + 1) && !spans_check(&spans),
           "the remaining entries occupy few blocks");
    spans_clear(&spans);
    for (uint64_t i = most; i-- > 0;)
        spans_put(&spans, i * 16, 8, i);
    tap_ok(spans.count == most && !spans_check(&spans), "and the same from the greatest to the least");
    spans_clear(&spans);
}

enum { NUMBERS = 3000 };

static bool same(const uint64_t *value)
{
    size_t ranges = 0;
    for (uint64_t i = 0; i < NUMBERS; i++) {
        const struct span *span = spans_at(&spans, i), *from = spans_from(&spans, i);
        uint64_t next = i;
        while (next < NUMBERS && !value[next])
            next++;
        if ((span ? span->value : 0) != value[i] || (from ? (from->start > i ? from->start : i) : NUMBERS) != next)
            return false;
        ranges += span && span->start == i;
    }
    return ranges == spans.count;
}

static void test_random(void)
{
    uint64_t seed = random_seed(2611);
    static uint64_t value[NUMBERS];
    const unsigned rounds = random_rounds(6000);
    bool good = true;
    for (unsigned i = 1; i <= rounds && good; i++) {
        uint64_t start = random_below(&seed, NUMBERS), size = 1 + random_below(&seed, random_below(&seed, 20) ? 6 : 400);
        struct span *span = random_below(&seed, 3) ? NULL : spans_at(&spans, start);
        if (size > NUMBERS - start)
            size = NUMBERS - start;
        if (span) {
            memset(value + span->start, 0, (size_t)span->size * sizeof *value);
            spans_drop(&spans, span);
        } else {
            spans_put(&spans, start, size, i);
            for (uint64_t at = start; at < start + size; at++)
                value[at] = i;
        }
        const char *wrong = spans_check(&spans);
        good = !wrong && (i % 50 || same(value));
        if (wrong)
            tap_note("round %u: %s", i, wrong);
    }
    tap_ok(good, "%u random changes, each checked", rounds);
    spans_clear(&spans);
}

/* Each invariant, broken by hand. */
static void test_check(void)
{
    static struct spans_block one, two;
    static struct spans_block *block[] = {&one, &two};
    static uint64_t first[2];
#define FRESH()                                                                       \
    (one = (struct spans_block){2, {{10, 5, 0}, {20, 5, 0}}},                         \
     two = (struct spans_block){1, {{30, 5, 0}}}, first[0] = 10, first[1] = 30,       \
     (struct spans){.block = block, .first = first, .blocks = 2, .room = 2, .count = 3})
#define WRONG(change, says)                                                              \
    do {                                                                              \
        spans = FRESH();                                                              \
        change;                                                                       \
        const char *said = spans_check(&spans);                                       \
        tap_ok(said && strstr(said, says), "%s: %s", #change, said ? said : "nothing"); \
    } while (0)
    spans = FRESH();
    tap_ok(!spans_check(&spans), "what is right");
    WRONG(two.count = 0, "a block is empty");
    WRONG(two.count = SPANS_BLOCK + 1, "more than it can");
    WRONG(first[1] = 29, "first is not the first number");
    WRONG(two.span[0].size = UINT64_MAX - 28, "passes the greatest number");
    WRONG(one.span[1].start = 14, "overlaps the one before it");
    WRONG(spans.count = 4, "count is not");
    spans = (struct spans){0};
}

int main(void)
{
    test_pictures();
    test_edges();
    test_many(10000);
    test_random();
    test_check();
    return tap_done();
}

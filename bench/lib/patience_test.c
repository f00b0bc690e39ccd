/* SPDX-License-Identifier: Apache-2.0 */
/* patience: shares of lengths, to an eighth of their size, from nanoseconds to hours. */
#include "patience.h"

#include "tap.h"

static bool is_near(double value, double wanted)
{
    return value >= wanted && value <= wanted * 1.126 + 1;
}

static void test_sizes(void)
{
    bool good = true;
    for (uint64_t length = 1; length < UINT64_C(1) << 42; length = length * 9 / 8 + 1) {
        struct patience one = {.all = 0};
        patience_note(&one, length);
        good = good && is_near(patience_within(&one, 1), (double)length);
    }
    tap_ok(good, "a length is kept to an eighth of its size");
    struct patience longest = {.all = 0};
    patience_note(&longest, UINT64_MAX);
    tap_ok(patience_within(&longest, 0.5) > 1e12, "one past the last place is kept in it");
}

static void test_shares(void)
{
    struct patience one = {.all = 0}, other = {.all = 0};
    tap_ok(patience_within(&one, 0.99) <= 0, "no calls, no length");
    for (unsigned i = 0; i < 990; i++)
        patience_note(&one, 40);
    for (unsigned i = 0; i < 10; i++)
        patience_note(&other, 100000);
    patience_add(&one, &other);
    tap_u64(one.all, 1000, "two threads' calls are added");
    tap_ok(is_near(patience_within(&one, 0.5), 40) && is_near(patience_within(&one, 0.99), 40), "99 of 100 were short");
    tap_ok(is_near(patience_within(&one, 0.999), 100000), "and the last ten long");
}

int main(void)
{
    test_sizes();
    test_shares();
    return tap_done();
}

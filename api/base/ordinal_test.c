/* SPDX-License-Identifier: Apache-2.0 */
/* ordinal: one thread counts without a gap, numbers are unique across threads, and each thread's increase. */
#include "ordinal.h"

#include <pthread.h>
#include <stdbool.h>

#include "tap.h"

static void test_alone(void)
{
    struct ordinals one, other;
    struct ordinals_ahead ahead = {0}, *mine = &ahead;
    unsigned wrong = 0;
    ordinals_init(&one);
    ordinals_init(&other);
    for (uint64_t i = 1; i <= 1000; i++) {
        wrong += (i % 3 ? ordinal_of_question(&one, mine) : ordinal_of_change(&one, mine)) != i;
        if (i % 2)
            wrong += ordinal_of_question(&other, mine) != (i + 1) / 2;
    }
    for (uint64_t i = 1; i <= 1000; i++)
        wrong += ordinal_of_change(&one, mine) != 1000 + i || ordinal_of_question(&other, mine) != 500 + i;
    tap_u64(wrong, 0, "one thread counts two systems' calls without a gap");
}

enum { THREADS = 4, ROUNDS = 20000, ROOM = (THREADS * ROUNDS) * (ORDINAL_MOST + 1) };

struct world {
    struct ordinals ordinals;
    atomic_uchar taken[ROOM];
    atomic_uint twice, down, started;
};

static void *counter(void *argument)
{
    struct world *w = argument;
    struct ordinals_ahead ahead = {0}, *mine = &ahead;
    uint64_t before = 0;
    atomic_fetch_add(&w->started, 1);
    for (unsigned i = 0; i < ROUNDS; i++) {
        bool change = i % 1000 == 999;
        uint64_t number = change ? ordinal_of_change(&w->ordinals, mine) : ordinal_of_question(&w->ordinals, mine);
        if (number >= ROOM || atomic_exchange(&w->taken[number], 1))
            atomic_fetch_add(&w->twice, 1);
        if (number <= before)
            atomic_fetch_add(&w->down, 1);
        before = number;
    }
    return NULL;
}

static void test_threads(void)
{
    static struct world w;
    pthread_t thread[THREADS];
    ordinals_init(&w.ordinals);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, counter, &w);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    tap_u64(atomic_load(&w.twice), 0, "all calls have distinct numbers");
    tap_u64(atomic_load(&w.down), 0, "the numbers of a thread increase");
}

/* Our draws, with another thread's draw before two out of three; returns how many did not follow the last one directly. */
static unsigned draws_ahead(struct ordinals *o, struct ordinals_ahead *mine, unsigned draws, bool crowd)
{
    uint64_t number = 0;
    unsigned ahead = 0;
    for (unsigned i = 0; i < draws; i++) {
        uint64_t before = number, given = atomic_load(&o->given);
        if (crowd && i % 3)
            atomic_fetch_add(&o->given, 1);
        number = ordinal_of_question(o, mine);
        ahead += number == before + 1 && number <= given;
    }
    return ahead;
}

static void test_somewhat_crowded(void)
{
    struct ordinals o;
    struct ordinals_ahead own = {0};
    ordinals_init(&o);
    tap_u64(draws_ahead(&o, &own, ORDINAL_PATIENCE, true), 0, "a thread draws none ahead before it has seen others for a while");
    tap_ok(draws_ahead(&o, &own, 9 * ORDINAL_PATIENCE, true) > 4 * ORDINAL_PATIENCE,
           "and does where there are others in between most draws");
    draws_ahead(&o, &own, 2 * ORDINAL_PATIENCE * ORDINAL_MOST, false);
    tap_u64(draws_ahead(&o, &own, 2 * ORDINAL_MOST, false), 0, "alone again, it no longer does");
}

/* Other draws before each of ours: after a while the thread draws ahead, and a change drops the unused numbers. */
static void test_crowded(void)
{
    struct ordinals o;
    struct ordinals_ahead own = {0}, *mine = &own;
    uint64_t number = 0;
    unsigned ahead = 0;
    ordinals_init(&o);
    for (unsigned i = 0; i < ORDINAL_PATIENCE + 2; i++) {
        uint64_t before = number;
        atomic_fetch_add(&o.given, 1); /* like another thread's draw */
        number = ordinal_of_question(&o, mine);
        ahead += number == before + 1;
    }
    tap_ok(ahead > 0 && atomic_load(&o.given) > number, "a thread with others in between draws some ahead");
    uint64_t given = atomic_load(&o.given);
    tap_u64(ordinal_of_change(&o, mine), given + 1, "a change gets the next number");
    tap_u64(ordinal_of_question(&o, mine), given + 2, "later queries get numbers after it");
}

int main(void)
{
    test_alone();
    test_crowded();
    test_somewhat_crowded();
    test_threads();
    return tap_done();
}

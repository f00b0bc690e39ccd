/* SPDX-License-Identifier: Apache-2.0 */
/* A depot of very many records: keys with equal hashes, and a depot whose slots or bytes are exhausted. */
#include "stacks_depot.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static uint32_t add(enum depot_kind kind, uint64_t key)
{
    return depot_add(kind, &key, sizeof key, &key, sizeof key);
}

static bool is_there(enum depot_kind kind, uint64_t key)
{
    const uint32_t ref = depot_find(kind, &key, sizeof key);
    return ref && depot_is(kind, ref) && memcmp(depot_key(ref), &key, sizeof key) == 0 &&
           memcmp(depot_value(ref), &key, sizeof key) == 0;
}

/* So many that some 32-bit hashes collide, among keys of the same kind and of different kinds. */
static void test_many(void)
{
    enum { MANY = 300000 };
    bool added = true, there = true, absent = true;
    for (uint64_t i = 0; i < MANY; i++)
        added = added && add(i % 2 ? DEPOT_STACK : DEPOT_KEPT, i);
    for (uint64_t i = 0; i < MANY; i++) {
        there = there && is_there(i % 2 ? DEPOT_STACK : DEPOT_KEPT, i);
        absent = absent && !is_there(i % 2 ? DEPOT_KEPT : DEPOT_STACK, i);
    }
    tap_ok(added && there, "each of %d keys has its own record", MANY);
    tap_ok(absent, "and none of the other kind");
}

static void test_sizes(void)
{
    static const char zeros[8] = "\5";
    uint32_t refs[sizeof zeros];
    bool good = true;
    for (size_t i = 1; i < sizeof zeros; i++)
        refs[i] = depot_add(DEPOT_TEXT, zeros, i, NULL, 0);
    for (size_t i = 1; i < sizeof zeros; i++)
        good = good && refs[i] && depot_size(refs[i]) == i && depot_find(DEPOT_TEXT, zeros, i) == refs[i];
    tap_ok(good, "keys that differ by zeros at their end are different ones");
    tap_ok(!depot_is(DEPOT_TEXT, UINT32_MAX), "a number past the last record is invalid");
}

/* In a child, so that the parent's depot stays as it is. */
static bool in_child(int (*code)(void))
{
    int status = 1;
    const pid_t child = fork();
    if (!child)
        _exit(code());
    return child > 0 && waitpid(child, &status, 0) == child && status == 0;
}

static int use_up_slots(void)
{
    uint64_t key = UINT64_C(1) << 40, refused = 0;
    for (int i = 0; i < 1300000 && refused < 10; i++) {
        const uint64_t made = key + (uint64_t)i;
        if (add(DEPOT_PC, made))
            continue;
        refused += 1;
        if (is_there(DEPOT_PC, made))
            return 1;
    }
    return refused && depot_full() && is_there(DEPOT_PC, key) && is_there(DEPOT_STACK, 1) ? 0 : 1;
}

static int use_up_bytes(void)
{
    depot_limit = 0;
    return !add(DEPOT_PC, 1) && depot_full() && add(DEPOT_STACK, 1) && is_there(DEPOT_KEPT, 2) ? 0 : 1;
}

int main(void)
{
    tap_ok(!depot_find(DEPOT_TEXT, "a", 1) && !depot_is(DEPOT_TEXT, 1), "an empty depot has nothing");
    test_many();
    test_sizes();
    tap_ok(!depot_full(), "no record was refused");
    tap_ok(in_child(use_up_slots), "without free slots, new records are refused, and existing ones stay");
    tap_ok(in_child(use_up_bytes), "without free bytes too");
    return tap_done();
}

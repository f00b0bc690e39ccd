/* SPDX-License-Identifier: Apache-2.0 */
/* written: writes that split, shrink and fill gaps, copies of written and unwritten bytes, and random writes and
 * copies compared with a bitmap. */
#include "written.h"

#include <inttypes.h>
#include <string.h>

#include "random.h"
#include "tap.h"

enum { MEMORIES = 3, SIZE = 64 };

static void test_gaps(void)
{
    struct written written;
    uint64_t at = 0;
    written_open(&written);
    tap_ok(!written_gap(&written, 7, 0, 99, &at), "memory that was not begun counts as written");
    written_begin(&written, 7, 1000);
    tap_ok(written_gap(&written, 7, 250, 349, &at) && at == 250, "nothing is written in new memory");
    written_note(&written, 7, 100, 299);
    tap_ok(written_gap(&written, 7, 250, 349, &at) && at == 300, "a read that leaves what was written");
    tap_ok(written_gap(&written, 7, 0, 349, &at) && at == 0, "a read that begins before it");
    tap_ok(!written_gap(&written, 7, 100, 299, &at), "a read of just that");
    written_note(&written, 7, 0, 99);
    written_note(&written, 7, 300, 999);
    tap_ok(!written_gap(&written, 7, 0, 999, &at) && !written_check(&written) && !written.memories.count,
           "fully written memory is forgotten");
    written_begin(&written, 8, UINT64_C(1) << 40);
    written_note(&written, 8, 0, (UINT64_C(1) << 33) - 1);
    tap_ok(written_gap(&written, 8, 0, UINT64_C(1) << 33, &at) && at == UINT64_C(1) << 33, "sizes past 4 GiB");
    written_end(&written, 8);
    tap_ok(!written_gap(&written, 8, 0, UINT64_C(1) << 33, &at), "memory that others may write counts as written");
    written_close(&written);
}

/* Each invariant, broken by hand. */
static void test_invariants(void)
{
    struct written written;
    written_open(&written);
    written_begin(&written, 7, 100);
    written_note(&written, 7, 40, 49);
    struct {
        uint64_t number;
        struct addrmap gaps;
    } *memory = addrmap_ceil(&written.memories, 0);
    struct {
        uint64_t first, last;
    } *gap = addrmap_ceil(&memory->gaps, 0);
    gap->last = 49;
    tap_ok(written_check(&written) != NULL, "gaps do not touch");
    gap->last = 39;
    tap_ok(!written_check(&written), "and whole again");
    written_close(&written);
}

/* Does the record match the model? Once memory is fully written, none of it becomes unwritten again. */
static bool same(const struct written *written, bool model[MEMORIES][SIZE])
{
    for (uint64_t m = 0; m < MEMORIES; m++)
        for (uint64_t i = 0; i < SIZE; i++) {
            uint64_t at = 0;
            bool gap = written_gap(written, m + 1, i, i, &at);
            if (gap == model[m][i] || (gap && at != i))
                return false;
        }
    return !written_check(written);
}

static bool all(const bool *model)
{
    for (int i = 0; i < SIZE; i++)
        if (!model[i])
            return false;
    return true;
}

static bool agrees(uint64_t seed)
{
    struct written written;
    bool model[MEMORIES][SIZE] = {{0}}, gone[MEMORIES] = {0}, good = true;
    written_open(&written);
    for (uint64_t m = 0; m < MEMORIES; m++)
        written_begin(&written, m + 1, SIZE);
    for (int step = 0; step < 30 && good; step++) {
        uint64_t to = random_below(&seed, MEMORIES), from = random_below(&seed, MEMORIES);
        uint64_t at = random_below(&seed, SIZE), start = random_below(&seed, SIZE);
        uint64_t most = SIZE - (at > start ? at : start), size = 1 + random_below(&seed, most);
        if (from == to || random_below(&seed, 3) == 0) {
            written_note(&written, to + 1, at, at + size - 1);
            memset(model[to] + at, true, size);
        } else {
            written_copy(&written, to + 1, at, from + 1, start, size);
            memcpy(model[to] + at, model[from] + start, size);
        }
        gone[to] = gone[to] || all(model[to]);
        if (gone[to])
            memset(model[to], true, SIZE);
        good = same(&written, model);
    }
    written_close(&written);
    return good;
}

int main(void)
{
    uint64_t wrong = 0;
    test_gaps();
    test_invariants();
    const uint64_t first = random_seed(1);
    for (uint64_t seed = first; seed < first + 3000 && !wrong; seed++)
        if (!agrees(seed))
            wrong = seed;
    tap_ok(!wrong, "3000 random rows of writes and copies (seed %" PRIu64 ")", wrong);
    return tap_done();
}

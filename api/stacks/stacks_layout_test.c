/* SPDX-License-Identifier: Apache-2.0 */
/* What is read from Python's structures: offsets by version, and line tables, including some that no interpreter makes. */
#include "stacks_layout.h"

#include <stdlib.h>
#include <string.h>

#include "stacks_line.h"
#include "tap.h"

static void test_table(void)
{
    static const uint64_t none[PYTHON_OFFSETS / 8];
    struct python_layout layout;
    tap_ok(python_layout(0x030A0DF0, none, &layout) && layout.runs == RUNS_PER_FRAME && layout.pairs, "3.10");
    tap_ok(python_layout(0x030B07F0, none, &layout) && layout.runs == RUNS_ENTERED && layout.frame_entered, "3.11");
    tap_ok(python_layout(0x030C01F0, none, &layout) && layout.runs == RUNS_SHIMMED && layout.thread_cframe, "3.12");
    tap_ok(!python_layout(0x030908F0, none, &layout) && !python_layout(0x030F00F0, none, &layout) && !python_layout(0, none, &layout),
           "no other version");
    tap_ok(!python_layout(0x030D00F0, none, &layout), "3.13 only with what it publishes");
}

/* Words as an interpreter publishes them: each word in use holds its own number times 8. */
static void publish(uint64_t words[PYTHON_OFFSETS / 8], uint64_t version)
{
    for (unsigned i = 0; i < PYTHON_OFFSETS / 8; i++)
        words[i] = 8 * i;
    memcpy(words, "xdebugpy", 8);
    words[1] = version;
    words[2] = 0;
}

static void test_published(void)
{
    uint64_t words[PYTHON_OFFSETS / 8];
    struct python_layout layout;
    publish(words, 0x030D00F0);
    tap_ok(python_layout(0x030D00F0, words, &layout) && layout.thread_frame == 8 * 23 && layout.frame_next == 8 * 29 &&
               layout.code_file == 8 * 35 && layout.code_bytes == 8 * 43 && layout.bytes_data == 8 * 66 && layout.text_ascii == 8 * 70,
           "3.13: each offset from its word");
    tap_ok(layout.text_compact == layout.text_ascii + 16, "and what is not published from what is");
    publish(words, 0x030E02F0);
    tap_ok(python_layout(0x030E02F0, words, &layout) && layout.thread_frame == 8 * 26 && layout.frame_next == 8 * 32 &&
               layout.code_file == 8 * 40 && layout.code_bytes == 8 * 48 && layout.bytes_data == 8 * 76 && layout.text_ascii == 8 * 80,
           "3.14: the same, further on");
    words[2] = 1;
    tap_ok(!python_layout(0x030E02F0, words, &layout), "3.14 without the lock has code of each thread");
    publish(words, 0x030E02F0);
    tap_ok(!python_layout(0x030D00F0, words, &layout), "the version is the published one");
    words[34] = 1 << 20;
    tap_ok(!python_layout(0x030E02F0, words, &layout), "an offset that none can be");
    publish(words, 0x030E02F0);
    ((char *)words)[3]++;
    tap_ok(!python_layout(0x030E02F0, words, &layout), "no such words");
}

static void test_lines(void)
{
    /* for x in y: / f(x), from line 10: two units of line 10, three of 11, one of none, one of 10 */
    static const unsigned char pairs[] = {4, 0, 6, 1, 2, 0x80, 2, 0xFF};
    static const unsigned char records[] = {0x80 | 13 << 3 | 1, 0, 0x80 | 11 << 3 | 2, 4, 9, 0x80 | 15 << 3, 0x80 | 14 << 3, 3, 0, 1, 2};
    static const uint32_t want[] = {10, 10, 11, 11, 11, 0, 10, 0};
    for (uint64_t unit = 0; unit < 8; unit++) {
        tap_u64(python_line_pairs(pairs, sizeof pairs, 10, unit), want[unit], "3.10: unit %d", (int)unit);
        tap_u64(python_line_records(records, sizeof records, 10, unit), want[unit], "3.11: unit %d", (int)unit);
    }
    static const unsigned char far[] = {0x80 | 13 << 3, 0x40 | 0x20, 0x40 | 0x1A, 0x06, 0x80, 0x11};
    tap_u64(python_line_records(far, sizeof far, 1, 0), 1 + (0x20 + (0x1A << 6) + (6 << 12)) / 2, "many lines further on");
    tap_u64(python_line_records(far, sizeof far, 1, 1), 1 + (0x20 + (0x1A << 6) + (6 << 12)) / 2, "and a short record after it");
}

static void test_damaged(void)
{
    unsigned char table[64];
    unsigned seed = 1;
    uint64_t sum = 0;
    for (int i = 0; i < 20000; i++) {
        for (size_t k = 0; k < sizeof table; k++)
            table[k] = (unsigned char)((seed = seed * 1103515245 + 12345) >> 16);
        size_t size = (seed >> 8) % (sizeof table + 1);
        sum += python_line_pairs(table, size, 1, seed % 100) + python_line_records(table, size, 1, seed % 100);
    }
    tap_ok(sum > 0 && !python_line_records(table, 0, 1, 0) && !python_line_pairs(table, 1, 1, 0), "damaged tables end");
}

int main(void)
{
    test_table();
    test_published();
    test_lines();
    test_damaged();
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Twins over a small memory of several pieces, each with its own rights, compared with plain loops over its bytes. */
#include <string.h>

#include "kernels.h"
#include "pattern.h"
#include "tap.h"
#include "twin.h"

#define BASE UINT64_C(0x200000)
#define PIECE 4096
#define PIECES 4
#define ROOM (PIECES * PIECE)

struct rig {
    struct twin_memory memory;
    unsigned char bytes[ROOM];
    unsigned char blank[PIECES];  /* pieces that read as zeros without bytes */
    enum twin_use most[PIECES];   /* TWIN_READ: read only; TWIN_ATOMIC: everything */
    uint64_t end;                 /* the number of bytes that exist */
    uint64_t fault, asked, longest;
    unsigned width;
    enum twin_use use;
    unsigned fences;
    unsigned team; /* replicas, one in each of the first pieces; 0: there is no multicast address */
};

static bool run(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
                unsigned char **bytes)
{
    struct rig *rig = (struct rig *)memory;
    uint64_t at = address - BASE, piece = at / PIECE, left = (piece + 1) * PIECE - at;
    rig->asked++;
    if (address < BASE || at >= rig->end || use > rig->most[piece] || width > rig->end - at) {
        rig->fault = address;
        rig->width = width;
        rig->use = use;
        return false;
    }
    left = left < rig->end - at ? left : rig->end - at;
    *size = *size < left ? *size : left;
    rig->longest = *size > rig->longest ? *size : rig->longest;
    *bytes = use == TWIN_READ && rig->blank[piece] ? NULL : rig->bytes + at;
    return true;
}

/* The multicast address MC + i is byte i of the first pieces. */
#define MC UINT64_C(0x900000)

static bool replicas(struct twin_memory *memory, uint64_t address, unsigned width, enum twin_use use,
                     unsigned char *bytes[TWIN_REPLICAS], unsigned *count)
{
    struct rig *rig = (struct rig *)memory;
    if (address < MC || address - MC > PIECE - width || !rig->team) {
        rig->fault = address;
        rig->use = use;
        rig->width = width;
        return false;
    }
    *count = rig->team;
    for (unsigned i = 0; i < rig->team; i++)
        bytes[i] = use == TWIN_READ && rig->blank[i] ? NULL : rig->bytes + i * PIECE + (address - MC);
    return true;
}

static void fence(struct twin_memory *memory)
{
    ((struct rig *)memory)->fences++;
}

static void rig_open(struct rig *rig)
{
    memset(rig, 0, sizeof *rig);
    rig->memory.run = run;
    rig->memory.replicas = replicas;
    rig->end = ROOM;
    for (int i = 0; i < PIECES; i++)
        rig->most[i] = TWIN_ATOMIC;
}

#define RUN(rig, kernel, ...) twin_of(VMM_KERNEL_##kernel)(&(rig)->memory, (const uint64_t[]){__VA_ARGS__})

static uint64_t word_at(const struct rig *rig, uint64_t address)
{
    uint64_t value;
    memcpy(&value, rig->bytes + (address - BASE), sizeof value);
    return value;
}

static void test_bytes(void)
{
    struct rig rig;
    uint64_t out = BASE + ROOM - 64, bad = 0;
    rig_open(&rig);
    tap_ok(RUN(&rig, FILL, BASE + 3, PIECE + 10, 0x5a), "fill goes over a seam");
    for (uint64_t i = 0; i < ROOM; i++)
        bad += rig.bytes[i] != (i >= 3 && i < PIECE + 13 ? 0x5a : 0);
    tap_u64(bad, 0, "and writes its bytes and no others");
    tap_ok(rig.asked == 2 && rig.longest == PIECE - 3, "by runs: it asked %d times", (int)rig.asked);
    tap_ok(RUN(&rig, SUM, BASE, 2 * PIECE, out) && word_at(&rig, out) == (uint64_t)(PIECE + 10) * 0x5a, "sum");
    tap_ok(RUN(&rig, SUM, BASE, 5, out) && word_at(&rig, out) == (uint64_t)(PIECE + 12) * 0x5a,
           "sum adds to the existing value");
    memset(rig.bytes + (out - BASE), 0, 8);
    tap_ok(RUN(&rig, STRIDE_READ, BASE, PIECE + 14, PIECE, out) && word_at(&rig, out) == 0x5a,
           "stride_read reads every so many bytes");
    tap_ok(RUN(&rig, STRIDE_READ, BASE + 3, 2, UINT64_MAX, out) && word_at(&rig, out) == 2 * 0x5a,
           "and ends where the next step would be past all addresses");
    for (unsigned i = 0; i < 2 * PIECE; i++)
        rig.bytes[i] = (unsigned char)(i * 7);
    unsigned char before[PIECE + 100];
    memcpy(before, rig.bytes + 1, sizeof before);
    tap_ok(RUN(&rig, COPY, BASE + 2 * PIECE - 51, BASE + 1, sizeof before) &&
               memcmp(rig.bytes + 2 * PIECE - 51, before, sizeof before) == 0,
           "copy, both sides over a seam");
    rig.blank[0] = 1;
    tap_ok(RUN(&rig, COPY, BASE + PIECE, BASE, 8) && word_at(&rig, BASE + PIECE) == 0,
           "never-written bytes are copied as zeros");
}

static void test_elements(void)
{
    struct rig rig;
    uint64_t out = BASE + ROOM - 64;
    rig_open(&rig);
    for (unsigned width = 1; width <= 8; width = width == 1 ? 4 : 2 * width) {
        memset(rig.bytes, 0, sizeof rig.bytes);
        uint64_t want = width == 8 ? VMM_KERNEL_TOUCH_VALUE : VMM_KERNEL_TOUCH_VALUE & ((UINT64_C(1) << 8 * width) - 1);
        tap_ok(RUN(&rig, TOUCH, BASE + 8, 1, width, 0) && word_at(&rig, BASE + 8) == want, "touch writes %u", width);
        memset(rig.bytes + 8, 0xff, 8);
        tap_ok(RUN(&rig, TOUCH, BASE + 8, 0, width, out) &&
                   word_at(&rig, out) == (width == 8 ? UINT64_MAX : (UINT64_C(1) << 8 * width) - 1),
               "touch reads %u", width);
    }
    tap_ok(RUN(&rig, ATOMIC_ADD, BASE, 1000) && RUN(&rig, ATOMIC_ADD, BASE, 234) && word_at(&rig, BASE) == 1234,
           "atomic_add");
    memset(rig.bytes, 0, sizeof rig.bytes);
    tap_ok(RUN(&rig, ALIAS_WRITE_READ, BASE, BASE, 64, 1, out) && word_at(&rig, out) == 0 &&
               word_at(&rig, BASE + 56) == 1,
           "alias_write_read sees what it wrote where both are one memory");
    tap_ok(RUN(&rig, ALIAS_WRITE_READ, BASE, BASE + PIECE, 64, 1, out) && word_at(&rig, out) == 8,
           "and counts what it does not see where they are not");
}

static void test_pattern(void)
{
    struct rig rig;
    uint64_t out = BASE + ROOM - 64, n = 2 * PIECE + 8;
    rig_open(&rig);
    tap_ok(RUN(&rig, PATTERN_WRITE, BASE + 8, n, 7) && word_at(&rig, BASE) == 0 && word_at(&rig, BASE + 8 + n) == 0,
           "pattern_write writes inside its range");
    tap_ok(RUN(&rig, PATTERN_VERIFY, BASE + 8, n, 7, out) && word_at(&rig, out) == 0, "and pattern_verify finds it");
    tap_ok(RUN(&rig, PATTERN_VERIFY, BASE + 8, n, 8, out) && word_at(&rig, out) == n / 8 && word_at(&rig, out + 8) == 0,
           "another seed is another pattern, at every word");
    memset(rig.bytes + (out - BASE), 0, 24);
    tap_ok(RUN(&rig, PATTERN_VERIFY, BASE + 16, n - 8, 7, out) && word_at(&rig, out) == n / 8 - 1,
           "so is the same one a word further on");
    memset(rig.bytes + (out - BASE), 0, 24);
    rig.bytes[8 + 800] ^= 1;
    rig.bytes[8 + 1600] ^= 0x80;
    uint64_t found = word_at(&rig, BASE + 808);
    tap_ok(RUN(&rig, PATTERN_VERIFY, BASE + 8 + 1600, 8, 7, out), "a part");
    memset(rig.bytes + (out - BASE), 0, 24);
    tap_ok(RUN(&rig, PATTERN_VERIFY, BASE + 8, n, 7, out) && word_at(&rig, out) == 2, "two bits are two words");
    tap_u64(word_at(&rig, out + 8), 100, "of which the first is at its place");
    tap_u64(word_at(&rig, out + 16), found, "with what is there");
    rig.bytes[8 + 80] ^= 1;
    tap_ok(RUN(&rig, PATTERN_VERIFY, BASE + 8, n, 7, out) && word_at(&rig, out) == 5 && word_at(&rig, out + 8) == 10,
           "a second launch adds up, and finds an earlier one");
    rig.blank[1] = 1;
    memset(rig.bytes + (out - BASE), 0, 24);
    tap_ok(RUN(&rig, PATTERN_VERIFY, BASE + 8, n, 7, out) && word_at(&rig, out) == 3 + PIECE / 8,
           "memory that was never written is not the pattern");
}

/* Bytes of stride_read, added by a second loop: across boundaries, and to the end of each grant. */
static void test_stride_read(void)
{
    struct rig rig;
    uint64_t out = BASE + ROOM - 64;
    rig_open(&rig);
    for (unsigned i = 0; i < 2 * PIECE + 7; i++)
        rig.bytes[i] = (unsigned char)(i * 7 + 1);
    for (uint64_t stride = 1; stride < PIECE + 3; stride += 1 + stride / 3) {
        uint64_t sum = 0;
        for (uint64_t i = 0; i < 2 * PIECE + 2; i += stride)
            sum += rig.bytes[5 + i];
        memset(rig.bytes + (out - BASE), 0, 8);
        tap_ok(RUN(&rig, STRIDE_READ, BASE + 5, 2 * PIECE + 2, stride, out) && word_at(&rig, out) == sum, "stride_read by %d", (int)stride);
    }
}

/* Words of random_read, counted by a second loop. */
static void test_random_read(void)
{
    struct rig rig;
    uint64_t out = BASE + ROOM - 64, seen = 0;
    bool at[32] = {false};
    rig_open(&rig);
    for (uint64_t i = 0; i < 32; i++)
        rig.bytes[8 * i] = 1;
    tap_ok(RUN(&rig, RANDOM_READ, BASE, 256, 1000, 3, out) && word_at(&rig, out) == 1000, "random_read stays inside");
    for (uint64_t i = 0; i < 1000; i++)
        at[pattern_place(pattern_base(3), i, 32)] = true;
    for (int i = 0; i < 32; i++)
        seen += at[i];
    tap_u64(seen, 32, "and comes everywhere");
    tap_ok(RUN(&rig, RANDOM_READ, BASE, 0, 1000, 3, out) && word_at(&rig, out) == 1000, "in no memory it reads nothing");
}

/* The first byte without access ends a kernel and is reported; what was before it is written. */
static void test_faults(void)
{
    struct rig rig;
    uint64_t out = BASE + 64;
    rig_open(&rig);
    rig.end = 2 * PIECE;
    tap_ok(!RUN(&rig, FILL, BASE, 2 * PIECE + 1, 1) && rig.fault == BASE + 2 * PIECE, "fill, one byte too far");
    tap_ok(rig.bytes[2 * PIECE - 1] == 1 && rig.bytes[2 * PIECE] == 0, "wrote all before it");
    tap_ok(rig.width == 1 && rig.use == TWIN_WRITE, "and reports where it was");
    tap_ok(!RUN(&rig, PATTERN_WRITE, BASE, 2 * PIECE + 8, 1) && rig.fault == BASE + 2 * PIECE && rig.width == 8,
           "pattern_write, one word too far");
    tap_ok(!RUN(&rig, SUM, BASE, 2 * PIECE + 1, out) && rig.use == TWIN_READ && rig.fault == BASE + 2 * PIECE, "sum");
    tap_ok(!RUN(&rig, PATTERN_VERIFY, BASE - 8, 8, 1, out) && rig.fault == BASE - 8, "pattern_verify");
    tap_ok(!RUN(&rig, COPY, BASE, BASE + PIECE, PIECE + 1) && rig.fault == BASE + 2 * PIECE, "copy from");
    tap_ok(!RUN(&rig, COPY, BASE + PIECE, BASE, PIECE + 1) && rig.use == TWIN_WRITE, "copy to");
    tap_ok(!RUN(&rig, STRIDE_READ, BASE, 3 * PIECE, PIECE, out) && rig.fault == BASE + 2 * PIECE, "stride_read");
    tap_ok(!RUN(&rig, RANDOM_READ, BASE + PIECE, 2 * PIECE, 100, 1, out) && rig.fault >= BASE + 2 * PIECE,
           "random_read");
    tap_ok(!RUN(&rig, SUM, BASE, 1, BASE + 2 * PIECE) && rig.use == TWIN_ATOMIC, "nowhere to put the answer");
    rig.most[0] = TWIN_READ;
    tap_ok(RUN(&rig, TOUCH, BASE, 0, 4, BASE + PIECE), "read only: touch reads");
    tap_ok(!RUN(&rig, TOUCH, BASE, 1, 4, 0) && rig.use == TWIN_WRITE && rig.width == 4, "and does not write");
    tap_ok(!RUN(&rig, ATOMIC_ADD, BASE, 1) && rig.use == TWIN_ATOMIC, "nothing is added");
    tap_ok(RUN(&rig, ATOMIC_ADD, BASE, 0), "adding nothing touches nothing");
    tap_ok(!RUN(&rig, ALIAS_WRITE_READ, BASE, BASE + PIECE, 8, 0, BASE + PIECE) && rig.fault == BASE,
           "alias_write_read needs the right to write at the first address");
    tap_ok(!RUN(&rig, PATTERN_VERIFY, BASE, 8, 1, BASE), "pattern_verify with something to report and no place");
}

/* twin_load never returns a remembered value that is out of date. */
static void test_known(void)
{
    struct rig rig;
    uint64_t value = 1;
    rig_open(&rig);
    for (uint64_t i = 0; i < PIECE; i += 8)
        twin_load(&rig.memory, BASE + i, 8, &value);
    tap_u64(rig.asked, 1, "a piece is requested once");
    rig.bytes[8] = 77;
    tap_ok(twin_load(&rig.memory, BASE + 8, 4, &value) && value == 77, "its bytes are looked at each time");
    tap_ok(twin_load(&rig.memory, BASE + 15, 1, &value) && !value, "by any width");
    tap_ok(twin_load(&rig.memory, BASE + PIECE, 8, &value) && rig.asked == 2, "the next piece is another question");
    tap_ok(twin_load(&rig.memory, BASE, 8, &value) && rig.asked == 3, "what lies before is as well");

    rig_open(&rig);
    rig.blank[0] = 1;
    tap_ok(twin_load(&rig.memory, BASE, 8, &value) && !value && twin_load(&rig.memory, BASE + 16, 8, &value) && !value,
           "zeros without bytes");
    tap_u64(rig.asked, 1, "are asked for once");
    rig.blank[0] = 0;
    tap_ok(twin_store(&rig.memory, BASE + 16, 8, 5) && twin_load(&rig.memory, BASE + 16, 8, &value) && value == 5,
           "and are not zeros any more after a write");
    rig.blank[1] = 1;
    twin_load(&rig.memory, BASE + PIECE, 8, &value);
    rig.blank[1] = 0;
    tap_ok(twin_add(&rig.memory, BASE + PIECE + 8, 6) && twin_load(&rig.memory, BASE + PIECE + 8, 8, &value) && value == 6,
           "nor after an addition");

    rig_open(&rig);
    rig.end = PIECE - 4;
    tap_ok(twin_load(&rig.memory, BASE + PIECE - 8, 4, &value), "the last bytes of a memory");
    tap_ok(!twin_load(&rig.memory, BASE + PIECE - 8, 8, &value) && rig.fault == BASE + PIECE - 8, "are not read past");
    tap_ok(twin_load(&rig.memory, BASE + PIECE - 16, 8, &value) && twin_load(&rig.memory, BASE + PIECE - 8, 4, &value),
           "accesses up to that end succeed");
    tap_ok(!twin_load(&rig.memory, BASE + PIECE - 8, 8, &value), "does not change that");

    rig_open(&rig);
    rig.memory.dry = true;
    rig.blank[0] = 1;
    for (uint64_t i = 0; i < 80; i += 8)
        twin_load(&rig.memory, BASE + i, 8, &value);
    tap_u64(rig.asked, 10, "on a dry run each access is requested");
    tap_u64(rig.longest, 8, "by itself");

    rig_open(&rig);
    rig.memory.fleeting = true;
    rig.bytes[0] = 5;
    for (int i = 0; i < 3; i++)
        tap_ok(twin_load(&rig.memory, BASE, 8, &value) && value == 5, "bytes that hold for a moment");
    tap_u64(rig.asked, 3, "are asked for each time");
    tap_u64(rig.longest, 8, "by themselves");
}

/* A fence follows each write, if the kernel's arguments request it. */
static void test_fence(void)
{
    struct rig rig;
    rig_open(&rig);
    rig.memory.fence = fence;
    tap_ok(RUN(&rig, ALIAS_WRITE_READ, BASE, BASE, 64, 0, BASE + PIECE) && !rig.fences, "no fence is requested");
    tap_ok(RUN(&rig, ALIAS_WRITE_READ, BASE, BASE, 64, 1, BASE + PIECE) && rig.fences == 8, "one for each word");
}

static void put_word(struct rig *rig, uint64_t address, uint64_t value)
{
    memcpy(rig->bytes + (address - BASE), &value, sizeof value);
}

static void test_multimem(void)
{
    enum { SRC = 3 * PIECE };
    struct rig rig;
    rig_open(&rig);
    rig.team = 3;
    put_word(&rig, BASE + SRC, 5);
    put_word(&rig, BASE + SRC + 8, 6);
    tap_ok(RUN(&rig, MULTIMEM_STORE, MC + 8, BASE + SRC, 16) && word_at(&rig, BASE + 8) == 5 &&
               word_at(&rig, BASE + PIECE + 8) == 5 && word_at(&rig, BASE + 2 * PIECE + 16) == 6 &&
               !word_at(&rig, BASE + 24),
           "multimem_store writes to every replica");
    put_word(&rig, BASE + PIECE + 8, 100);
    tap_ok(RUN(&rig, MULTIMEM_REDUCE, MC + 8, BASE + SRC + 8, 8) && word_at(&rig, BASE + 8) == 11 &&
               word_at(&rig, BASE + PIECE + 8) == 106,
           "multimem_reduce adds to each existing value");
    tap_ok(RUN(&rig, MULTIMEM_LOAD_REDUCE, BASE + SRC, MC + 8, 16) && word_at(&rig, BASE + SRC) == 11 + 106 + 11 &&
               word_at(&rig, BASE + SRC + 8) == 18,
           "multimem_load_reduce adds them up");
    rig.blank[1] = 1;
    tap_ok(RUN(&rig, MULTIMEM_LOAD_REDUCE, BASE + SRC, MC + 8, 8) && word_at(&rig, BASE + SRC) == 22,
           "a replica that was never written counts as 0");
    tap_ok(RUN(&rig, MULTIMEM_STORE, MC, BASE, 0), "nothing is stored nowhere");
    tap_ok(!RUN(&rig, MULTIMEM_STORE, MC + PIECE - 8, BASE + SRC, 16) && rig.fault == MC + PIECE &&
               rig.use == TWIN_WRITE && rig.width == 8,
           "past the end it faults");
    tap_ok(!RUN(&rig, MULTIMEM_REDUCE, MC + PIECE, BASE + SRC, 8) && rig.use == TWIN_ATOMIC, "so does an addition");
    tap_ok(!RUN(&rig, MULTIMEM_LOAD_REDUCE, BASE, BASE, 8) && rig.use == TWIN_READ, "and what is no multicast address");
    tap_ok(!RUN(&rig, MULTIMEM_LOAD_REDUCE, BASE + ROOM, MC, 8) && rig.fault == BASE + ROOM, "or has no place to go");
}

static void test_norm(void)
{
    enum { SRC = 3 * PIECE, OUT = 3 * PIECE + 512 };
    struct rig rig;
    const uint64_t squares[][2] = {{0, 0}, {1, 1}, {3, 1}, {4, 2}, {24, 4}, {25, 5}, {UINT64_MAX, UINT32_MAX},
                                   {UINT64_C(1) << 62, UINT64_C(1) << 31}};
    rig_open(&rig);
    rig.team = 2;
    put_word(&rig, BASE + SRC, 3);
    put_word(&rig, BASE + SRC + 8, 4);
    tap_ok(RUN(&rig, NORM_FINISH, BASE + OUT, MC, BASE + 8, 2, 1) && !word_at(&rig, BASE + OUT + 16),
           "before any thread has come there is no norm");
    tap_ok(RUN(&rig, NORM_ARRIVE, BASE, MC + 8, BASE + SRC, 16) && word_at(&rig, BASE) == 25 &&
               word_at(&rig, BASE + 8) == 1 && word_at(&rig, BASE + PIECE + 8) == 1,
           "norm_arrive writes its part and counts itself in everywhere");
    tap_ok(RUN(&rig, NORM_FINISH, BASE + OUT, MC, BASE + 8, 2, 1) && !word_at(&rig, BASE + OUT + 16) &&
               !word_at(&rig, BASE + OUT),
           "one of two is not enough");
    tap_ok(RUN(&rig, NORM_ARRIVE, BASE + PIECE, MC + 8, BASE + SRC + 8, 8) &&
               RUN(&rig, NORM_FINISH, BASE + OUT, MC, BASE + 8, 2, 1) && word_at(&rig, BASE + OUT) == 41 &&
               word_at(&rig, BASE + OUT + 8) == 6 && word_at(&rig, BASE + OUT + 16) == 1,
           "norm_finish adds the parts and takes the root");
    unsigned wrong = 0;
    for (size_t i = 0; i < sizeof squares / sizeof squares[0]; i++) {
        put_word(&rig, BASE, squares[i][0]);
        put_word(&rig, BASE + PIECE, 0);
        RUN(&rig, NORM_FINISH, BASE + OUT, MC, BASE + 8, 0, 1);
        wrong += word_at(&rig, BASE + OUT + 8) != squares[i][1];
    }
    tap_u64(wrong, 0, "roots are rounded down");
    rig.memory.dry = true;
    tap_ok(!RUN(&rig, NORM_FINISH, BASE + OUT, MC + PIECE, BASE + 8, 9, 1) && rig.fault == MC + PIECE,
           "a dry run goes where it would go in the end");
    rig.memory.dry = false;
    tap_ok(!RUN(&rig, NORM_ARRIVE, BASE, BASE, BASE + SRC, 8) && rig.fault == BASE && word_at(&rig, BASE) == 9,
           "the part is there before the arrival fails");
}

int main(void)
{
    test_bytes();
    test_elements();
    test_pattern();
    test_stride_read();
    test_random_read();
    test_known();
    test_fence();
    test_multimem();
    test_norm();
    test_faults();
    return tap_done();
}

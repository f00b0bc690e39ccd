/* SPDX-License-Identifier: Apache-2.0 */
/* Loads and stores of every width into registers of every width: in a row, scattered and at the
 * same address, by all lanes and by some. The first access is translated lane by lane; the second
 * one, with everything granted, at once. */
#include <inttypes.h>

#include "testing/ptx_rig.h"

static const struct form {
    const char *type;
    unsigned size;
    bool is_signed;
    unsigned held;
    const char *reg;
} forms[] = {
    {"u8", 1, false, 2, "%h7"}, {"s8", 1, true, 2, "%h7"}, {"u16", 2, false, 2, "%h7"}, {"s16", 2, true, 2, "%h7"},
    {"u8", 1, false, 4, "%r7"}, {"s8", 1, true, 4, "%r7"}, {"u16", 2, false, 4, "%r7"}, {"s16", 2, true, 4, "%r7"},
    {"u32", 4, false, 4, "%r7"}, {"s32", 4, true, 4, "%r7"}, {"u8", 1, false, 8, "%d7"}, {"s8", 1, true, 8, "%d7"},
    {"u16", 2, false, 8, "%d7"}, {"s16", 2, true, 8, "%d7"}, {"u32", 4, false, 8, "%d7"}, {"s32", 4, true, 8, "%d7"},
    {"u64", 8, false, 8, "%d7"}, {"s64", 8, true, 8, "%d7"},
};

enum { FORMS = sizeof forms / sizeof forms[0], IN = 0, OUT = 4096 };
static const struct {
    unsigned stride, lanes;
} shapes[] = {{1, 32}, {3, 32}, {1, 20}, {3, 7}};

/* The address of a lane's bytes: %d1, which grows by `scale` for each lane. MORE: a prefix for
 * other spaces, whose memory begins as a copy of the first 512 bytes. */
static const struct space {
    const char *name, *more;
    bool of_lane; /* each lane has its own */
} spaces[] = {
    {"global", "add.u64 %d1, %d0, %d1;", false},
    {"shared",
     ".shared .align 16 .b8 s[512]; mov.u64 %d3, s; mad.wide.u32 %d3, %r0, 16, %d3; mad.wide.u32 %d4, %r0, 16, %d0; ld.global.u64 %d5, [%d4]; "
               "ld.global.u64 %d6, [%d4+8]; st.shared.u64 [%d3], %d5; st.shared.u64 [%d3+8], %d6; bar.sync 0; mov.u64 %d3, s; add.u64 %d1, %d1, %d3;", false},
    {"local", ".local .align 16 .b8 l[512]; mov.u64 %d1, l; mov.u32 %r1, 0; mov.u64 %d4, %d0; mov.u64 %d3, %d1;\n"
              "L: ld.global.u64 %d5, [%d4]; st.local.u64 [%d3], %d5; add.u64 %d4, %d4, 8; add.u64 %d3, %d3, 8; add.u32 %r1, %r1, 1; setp.lt.u32 %p2, %r1, 64; "
              "@%p2 bra L; mov.u64 %d3, l;", true},
};

static unsigned char pattern(unsigned at)
{
    return (unsigned char)(at * 37 + (at >> 3) * 101 + 129);
}

static uint64_t cut(uint64_t value, unsigned bytes)
{
    return value & (UINT64_MAX >> (64 - 8 * bytes));
}

static uint64_t taken(const unsigned char *from, const struct form *f)
{
    uint64_t value = 0;
    memcpy(&value, from, f->size);
    if (f->is_signed && f->size < 8 && value >> (8 * f->size - 1) & 1)
        value |= UINT64_MAX << 8 * f->size;
    return cut(value, f->held);
}

static bool narrow; /* without the steps for wider vectors */

/* A kernel ending in body, over a pattern; neighbouring lanes are `scale` bytes apart. */
static void run(struct rig *rig, const struct space *space, unsigned scale, unsigned lanes, const char *body)
{
    char text[6000];
    snprintf(text, sizeof text,
             "%s.entry k(.param .u64 out, .param .u64 two)\n{\n.reg .b16 %%h<9>; .reg .b32 %%r<9>; .reg .b64 %%d<9>; .reg .pred %%p<3>;\n"
             "ld.param.u64 %%d0, [out]; mov.u32 %%r0, %%tid.x; mul.wide.u32 %%d1, %%r0, %u; setp.lt.u32 %%p1, %%r0, %u;\n%s\n"
             "mad.wide.u32 %%d2, %%r0, 8, %%d0; mov.u16 %%h7, 0x5555; mov.u32 %%r7, 0x55555555; mov.u64 %%d7, 0x5555555555555555;\n%s\nret;\n}\n",
             RIG_HEAD, scale, lanes, space->more, body);
    rig_open(rig, text);
    for (unsigned i = 0; i < 512; i++)
        rig->bytes[IN + i] = pattern(i);
    rig->narrow = narrow;
    rig_launch(rig, "k", 1, 32, (uint64_t[]){RIG_BASE, UINT64_C(0xf1e2d3c4b5a69788)}, 2);
}

/* Checks each lane's result: the bytes at its number times scale, or the register's previous value. */
static bool is_read(const struct rig *rig, const struct form *f, const unsigned char *from, unsigned scale, unsigned lanes)
{
    bool right = rig->outcome.end == PTX_END_DONE;
    for (unsigned lane = 0; lane < 32; lane++) {
        uint64_t got = 0;
        memcpy(&got, rig->bytes + OUT + 8 * (size_t)lane, f->held);
        right = right && got == (lane < lanes ? taken(from + (size_t)lane * scale, f) : cut(UINT64_C(0x5555555555555555), f->held));
    }
    return right;
}

static void test_loads(const struct space *space, const struct form *f)
{
    char body[500];
    bool right = true;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct rig rig;
        const unsigned scale = f->size * (f->size == 8 && shapes[i].stride > 1 ? 2 : shapes[i].stride);
        snprintf(body, sizeof body, "@%%p1 ld.%s.%s %s, [%%d1]; @%%p1 ld.%s.%s %s, [%%d1]; st.global.u%u [%%d2+%d], %s;", space->name, f->type,
                 f->reg, space->name, f->type, f->reg, 8 * f->held, OUT, f->reg);
        run(&rig, space, scale, shapes[i].lanes, body);
        right = is_read(&rig, f, rig.bytes + IN, space->of_lane ? 0 : scale, shapes[i].lanes) && right;
        rig_close(&rig);
    }
    tap_ok(right, "ld.%s.%s into %u bytes", space->name, f->type, f->held);
}

/* The register contains the lane's number times 0x0123456789abcdef. */
static void test_stores(const struct space *space, const struct form *f)
{
    const uint64_t factor = UINT64_C(0x0123456789abcdef);
    char body[900];
    bool right = true;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        struct rig rig;
        unsigned char wanted[512];
        const unsigned scale = f->size * (f->size == 8 && shapes[i].stride > 1 ? 2 : shapes[i].stride);
        snprintf(body, sizeof body,
                 "cvt.u64.u32 %%d7, %%r0; mul.lo.u64 %%d7, %%d7, %" PRIu64 "; cvt.u32.u64 %%r7, %%d7; cvt.u16.u64 %%h7, %%d7;\n"
                 "@%%p1 st.%s.%s [%%d1], %s; @%%p1 st.%s.%s [%%d1], %s; bar.warp.sync -1;\n%s",
                 factor, space->name, f->type, f->reg, space->name, f->type, f->reg,
                 space->of_lane ? "ld.local.u64 %d5, [%d3]; st.global.u64 [%d2+4096], %d5;"
                 : space->name[0] == 's' ? "mad.wide.u32 %d3, %r0, 8, %d3; ld.shared.u64 %d5, [%d3]; ld.shared.u64 %d6, [%d3+256]; "
                                           "st.global.u64 [%d2+4096], %d5; st.global.u64 [%d2+4352], %d6;"
                                         : "ld.global.u64 %d5, [%d2]; ld.global.u64 %d6, [%d2+256]; st.global.u64 [%d2+4096], %d5; "
                                           "st.global.u64 [%d2+4352], %d6;");
        run(&rig, space, scale, shapes[i].lanes, body);
        for (unsigned k = 0; k < 512; k++)
            wanted[k] = pattern(k);
        for (uint64_t lane = 0; lane < shapes[i].lanes && !space->of_lane; lane++)
            memcpy(wanted + lane * scale, &(uint64_t){lane * factor}, f->size);
        right = right && rig.outcome.end == PTX_END_DONE;
        for (uint64_t lane = 0; lane < 32 && space->of_lane; lane++) {
            memcpy(wanted, rig.bytes + IN, 8);
            if (lane < shapes[i].lanes)
                memcpy(wanted, &(uint64_t){lane * factor}, f->size);
            right = right && memcmp(rig.bytes + OUT + 8 * lane, wanted, 8) == 0;
        }
        right = right && (space->of_lane || memcmp(rig.bytes + OUT, wanted, sizeof wanted) == 0);
        rig_close(&rig);
    }
    tap_ok(right, "st.%s.%s of %u bytes", space->name, f->type, f->held);
}

/* The same address for all lanes: of parameters, and of shared and local memory, where the last lane's store wins. */
static void test_one_place(const struct form *f)
{
    static const unsigned char param[8] = {0x88, 0x97, 0xa6, 0xb5, 0xc4, 0xd3, 0xe2, 0xf1};
    char body[500];
    struct rig rig;
    bool right = true;
    for (unsigned lanes = 20; lanes <= 32; lanes += 12) {
        snprintf(body, sizeof body, "@%%p1 ld.param.%s %s, [two]; st.global.u%u [%%d2+%d], %s;", f->type, f->reg, 8 * f->held, OUT, f->reg);
        run(&rig, &spaces[0], 0, lanes, body);
        right = is_read(&rig, f, param, 0, lanes) && right;
        rig_close(&rig);
        snprintf(body, sizeof body, "@%%p1 ld.shared.%s %s, [s+16]; st.global.u%u [%%d2+%d], %s;", f->type, f->reg, 8 * f->held, OUT, f->reg);
        run(&rig, &spaces[1], 0, lanes, body);
        right = is_read(&rig, f, rig.bytes + IN + 16, 0, lanes) && right;
        rig_close(&rig);
        snprintf(body, sizeof body, "@%%p1 ld.local.%s %s, [l+24]; st.global.u%u [%%d2+%d], %s;", f->type, f->reg, 8 * f->held, OUT, f->reg);
        run(&rig, &spaces[2], 0, lanes, body);
        right = is_read(&rig, f, rig.bytes + IN + 24, 0, lanes) && right;
        rig_close(&rig);
        snprintf(body, sizeof body, "mov.u32 %%r7, %%r0; cvt.u64.u32 %%d7, %%r0; cvt.u16.u32 %%h7, %%r0; mov.u64 %%d5, 0; st.shared.u64 [s+16], %%d5;\n"
                 "@%%p1 st.shared.%s [s+16], %s; ld.shared.u64 %%d5, [s+16]; st.global.u64 [%%d2+%d], %%d5;", f->type, f->reg, OUT);
        run(&rig, &spaces[1], 0, lanes, body);
        right = right && rig.outcome.end == PTX_END_DONE && rig_u64(&rig)[OUT / 8] == lanes - 1;
        rig_close(&rig);
    }
    tap_ok(right, "one place, .%s of %u bytes", f->type, f->held);
}

/* Boundary cases: an access that ends with the block's memory, one that exceeds it in one lane, and addresses around 2 MiB. */
static void test_edges(void)
{
    static const struct {
        const char *what, *body;
        enum ptx_end end;
        unsigned thread;
    } edges[] = {
        {"shared memory that ends with the last lane's", "ld.shared.u64 %d5, [%d1+256];", PTX_END_DONE, 0},
        {"and one byte further", "ld.shared.u64 %d5, [%d1+264];", PTX_END_SPACE, 31},
        {"a lane before its beginning", "ld.shared.u64 %d5, [%d1+-8];", PTX_END_SPACE, 0},
        {"one place behind its end", "ld.shared.u64 %d5, [s+512];", PTX_END_SPACE, 0},
        {"a place that is not a multiple of its size", "ld.shared.u64 %d5, [s+4];", PTX_END_MISALIGNED, 0},
        {"an odd lane", "add.u64 %d1, %d1, 4; ld.shared.u64 %d5, [%d1];", PTX_END_MISALIGNED, 0},
        {"a vector", "ld.shared.v2.u64 {%d5, %d6}, [%d1];", PTX_END_MISALIGNED, 1},
        {"a parameter's end", "ld.param.u64 %d5, [two+8];", PTX_END_SPACE, 0},
    };
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        struct rig rig;
        run(&rig, &spaces[1], 8, 32, edges[i].body);
        tap_ok(rig.outcome.end == edges[i].end && (rig.outcome.end == PTX_END_DONE || rig.outcome.thread[0] == edges[i].thread),
               "%s (end %d, thread %u)", edges[i].what, (int)rig.outcome.end, rig.outcome.thread[0]);
        rig_close(&rig);
    }
}

/* Addresses of which only the low half is in local memory. */
static void test_far_local(void)
{
    static const char *const bodies[] = {
        "ld.local.u64 %d5, [%d3]; add.u64 %d4, %d3, 0x100000000; ld.local.u64 %d5, [%d4];",
        "ld.local.u64 %d5, [%d3]; cvt.u32.u64 %r2, %d3; add.u32 %r2, %r2, 8; ld.local.u64 %d5, [%r2+-16];",
    };
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        struct rig rig;
        run(&rig, &spaces[2], 8, 32, bodies[i]);
        tap_ok(rig.outcome.end == PTX_END_SPACE && rig.outcome.lanes == UINT32_MAX, "a place that is not in local memory (end %d)", (int)rig.outcome.end);
        rig_close(&rig);
    }
}

int main(void)
{
    for (unsigned i = 0; i < 2 * FORMS; i++) {
        narrow = i & 1;
        for (size_t k = 0; k < sizeof spaces / sizeof spaces[0]; k++) {
            test_loads(&spaces[k], &forms[i / 2]);
            test_stores(&spaces[k], &forms[i / 2]);
        }
        test_one_place(&forms[i / 2]);
    }
    test_edges();
    test_far_local();
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Group F: every bit of the flags, on memory that satisfies each comparison. Part of ../memops.c. */

static const unsigned flag_values[] = {
    0,       1,       2,       3,       4,          5,          6,           7,        8,        16,
    32,      64,      128,     1 << 8,  1 << 9,     1 << 10,    1 << 11,     1 << 12,  1 << 13,  1 << 14,
    1 << 15, 1 << 16, 1 << 17, 1 << 18, 1 << 19,    1 << 20,    1 << 21,     1 << 22,  1 << 23,  1 << 24,
    1 << 25, 1 << 26, 1 << 27, 1 << 28, 1 << 29,    FLUSH,      FLUSH | 1,   FLUSH | 2, FLUSH | 3, FLUSH | 4,
    FLUSH | 8, 0x80000000u, 0x80000001u, 0xc0000000u, 0x7fffffff, 0xffffffffu, 0x100001, 0x20003};

static void flag_one(size_t i, char *id, int run)
{
    const struct op *o = &ops[i / COUNT(flag_values)];
    unsigned flags = flag_values[i % COUNT(flag_values)];
    snprintf(id, CASE_ID, "F.%s.%08x", o->name, flags);
    if (!run)
        return;
    u64 value = o->width == 4 ? 0x11223344 : 0x1122334455667788;
    set_value(dev, o->waits ? value : 0, o->width);
    CUresult r = op(o, st, dev, value, flags);
    const char *then = settle(st);
    say(id, "%s then=%s is=%s", name_of(r), then, value_at(dev, 8));
    if (strcmp(then, "WAITS") == 0)
        _exit(0);
}

static void group_f(void)
{
    if (is_wanted("F.flags"))
        run_cases(start, (size_t)ALL_OPS * COUNT(flag_values), flag_one);
}

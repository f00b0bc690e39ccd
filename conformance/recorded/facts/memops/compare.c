/* SPDX-License-Identifier: Apache-2.0 */
/* Group C: which values satisfy which wait, in host memory; a wait that is not satisfied is ended by a host store, if the value
 * after it satisfies: the answer names both. Part of ../memops.c. */

static const u64 values32[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0x80000001, 0xfffffffe, 0xffffffff};
static const u64 values64[] = {0,
                               1,
                               0x7fffffff,
                               0x80000000,
                               0xffffffff,
                               0x100000000,
                               0x8000000000000000,
                               0x7fffffffffffffff,
                               0xffffffff00000000,
                               0xffffffffffffffff};
enum { COMPARISONS = 4, PAIRS32 = COUNT(values32) * COUNT(values32), PAIRS64 = COUNT(values64) * COUNT(values64) };

static bool satisfied(unsigned how, u64 memory, u64 value, unsigned width)
{
    const u64 all = width == 4 ? 0xffffffff : ~0ULL, sign = width == 4 ? 0x80000000 : 1ULL << 63;
    switch (how) {
    case GEQ: return !((memory - value) & sign);
    case EQ: return memory == value;
    case AND: return (memory & value) != 0;
    default: return (~(memory | value) & all) != 0;
    }
}

/* A value that ends the wait; without one, the child ends instead. */
static bool value_that_ends(unsigned how, u64 value, unsigned width, u64 *with)
{
    const u64 some[] = {value, 0, ~0ULL};
    for (size_t i = 0; i < COUNT(some); i++) {
        *with = width == 4 ? (uint32_t)some[i] : some[i];
        if (satisfied(how, *with, value, width))
            return true;
    }
    return false;
}

static void store(u64 value, unsigned width)
{
    if (width == 4)
        *flag = (uint32_t)value;
    else
        *(volatile u64 *)flag = value;
}

static void compare_one(size_t i, char *id, int run)
{
    bool wide = i >= (size_t)COMPARISONS * PAIRS32;
    if (wide)
        i -= (size_t)COMPARISONS * PAIRS32;
    const size_t count = wide ? COUNT(values64) : COUNT(values32);
    const unsigned width = wide ? 8 : 4, how = (unsigned)(i / (count * count));
    const u64 *values = wide ? values64 : values32, memory = values[i / count % count], value = values[i % count];
    static const char *const names[] = {"geq", "eq", "and", "nor"};
    snprintf(id, CASE_ID, "C.%u.%s.memory=%llx.value=%llx", width * 8, names[how], memory, value);
    u64 with = 0;
    bool ends = value_that_ends(how, value, width, &with);
    bool extreme = memory == 0 || memory == (wide ? ~0ULL : 0xffffffff);
    if (!run || (!ends && !extreme)) /* each that nothing ends costs a process */
        return;
    *(volatile u64 *)flag = wide ? memory : 0x5a5a5a5a00000000 | memory; /* a wait of 32 bits must not look further */
    CUresult r = op(&ops[wide ? 3 : 1], st, flag_at, value, how);
    const char *then = settle(st);
    if (strcmp(then, "WAITS")) {
        say(id, "%s then=%s", name_of(r), then);
        return;
    }
    if (ends)
        store(with, width);
    say(id, "%s then=WAITS stored=%s", name_of(r), ends ? settle(st) : "no value");
    if (!ends)
        _exit(0);
}

static void group_c(void)
{
    if (is_wanted("C.compare"))
        run_cases(start, (size_t)COMPARISONS * (PAIRS32 + PAIRS64), compare_one);
}

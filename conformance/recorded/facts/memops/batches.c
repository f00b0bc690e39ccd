/* SPDX-License-Identifier: Apache-2.0 */
/* Group B: batches. Part of ../memops.c.
 *
 *     B.v2.count.256     that many writes of i to dev + 4 i; how many arrived
 *     B.v1.wrong.2.4     four writes, the third of which has the mistake with that name; which of the others arrived
 */

enum { LARGEST = 70000 };
static CUstreamBatchMemOpParams list[LARGEST];

static CUdeviceptr wide; /* LARGEST values of 4 bytes */

static void start_batches(void)
{
    start();
    must("wide", cuMemAlloc(&wide, (size_t)LARGEST * 4));
    cuMemsetD8(wide, 0, (size_t)LARGEST * 4);
    cuCtxSynchronize();
}

/* How many of the first n values of 4 bytes at `at` are not 0. */
static unsigned arrived(CUdeviceptr at, size_t n)
{
    static uint32_t v[LARGEST];
    unsigned count = 0;
    if (cuMemcpyDtoH(v, at, n * 4))
        return 999999;
    for (size_t i = 0; i < n; i++)
        count += v[i] != 0;
    return count;
}

static void end_if_stuck(const char *then)
{
    if (strcmp(then, "WAITS") == 0)
        _exit(0);
}

/* ---- how many ---- */

static const unsigned counts[] = {0, 1, 2, 3, 8, 63, 64, 127, 128, 254, 255, 256, 257, 511, 512, 1000, 4096, 65535, 65536, 65537};

static void count_one(size_t i, char *id, int run)
{
    const int version = i % 2 ? 1 : 2;
    const unsigned n = counts[i / 2];
    snprintf(id, CASE_ID, "B.v%d.count.%u", version, n);
    if (!run)
        return;
    cuMemsetD8(wide, 0, (size_t)LARGEST * 4);
    cuCtxSynchronize();
    for (unsigned k = 0; k < n; k++)
        list[k] = entry_of(WRITE32, wide + 4 * k, k + 1, 0);
    CUresult r = batch(version, st, n, list, 0);
    const char *then = settle(st);
    say(id, "%s then=%s arrived=%u", name_of(r), then, arrived(wide, LARGEST));
    end_if_stuck(then);
}

/* ---- counts and lists that cannot be ---- */

static void odd_lists(void)
{
    static const unsigned huge[] = {0x7fffffff, 0x80000000, 0xffffffff, 0x10000000};
    char id[CASE_ID];
    start_batches();
    for (int version = 1; version < 3; version++) {
        snprintf(id, sizeof id, "B.v%d.null.0", version);
        R(id, batch(version, st, 0, NULL, 0));
        snprintf(id, sizeof id, "B.v%d.null.0.flags", version);
        R(id, batch(version, st, 0, NULL, 1));
        snprintf(id, sizeof id, "B.v%d.list.0.flags", version);
        R(id, batch(version, st, 0, list, 1));
        snprintf(id, sizeof id, "B.v%d.null.1", version);
        R(id, batch(version, st, 1, NULL, 0));
        if (version == 2) /* a driver does not get here */
            break;
        snprintf(id, sizeof id, "B.v%d.null.257", version);
        R(id, batch(version, st, 257, NULL, 0));
        for (size_t k = 0; k < COUNT(huge); k++) {
            snprintf(id, sizeof id, "B.v%d.null.%x", version, huge[k]);
            R(id, batch(version, st, huge[k], NULL, 0));
        }
    }
}

static size_t huge_case;
static void huge_list(void)
{
    static const unsigned huge[] = {0x7fffffff, 0x80000000, 0xffffffff, 0x10000000};
    char id[CASE_ID];
    start_batches();
    within(1500);
    list[0] = entry_of(WRITE32, dev, 1, 0);
    snprintf(id, sizeof id, "B.v2.huge.%x", huge[huge_case]);
    R(id, batch(2, st, huge[huge_case], list, 0));
}

/* ---- flags of the batch, operations and their flags ---- */

static void batch_flag_one(size_t i, char *id, int run)
{
    const int version = i % 2 ? 1 : 2;
    const unsigned bit = (unsigned)(i / 2), flags = bit < 32 ? 1u << bit : 0xffffffff;
    snprintf(id, CASE_ID, "B.v%d.flags.%08x", version, flags);
    if (!run)
        return;
    set_value(dev, 0, 8);
    list[0] = entry_of(WRITE32, dev, 5, 0);
    CUresult r = batch(version, st, 1, list, flags);
    const char *then = settle(st);
    say(id, "%s then=%s is=%s", name_of(r), then, value_at(dev, 4));
    end_if_stuck(then);
}

static const int operations[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 255, 256, 0x10002, -1, 0x7fffffff};
static const unsigned operation_flags[] = {0, 1, 2, 3, 4, 5, 8, 0x10, 1 << 16, 1 << 29, FLUSH, FLUSH | 1, FLUSH | 3, 0x80000000u, 0xffffffffu};

static void operation_one(size_t i, char *id, int run)
{
    const int version = i % 2 ? 1 : 2, operation = operations[i / 2 / COUNT(operation_flags)];
    const unsigned flags = operation_flags[i / 2 % COUNT(operation_flags)];
    snprintf(id, CASE_ID, "B.v%d.operation.%d.%08x", version, operation, flags);
    if (!run || (operation > 6 && flags > 1))
        return;
    set_value(dev, 0x11223344, 8);
    list[0] = entry_of(operation, dev, operation == 2 || operation == 5 ? 7 : 0x11223344, flags);
    list[1] = entry_of(WRITE32, dev + 16, 5, 0);
    set_value(dev + 16, 0, 4);
    CUstreamBatchMemOpParams copy[2];
    memcpy(copy, list, sizeof copy);
    CUresult r = batch(version, st, 2, list, 0);
    const char *then = settle(st);
    bool same = memcmp(copy, list, sizeof copy) == 0;
    say(id, "%s then=%s is=%s next=%s list=%s", name_of(r), then, value_at(dev, 8), value_at(dev + 16, 4),
        same ? "same" : "changed");
    end_if_stuck(then);
}

/* ---- one wrong entry among good ones ---- */

enum { WRONGS = 14 };
static const char *const wrongs[WRONGS] = {"none",      "operation",  "zero_operation", "unaligned",  "unaligned64",
                                           "null",      "flags",      "wait_flags",     "unmapped",   "host_memory",
                                           "flush_flags", "barrier_flags", "past_end", "flush"};

static CUstreamBatchMemOpParams wrong_entry(size_t how)
{
    static uint32_t on_the_host;
    switch (how) {
    case 1: return entry_of(99, dev + 512, 1, 0);
    case 2: return entry_of(0, dev + 512, 1, 0);
    case 3: return entry_of(WRITE32, dev + 514, 1, 0);
    case 4: return entry_of(WRITE64, dev + 516, 1, 0);
    case 5: return entry_of(WRITE32, 0, 1, 0);
    case 6: return entry_of(WRITE32, dev + 512, 1, 0x10);
    case 7: return entry_of(WAIT32, dev + 512, 0, 0x10);
    case 8: return entry_of(WRITE32, 0x7000000000000000, 1, 0);
    case 9: return entry_of(WRITE32, (CUdeviceptr)(uintptr_t)&on_the_host, 1, 0);
    case 10: return entry_of(FLUSHES, 0, 0, 1);
    case 11: return entry_of(BARRIER, 0, 0, 7);
    case 12: return entry_of(WRITE32, dev + ((size_t)64 << 30), 1, 0);
    case 13: return entry_of(FLUSHES, 0, 0, 0);
    default: return entry_of(WRITE32, dev + 512, 1, 0);
    }
}

static void wrong_one(size_t i, char *id, int run)
{
    const int version = i % 2 ? 1 : 2;
    const size_t how = i / 2 % WRONGS;
    const unsigned where = (unsigned)(i / 2 / WRONGS);
    snprintf(id, CASE_ID, "B.v%d.wrong.%s.%u", version, wrongs[how], where);
    if (!run)
        return;
    cuMemsetD8(dev, 0, 1024);
    cuCtxSynchronize();
    for (unsigned k = 0; k < 4; k++)
        list[k] = k == where ? wrong_entry(how) : entry_of(WRITE32, dev + 4 * k, k + 1, 0);
    CUresult r = batch(version, st, 4, list, 0);
    const char *then = settle(st);
    unsigned seen = strcmp(then, "SUCCESS") ? 0 : arrived(dev, 4);
    say(id, "%s then=%s arrived=%u", name_of(r), then, seen);
    end_if_stuck(then);
}

/* ---- what a batch does ---- */

static void mixed(void)
{
    start_vmm();
    within(3000);
    list[0] = entry_of(WRITE32, dev, 1, 0);
    list[1] = entry_of(WAIT32, dev, 1, EQ);
    list[2] = entry_of(WRITE64, dev + 8, 0x1111111122222222, 0);
    list[3] = entry_of(WAIT64, dev + 8, 0x1111111122222222, EQ);
    list[4] = entry_of(BARRIER, 0, 0, 0);
    list[5] = entry_of(BARRIER, 0, 0, 1);
    list[6] = entry_of(WRITE32, dev, 2, 1);
    list[7] = entry_of(WRITE32, dev, 3, 0);
    R("B.mixed", batch(2, st, 8, list, 0));
    SETTLE_SAY("B.mixed.then", st, " %s %s", value_at(dev, 4), value_at(dev + 8, 8));
    R("B.mixed.v1", batch(1, st, 4, list, 0));
    SETTLE_SAY("B.mixed.v1.then", st, " %s %s", value_at(dev, 4), value_at(dev + 8, 8));
    /* both widths, host and device memory, and a mapping */
    list[0] = entry_of(WRITE32, flag_at + 64, 21, 0);
    list[1] = entry_of(WRITE32, vm, 22, 0);
    list[2] = entry_of(WRITE64, dev + 64, 23, 0);
    R("B.kinds", batch(2, st, 3, list, 0));
    SETTLE_SAY("B.kinds.then", st, " %u %s %s", flag[16], value_at(vm, 4), value_at(dev + 64, 4));
    /* fields that are not looked at */
    list[0] = entry_of(WRITE32, dev, 0xffffffff00000009, 0);
    list[0].writeValue.alias = 0x123456789;
    list[0].pad[5] = ~0ULL;
    list[1] = entry_of(BARRIER, 0, 0, 0);
    memset((char *)&list[1] + 8, 0xee, sizeof list[1] - 8);
    R("B.unused_fields", batch(2, st, 2, list, 0));
    SETTLE_SAY("B.unused_fields.then", st, " %s", value_at(dev, 8));
    /* the list may change when the call has returned */
    gate(st);
    list[0] = entry_of(WRITE32, dev, 31, 0);
    R("B.reused", batch(2, st, 1, list, 0));
    list[0] = entry_of(WRITE32, dev, 32, 0);
    open_gate();
    SETTLE_SAY("B.reused.then", st, " %s", value_at(dev, 4));
    /* a wait in the middle: what is before it is done, what is behind is not */
    set_value(dev, 0, 8);
    set_value(dev + 8, 0, 8);
    *flag = 0;
    list[0] = entry_of(WRITE32, dev, 41, 0);
    list[1] = entry_of(WAIT32, flag_at, 1, EQ);
    list[2] = entry_of(WRITE32, dev + 8, 42, 0);
    R("B.middle", batch(2, st, 3, list, 0));
    const char *then = settle(st);
    say("B.middle.before", "%s %s %s", then, value_at(dev, 4), value_at(dev + 8, 4));
    *flag = 1;
    then = settle(st);
    say("B.middle.after", "%s %s %s", then, value_at(dev, 4), value_at(dev + 8, 4));
    /* a wait that only a later entry would satisfy */
    set_value(dev, 0, 8);
    list[0] = entry_of(WAIT32, dev, 51, EQ);
    list[1] = entry_of(WRITE32, dev, 51, 0);
    R("B.deadlock", batch(2, st, 2, list, 0));
    then = settle(st);
    say("B.deadlock.then", "%s %s", then, value_at(dev, 4));
    R("B.deadlock.other", write_to(st2, dev, 51, 4));
    say("B.deadlock.rescued", "%s", settle(st));
    /* only barriers or flushes */
    list[0] = entry_of(BARRIER, 0, 0, 0);
    R("B.barrier_only", batch(2, st, 1, list, 0));
    say("B.barrier_only.then", "%s", settle(st));
    R("B.barrier_only.v1", batch(1, st, 1, list, 0));
    say("B.barrier_only.v1.then", "%s", settle(st));
    /* an empty batch behind a wait */
    gate(st);
    R("B.empty_behind", batch(2, st, 0, list, 0));
    say("B.empty_behind.then", "%s", settle(st));
    R("B.null_behind", batch(2, st, 0, NULL, 0));
    open_gate();
    say("B.empty_behind.opened", "%s", settle(st));
}

static void group_b(void)
{
    char id[CASE_ID];
    if (is_wanted("B.v"))
        run_cases(start_batches, COUNT(counts) * 2, count_one);
    child("B.v.null!", odd_lists);
    for (huge_case = 0; huge_case < 4; huge_case++) {
        snprintf(id, sizeof id, "B.v2.huge.%zu!", huge_case);
        child(id, huge_list);
    }
    if (is_wanted("B.v")) {
        run_cases(start_batches, 2 * 33, batch_flag_one);
        run_cases(start_batches, 2 * COUNT(operations) * COUNT(operation_flags), operation_one);
        run_cases(start_batches, (size_t)2 * WRONGS * 4, wrong_one);
    }
    child("B.mixed!", mixed);
}

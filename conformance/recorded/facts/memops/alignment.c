/* SPDX-License-Identifier: Apache-2.0 */
/* Group L: every alignment, at the start and the end of memory of each kind; where a write writes. Part of ../memops.c. */

enum { OFFSETS = 17, MEMORIES = 4 };
static CUdeviceptr aligned_at[MEMORIES];

static void start_alignment(void)
{
    start_vmm();
    aligned_at[0] = dev;
    aligned_at[1] = flag_at;
    aligned_at[2] = vm;
    aligned_at[3] = vm + G - 16; /* the last 16 bytes of the mapping */
}

static void alignment_one(size_t i, char *id, int run)
{
    static const char *const names[MEMORIES] = {"alloc", "host", "mapped", "end"};
    const struct op *o = &ops[i % ALL_OPS];
    unsigned offset = (unsigned)(i / ALL_OPS % OFFSETS), memory = (unsigned)(i / ALL_OPS / OFFSETS);
    snprintf(id, CASE_ID, "L.%s.%s+%u", o->name, names[memory], offset);
    if (!run || (memory < 3 && offset > 8))
        return;
    CUdeviceptr base = aligned_at[memory], at = base + offset;
    unsigned char bytes[32] = {0};
    size_t room = memory == 3 ? 16 : 32;
    must("fill", cuMemsetD8(base, 0x5a, room));
    cuCtxSynchronize();
    CUresult r = op(o, st, at, o->waits ? 0 : 0x0102030405060708, o->waits ? NOR : 0);
    const char *then = settle(st);
    char shown_bytes[80] = "";
    cuMemcpyDtoH(bytes, base, room);
    for (size_t b = 0, n = 0; b < room; b++)
        if (bytes[b] != 0x5a)
            n += (size_t)sprintf(shown_bytes + n, " %zu:%02x", b, bytes[b]);
    say(id, "%s then=%s%s", name_of(r), then, shown_bytes);
    if (strcmp(then, "WAITS") == 0)
        _exit(0);
}

static void group_l(void)
{
    if (is_wanted("L.alignment"))
        run_cases(start_alignment, (size_t)ALL_OPS * OFFSETS * MEMORIES, alignment_one);
}

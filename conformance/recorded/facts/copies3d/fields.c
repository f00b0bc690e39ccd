/* SPDX-License-Identifier: Apache-2.0 */
/* Group F: fields that must be 0, arrays, and two mistakes at once. Q: contexts of copies between contexts. Part of ../copies3d.c,
 * which includes it. */

/* Each changes a good box. */
static const struct {
    const char *name;
    size_t offset;
    u64 value;
    int size;
} edits[] = {
#define FIELD(name, value) {#name "=" #value, offsetof(CUDA_MEMCPY3D, name), (u64)(value), (int)sizeof(((CUDA_MEMCPY3D *)0)->name)}
    FIELD(srcLOD, 1), FIELD(srcLOD, -1), FIELD(dstLOD, 1), FIELD(dstLOD, -1), FIELD(reserved0, 1), FIELD(reserved0, -1),
    FIELD(reserved1, 1), FIELD(reserved1, -1), FIELD(srcArray, 0x1000), FIELD(dstArray, 0x1000), FIELD(srcHost, 0x1000),
    FIELD(dstHost, 0x1000), FIELD(srcMemoryType, 0), FIELD(srcMemoryType, 3), FIELD(srcMemoryType, 5), FIELD(srcMemoryType, -1),
    FIELD(dstMemoryType, 0), FIELD(dstMemoryType, 3), FIELD(dstMemoryType, 5), FIELD(dstMemoryType, -1), FIELD(srcDevice, 0),
    FIELD(dstDevice, 0), FIELD(WidthInBytes, 0), FIELD(Height, 0), FIELD(Depth, 0), FIELD(srcPitch, 0), FIELD(dstPitch, 0),
    FIELD(srcPitch, 63), FIELD(dstPitch, 63), FIELD(srcHeight, 0), FIELD(dstHeight, 0), FIELD(srcHeight, 2), FIELD(dstHeight, 2),
    FIELD(WidthInBytes, 257), FIELD(WidthInBytes, 513), FIELD(Height, 5), FIELD(Height, 6), FIELD(srcPitch, 0x80000000),
    FIELD(dstPitch, 0x80000000), FIELD(srcY, 2), FIELD(dstY, 3), FIELD(srcXInBytes, 193), FIELD(dstXInBytes, 449),
#undef FIELD
};

static void edit(CUDA_MEMCPY3D *c, size_t e)
{
    memcpy((char *)c + edits[e].offset, &edits[e].value, (size_t)edits[e].size);
}

static void edits_case(size_t i, char *id, int run)
{
    size_t first = digit(&i, COUNT(edits)), second = digit(&i, COUNT(edits));
    enum call3 call = (enum call3)i;
    snprintf(id, CASE_ID, "F.%s.%s%s%s", call3_name[call], edits[first].name, first == second ? "" : "+",
             first == second ? "" : edits[second].name);
    /* two at once: those before the line in the table, and only by one call */
    if (!run || first > second || (first != second && call != SYNC3))
        return;
    CUDA_MEMCPY3D c = good_box();
    edit(&c, first);
    edit(&c, second);
    ask_box(id, call, &c, &from[MAPPED], &to[MAPPED]);
}

static void group_f(void)
{
    generate("F", start_places, COUNT(edits) * COUNT(edits) * CALLS3, edits_case);
}

/* ---- contexts ---- */

static CUcontext context_of[6];
static const char *const context_name[] = {"primary", "null", "other", "destroyed", "peer", "peer_other"};

static void start_contexts(void)
{
    start_places();
    context_of[0] = primary[0];
#if CUDA_VERSION >= 13000
    cuCtxCreate(&context_of[2], NULL, 0, 0);
    cuCtxCreate(&context_of[3], NULL, 0, 0);
    if (devices > 1)
        cuCtxCreate(&context_of[5], NULL, 0, 1);
#else
    cuCtxCreate(&context_of[2], 0, 0);
    cuCtxCreate(&context_of[3], 0, 0);
    if (devices > 1)
        cuCtxCreate(&context_of[5], 0, 1);
#endif
    cuCtxDestroy(context_of[3]);
    context_of[4] = primary[1];
    cuCtxSetCurrent(primary[0]);
}

static size_t context_count;

static void contexts_case(size_t i, char *id, int run)
{
    static const enum kind kinds_of[] = {MAPPED, ALLOC, MALLOC, REGISTERED, PEERALLOC, PEERONLY};
    static const enum declared declared_of[] = {D_DEVICE, D_UNIFIED, D_HOST};
    const size_t kind_count = context_count > 4 ? 6 : 4;
    size_t src = digit(&i, context_count), dst = digit(&i, context_count), kind = digit(&i, kind_count);
    size_t other = digit(&i, 2), form = digit(&i, 2);
    enum declared declared = declared_of[digit(&i, COUNT(declared_of))];
    enum kind s = other ? MAPPED : kinds_of[kind], d = other ? kinds_of[kind] : MAPPED;
    snprintf(id, CASE_ID, "Q.%s.%s.%s.%s.in_%s.to_%s", form ? "peerasync" : "peer", other ? "dst" : "src", kind_name[kinds_of[kind]],
             declared_name[declared], context_name[src], context_name[dst]);
    /* a driver uses a context that ended without checking it, which ends the process: one kind of memory stands for all */
    const bool ended = src == 3 || dst == 3;
    if (!run || !box_turn(id, false, 1) || (ended && (kind || form || other || declared != D_DEVICE)))
        return;
    CUDA_MEMCPY3D c = plain_box();
    box_from(&c, &from[s], other ? D_DEVICE : declared);
    box_to(&c, &to[d], other ? declared : D_DEVICE);
    CUDA_MEMCPY3D_PEER p = as_peer(&c);
    p.srcContext = context_of[src];
    p.dstContext = context_of[dst];
    use(&from[s]);
    use(&to[d]);
    bool right = expect_box(&c, 0, 0);
    CUresult r = form ? cuMemcpy3DPeerAsync(&p, NULL) : cuMemcpy3DPeer(&p);
    CUresult sync = cuCtxSynchronize();
    say(id, "%s sync=%s wrote=%s", name_of(r), name_of(sync), wrote(&to[d], right));
}

static void group_q(void)
{
    if (!is_wanted("Q"))
        return;
    context_count = kinds() == KINDS ? 6 : 4;
    const size_t kind_count = context_count > 4 ? 6 : 4;
    generate("Q", start_contexts, context_count * context_count * kind_count * 2 * 2 * 3, contexts_case);
}

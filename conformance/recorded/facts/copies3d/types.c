/* SPDX-License-Identifier: Apache-2.0 */
/* Groups A, B, C, D: every kind of memory declared as every type, with a valid other side, by each call. P: copies between live
 * memory of all kinds. Part of ../copies3d.c, which includes it. */

static enum call3 types_call;

static const struct {
    enum kind kind;
    enum declared declared;
} partners[] = {{MAPPED, D_DEVICE}, {MALLOC, D_HOST}, {ALLOC, D_UNIFIED}};

static void types_case(size_t i, char *id, int run)
{
    size_t declared = digit(&i, DECLARED), partner = digit(&i, COUNT(partners)), side = digit(&i, 2), kind = i;
    snprintf(id, CASE_ID, "%c.%s.%s.%s.%s.with_%s", "ABCD"[types_call], call3_name[types_call], side ? "dst" : "src",
             kind_name[kind], declared_name[declared], kind_name[partners[partner].kind]);
    if (!run)
        return;
    CUDA_MEMCPY3D c = plain_box();
    size_t s = side ? partners[partner].kind : kind, d = side ? kind : partners[partner].kind;
    box_from(&c, &from[s], side ? partners[partner].declared : (enum declared)declared);
    box_to(&c, &to[d], side ? (enum declared)declared : partners[partner].declared);
    if (box_turn(id, nothing_there((enum kind)kind, (int)declared), 16))
        make_box(id, types_call, &c, &from[s], &to[d]);
}

static void types(enum call3 call, const char *letter)
{
    types_call = call;
    generate(letter, start_places, DECLARED * COUNT(partners) * 2 * kinds(), types_case);
}

static void group_a(void)
{
    types(SYNC3, "A");
}

static void group_b(void)
{
    types(ASYNC3, "B");
}

static void group_c(void)
{
    types(PEER3, "C");
}

static void group_d(void)
{
    types(PEERASYNC3, "D");
}

static const enum kind live[] = {MALLOC, REGISTERED, HOSTALLOC, ALLOC, MAPPED, READONLY, NORIGHTS, LOCATED,
                                 PEER, PEERONLY, PEERALLOC};
static const enum declared plain[] = {D_HOST, D_DEVICE, D_UNIFIED};
static size_t live_count;

static void pairs_case(size_t i, char *id, int run)
{
    enum declared as_src = plain[digit(&i, COUNT(plain))], as_dst = plain[digit(&i, COUNT(plain))];
    enum kind src = live[digit(&i, live_count)], dst = live[i];
    snprintf(id, CASE_ID, "P.%s.%s.to.%s.%s", kind_name[src], declared_name[as_src], kind_name[dst], declared_name[as_dst]);
    if (!run)
        return;
    CUDA_MEMCPY3D c = plain_box();
    box_from(&c, &from[src], as_src);
    box_to(&c, &to[dst], as_dst);
    if (box_turn(id, false, 1))
        make_box(id, SYNC3, &c, &from[src], &to[dst]);
}

static void group_p(void)
{
    live_count = kinds() == KINDS ? COUNT(live) : COUNT(live) - (KINDS - KINDS_ONE);
    generate("P", start_places, COUNT(plain) * COUNT(plain) * live_count * live_count, pairs_case);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Group P: copies between live memory of all kinds and declarations. Part of ../copies.c, which includes it. */

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
    CUDA_MEMCPY2D c = {.srcPitch = 256, .dstPitch = 512, .WidthInBytes = 64, .Height = 3};
    declare_from(&c, &from[src], as_src);
    declare_to(&c, &to[dst], as_dst);
    if (its_turn(id, false))
        make_copy(id, SYNC, &c, &from[src], &to[dst]);
}

static void group_p(void)
{
    live_count = kinds() == KINDS ? COUNT(live) : COUNT(live) - (KINDS - KINDS_ONE);
    generate("P", start_places, COUNT(plain) * COUNT(plain) * live_count * live_count, pairs_case);
}

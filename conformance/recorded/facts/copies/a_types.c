/* SPDX-License-Identifier: Apache-2.0 */
/* Groups A, B, C: every kind of memory declared as every type, with a valid other side; by cuMemcpy2D, Unaligned, Async. Part of
 * ../copies.c, which includes it. */

static enum op types_op;

static const struct {
    enum kind kind;
    enum declared declared;
} partners[] = {{MAPPED, D_DEVICE}, {MALLOC, D_HOST}, {ALLOC, D_UNIFIED}};

static void types_case(size_t i, char *id, int run)
{
    size_t declared = digit(&i, DECLARED), partner = digit(&i, COUNT(partners)), side = digit(&i, 2), kind = i;
    snprintf(id, CASE_ID, "%c.%s.%s.%s.%s.with_%s", "ABC"[types_op], op_name[types_op], side ? "dst" : "src",
             kind_name[kind], declared_name[declared], kind_name[partners[partner].kind]);
    if (!run)
        return;
    CUDA_MEMCPY2D c = {.srcPitch = 256, .dstPitch = 512, .WidthInBytes = 64, .Height = 3};
    size_t s = side ? partners[partner].kind : kind, d = side ? kind : partners[partner].kind;
    declare_from(&c, &from[s], side ? partners[partner].declared : (enum declared)declared);
    declare_to(&c, &to[d], side ? (enum declared)declared : partners[partner].declared);
    if (its_turn(id, nothing_there((enum kind)kind, (int)declared)))
        make_copy(id, types_op, &c, &from[s], &to[d]);
}

static void types(enum op op, const char *letter)
{
    types_op = op;
    generate(letter, start_places, DECLARED * COUNT(partners) * 2 * kinds(), types_case);
}

static void group_a(void)
{
    types(SYNC, "A");
}

static void group_b(void)
{
    types(UNALIGNED, "B");
}

static void group_c(void)
{
    types(ASYNC, "C");
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Group N: memory for RDMA that is mapped at several addresses. Part of ../edges.c, which includes it.
 *
 * Each line is one sequence of operations on such memory, with their results: m maps it at a place A, B or C, u unmaps, g grants
 * rights to device 0, k to device 1, n and j revoke them.
 *
 *     N.rdma.mAmBuAgBmA     ....U       . is SUCCESS, else the first letter of the result's name
 *
 * In N.change r and t grant READ to devices 0 and 1, and the line ends with the rights of both at B and C.
 *
 * Of all sequences up to a length, those with a refusal are printed.
 */

enum { N_PLACES = 3, N_LONGEST = 7 };

static struct {
    CUdeviceptr place[N_PLACES];
    const char *tag, *letters;
    int places, longest, rdma, owner;
} n_way;

static char n_letter(CUresult r)
{
    return r == CUDA_SUCCESS ? '.' : *name_of(r);
}

static CUresult n_do(char what, CUdeviceptr p, Handle h)
{
    int flags = what == 'n' || what == 'j' ? NONE : what == 'r' || what == 't' ? READ : RW;
    CUmemAccessDesc d = desc(L_DEVICE, what == 'k' || what == 'j' || what == 't', flags);
    switch (what) {
    case 'm': return cuMemMap(p, G, 0, h, 0);
    case 'u': return cuMemUnmap(p, G);
    default: return cuMemSetAccess(p, G, &d, 1);
    }
}

/* The rights of both devices at mapped places, such as "31 -". */
static void n_rights(const unsigned mapped, char *rights)
{
    for (int place = 1; place < N_PLACES; place++) {
        char text[4] = "-";
        for (int d = 0; d < 2 && (mapped >> place & 1); d++) {
            u64 flags = 9;
            CUmemLocation l = loc_at(L_DEVICE, d);
            if (cuMemGetAccess(&flags, &l, n_way.place[place]))
                flags = 9; /* the device does not exist */
            text[d] = (char)('0' + flags);
        }
        rights += sprintf(rights, " %s", text);
    }
}

/* Runs one sequence on new memory. rights may be NULL. */
static void n_play(const char *sequence, char *results, char *rights)
{
    CUmemAllocationProp p = prop_at(L_DEVICE, n_way.owner);
    p.allocFlags.gpuDirectRDMACapable = (unsigned char)n_way.rdma;
    Handle h = 0;
    unsigned mapped = 0;
    CUresult made = cuMemCreate(&h, G, &p, 0);
    size_t i = 0;
    for (; sequence[2 * i]; i++) {
        int place = sequence[2 * i + 1] - 'A';
        CUresult r = made ? made : n_do(sequence[2 * i], n_way.place[place], h);
        results[i] = n_letter(r);
        if (sequence[2 * i] == 'm' && !r)
            mapped |= 1u << place;
        if (sequence[2 * i] == 'u' && !r)
            mapped &= ~(1u << place);
    }
    results[i] = 0;
    if (rights)
        n_rights(mapped, rights);
    for (int place = 0; place < N_PLACES; place++)
        if (mapped >> place & 1)
            cuMemUnmap(n_way.place[place], G);
    cuMemRelease(h);
}

/* Every sequence with this prefix, where places are first mapped in order; runs only the longest. */
static void n_grow(char *sequence, int length, unsigned mapped, int used)
{
    char results[N_LONGEST + 1];
    if (length == n_way.longest) {
        n_play(sequence, results, NULL);
        if (strspn(results, ".") < strlen(results))
            printf("N.rdma.%s.%s\t%s\n", n_way.tag, sequence, results);
        return;
    }
    for (int place = 0; place < n_way.places && place <= used; place++)
        for (const char *what = n_way.letters; *what; what++) {
            bool is = mapped >> place & 1;
            if ((*what == 'm') == is)
                continue;
            sequence[2 * length] = *what;
            sequence[2 * length + 1] = (char)('A' + place);
            sequence[2 * length + 2] = 0;
            n_grow(sequence, length + 1, *what == 'm' || *what == 'u' ? mapped ^ 1u << place : mapped,
                   used > place ? used : place + 1);
            sequence[2 * length] = 0;
        }
}

static void n_begin(void)
{
    init();
    alarm(100);
    for (int i = 0; i < N_PLACES; i++)
        n_way.place[i] = reserve(4 * G) + G;
}

static void n_every(void)
{
    char sequence[2 * N_LONGEST + 1] = "";
    n_begin();
    n_grow(sequence, 0, 0, 0);
    say("N.rdma.done", "%s", n_way.tag);
}

/* before | uA | late | after, where each part has at most two operations. */
static void n_change_all(const char *const *before, size_t befores, const char *late, const char *const *after,
                         size_t afters)
{
    for (size_t i = 0; i < befores * befores; i++)
        for (size_t k = 0; k < afters * afters; k++) {
            char sequence[40], results[20], rights[16];
            snprintf(sequence, sizeof sequence, "mAmBmC%s%suA%s%s%s", before[i / befores], before[i % befores], late,
                     after[k / afters], after[k % afters]);
            n_play(sequence, results, rights);
            printf("N.change.%s\t%s%s\n", sequence, results, rights);
        }
}

static void n_changes(void)
{
    static const char *const before[] = {"", "gB", "rB", "kB", "tB"}, *const more[] = {"", "rC", "kC"};
    static const char *const after[] = {"gB", "rB", "kB", "tB", "nB", "jB", "mA"};
    static const char *const then[] = {"gC", "rC", "kC", "tC", "gB"};
    n_begin();
    n_way.owner = 0;
    n_way.rdma = 1;
    n_change_all(before, COUNT(before), "", after, COUNT(after));
    n_change_all(more, COUNT(more), "gB", then, COUNT(then));
    n_change_all(more, COUNT(more), "rB", then, COUNT(then));
}

static void n_run(const char *tag, const char *letters, int places, int longest, int rdma, int owner)
{
    n_way.tag = tag;
    n_way.letters = letters;
    n_way.places = places;
    n_way.longest = longest;
    n_way.rdma = rdma;
    n_way.owner = owner;
    child("N.rdma!", n_every);
}

static void group_n(void)
{
    n_run("plain", "mug", 3, 5, 0, 0);
    n_run("two", "mugn", 2, 7, 1, 0);
    n_run("three", "mug", 3, 7, 1, 0);
    if (!l_two())
        return;
    n_run("peer", "mugk", 2, 7, 1, 0);
    n_run("taken", "mugkj", 2, 6, 1, 0);
    n_run("peers", "mugk", 3, 6, 1, 0);
    n_run("other", "mugk", 2, 5, 1, 1);
    n_run("not_rdma", "mugk", 2, 5, 0, 0);
    child("N.change!", n_changes);
}

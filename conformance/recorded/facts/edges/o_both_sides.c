/* SPDX-License-Identifier: Apache-2.0 */
/* Group O: copies with either range in host memory, and addresses that only the driver knows. Part of ../edges.c, which
 * includes it; the sides are those of m_seams.c.
 */

/* ---- two ranges: [to first|to second] from [from first|from second]; "all": only the first ---- */

static const int o_seconds[] = {-1, 0, 3}; /* indices of m_sides; -1: none */

struct o_pair {
    const struct m_side *side[4];
    size_t half;
};

static struct o_pair o_pair_of(size_t i)
{
    struct o_pair p = {{NULL}, m_halves[i % COUNT(m_halves)]};
    i /= COUNT(m_halves);
    for (int k = 0; k < 4; k += 2) {
        p.side[k] = &m_sides[1 + i % 4];
        int second = o_seconds[i / 4 % COUNT(o_seconds)];
        p.side[k + 1] = second < 0 ? NULL : &m_sides[second];
        i /= 4 * COUNT(o_seconds);
    }
    return p;
}

static CUdeviceptr o_half(CUdeviceptr p, const struct m_side *first, const struct m_side *second, size_t half)
{
    m_map(p, first);
    m_map(p + G, second ? second : first);
    return second ? p + G - half : p;
}

static void o_copy(const struct o_pair *pair, const char *id)
{
    CUdeviceptr a = reserve(2 * G), b = reserve(2 * G);
    CUdeviceptr to = o_half(a, pair->side[0], pair->side[1], pair->half);
    CUdeviceptr from = o_half(b, pair->side[2], pair->side[3], pair->half);
    CUresult r = cuMemcpyDtoD(to, from, 2 * pair->half), sync = cuCtxSynchronize();
    say(id, "%s sync=%s", name_of(r), name_of(sync));
    m_clean(a, 2 * G);
    m_clean(b, 2 * G);
}

static void o_two(size_t i, char *id, int run)
{
    struct o_pair p = o_pair_of(i);
    snprintf(id, CASE_ID, "O.two.%s_%s.from.%s_%s.2x%zu", p.side[0]->name, p.side[1] ? p.side[1]->name : "all",
             p.side[2]->name, p.side[3] ? p.side[3]->name : "all", p.half);
    if (run)
        o_copy(&p, id);
}

/* ---- a range onto itself, shifted by one byte, across a seam: [first|second] ---- */

static const char *const o_ways[] = {"up_both", "down_both", "down_from_over", "up_to_over"};
static const size_t o_sizes[] = {16, 65536};

struct o_over {
    const struct m_side *first, *second;
    size_t size;
    unsigned way;
};

static struct o_over o_over_of(size_t i)
{
    size_t ways = COUNT(o_ways), sizes = COUNT(o_sizes), sides = COUNT(m_sides);
    return (struct o_over){&m_sides[i / ways / sizes % sides], &m_sides[i / ways / sizes / sides],
                           o_sizes[i / ways % sizes], (unsigned)(i % ways)};
}

static void o_onto_itself(size_t i, char *id, int run)
{
    struct o_over o = o_over_of(i);
    snprintf(id, CASE_ID, "O.over.%s_%s.%s.%zu", o.first->name, o.second->name, o_ways[o.way], o.size);
    if (!run)
        return;
    CUdeviceptr p = reserve(2 * G), low = p + G - (o.way < 2 ? o.size / 2 : o.size);
    m_map(p, o.first);
    m_map(p + G, o.second);
    bool up = o.way == 0 || o.way == 3;
    CUresult r = cuMemcpyDtoD(low + up, low + !up, o.size), sync = cuCtxSynchronize();
    say(id, "%s sync=%s", name_of(r), name_of(sync));
    m_clean(p, 2 * G);
}

/* Answers about unreserved addresses: ranges that the driver itself uses. */
static void o_strange_addresses(void)
{
    init();
    CUdeviceptr p = reserve(4 * G);
    map(p + G, G, make(G));
    static const struct {
        const char *name;
        CUdeviceptr at;
    } from[] = {{"-1", SIZE_MAX}, {"-2", SIZE_MAX - 1}, {"-4096", SIZE_MAX - 4095}, {"-2M", SIZE_MAX - G + 1},
                {"-2M-1", SIZE_MAX - G}, {"-4M", SIZE_MAX - 2 * G + 1}, {"-1<<30", SIZE_MAX - ((size_t)1 << 30)},
                {"-1<<47", SIZE_MAX - ((size_t)1 << 47)}, {"1<<63", (size_t)1 << 63}, {"1<<48", (size_t)1 << 48},
                {"1<<47", (size_t)1 << 47}, {"1<<47-1", ((size_t)1 << 47) - 1}, {"1<<46", (size_t)1 << 46},
                {"0", 0}, {"1", 1}, {"4096", 4096}, {"2M", G}, {"2M-1", G - 1}, {"4M", 2 * G}, {"1<<32", (size_t)1 << 32},
                {"1<<40", (size_t)1 << 40}};
    for (size_t i = 0; i < COUNT(from); i++)
        for (int round = 0; round < 2; round++) {
            u64 start = 0x7777777777777777, size = start, one = start, other = start;
            void *data[] = {&start, &size}, *ends[] = {&other};
            CUpointer_attribute both[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_RANGE_SIZE};
            CUresult r = cuPointerGetAttributes(2, both, data, from[i].at);
            CUresult alone = cuPointerGetAttributes(1, &both[1], ends, from[i].at);
            CUresult single = cuPointerGetAttribute(&one, both[1], from[i].at);
            char id[64];
            snprintf(id, sizeof id, "O.strange.%s.%d", from[i].name, round);
            say(id, "%s start=%llx size=%llx alone=%s %llx single=%s %llx", name_of(r), start, size, name_of(alone),
                other, name_of(single), one);
        }
}

static void group_o(void)
{
    child("O.strange!", o_strange_addresses);
    if (!is_wanted("O"))
        return;
    run_cases(init, 25 * COUNT(o_ways) * COUNT(o_sizes), o_onto_itself);
    run_cases(init, 16 * COUNT(o_seconds) * COUNT(o_seconds) * COUNT(m_halves), o_two);
}

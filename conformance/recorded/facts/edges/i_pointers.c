/* SPDX-License-Identifier: Apache-2.0 */
/* Group I: pointer attributes. Part of ../edges.c, which includes it. */

/* Queries twice with different initial bytes in the output, which reveals the bytes that the driver wrote. */
static void attribute(const char *tag, int which, CUdeviceptr q, CUdeviceptr base)
{
    unsigned char one[64], two[64];
    memset(one, 0x99, sizeof one);
    memset(two, 0x66, sizeof two);
    CUresult r = cuPointerGetAttribute(one, (CUpointer_attribute)which, q);
    cuPointerGetAttribute(two, (CUpointer_attribute)which, q);
    size_t n = 0;
    while (n < sizeof one && one[n] == two[n])
        n++;
    u64 v = 0;
    memcpy(&v, one, n < 8 ? n : 8);
    char id[96];
    snprintf(id, sizeof id, "%s.attr%d", tag, which);
    i64 away = (i64)(v - base);
    if (n == 8 && v > G && away > -64 * (i64)G && away < 64 * (i64)G)
        say(id, "%s bytes=%zu base%+lld", name_of(r), n, away);
    else if (n > 8)
        say(id, "%s bytes=%zu", name_of(r), n);
    else
        say(id, "%s bytes=%zu =%llx", name_of(r), n, v);
}

static void attributes(const char *tag, CUdeviceptr q, CUdeviceptr base)
{
    for (int i = 1; i <= 21; i++)
        attribute(tag, i, q, base);
}

static void i_all(void)
{
    init();
    CUdeviceptr p = reserve(8 * G);
    map(p + 2 * G, 2 * G, make(2 * G));
    attributes("I.mapped_no_access", p + 2 * G + 5, p);
    give(p + 2 * G, 2 * G, L_DEVICE, RW);
    attributes("I.rw", p + 2 * G + 5, p);
    give(p + 2 * G, 2 * G, L_DEVICE, READ);
    attribute("I.read", CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, p + 2 * G, p);
    give(p + 2 * G, 2 * G, L_DEVICE, NONE);
    attribute("I.none", CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, p + 2 * G, p);
    attributes("I.reserved", p, p);
}

static void i_host_located(void)
{
    init();
    CUdeviceptr p = reserve(8 * G);
    map(p + 2 * G, 2 * G, make_at(L_HOST, 2 * G));
    attributes("I.host_no_access", p + 2 * G + 5, p);
    give(p + 2 * G, 2 * G, L_HOST, RW);
    attributes("I.host_host_rw", p + 2 * G + 5, p);
    give(p + 2 * G, 2 * G, L_DEVICE, RW);
    attributes("I.host_both_rw", p + 2 * G + 5, p);
    map(p + 4 * G, G, make_at(L_NUMA, G));
    attributes("I.numa_no_access", p + 4 * G, p);
}

static void i_malloc(void)
{
    init();
    CUdeviceptr m = (CUdeviceptr)(uintptr_t)malloc(4096);
    attributes("I.malloc", m, m);
    attributes("I.addr0", 0, m);
}

static void i_odd(void)
{
    CUdeviceptr p = mapped_rw(1);
    static const int odd[] = {0, 22, 23, 99, -1};
    for (size_t i = 0; i < COUNT(odd); i++) {
        attribute("I.odd_rw", odd[i], p, p);
        attribute("I.odd_unmapped", odd[i], p + 4 * G, p);
    }
}

static void i_null_data(void)
{
    CUdeviceptr p = mapped_rw(1);
    R("I.null_data", cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
    R("I.null_data.unmapped", cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 4 * G));
    R("I.null_data.attr99", cuPointerGetAttribute(NULL, (CUpointer_attribute)99, p));
}

static void i_no_context(void)
{
    cuInit(0);
    CUdeviceptr p = reserve(8 * G);
    map(p, G, make(G));
    give(p, G, L_DEVICE, RW);
    attributes("I.noctx", p + 5, p);
    attribute("I.noctx_unmapped", CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p + 4 * G, p);
}

static u64 id_of(CUdeviceptr p, CUpointer_attribute which)
{
    u64 v = 0;
    CUresult r = cuPointerGetAttribute(&v, which, p);
    if (r)
        say("I.id_of", "%s", name_of(r));
    return v;
}

static void i_identity_of(CUpointer_attribute which, const char *name)
{
    CUdeviceptr p = reserve(16 * G);
    Handle h = make(2 * G), k = make(2 * G);
    map(p, 2 * G, h);
    map(p + 2 * G, 2 * G, h);
    map(p + 4 * G, 2 * G, k);
    u64 first = id_of(p, which);
    char id[64];
    snprintf(id, sizeof id, "I.identity.%s", name);
    say(id, "value=%llx same: interior=%d alias=%d other=%d", first, id_of(p + G + 7, which) == first,
        id_of(p + 2 * G, which) == first, id_of(p + 4 * G, which) == first);
    u64 alias = id_of(p + 2 * G, which), other = id_of(p + 4 * G, which);
    say(id, "alias=%llx other=%llx", alias, other);
    give(p, 2 * G, L_DEVICE, RW);
    say(id, "after_access same=%d", id_of(p, which) == first);
    cuMemUnmap(p, 2 * G);
    map(p, 2 * G, h);
    say(id, "unmapped_and_remapped same=%d value=%llx", id_of(p, which) == first, id_of(p, which));
    cuMemUnmap(p, 4 * G);
    map(p, 2 * G, h);
    say(id, "both_unmapped_and_remapped same=%d value=%llx", id_of(p, which) == first, id_of(p, which));
    cuMemUnmap(p, 2 * G);
    map(p + 8 * G, 2 * G, h);
    say(id, "remapped_elsewhere same=%d value=%llx", id_of(p + 8 * G, which) == first, id_of(p + 8 * G, which));
    Handle n = make(2 * G);
    map(p, 2 * G, n);
    say(id, "new_handle_at_the_place value=%llx", id_of(p, which));
    CUdeviceptr m = 0, m2 = 0;
    cuMemAlloc(&m, G);
    cuMemAlloc(&m2, 16);
    say(id, "cumemalloc=%llx next=%llx interior_same=%d", id_of(m, which), id_of(m2, which),
        id_of(m, which) == id_of(m + 9, which));
}

static void i_identity_block(void)
{
    init();
    i_identity_of(CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, "memory_block_id");
}

static void i_identity_buffer(void)
{
    init();
    i_identity_of(CU_POINTER_ATTRIBUTE_BUFFER_ID, "buffer_id");
}

static void i_many_of(const char *tag, CUdeviceptr q, CUdeviceptr base)
{
    u64 start = 99;
    int mapped = 99;
    unsigned type = 99;
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, CU_POINTER_ATTRIBUTE_MAPPED,
                                   CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    void *data[] = {&start, &mapped, &type};
    char id[64];
    snprintf(id, sizeof id, "I.many.%s", tag);
    CUresult r = cuPointerGetAttributes(3, which, data, q);
    if (start == 99 || start == 0)
        say(id, "%s start=%llu mapped=%d type=%u", name_of(r), start, mapped, type);
    else
        say(id, "%s start=base%+lld mapped=%d type=%u", name_of(r), (i64)(start - base), mapped, type);
}

/* Queries each attribute through the list call, at a place of every kind. */
static void i_many_each(CUdeviceptr p, CUdeviceptr m)
{
    map(p + 6 * G, G, make_at(L_HOST, G));
    map(p + 7 * G, G, make_at(L_HOST, G));
    give(p + 7 * G, G, L_HOST, RW);
    const struct {
        const char *name;
        CUdeviceptr at;
    } places[] = {{"rw", p},
                  {"mapped_no_access", p + 2 * G + 3},
                  {"reserved", p + 4 * G},
                  {"host_no_access", p + 6 * G},
                  {"host_host_rw", p + 7 * G},
                  {"host", (CUdeviceptr)(uintptr_t)buffer},
                  {"bogus", p + ((CUdeviceptr)1 << 38)},
                  {"addr0", 0},
                  {"cumemalloc", m}};
    for (size_t k = 0; k < COUNT(places); k++)
        for (int i = 1; i <= 21; i++) {
            u64 x[4] = {0x9999999999999999, 0x9999999999999999, 0, 0};
            CUpointer_attribute which = (CUpointer_attribute)i;
            void *data[] = {x};
            char id[64];
            snprintf(id, sizeof id, "I.many_one.%s.attr%d", places[k].name, i);
            CUresult r = cuPointerGetAttributes(1, &which, data, places[k].at);
            if (x[0] - p < 16 * G)
                say(id, "%s base%+lld", name_of(r), (i64)(x[0] - p));
            else
                say(id, "%s %llx", name_of(r), x[0]);
        }
}

static void i_many(void)
{
    CUdeviceptr p = mapped_rw(1);
    map(p + 2 * G, G, make(G));
    i_many_of("rw", p + 5, p);
    i_many_of("mapped_no_access", p + 2 * G, p);
    i_many_of("reserved", p + 4 * G, p);
    i_many_of("bogus", p + ((CUdeviceptr)1 << 38), p);
    i_many_of("malloc", (CUdeviceptr)(uintptr_t)malloc(64), p);
    i_many_of("addr0", 0, p);
    CUdeviceptr m = 0;
    cuMemAlloc(&m, 4096);
    i_many_of("cumemalloc", m + 8, m);
    i_many_each(p, m);
    int mapped = 99;
    unsigned type = 99;
    CUpointer_attribute bad[] = {CU_POINTER_ATTRIBUTE_MAPPED, (CUpointer_attribute)99,
                                 CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
    void *data[] = {&mapped, &mapped, &type};
    RV("I.many.invalid_in_list", cuPointerGetAttributes(3, bad, data, p), "mapped=%d type=%u", mapped, type);
    mapped = 99;
    type = 99;
    RV("I.many.invalid_in_list_reserved", cuPointerGetAttributes(3, bad, data, p + 4 * G), "mapped=%d type=%u", mapped,
       type);
    bad[1] = (CUpointer_attribute)0;
    RV("I.many.attr0_in_list", cuPointerGetAttributes(3, bad, data, p), "mapped=%d type=%u", mapped, type);
    R("I.many.count0", cuPointerGetAttributes(0, bad, data, p));
    R("I.many.count0_nulls", cuPointerGetAttributes(0, NULL, NULL, p));
}

static void i_many_null_attributes(void)
{
    CUdeviceptr p = mapped_rw(1);
    void *data[1] = {buffer};
    R("I.many.null_attributes", cuPointerGetAttributes(1, NULL, data, p));
}

static void i_many_null_data(void)
{
    CUdeviceptr p = mapped_rw(1);
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MAPPED};
    R("I.many.null_data", cuPointerGetAttributes(1, which, NULL, p));
}

static void i_many_null_element(void)
{
    CUdeviceptr p = mapped_rw(1);
    CUpointer_attribute which[] = {CU_POINTER_ATTRIBUTE_MAPPED};
    void *data[1] = {NULL};
    R("I.many.null_element", cuPointerGetAttributes(1, which, data, p));
}

static void i_many_no_context(void)
{
    cuInit(0);
    CUdeviceptr p = reserve(8 * G);
    map(p, G, make(G));
    i_many_of("noctx", p, p);
}

static void range(const char *tag, CUdeviceptr q, CUdeviceptr base)
{
    CUdeviceptr start = 99;
    size_t size = 99;
    char id[64];
    snprintf(id, sizeof id, "%s", tag);
    CUresult r = cuMemGetAddressRange(&start, &size, q);
    if (start == 99 || start == 0)
        say(id, "%s start=%llu size=%zu", name_of(r), (u64)start, size);
    else
        say(id, "%s start=base%+lld size=%zu", name_of(r), (i64)(start - base), size);
}

static void i_range(void)
{
    CUdeviceptr p = mapped_rw(2);
    CUdeviceptr start = 99;
    size_t size = 99;
    range("I.range.rw", p + 5, p);
    RV("I.range.null_base", cuMemGetAddressRange(NULL, &size, p + 5), "size=%zu", size);
    RV("I.range.null_size", cuMemGetAddressRange(&start, NULL, p + 5), "start=base%+lld", (i64)(start - p));
    R("I.range.null_both", cuMemGetAddressRange(NULL, NULL, p + 5));
    R("I.range.null_both_unmapped", cuMemGetAddressRange(NULL, NULL, p + 5 * G));
    R("I.range.null_both_addr0", cuMemGetAddressRange(NULL, NULL, 0));
    R("I.range.null_base_unmapped", cuMemGetAddressRange(NULL, &size, p + 5 * G));
    R("I.range.null_size_unmapped", cuMemGetAddressRange(&start, NULL, p + 5 * G));
    range("I.range.addr0", 0, p);
    range("I.range.reserved", p + 5 * G, p);
    range("I.range.unreserved", p + ((CUdeviceptr)1 << 38), p);
    range("I.range.malloc", (CUdeviceptr)(uintptr_t)malloc(64), p);
    range("I.range.end", p + 2 * G, p);
    give(p, 2 * G, L_DEVICE, READ);
    range("I.range.read", p + 5, p);
    give(p, 2 * G, L_DEVICE, NONE);
    range("I.range.none_after_read", p + 5, p);
    map(p + 4 * G, G, make_at(L_HOST, G));
    range("I.range.host_no_access", p + 4 * G + 5, p);
    give(p + 4 * G, G, L_HOST, RW);
    range("I.range.host_host_rw", p + 4 * G + 5, p);
    give(p + 4 * G, G, L_HOST, NONE);
    range("I.range.host_host_none", p + 4 * G + 5, p);
    give(p + 4 * G, G, L_DEVICE, RW);
    range("I.range.host_dev_rw", p + 4 * G + 5, p);
    give(p + 4 * G, G, L_HOST, RW);
    range("I.range.host_both_rw", p + 4 * G + 5, p);
    map(p + 6 * G, G, make_at(L_NUMA, G));
    range("I.range.numa_no_access", p + 6 * G + 5, p);
    give(p + 6 * G, G, L_DEVICE, RW);
    range("I.range.numa_dev_rw", p + 6 * G + 5, p);
}

static void group_i(void)
{
    child("I.all!", i_all);
    child("I.host!", i_host_located);
    child("I.malloc!", i_malloc);
    child("I.odd!", i_odd);
    child("I.null_data!", i_null_data);
    child("I.noctx!", i_no_context);
    child("I.identity.block!", i_identity_block);
    child("I.identity.buffer!", i_identity_buffer);
    child("I.many!", i_many);
    child("I.many.null_attributes!", i_many_null_attributes);
    child("I.many.null_data!", i_many_null_data);
    child("I.many.null_element!", i_many_null_element);
    child("I.many.noctx!", i_many_no_context);
    child("I.range!", i_range);
}

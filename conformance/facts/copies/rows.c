/* One copy or fill of rows, and what it did to the destination. A part of ../copies.c, which includes it. */

static unsigned hash_of(const unsigned char *bytes)
{
    unsigned hash = 2166136261u;
    for (size_t i = 0; i < G; i++)
        hash = (hash ^ bytes[i]) * 16777619u;
    return hash;
}

/* What the bytes of the destination tell; right: expected holds what they should be. Makes it blank again. */
static const char *wrote(struct place *place, bool right)
{
    static char text[96];
    static unsigned char blank[G];
    size_t first = G, last = 0, count = 0;
    if (!place->seen || look(place, got))
        return "?";
    memset(blank, BLANK, G);
    if (memcmp(got, blank, G) == 0)
        return "nothing";
    put(place, blank);
    if (right && memcmp(got, expected, G) == 0)
        return "rows";
    for (size_t i = 0; i < G; i++)
        if (got[i] != BLANK) {
            first = first < i ? first : i;
            last = i;
            count++;
        }
    snprintf(text, sizeof text, "%zu %zu-%zu #%08x", count, first, last, hash_of(got));
    return text;
}

/* Where a row starts in its place; false outside. */
static bool row_at(u64 base, u64 x, u64 y, u64 pitch, u64 width, u64 row, u64 *at)
{
    u64 line;
    if (__builtin_add_overflow(y, row, &line) || __builtin_mul_overflow(line, pitch, &line) ||
        __builtin_add_overflow(line, x, &line) || __builtin_add_overflow(line, base, at))
        return false;
    return *at < G && width <= G - *at;
}

static bool expect_copy(const CUDA_MEMCPY2D *c, u64 src, u64 dst)
{
    memset(expected, BLANK, G);
    for (u64 i = 0; i < c->Height; i++) {
        u64 s, d;
        if (!row_at(src, c->srcXInBytes, c->srcY, c->srcPitch, c->WidthInBytes, i, &s) ||
            !row_at(dst, c->dstXInBytes, c->dstY, c->dstPitch, c->WidthInBytes, i, &d) || (!c->WidthInBytes && i > 9))
            return false;
        memcpy(expected + d, pattern + s, c->WidthInBytes);
    }
    return true;
}

enum op { SYNC, UNALIGNED, ASYNC, OPS };
static const char *const op_name[OPS] = {"sync", "unaligned", "async"};

enum declared { D_NONE, D_HOST, D_DEVICE, D_ARRAY, D_UNIFIED, D_FIVE, DECLARED };
static const char *const declared_name[DECLARED] = {"0", "host", "device", "array", "unified", "5"};

static void declare_from(CUDA_MEMCPY2D *c, const struct place *place, enum declared declared)
{
    c->srcMemoryType = (CUmemorytype)declared;
    if (declared == D_HOST)
        c->srcHost = (void *)(uintptr_t)place->at;
    else
        c->srcDevice = place->at;
}

static void declare_to(CUDA_MEMCPY2D *c, const struct place *place, enum declared declared)
{
    c->dstMemoryType = (CUmemorytype)declared;
    if (declared == D_HOST)
        c->dstHost = (void *)(uintptr_t)place->at;
    else
        c->dstDevice = place->at;
}

/* The bases of c may lie anywhere in the places. */
static void ask_copy(const char *id, enum op op, const CUDA_MEMCPY2D *c, const struct place *src, struct place *dst)
{
    u64 s = c->srcMemoryType == CU_MEMORYTYPE_HOST ? (u64)(uintptr_t)c->srcHost : c->srcDevice;
    u64 d = c->dstMemoryType == CU_MEMORYTYPE_HOST ? (u64)(uintptr_t)c->dstHost : c->dstDevice;
    bool right = expect_copy(c, s - src->at, d - dst->at);
    CUresult r = op == SYNC ? cuMemcpy2D(c) : op == UNALIGNED ? cuMemcpy2DUnaligned(c) : cuMemcpy2DAsync(c, NULL);
    CUresult sync = cuCtxSynchronize();
    say(id, "%s sync=%s wrote=%s", name_of(r), name_of(sync), wrote(dst, right));
}

/* ---- fills ---- */

enum { FILLS = 6 }; /* D2D8, D2D16, D2D32, and the same again as Async */
static const char *const fill_name[FILLS] = {"d8", "d16", "d32", "d8async", "d16async", "d32async"};

static bool expect_fill(u64 start, u64 pitch, u64 width, u64 height, int fill)
{
    static const unsigned char bytes[4] = {0x11, 0x22, 0x33, 0x44};
    u64 element = (u64)1 << fill % 3, at;
    memset(expected, BLANK, G);
    for (u64 i = 0; i < height; i++) {
        if (width > G || !row_at(start, 0, 0, pitch, width * element, i, &at) || (!width && i > 9))
            return false;
        for (u64 b = 0; b < width * element; b++)
            expected[at + b] = bytes[b % element];
    }
    return true;
}

static void ask_fill(const char *id, int fill, u64 start, u64 pitch, u64 width, u64 height, struct place *dst)
{
    bool right = expect_fill(start - dst->at, pitch, width, height, fill);
    CUresult r;
    switch (fill) {
    case 0: r = cuMemsetD2D8(start, pitch, 0x11, width, height); break;
    case 1: r = cuMemsetD2D16(start, pitch, 0x2211, width, height); break;
    case 2: r = cuMemsetD2D32(start, pitch, 0x44332211, width, height); break;
    case 3: r = cuMemsetD2D8Async(start, pitch, 0x11, width, height, NULL); break;
    case 4: r = cuMemsetD2D16Async(start, pitch, 0x2211, width, height, NULL); break;
    default: r = cuMemsetD2D32Async(start, pitch, 0x44332211, width, height, NULL); break;
    }
    CUresult sync = cuCtxSynchronize();
    say(id, "%s sync=%s wrote=%s", name_of(r), name_of(sync), wrote(dst, right));
}

/* ---- what cases are made of ---- */

/* The next digit of a case's number. */
static size_t digit(size_t *i, size_t radix)
{
    size_t d = *i % radix;
    *i /= radix;
    return d;
}

/* A number as it is written in an id: 4097, 2^40, 2^31-1, -64. */
static const char *num(u64 n)
{
    static char text[8][24];
    static unsigned next;
    char *t = text[next++ % COUNT(text)];
    const i64 small = (i64)1 << 21;
    if (n < (u64)small || -n < 4096) {
        snprintf(t, sizeof text[0], "%lld", (i64)n);
        return t;
    }
    for (int k = 21; k < 64; k++) {
        i64 off = (i64)(n - ((u64)1 << k));
        if (off > -4096 && off < 4096) {
            snprintf(t, sizeof text[0], off ? "2^%d%+lld" : "2^%d", k, off);
            return t;
        }
    }
    snprintf(t, sizeof text[0], "%#llx", n);
    return t;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* One copy or fill of rows, and its effect on the destination. Part of ../copies.c, which includes it. */

static unsigned hash_of(const unsigned char *bytes)
{
    static unsigned char known[G]; /* cases one after another often leave the same */
    static unsigned hash;
    if (hash && memcmp(known, bytes, G) == 0)
        return hash;
    memcpy(known, bytes, G);
    hash = 2166136261u;
    for (size_t i = 0; i < G; i++)
        hash = (hash ^ known[i]) * 16777619u;
    return hash;
}

/* How many bytes are not blank, the first and the last of them. */
static size_t changed(const unsigned char *bytes, size_t *first, size_t *last)
{
    enum { PIECE = 4096 };
    size_t count = 0;
    for (size_t at = 0; at < G; at += PIECE) {
        size_t end = memcmp(bytes + at, blank, PIECE) ? at + PIECE : at;
        for (size_t i = at; i < end; i++)
            if (bytes[i] != BLANK) {
                *first = count++ ? *first : i;
                *last = i;
            }
    }
    return count;
}

static u64 expected_end = G; /* the end of the last byte that is not blank */

/* Describes the destination's bytes, then blanks them; right: expected has the right values. */
static const char *wrote(struct place *place, bool right)
{
    static char text[96];
    const unsigned char *bytes = place->seen ? look(place) : NULL;
    size_t first = 0, last = 0;
    if (!bytes)
        return "?";
    if (right && memcmp(bytes, expected, G) == 0) {
        if (memcmp(expected, blank, expected_end) == 0)
            return "nothing";
        put(place, blank, expected_end);
        return "rows";
    }
    if (memcmp(bytes, blank, G) == 0)
        return "nothing";
    size_t count = changed(bytes, &first, &last);
    snprintf(text, sizeof text, "%zu %zu-%zu #%08x", count, first, last, hash_of(bytes));
    put(place, blank, G);
    return text;
}

/* The start of a row in its place; false when outside. */
static bool row_at(u64 base, u64 x, u64 y, u64 pitch, u64 width, u64 row, u64 *at)
{
    u64 line;
    if (__builtin_add_overflow(y, row, &line) || __builtin_mul_overflow(line, pitch, &line) ||
        __builtin_add_overflow(line, x, &line) || __builtin_add_overflow(line, base, at))
        return false;
    return *at < G && width <= G - *at;
}

static void expect_nothing(void)
{
    memset(expected, BLANK, expected_end);
    expected_end = 0;
}

static void expect_until(u64 end)
{
    expected_end = expected_end > end ? expected_end : end;
}

static bool expect_copy(const CUDA_MEMCPY2D *c, u64 src, u64 dst)
{
    expect_nothing();
    for (u64 i = 0; i < c->Height; i++) {
        u64 s, d;
        if (i > G || !row_at(src, c->srcXInBytes, c->srcY, c->srcPitch, c->WidthInBytes, i, &s) ||
            !row_at(dst, c->dstXInBytes, c->dstY, c->dstPitch, c->WidthInBytes, i, &d) || (!c->WidthInBytes && i > 9))
            return false;
        memcpy(expected + d, pattern + s, c->WidthInBytes);
        expect_until(d + c->WidthInBytes);
    }
    return true;
}

/* ---- cases that crash a driver ----
 *
 * A driver checks less than it accesses, and a lost context is expensive. So calls that it accepts although they leave their
 * memory are recorded separately (group Z), and only few of them. The functions here predict these cases from the first
 * observations. */

static bool faulty_phase;

/* Is this case due now? One in eight of the faulting cases, chosen by name; fewer of the extremes, most of which are alike. */
static bool its_turn(const char *id, bool faulty)
{
    unsigned hash = 2166136261u;
    for (const char *c = id; *c; c++)
        hash = (hash ^ (unsigned char)*c) * 16777619u;
    return faulty == faulty_phase && (!faulty || (hash >> 8) % (strchr("HOX", id[0]) ? 32 : 8) == 0);
}

/* Do the rows leave the place, or are they too many to wait for? */
static bool leaves(u64 base, u64 x, u64 y, u64 pitch, u64 width, u64 height)
{
    u64 at;
    for (u64 i = 0; i < height && i < 4; i++) {
        at = base + (y + i) * pitch + x;
        if (at >= G || width > G - at)
            return true;
    }
    return height > 4 && (height > G || (height - 1) * pitch > G - width - at || pitch > G);
}

/* Would a driver refuse the range that it takes the rows for? */
static bool refused(u64 address, u64 base, u64 pitch, u64 width, u64 height)
{
    u64 span = (height - 1) * pitch + width;
    return span <= -address && span > G - base;
}

static bool faulty_copy(const CUDA_MEMCPY2D *c, u64 s, u64 d, const struct place *src, const struct place *dst)
{
    bool host_src = src->host && c->srcMemoryType != CU_MEMORYTYPE_DEVICE;
    bool host_dst = dst->host && c->dstMemoryType != CU_MEMORYTYPE_DEVICE;
    u64 width = c->WidthInBytes, height = c->Height;
    if (!width || !height)
        return false;
    if ((c->srcPitch && width + (host_src ? c->srcXInBytes : 0) > c->srcPitch) ||
        (c->dstPitch && width + (host_dst ? c->dstXInBytes : 0) > c->dstPitch) ||
        (!host_src && refused(s, s - src->at, c->srcPitch, width, height)) ||
        (!host_dst && refused(d, d - dst->at, c->dstPitch, width, height)))
        return false;
    u64 from_pitch = c->srcPitch ? c->srcPitch : c->srcXInBytes + width;
    u64 to_pitch = c->dstPitch ? c->dstPitch : c->dstXInBytes + width;
    return leaves(s - src->at, c->srcXInBytes, c->srcY, from_pitch, width, height) ||
           leaves(d - dst->at, c->dstXInBytes, c->dstY, to_pitch, width, height);
}

static bool faulty_fill(u64 start, const struct place *dst, u64 pitch, u64 width, u64 height, u64 element)
{
    u64 bytes = width * element, base = start - dst->at;
    if (!bytes || !height || start % element || (height > 1 && (pitch % element || pitch < bytes)))
        return false;
    return !refused(start, base, height > 1 ? pitch : 0, bytes, height) &&
           leaves(base, 0, 0, height > 1 ? pitch : bytes, bytes, height);
}

/* Does a driver take this unmapped address for host memory? */
static bool nothing_there(enum kind kind, int declared)
{
    return (kind == RESERVED || kind == FREED) && (declared == CU_MEMORYTYPE_HOST || declared == CU_MEMORYTYPE_UNIFIED);
}

/* Generates cases: safe ones if their letter is selected, faulting ones in group Z. */
static void generate(const char *letter, void (*start)(void), size_t count, case_one one)
{
    faulty_phase = false;
    if (is_wanted(letter))
        run_cases(start, count, one);
    faulty_phase = true;
    if (is_wanted("Z"))
        run_cases(start, count, one);
    faulty_phase = false;
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

/* The bases of c may lie anywhere in their places. */
static void make_copy(const char *id, enum op op, const CUDA_MEMCPY2D *c, struct place *src, struct place *dst)
{
    u64 s = c->srcMemoryType == CU_MEMORYTYPE_HOST ? (u64)(uintptr_t)c->srcHost : c->srcDevice;
    u64 d = c->dstMemoryType == CU_MEMORYTYPE_HOST ? (u64)(uintptr_t)c->dstHost : c->dstDevice;
    use(src);
    use(dst);
    bool right = expect_copy(c, s - src->at, d - dst->at);
    CUresult r = op == SYNC ? cuMemcpy2D(c) : op == UNALIGNED ? cuMemcpy2DUnaligned(c) : cuMemcpy2DAsync(c, NULL);
    CUresult sync = cuCtxSynchronize();
    say(id, "%s sync=%s wrote=%s", name_of(r), name_of(sync), wrote(dst, right));
}

/* Are there too many rows to wait for, one on top of the other or where the host has to move each? */
static bool endless(const CUDA_MEMCPY2D *c, const struct place *src, const struct place *dst)
{
    return c->WidthInBytes && c->Height > G && (!c->srcPitch || !c->dstPitch || src->host || dst->host);
}

static void ask_copy(const char *id, enum op op, const CUDA_MEMCPY2D *c, struct place *src, struct place *dst)
{
    u64 s = c->srcMemoryType == CU_MEMORYTYPE_HOST ? (u64)(uintptr_t)c->srcHost : c->srcDevice;
    u64 d = c->dstMemoryType == CU_MEMORYTYPE_HOST ? (u64)(uintptr_t)c->dstHost : c->dstDevice;
    bool faulty = faulty_copy(c, s, d, src, dst);
    if (its_turn(id, faulty) && !(faulty && endless(c, src, dst)))
        make_copy(id, op, c, src, dst);
}

/* ---- fills ---- */

enum { FILLS = 6 }; /* D2D8, D2D16, D2D32, and their Async forms */
static const char *const fill_name[FILLS] = {"d8", "d16", "d32", "d8async", "d16async", "d32async"};

static bool expect_fill(u64 start, u64 pitch, u64 width, u64 height, int fill)
{
    static const unsigned char bytes[4] = {0x11, 0x22, 0x33, 0x44};
    u64 element = (u64)1 << fill % 3, at;
    expect_nothing();
    for (u64 i = 0; i < height; i++) {
        if (i > G || width > G || !row_at(start, 0, 0, pitch, width * element, i, &at) || (!width && i > 9))
            return false;
        for (u64 b = 0; b < width * element; b++)
            expected[at + b] = bytes[b % element];
        expect_until(at + width * element);
    }
    return true;
}

static void ask_fill(const char *id, int fill, u64 start, u64 pitch, u64 width, u64 height, struct place *dst)
{
    if (!its_turn(id, faulty_fill(start, dst, pitch, width, height, (u64)1 << fill % 3)))
        return;
    use(dst);
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

/* ---- building cases ---- */

/* The next digit of a case's number. */
static size_t digit(size_t *i, size_t radix)
{
    size_t d = *i % radix;
    *i /= radix;
    return d;
}

/* A number as its id shows it: 4097, 2^40, 2^31-1, -64. */
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Group X: every call that takes an address, with every kind of address, at three points of it. Part of ../answers.c.
 *
 *     X.rw.inside.cuMemGetAddressRange_v2 o8 o8 @ <TAB> SUCCESS base+0 4194304
 *
 * X01 uses device 1's memory while device 0 is current, and so on.
 */

static const char *const points[] = {"start", "inside", "end"};

static struct place place;
static size_t built = SIZE_MAX;
static bool dirty;

static u64 at_point(size_t point)
{
    return point == 0 ? place.base : point == 1 ? place.base + place.size / 2 + 16 : place.base + place.size;
}

/* Calls that end contexts come last, for all kinds, so that the other calls need few children. */
static size_t quiet_rows;

struct position {
    size_t kind, row, point;
};

static struct position position_of(size_t i)
{
    size_t quiet = quiet_rows * COUNT(kinds) * COUNT(points);
    size_t first = i < quiet ? 0 : quiet_rows, some = i < quiet ? quiet_rows : row_count - quiet_rows;
    i -= i < quiet ? 0 : quiet;
    return (struct position){i / (some * COUNT(points)), first + i / COUNT(points) % some, i % COUNT(points)};
}

static void other_context(int device)
{
    must("retain", cuDevicePrimaryCtxRetain(&primary[1], device));
}

/* Does the driver know the address, or does the program have access to it? Any other address crashes the program when the driver
 * takes it for host memory. */
static bool touchable(const struct kind *kind)
{
    if (kind->build == build_memory)
        return kind->location && !(kind->extra & (EXTRA_UNMAPPED | EXTRA_FREED));
    return kind->build != build_number && kind->rights == RW;
}

/* Copies of host memory without access crash the process: two of them are enough to show that. */
static bool copy_left_out(const struct position *p, const struct kind *kind)
{
    const char *text = rows[p->row].text;
    if (kind->build != build_memory || kind->location <= L_DEVICE || kind->rights >= NONE || !begins(text, "cuMemcpy"))
        return false;
    bool shows = strcmp(text, "cuMemcpyHtoD_v2 @ h 4") == 0 || strcmp(text, "cuMemcpyDtoH_v2 h @ 4") == 0;
    return p->point != 1 || asker || owner || !shows;
}

/* Each faulting kernel costs a child; where a fault is certain, only the read is recorded. */
static bool kernel_left_out(const struct position *p, const struct kind *kind)
{
    bool named = kind->build == build_number || kind->build == build_pages;
    if (p->point != 1 || (named && strcmp(kind->name, "plain")))
        return true;
    bool writes = strstr(rows[p->row].text, "writes") != NULL;
    return writes && (kind->rights <= NONE || !touchable(kind) || kind->build == build_pages ||
                      (asker != owner && kind->whose == FROM_OWNER));
}

/* Omitted cases: with two devices, numbers and plain memory give the same answers, and so does each point of an address,
 * whichever device is current; and the memory after that of cuMemHostAlloc belongs to the driver and must not be written. */
static bool left_out(const struct position *p)
{
    const struct kind *kind = &kinds[p->kind];
    enum row_kind row = rows[p->row].kind;
    bool two = asker || owner, nobodys = kind->build == build_number || kind->build == build_pages;
    if (p->kind % parts != part || (kind->build == build_number && p->point))
        return true;
    if ((two && (nobodys || p->point != 1)) || (asker == owner && kind->whose))
        return true;
    if (row == FAULTS)
        return kernel_left_out(p, kind);
    if (copy_left_out(p, kind))
        return true;
    if (row == HOSTS)
        return p->point == 2 || !touchable(kind);
    return row == WORKS && p->point == 2 && kind->build == build_host_alloc;
}

/* Creates the two devices' contexts, and valid objects for the calls. */
static void start_matrix(void)
{
    init();
    if (asker || owner) {
        other_context(1);
        if (asker) {
            CUcontext first = primary[0];
            primary[0] = primary[1];
            primary[1] = first;
            cuCtxSetCurrent(primary[0]);
        }
    }
    now.own = primary[0];
    now.other = primary[1] ? primary[1] : primary[0];
    must("scratch", cuMemAlloc(&now.device, SCRATCH));
    cuMemsetD8(now.device, 0xd5, SCRATCH);
    memset(host_scratch, 0x1c, 4096);
    must("stream", cuStreamCreate(&now.stream, CU_STREAM_NON_BLOCKING));
    CUmemAllocationProp p = prop_at(L_DEVICE, asker);
    must("handle", cuMemCreate(&now.handle, G, &p, 0));
    cuCtxSynchronize();
}

/* Builds the place in the owner's context. */
static void build(size_t kind)
{
    if (built != SIZE_MAX)
        undo(&place, now.at);
    cuCtxSetCurrent(now.own);
    if (owner != asker && kinds[kind].build != build_memory)
        cuCtxSetCurrent(now.other);
    kinds[kind].build(&place, &kinds[kind]);
    cuCtxSetCurrent(now.own);
    built = kind;
    dirty = false;
    now.base = place.base;
    now.size = place.size;
    now.near = place.near;
    now.near_size = place.near_size;
}

static void refill(void)
{
    if (place.pages || place.host_alloc)
        memset((void *)(uintptr_t)now.at, 0x5a, now.rest < 16 ? 0 : 16);
    else
        cuMemsetD8(now.at, 0x5a, 16);
    cuMemsetD8(now.device, 0xd5, 64);
    memset(host_scratch, 0x1c, 64);
    cuCtxSynchronize();
}

/* Prints the effects of work: a later error, and the first byte at the address or at the other end of a copy. */
static void after_work(char *answer, size_t room)
{
    unsigned char byte = 0, d = 0;
    CUresult later = cuCtxSynchronize();
    if (later)
        snprintf(answer + strlen(answer), room - strlen(answer), " then %s", name_of(later));
    if (later)
        return;
    CUresult r = cuMemcpyDtoH(&byte, now.at, 1);
    cuMemcpyDtoH(&d, now.device, 1);
    if (r)
        snprintf(answer + strlen(answer), room - strlen(answer), " unread");
    else
        snprintf(answer + strlen(answer), room - strlen(answer), " %02x", byte);
    snprintf(answer + strlen(answer), room - strlen(answer), " d:%02x h:%02x", d, host_scratch[0]);
}

/* Prints the effects of a change at the place's start and at the address. */
static void after_change(char *answer, size_t room)
{
    u64 at[] = {now.base, now.at};
    for (size_t i = 0; i < COUNT(at); i++) {
        unsigned type = 0, access = 0;
        size_t size = 0;
        CUdeviceptr start = 0;
        CUresult r = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at[i]);
        cuPointerGetAttribute(&access, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at[i]);
        CUresult range = cuMemGetAddressRange(&start, &size, at[i]);
        snprintf(answer + strlen(answer), room - strlen(answer), i ? " at:" : " left:");
        if (r)
            snprintf(answer + strlen(answer), room - strlen(answer), "%s", name_of(r));
        else
            snprintf(answer + strlen(answer), room - strlen(answer), "type%u,access%u", type, access);
        if (range)
            snprintf(answer + strlen(answer), room - strlen(answer), ",%s", name_of(range));
        else
            snprintf(answer + strlen(answer), room - strlen(answer), ",%zu", size);
    }
}

static void matrix_one(size_t i, char *id, int run)
{
    struct position p = position_of(i);
    const struct row *row = &rows[p.row];
    char answer[512];
    snprintf(id, CASE_ID, "%s.%s.%s.%s", group, kinds[p.kind].name, points[p.point], row->text);
    if (!run || left_out(&p))
        return;
    if (built != p.kind || dirty)
        build(p.kind);
    now.at = at_point(p.point);
    now.rest = p.point == 0 ? place.size : p.point == 1 ? place.size / 2 - 16 : G;
    bool works = row->kind == WORKS || row->kind == HOSTS || row->kind == FAULTS;
    if (works && place.filled && p.point < 2)
        refill();
    CUresult r = ask(row->text, row->kind == IDENTIFIES, answer, sizeof answer);
    if (!r && works)
        after_work(answer, sizeof answer);
    if (!r && row->kind == CHANGES)
        after_change(answer, sizeof answer);
    say(id, "%s", answer);
    dirty = row->kind == CHANGES && !r;
}

static void matrix(int from, int to)
{
    row_count = 0;
#define ASKS(text) add(ASKS, text);
#define IDENTIFIES(text) add(IDENTIFIES, text);
#define WORKS(text) add(WORKS, text);
#define HOSTS(text) add(HOSTS, text);
#define FAULTS(text) add(FAULTS, text);
#define CHANGES(text) add(CHANGES, text);
#include "calls.def"
#undef ASKS
#undef IDENTIFIES
#undef WORKS
#undef HOSTS
#undef FAULTS
#undef CHANGES
    quiet_rows = row_count - 2;
    asker = from;
    owner = to;
    snprintf(group, sizeof group, from || to ? "X%d%d" : "X", from, to);
    run_cases(start_matrix, row_count * COUNT(kinds) * COUNT(points), matrix_one);
    asker = owner = 0;
}

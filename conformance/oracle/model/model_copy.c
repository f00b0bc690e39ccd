/* SPDX-License-Identifier: Apache-2.0 */
/* model_copy.c - copies and fills: their rights, and the bytes that they write.
 *
 * Bytes are kept for windows at the start, the middle and the end of each granule of a memory, which is where tests
 * read and write:      granule [WW..............WW............WW]
 */
#include <stdlib.h>
#include <string.h>

#include "model_edges.h"
#include "model_managed.h"

#define INVALID VMM_ERROR_INVALID_VALUE

/* the longest copy between device addresses that is made the way copies to the host are */
enum { MODEL_SHORT_COPY = 24576 };
enum { LONG_COPY = 4096 }; /* onto itself, which the device makes piece by piece */

/* ---- windows ---- */

static bool watched(const struct model_memory *memory, uint64_t offset)
{
    uint64_t in = offset % memory->granularity, middle = memory->granularity / 2;
    return in < MODEL_WINDOW || (in >= middle && in < middle + MODEL_WINDOW) ||
           in >= memory->granularity - MODEL_WINDOW;
}

/* The next kept offset at or after offset. */
static uint64_t next_watched(const struct model_memory *memory, uint64_t offset)
{
    uint64_t granule = offset - offset % memory->granularity, in = offset % memory->granularity;
    uint64_t middle = memory->granularity / 2;
    if (watched(memory, offset))
        return offset;
    return in < middle ? granule + middle : granule + memory->granularity - MODEL_WINDOW;
}

static struct model_window *window_of(struct model *m, uint64_t handle, uint64_t offset, bool make)
{
    uint64_t start = offset - offset % MODEL_WINDOW;
    for (size_t i = 0; i < m->window_count; i++)
        if (m->windows[i].handle == handle && m->windows[i].offset == start)
            return &m->windows[i];
    if (!make)
        return NULL;
    m->windows = model_room(m->windows, &m->window_room, m->window_count, sizeof *m->windows);
    struct model_window *w = &m->windows[m->window_count++];
    memset(w, 0, sizeof *w);
    w->handle = handle;
    w->offset = start;
    memset(w->known, true, sizeof w->known); /* fresh memory reads as zero */
    return w;
}

/* Of an allocation of a pool and of managed memory, the first bytes are kept, from the first write on: it may have any bytes before.
 * Where those begin, or 0. */
static uint64_t kept_block(struct model *m, uint64_t address)
{
    const struct model_block *block = model_block_at(m, address);
    const struct model_managed *managed = model_managed_at(m, address);
    const uint64_t start = block ? block->start : managed ? managed->start : 0;
    return start && address - start < MODEL_WINDOW ? start : 0;
}

int model_byte(struct model *model, uint64_t address)
{
    const struct model_mapping *mapping = model_mapping_at(model, address);
    if (!mapping) {
        const uint64_t start = kept_block(model, address);
        const struct model_window *w = start ? window_of(model, 0, start, false) : NULL;
        return w && w->known[address - start] ? w->value[address - start] : -1;
    }
    uint64_t offset = mapping->offset + (address - mapping->start);
    if (!watched(model_memory_of(model, mapping->handle), offset))
        return -1;
    const struct model_window *w = window_of(model, mapping->handle, offset, false);
    if (!w)
        return 0;
    return w->known[offset % MODEL_WINDOW] ? w->value[offset % MODEL_WINDOW] : -1;
}

static void put_in_block(struct model *m, uint64_t address, int value)
{
    const uint64_t start = kept_block(m, address);
    if (!start)
        return;
    bool fresh = !window_of(m, 0, start, false);
    struct model_window *w = window_of(m, 0, start, true);
    if (fresh)
        memset(w->known, false, sizeof w->known);
    w->known[address - start] = value >= 0;
    w->value[address - start] = (uint8_t)value;
}

static void put(struct model *m, const struct model_mapping *mapping, uint64_t address, int value)
{
    uint64_t offset = mapping->offset + (address - mapping->start);
    if (!mapping->handle) {
        put_in_block(m, address, value);
        return;
    }
    struct model_window *w = window_of(m, mapping->handle, offset, true);
    w->known[offset % MODEL_WINDOW] = value >= 0;
    w->value[offset % MODEL_WINDOW] = (uint8_t)value;
}

void model_forget_bytes(struct model *model, uint64_t handle)
{
    for (size_t i = model->window_count; i-- > 0;)
        if (model->windows[i].handle == handle)
            model->windows[i] = model->windows[--model->window_count];
}

void model_forget_block(struct model *model, uint64_t start)
{
    for (size_t i = model->window_count; i-- > 0;)
        if (model->windows[i].handle == 0 && model->windows[i].offset == start)
            model->windows[i] = model->windows[--model->window_count];
}

/* The first recorded byte in [address, end) of memory with that start and size; `end` if there is none. */
static uint64_t next_in_block(uint64_t start, uint64_t size, uint64_t address, uint64_t end)
{
    const uint64_t kept = start + (size < MODEL_WINDOW ? size : MODEL_WINDOW), at = address > start ? address : start;
    return at < kept && at < end ? at : end;
}

/* The same of every allocation of a pool and of managed memory. */
static uint64_t next_in_blocks(const struct model *m, uint64_t address, uint64_t end)
{
    for (size_t i = 0; i < m->block_count; i++)
        end = next_in_block(m->blocks[i].start, m->blocks[i].size, address, end);
    for (size_t i = 0; i < m->managed_count; i++)
        end = next_in_block(m->managed[i].start, m->managed[i].size, address, end);
    return end;
}

/* The next address at or after `address` whose byte is recorded; `end` if there is none before it. Every address of the
 * range is mapped. */
static uint64_t next_kept(struct model *m, uint64_t address, uint64_t end)
{
    while (address < end) {
        const struct model_mapping *mapping = model_memory_at(m, address);
        if (!mapping->handle) {
            uint64_t last = mapping->size < end - mapping->start ? mapping->start + mapping->size : end;
            address = next_in_blocks(m, address, last);
            if (address < last)
                return address;
            continue;
        }
        uint64_t offset = mapping->offset + (address - mapping->start);
        uint64_t skip = next_watched(model_memory_of(m, mapping->handle), offset) - offset;
        if (skip < mapping->size - (address - mapping->start))
            return skip < end - address ? address + skip : end;
        address = mapping->start + mapping->size;
    }
    return end;
}

void model_write(struct model *model, uint64_t address, uint64_t size, const uint8_t *pattern, size_t period)
{
    uint64_t end = address + size;
    for (uint64_t at = next_kept(model, address, end); at < end; at = next_kept(model, at + 1, end))
        put(model, model_memory_at(model, at), at, pattern[(at - address) % period]);
}

/* ---- who may ---- */

enum copy_kind { FILL, FROM_PROGRAM, TO_PROGRAM, BETWEEN };

/* One side of a copy; need 0: that side is the program's own memory. */
struct side {
    uint64_t start;
    int need;
    enum copy_kind kind;
    int device; /* that makes the copy */
};

/* Does the host or the device move the bytes of this side (its first mapping decides), and does memory with host rights
 * stop a device that moves them? */
struct mover {
    bool host, device_asked, avoids;
};

static struct mover mover_of(struct model *m, const struct model_mapping *first, const struct side *side, uint64_t size)
{
    bool in_host = !model_in_device(m, first), has = model_device_rights(first, side->device) != 0;
    bool minds = side->kind == FROM_PROGRAM || side->kind == TO_PROGRAM ||
                 (side->kind == BETWEEN && side->need == VMM_MEM_ACCESS_FLAGS_PROT_READ && size <= MODEL_SHORT_COPY);
    if (side->kind == FILL || !in_host)
        return (struct mover){false, true, minds};
    return (struct mover){!has || (first->host && minds), has, minds};
}

/* Byte by byte: is it mapped, and has the calling device access, if that matters? */
static const char *device_obstacle(struct model *m, const struct side *side, struct mover by, uint64_t at)
{
    const struct model_mapping *here = model_memory_at(m, at);
    if (!here && at == side->start)
        return "VMM-COPY-NOT-MAPPED";
    if (!here)
        return by.device_asked ? "VMM-COPY-RUNS-PAST" : "VMM-COPY-HOST-RIGHTS";
    int need = side->need, rights = model_device_rights(here, side->device);
    if (by.device_asked && (rights & need) != need)
        return need == VMM_MEM_ACCESS_FLAGS_PROT_READ ? "VMM-COPY-NO-READ" : "VMM-COPY-NO-WRITE";
    bool later = at != side->start && !model_in_device(m, here) && here->host && here->host_newer;
    return side->kind == FILL && later && side->device == 0 ? "VMM-SET-INTO-HOST" : NULL;
}

/* And does the mover of the bytes have access there? */
static const char *mover_obstacle(struct model *m, const struct side *side, struct mover by, uint64_t at)
{
    const struct model_mapping *here = model_memory_at(m, at);
    int host = model_in_device(m, here) ? 0 : here->host;
    if (by.host)
        return (host & side->need) == side->need ? NULL : "VMM-COPY-HOST-RIGHTS";
    return by.avoids && host ? "VMM-COPY-MIXED" : NULL;
}

/* For a wrapping range a driver checks only the start; if the host moves the bytes, it copies none. */
static bool start_reachable(struct model *m, struct side side, struct mover by, struct model_answer *a)
{
    const char *rule = device_obstacle(m, &side, by, side.start);
    if (!rule && by.host)
        rule = "VMM-COPY-HOST-RIGHTS";
    return !rule || model_refuse(a, INVALID, rule);
}

/* All of the range for the first question, then all of it for the second (model_edges.h). */
static bool reachable(struct model *m, struct side side, uint64_t size, struct model_answer *a)
{
    if (!side.need)
        return true;
    const struct model_mapping *first = model_memory_at(m, side.start);
    struct mover by = {false, true, false};
    if (first)
        by = mover_of(m, first, &side, size);
    if (size > UINT64_MAX - side.start) {
        a->wraps = true;
        return start_reachable(m, side, by, a);
    }
    for (int question = 0; question < 2; question++)
        for (uint64_t at = side.start, end = side.start + size; at < end;) {
            const char *rule = question ? mover_obstacle(m, &side, by, at) : device_obstacle(m, &side, by, at);
            if (rule)
                return model_refuse(a, INVALID, rule);
            const struct model_mapping *here = model_memory_at(m, at);
            at = end - at < here->start + here->size - at ? end : here->start + here->size;
        }
    return true;
}

static bool starts_with_host(struct model *m, struct side side)
{
    const struct model_mapping *first = model_memory_at(m, side.start);
    return !model_in_device(m, first) && first->host;
}

/* What a pool has to say of one side. Memory of a pool of the host is the host's side of a copy, and not a device's. */
static bool side_allowed(struct model *m, struct side side, uint64_t size, struct model_answer *a)
{
    if (!model_pool_allows(m, side.start, size, a))
        return false;
    const struct model_mapping *memory = side.kind == FILL ? NULL : model_memory_at(m, side.start);
    return !memory || !memory->of_host_pool || model_refuse(a, INVALID, "VMM-POOL-COPY-HOST");
}

static bool copy_allowed(struct model *m, struct side src, struct side dst, uint64_t size, bool host_null,
                         struct model_answer *a)
{
    if (!size)
        return true;
    if ((dst.need && !side_allowed(m, dst, size, a)) || (src.need && !side_allowed(m, src, size, a)))
        return false;
    if (host_null)
        return model_refuse(a, INVALID, "VMM-COPY-NULL");
    if (!reachable(m, dst, size, a) || !reachable(m, src, size, a))
        return false;
    if (dst.kind == BETWEEN && src.kind == BETWEEN && dst.need && src.need && size > UINT64_MAX - dst.start &&
        (starts_with_host(m, dst) || starts_with_host(m, src)))
        return model_refuse(a, INVALID, "VMM-COPY-HOST-RIGHTS");
    a->loses = (dst.need && size > UINT64_MAX - dst.start) || (src.need && size > UINT64_MAX - src.start);
    return !a->loses || model_breach(m, a, "VMM-COPY-OVERFLOW");
}

/* Where the copy runs: a lane (-1: the current context's default stream), and whether the call itself waits for it. */
struct turn {
    int lane, device;
    bool at_once;
};

static bool leaves_mapping(struct model *m, struct side side, uint64_t size)
{
    const struct model_mapping *in = side.need ? model_mapping_at(m, side.start) : NULL;
    return in && size > in->size - (side.start - in->start);
}

/* Memory of the host to which the device has no rights. */
static bool by_host(struct model *m, struct side side)
{
    const struct model_mapping *at = side.need ? model_memory_at(m, side.start) : NULL;
    return at && !model_in_device(m, at) && !model_device_rights(at, side.device);
}

/* The call is made: what it uses of pools' memory, and what it puts in order. Do bytes move? A copy on a stream without a current context
 * goes to and from one mapping each. */
static bool makes(struct model *m, struct turn turn, struct side src, struct side dst, uint64_t size, struct model_answer *a)
{
    if (m->driver && !turn.at_once && m->current < 0 && dst.kind != FILL && (by_host(m, dst) || by_host(m, src)))
        a->foreseen = false; /* refused once */
    if (!turn.at_once && m->current < 0 && dst.kind != FILL && !a->loses && (leaves_mapping(m, dst, size) || leaves_mapping(m, src, size)))
        return model_refuse(a, INVALID, "VMM-COPY-RUNS-PAST");
    if (a->asked)
        return false;
    if (dst.need)
        model_use(m, turn.lane, dst.start, size, a);
    if (src.need)
        model_use(m, turn.lane, src.start, size, a);
    if (model_succeeded(a) && turn.at_once)
        model_used(m);
    return model_succeeded(a) && size;
}

static const struct side host = {0, 0, BETWEEN, 0};

static struct side reads(struct turn turn, uint64_t start, enum copy_kind kind)
{
    return (struct side){start, VMM_MEM_ACCESS_FLAGS_PROT_READ, kind, turn.device};
}

static struct side writes(struct turn turn, uint64_t start, enum copy_kind kind)
{
    return (struct side){start, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, kind, turn.device};
}

/* Of a call without a stream: it is done at once. False, with a refusal, if there is no context. */
static bool turn_now(struct model *m, struct turn *turn, struct model_answer *a)
{
    *turn = (struct turn){-1, model_current_device(m), true};
    return turn->device >= 0 || model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
}

static bool turn_on(struct model *m, vmm_stream stream, struct turn *turn, struct model_answer *a)
{
    const int lane = model_lane_of(m, (uint64_t)(uintptr_t)stream, a);
    *turn = (struct turn){lane, lane < 0 ? -1 : m->lane[lane].device, false};
    return lane >= 0;
}

/* A copy uses the rights of the current context's device, regardless of its stream's device. */
static struct turn of_current(const struct model *m, struct turn turn)
{
    turn.device = m->current < 0 ? turn.device : model_current_device(m);
    return turn;
}

bool model_reaches(struct model *model, int device, const struct model_access *access, struct model_answer *answer)
{
    const enum copy_kind kind = access->fill ? FILL : !access->with_program ? BETWEEN : access->writes ? FROM_PROGRAM : TO_PROGRAM;
    const struct turn turn = {0, device, false};
    const struct side side = access->writes ? writes(turn, access->start, kind) : reads(turn, access->start, kind);
    return model_pool_allows(model, access->start, access->size, answer) && reachable(model, side, access->size, answer);
}

/* ---- copies ---- */

static void from_program(struct model *m, struct turn turn, uint64_t to, const uint8_t *from, uint64_t size, struct model_answer *a)
{
    const struct side dst = writes(turn, to, FROM_PROGRAM);
    if (copy_allowed(m, host, dst, size, !from, a) && makes(m, turn, host, dst, size, a))
        model_write(m, to, size, from, size);
}

void model_expect_bytes(struct model *model, uint64_t from, const uint8_t *got, uint64_t size, struct model_answer *answer)
{
    uint64_t end = from + size;
    for (uint64_t at = next_kept(model, from, end); at < end; at = next_kept(model, at + 1, end)) {
        int want = model_byte(model, at);
        if (want >= 0)
            /* analysers: clang-analyzer-core.NullDereference is wrong: without a place to write to nothing is allowed */
            model_expect(answer, "dst", got[at - from], (uint64_t)want);
    }
}

static void to_program(struct model *m, struct turn turn, const uint8_t *to, uint64_t from, uint64_t size, struct model_answer *a)
{
    const struct side src = reads(turn, from, TO_PROGRAM);
    if (copy_allowed(m, src, host, size, !to, a) && makes(m, turn, src, host, size, a))
        model_expect_bytes(m, from, to, size, a);
}

/* Do the two ranges share memory at different addresses? Then the order of reads and writes is undefined. */
static bool meet_as_aliases(struct model *m, uint64_t src, uint64_t dst, uint64_t size)
{
    for (size_t i = 0; i < m->mapping_count; i++)
        for (size_t j = 0; j < m->mapping_count; j++) {
            const struct model_mapping *p = &m->mappings[i], *q = &m->mappings[j];
            if (i != j && p->handle == q->handle && model_overlap(src, size, p->start, p->size) &&
                model_overlap(dst, size, q->start, q->size))
                return true;
        }
    return false;
}

enum meeting { NO_HOST, SOME_HOST, ALL_HOST };

/* How many bytes two ranges share. */
static uint64_t overlap_of(uint64_t a, uint64_t n, uint64_t b, uint64_t m)
{
    uint64_t from = a > b ? a : b, to = a + n < b + m ? a + n : b + m;
    return from < to ? to - from : 0;
}

/* The part of a range that the host has such access to. */
static enum meeting host_in(struct model *m, uint64_t start, uint64_t size, int need)
{
    bool some = false, all = true;
    uint64_t covered = 0;
    for (size_t i = 0; i < m->mapping_count; i++) {
        const struct model_mapping *p = &m->mappings[i];
        int have = model_in_device(m, p) ? 0 : p->host;
        if (!model_overlap(start, size, p->start, p->size))
            continue;
        some |= have != 0;
        all &= (have & need) == need;
        covered += overlap_of(start, size, p->start, p->size);
    }
    all &= covered == size; /* the rest is memory of a pool */
    return !some ? NO_HOST : all ? ALL_HOST : SOME_HOST;
}

/* The host makes a copy when it has a part in both ranges, and then needs access to all of both. */
static bool copied_by_host_in_vain(struct model *m, uint64_t to, uint64_t from, uint64_t size)
{
    enum meeting dst = host_in(m, to, size, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    enum meeting src = host_in(m, from, size, VMM_MEM_ACCESS_FLAGS_PROT_READ);
    return dst && src && (dst != ALL_HOST || src != ALL_HOST);
}

/* As memmove: every byte is read before any is written. */
void model_move(struct model *model, uint64_t to, uint64_t from, uint64_t size, bool murky)
{
    uint64_t end = to + size;
    size_t count = 0, room = 0;
    int16_t *bytes = NULL;
    for (uint64_t at = next_kept(model, to, end); at < end; at = next_kept(model, at + 1, end)) {
        bytes = model_room(bytes, &room, count, sizeof *bytes);
        bytes[count++] = (int16_t)(murky ? -1 : model_byte(model, from + (at - to)));
    }
    count = 0;
    for (uint64_t at = next_kept(model, to, end); at < end; at = next_kept(model, at + 1, end))
        /* analysers: clang-analyzer-core.NullDereference is wrong: there are as many as were counted in */
        put(model, model_memory_at(model, at), at, bytes[count++]);
    free(bytes);
}

bool model_murky(struct model *model, uint64_t to, uint64_t from, uint64_t size)
{
    const struct model_mapping *first = model_memory_at(model, to);
    return meet_as_aliases(model, from, to, size) ||
           (model->driver && (size > LONG_COPY || !model_in_device(model, first)) && model_overlap(from, size, to, size));
}

static bool between_allowed(struct model *m, struct side dst, struct side src, uint64_t size, struct model_answer *a)
{
    if (!copy_allowed(m, src, dst, size, false, a))
        return false;
    return !size || a->loses || !copied_by_host_in_vain(m, dst.start, src.start, size) ||
           model_refuse(a, INVALID, "VMM-COPY-HOST-RIGHTS");
}

static void between(struct model *m, struct turn turn, uint64_t to, uint64_t from, uint64_t size, struct model_answer *a)
{
    const struct side src = reads(turn, from, BETWEEN), dst = writes(turn, to, BETWEEN);
    if (between_allowed(m, dst, src, size, a) && makes(m, turn, src, dst, size, a))
        model_move(m, to, from, size, model_murky(m, to, from, size));
}

bool model_outside_blocks(struct model *model, uint64_t start, uint64_t size)
{
    struct model_answer ignored;
    return size && (!model_pool_allows(model, start, size, &ignored) || !model_pool_allows(model, start + size - 1, 1, &ignored));
}

bool model_aliased(struct model *model, uint64_t a, uint64_t n, uint64_t b, uint64_t k)
{
    for (size_t i = 0; i < model->mapping_count; i++)
        for (size_t j = 0; j < model->mapping_count; j++) {
            const struct model_mapping *p = &model->mappings[i], *q = &model->mappings[j];
            if (i != j && p->handle == q->handle && model_overlap(a, n, p->start, p->size) && model_overlap(b, k, q->start, q->size))
                return true;
        }
    return false;
}

void model_forget_range(struct model *model, uint64_t start, uint64_t size)
{
    uint64_t end = start + size;
    for (uint64_t at = next_kept(model, start, end); at < end; at = next_kept(model, at + 1, end))
        put(model, model_memory_at(model, at), at, -1);
}

bool model_transfer_allowed(struct model *model, int device, const struct model_transfer *transfer, struct model_answer *answer)
{
    const struct turn turn = {-1, device, false};
    const enum copy_kind kinds[] = {FROM_PROGRAM, TO_PROGRAM, BETWEEN, FILL};
    const struct side src = reads(turn, transfer->from, kinds[transfer->kind]), dst = writes(turn, transfer->to, kinds[transfer->kind]);
    switch (transfer->kind) {
    case MODEL_BETWEEN: return between_allowed(model, dst, src, transfer->size, answer);
    case MODEL_TO_PROGRAM: return copy_allowed(model, src, host, transfer->size, !transfer->to, answer);
    case MODEL_FROM_PROGRAM: return copy_allowed(model, host, dst, transfer->size, !transfer->from, answer);
    default: return copy_allowed(model, host, dst, transfer->size, false, answer);
    }
}

/* ---- fills ---- */

/* Fills n elements; n times the width wraps at 64 bits, and only the remainder is filled. */
static bool fill_elements(const struct model *m, uint64_t dst, uint64_t n, size_t width, struct model_answer *a)
{
    if (n && dst % width)
        return model_refuse(a, INVALID, "VMM-SET-ALIGNMENT");
    return n <= UINT64_MAX / width || model_breach(m, a, "VMM-SET-COUNT-WRAPS");
}

static void fill(struct model *m, struct turn turn, uint64_t dst, uint32_t value, uint64_t n, size_t width, struct model_answer *a)
{
    const uint8_t pattern[4] = {(uint8_t)value, (uint8_t)(value >> 8), (uint8_t)(value >> 16), (uint8_t)(value >> 24)};
    const struct side to = writes(turn, dst, FILL);
    if (MODEL_EDGE_SET_FIRST && (!model_pool_allows(m, dst, n * width, a) || !fill_elements(m, dst, n, width, a)))
        return;
    if (!copy_allowed(m, host, to, n * width, false, a))
        return;
    if (!MODEL_EDGE_SET_FIRST && !fill_elements(m, dst, n, width, a))
        return;
    if (makes(m, turn, host, to, n * width, a))
        model_write(m, dst, n * width, pattern, width);
}

/* ---- the calls, at once and in the order of a stream ---- */

#define BOTH(name, make)                                                   \
    MODEL_ON(name)                                                         \
    {                                                                      \
        struct turn turn;                                                  \
        if (turn_now(m, &turn, a))                              \
            make;                                                          \
    }                                                                      \
    MODEL_ON(name##_async)                                                 \
    {                                                                      \
        struct turn turn;                                                  \
        if (turn_on(m, c->stream, &turn, a)) \
            make;                                                          \
    }

BOTH(memcpy_htod, from_program(m, of_current(m, turn), c->dst, c->src, c->byte_count, a))
BOTH(memcpy_dtoh, to_program(m, of_current(m, turn), c->dst, c->src, c->byte_count, a))
BOTH(memcpy_dtod, between(m, of_current(m, turn), c->dst, c->src, c->byte_count, a))
BOTH(memset_d8, fill(m, turn, c->dst, c->value, c->n, 1, a))
BOTH(memset_d16, fill(m, turn, c->dst, c->value, c->n, 2, a))
BOTH(memset_d32, fill(m, turn, c->dst, c->value, c->n, 4, a))

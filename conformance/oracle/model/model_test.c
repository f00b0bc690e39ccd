/* SPDX-License-Identifier: Apache-2.0 */
/* model_test.c - only the model, compared with measured facts by name (the recordings in facts). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "model/model.h"
#include "model/model_parts.h"
#include "tap.h"

#define G ((uint64_t)2 << 20)
#define IV VMM_ERROR_INVALID_VALUE

/* A machine as in the facts, and the next handle that the "system" gives. */
struct bench {
    struct sim_profile profile;
    struct model model;
    uint64_t next_handle;
};

static void bench_open(struct bench *b, const char *profile)
{
    memset(b, 0, sizeof *b);
    if (!sim_profile_builtin(profile, &b->profile))
        tap_bail("no profile %s", profile);
    model_open(&b->model, &b->profile, false);
    b->model.initialised = true;
    b->model.contexts[0] = (struct model_context){NULL, 0, 1};
    b->model.context_count = 1;
    b->model.current = 0;
    b->next_handle = 0x1000;
}

/* The model's prediction; the "system" agrees with it, so successes take effect. */
static struct model_answer ask(struct bench *b, struct vmm_call *call)
{
    struct model_answer answer = {.actual = VMM_ERROR_UNKNOWN};
    model_predict(&b->model, call, &answer);
    answer.actual = answer.result;
    model_predict(&b->model, call, &answer);
    if (answer.wrong)
        tap_note("wrong: %s, got %#llx, want %#llx", answer.wrong, (unsigned long long)answer.got,
                 (unsigned long long)answer.want);
    return answer;
}

static void is(struct model_answer answer, vmm_result result, const char *rule, const char *fact)
{
    bool same = tap_result(answer.result, result, "%s", fact);
    tap_text(same ? (answer.rule ? answer.rule : "") : rule, rule, "%s: rule", fact);
    if (answer.wrong)
        tap_ok(false, "%s: outputs", fact);
}

/* ---- calls ---- */

static struct model_answer reserve(struct bench *b, uint64_t size, uint64_t alignment, uint64_t hint, uint64_t flags)
{
    vmm_deviceptr ptr = size ? model_place(&b->model, size, alignment, hint) : 0;
    struct vmm_call_mem_address_reserve call = {{VMM_CALL_mem_address_reserve, 0}, &ptr, size, alignment, hint, flags};
    return ask(b, &call.head);
}

static struct model_answer create(struct bench *b, uint64_t size, const vmm_mem_allocation_prop *prop)
{
    vmm_mem_generic_allocation_handle handle = b->next_handle += 16;
    struct vmm_call_mem_create call = {{VMM_CALL_mem_create, 0}, &handle, size, prop, 0};
    return ask(b, &call.head);
}

static struct model_answer release(struct bench *b, uint64_t handle)
{
    struct vmm_call_mem_release call = {{VMM_CALL_mem_release, 0}, handle};
    return ask(b, &call.head);
}

static struct model_answer map(struct bench *b, uint64_t ptr, uint64_t size, uint64_t offset, uint64_t handle)
{
    struct vmm_call_mem_map call = {{VMM_CALL_mem_map, 0}, ptr, size, offset, handle, 0};
    return ask(b, &call.head);
}

static struct model_answer unmap(struct bench *b, uint64_t ptr, uint64_t size)
{
    struct vmm_call_mem_unmap call = {{VMM_CALL_mem_unmap, 0}, ptr, size};
    return ask(b, &call.head);
}

static struct model_answer give_back(struct bench *b, uint64_t ptr, uint64_t size)
{
    struct vmm_call_mem_address_free call = {{VMM_CALL_mem_address_free, 0}, ptr, size};
    return ask(b, &call.head);
}

static struct model_answer set_access(struct bench *b, uint64_t ptr, uint64_t size, int type, int id, int flags)
{
    const vmm_mem_access_desc desc = {{type, id}, flags};
    struct vmm_call_mem_set_access call = {{VMM_CALL_mem_set_access, 0}, ptr, size, &desc, 1};
    return ask(b, &call.head);
}

static struct model_answer get_access(struct bench *b, uint64_t *flags, int type, int id, uint64_t ptr)
{
    const vmm_mem_location location = {type, id};
    struct vmm_call_mem_get_access call = {{VMM_CALL_mem_get_access, 0}, flags, &location, ptr};
    return ask(b, &call.head);
}

static struct model_answer fill(struct bench *b, uint64_t dst, uint64_t n, unsigned char value)
{
    struct vmm_call_memset_d8 call = {{VMM_CALL_memset_d8, 0}, dst, value, n};
    return ask(b, &call.head);
}

static vmm_mem_allocation_prop device_prop(int id)
{
    return (vmm_mem_allocation_prop){.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                     .location = {VMM_MEM_LOCATION_TYPE_DEVICE, id}};
}

static uint64_t made(struct bench *b, uint64_t size)
{
    vmm_mem_allocation_prop p = device_prop(0);
    create(b, size, &p);
    return b->next_handle;
}

static uint64_t taken(struct bench *b, uint64_t size)
{
    uint64_t at = model_place(&b->model, size, 0, 0);
    reserve(b, size, 0, 0, 0);
    return at;
}

/* ---- facts ---- */

static void facts_create(void)
{
    struct bench b;
    bench_open(&b, "h100");
    vmm_mem_allocation_prop p = device_prop(0);
    is(create(&b, G, &p), VMM_SUCCESS, "", "create.ok");
    is(create(&b, 0, &p), IV, "VMM-CREATE-SIZE-ZERO", "create.size0");
    is(create(&b, 4096, &p), IV, "VMM-CREATE-SIZE-GRANULARITY", "create.4096");
    is(create(&b, (uint64_t)1 << 44, &p), VMM_ERROR_OUT_OF_MEMORY, "VMM-CREATE-MEMORY", "create.1<<44");
    is(create(&b, ~(uint64_t)0, &p), IV, "VMM-CREATE-SIZE-GRANULARITY", "create.max");
    is(create(&b, 0 - G, &p), VMM_ERROR_OUT_OF_MEMORY, "VMM-CREATE-MEMORY", "create.max_al");
    p = device_prop(1);
    is(create(&b, G, &p), VMM_ERROR_INVALID_DEVICE, "VMM-CREATE-DEVICE-ID", "create.id_n");
    is(create(&b, 1, &p), IV, "VMM-CREATE-SIZE-GRANULARITY", "create bad id+bad size");
    p = device_prop(0);
    p.type = VMM_MEM_ALLOCATION_TYPE_MANAGED;
    is(create(&b, G, &p), IV, "VMM-CREATE-TYPE", "create.managed");
    p = device_prop(0);
    p.requested_handle_types = VMM_MEM_HANDLE_TYPE_FABRIC;
    is(create(&b, G, &p), VMM_ERROR_NOT_PERMITTED, "VMM-CREATE-FABRIC-IMEX", "create.fabric");
    is(create(&b, (uint64_t)1 << 44, &p), VMM_ERROR_OUT_OF_MEMORY, "VMM-CREATE-MEMORY", "create fabric+huge");
    p.requested_handle_types = VMM_MEM_HANDLE_TYPE_WIN32;
    is(create(&b, G, &p), IV, "VMM-CREATE-HANDLE-TYPE-WINDOWS", "create.win32");
    p.requested_handle_types = 17;
    is(create(&b, G, &p), VMM_SUCCESS, "VMM-CREATE-HANDLE-TYPE-UNKNOWN", "create.fd|16");
    tap_u64((uint64_t)model_memory_of(&b.model, b.next_handle)->prop.requested_handle_types, 1, "create.fd|16.props");
    p = device_prop(99);
    p.location.type = VMM_MEM_LOCATION_TYPE_HOST;
    is(create(&b, G, &p), VMM_SUCCESS, "", "create.host.id99");
    const vmm_mem_location *read_back = &model_memory_of(&b.model, b.next_handle)->prop.location;
    tap_ok(read_back->type == VMM_MEM_LOCATION_TYPE_HOST_NUMA && read_back->id == 0, "create.host.id99.props");
    p.location.type = VMM_MEM_LOCATION_TYPE_HOST_NUMA;
    is(create(&b, G, &p), IV, "VMM-CREATE-NUMA-ID", "create.numa99");
    model_close(&b.model);
}

static void facts_reserve(void)
{
    struct bench b;
    bench_open(&b, "h100");
    is(reserve(&b, G, 0, 0, 0), VMM_SUCCESS, "", "reserve.g");
    is(reserve(&b, 0, 0, 0, 0), IV, "VMM-RESERVE-SIZE-ZERO", "reserve.0");
    is(reserve(&b, G + 65536, 0, 0, 0), IV, "VMM-RESERVE-SIZE-GRANULARITY", "reserve.g+64k");
    is(reserve(&b, G, 3, 0, 0), IV, "VMM-RESERVE-ALIGNMENT-POWER", "reserve.al3");
    is(reserve(&b, G, (uint64_t)1 << 46, 0, 0), VMM_ERROR_OUT_OF_MEMORY, "VMM-RESERVE-SPACE", "reserve.al1<<46");
    is(reserve(&b, G, (uint64_t)1 << 63, 0, 0), IV, "VMM-RESERVE-ALIGNMENT-LIMIT", "reserve.al1<<63");
    is(reserve(&b, (uint64_t)1 << 47, 0, 0, 0), VMM_ERROR_OUT_OF_MEMORY, "VMM-RESERVE-SPACE", "reserve.1<<47");
    is(reserve(&b, G, 0, (uint64_t)1 << 56, 0), VMM_ERROR_OUT_OF_MEMORY, "VMM-RESERVE-HINT-LIMIT", "reserve.hint_2^56");
    is(reserve(&b, G, 0, 0x10000, 0), IV, "VMM-RESERVE-HINT-GRANULARITY", "reserve.hint_low");
    uint64_t p = taken(&b, 4 * G);
    is(reserve(&b, G, (uint64_t)1 << 30, p + G, 0), IV, "VMM-RESERVE-HINT-ALIGNMENT", "reserve.hint_al_conflict");
    is(reserve(&b, G, 0, p + 4 * G, 0), VMM_SUCCESS, "", "reserve.hint_free");
    is(reserve(&b, G, 0, p, 0), VMM_SUCCESS, "VMM-RESERVE-HINT-NOT-TAKEN", "reserve.hint_used");
    is(reserve(&b, G, 0, 0, 1), IV, "VMM-RESERVE-FLAGS", "reserve.flags1");
    is(give_back(&b, p, 2 * G), IV, "VMM-FREE-SIZE-MATCH", "free.half");
    is(give_back(&b, p + G, 3 * G), IV, "VMM-FREE-NOT-START", "free.interior");
    is(give_back(&b, p, 5 * G), IV, "VMM-FREE-SIZE-MATCH", "adj.free_across");
    is(give_back(&b, p, 4 * G), VMM_SUCCESS, "", "free.ok");
    is(give_back(&b, p, 4 * G), IV, "VMM-FREE-NOT-RESERVED", "free.double");
    model_close(&b.model);
}

/* Where ranges go. The recordings hold the addresses; those near the context's chunks vary between runs, so they are
 * compared by their distance from the first. */
static void facts_place(void)
{
    struct bench b;
    bench_open(&b, "h100");
    uint64_t first = taken(&b, G), start = 0x302000000;
    tap_u64(taken(&b, G) - first, 5 * G, "reserve.seq: the second in the context's upper chunk");
    for (int number = 2; number < 13; number++)
        taken(&b, G);
    tap_u64(taken(&b, G), start, "G.place.ctx, number 13");
    model_close(&b.model);
    bench_open(&b, "h100");
    tap_u64(model_place(&b.model, G, (uint64_t)1 << 30, 0), 0x340000000, "reserve.al1<<30");
    tap_u64(model_place(&b.model, G, (uint64_t)1 << 36, 0), 0x1000000000, "reserve.al1<<36");
    tap_u64(model_place(&b.model, G, (uint64_t)1 << 40, 0), 0x20000000000, "reserve.al1<<40");
    tap_u64(model_place(&b.model, (uint64_t)1 << 46, 0, 0), 0x10004000000, "reserve.1<<46");
    tap_u64(model_place(&b.model, 0x600000000000, 0, 0), 0, "G.largest size=600000000000");
    tap_u64(model_place(&b.model, 0x500000000000, 0, 0), 0x10004000000, "G.largest size=500000000000");
    tap_u64(model_place(&b.model, 64 * G, 0, 0x10004200000), 0x10006000000, "G.hint.10004200000.size64G");
    tap_u64(model_place(&b.model, 64 * G, 0, 0x1fffe00000), 0x2000000000, "G.hint.1fffe00000.size64G");
    b.model.context_count = 0;
    b.model.current = -1;
    tap_u64(model_place(&b.model, G, 0, 0x340200000), 0x342000000, "G.noctx_hint 340200000 size=1G");
    tap_u64(model_place(&b.model, G, 0, 0x340000000), 0x340000000, "G.noctx_hint 340000000 size=1G");
    tap_u64(taken(&b, 9 * G), start, "G.place.noctx, 9G");
    tap_u64(taken(&b, 9 * G), start + 16 * G, "G.place.noctx, 9G: the next after+16G");
    tap_u64(taken(&b, 17 * G), start + 32 * G, "G.place.noctx, 17G");
    tap_u64(taken(&b, 17 * G), start + 64 * G, "G.place.noctx, 17G: the next after+32G");
    tap_u64(taken(&b, 7 * G), start + 9 * G, "packed into the first chunk that has room");
    model_close(&b.model);
}

static void facts_tail(void)
{
    struct bench b;
    bench_open(&b, "h100");
    uint64_t a = taken(&b, 4 * G), h = made(&b, 2 * G), h1 = made(&b, G);
    map(&b, a + 3 * G, 2 * G, 0, h);
    is(reserve(&b, G, 0, a + 4 * G, 0), VMM_SUCCESS, "VMM-RESERVE-OVER-MAPPING", "B.past_reserve.one_u_at_tail");
    is(give_back(&b, a + 4 * G, G), IV, "VMM-FREE-MAPPED", "B.past_reserve.one_u_at_tail, free");
    is(map(&b, a + 4 * G, G, 0, h1), IV, "VMM-MAP-OVERLAP", "B.past_reserve.map_on_tail");
    is(unmap(&b, a + 4 * G, G), IV, "VMM-UNMAP-PARTIAL", "B.take.unmap_tail");
    is(unmap(&b, a + 3 * G, ~(uint64_t)0), VMM_SUCCESS, "VMM-UNMAP-WRAPS", "C.size.max");
    tap_u64(b.model.mapping_count, 1, "C.size.max alive");
    is(unmap(&b, a + 3 * G, 2 * G), VMM_SUCCESS, "", "B.take.unmap");
    is(give_back(&b, a + 4 * G, G), VMM_SUCCESS, "", "B.take.free_tail_after");
    model_close(&b.model);
}

static void facts_map(void)
{
    struct bench b;
    bench_open(&b, "h100");
    uint64_t p = taken(&b, 16 * G), h = made(&b, 4 * G), h1 = made(&b, G);
    is(map(&b, p, 0, 0, h), IV, "VMM-MAP-SIZE-ZERO", "map.size0");
    is(map(&b, p, G + 4096, 0, h), VMM_ERROR_NOT_SUPPORTED, "VMM-MAP-SIZE-WHOLE", "map.size_un");
    is(map(&b, p + 64 * G, G, G, h1), VMM_ERROR_NOT_SUPPORTED, "VMM-MAP-OFFSET", "map off+unreserved");
    is(map(&b, p + 4096, G, 0, h1), IV, "VMM-MAP-PTR-GRANULARITY", "map.ptr_un");
    is(map(&b, p, G, 0, 0), IV, "VMM-MAP-HANDLE-ZERO", "map.h0");
    is(map(&b, p + 16 * G, G, 0, h1), IV, "VMM-MAP-NOT-RESERVED", "map.outside");
    is(map(&b, p + 15 * G, 4 * G, 0, h), VMM_SUCCESS, "VMM-MAP-PAST-RESERVATION", "map.straddle_end");
    is(map(&b, p, 4 * G, 0, h), VMM_SUCCESS, "", "map.full");
    is(map(&b, p + G, G, 0, h1), IV, "VMM-MAP-OVERLAP", "map.overlap_mid");
    is(map(&b, p + 9 * G, G, 0, h1), VMM_SUCCESS, "", "map.adjacent");
    is(unmap(&b, p, G), IV, "VMM-UNMAP-PARTIAL", "unmap.sub_first");
    is(unmap(&b, p, 16 * G), IV, "VMM-UNMAP-PARTIAL", "unmap.whole_plus_hole");
    is(unmap(&b, p + 9 * G, 2 * G), VMM_SUCCESS, "VMM-UNMAP-HOLE", "unmap.too_long_into_unmapped");
    is(unmap(&b, p + 9 * G + 1, G), VMM_SUCCESS, "VMM-UNMAP-UNALIGNED", "unmap.unaligned");
    is(unmap(&b, p + 9 * G, G), VMM_SUCCESS, "VMM-UNMAP-NOTHING", "unmap.unmapped");
    is(unmap(&b, 0, G), IV, "VMM-UNMAP-PTR-ZERO", "unmap.ptr0");
    is(unmap(&b, p + 64 * G, G), IV, "VMM-UNMAP-NOT-RESERVED", "unmap.unreserved");
    is(give_back(&b, p, 16 * G), IV, "VMM-FREE-MAPPED", "straddle.free_while");
    is(unmap(&b, p, 19 * G), VMM_SUCCESS, "VMM-UNMAP-HOLE", "B.past_all.unmap_start_past_everything");
    tap_u64(b.model.mapping_count, 0, "B.past_all.alive");
    is(give_back(&b, p, 16 * G), VMM_SUCCESS, "", "straddle.free");
    model_close(&b.model);
}

static void facts_access(void)
{
    struct bench b;
    uint64_t fl;
    bench_open(&b, "h100");
    uint64_t p = taken(&b, 16 * G), h = made(&b, 4 * G), h1 = made(&b, G);
    is(set_access(&b, p, G, 1, 0, 3), IV, "VMM-ACCESS-NOT-MAPPED", "setaccess.unmapped");
    is(get_access(&b, &fl, 1, 0, p), IV, "VMM-GETACCESS-NOT-MAPPED", "getaccess.reserved_unmapped");
    map(&b, p, 4 * G, 0, h);
    is(set_access(&b, p, G + 4096, 1, 0, 3), IV, "VMM-ACCESS-SIZE-GRANULARITY", "setaccess.size_un");
    is(set_access(&b, p, G, 1, 0, 3), IV, "VMM-ACCESS-PARTIAL", "setaccess.sub");
    is(set_access(&b, p, 5 * G, 1, 0, 3), IV, "VMM-ACCESS-NOT-MAPPED", "setaccess.past");
    is(set_access(&b, p, 4 * G, 1, 0, 2), IV, "VMM-ACCESS-FLAGS", "setaccess.fl2");
    is(set_access(&b, p, 4 * G, 1, 99, 3), IV, "VMM-ACCESS-DEVICE-ID", "setaccess.id99");
    is(set_access(&b, p, 4 * G, 0, 0, 3), IV, "VMM-ACCESS-LOCATION-TYPE", "setaccess.loc0");
    is(set_access(&b, p, 4 * G, 2, 0, 3), VMM_ERROR_NOT_SUPPORTED, "VMM-ACCESS-HOST-ON-DEVICE",
       "setaccess.host_on_dev");
    is(set_access(&b, p, 4 * G, 1, 0, 3), VMM_SUCCESS, "", "setaccess.ok");
    fl = 3;
    is(get_access(&b, &fl, 1, 0, p + 12345), VMM_SUCCESS, "", "getaccess.interior");
    is(get_access(&b, &fl, 2, 0, p), VMM_SUCCESS, "", "getaccess.host");
    fl = 0;
    is(get_access(&b, &fl, 3, 0, p), VMM_SUCCESS, "", "getaccess.numa");
    is(get_access(&b, &fl, 1, 99, p + 8 * G), VMM_ERROR_INVALID_DEVICE, "VMM-GETACCESS-LOCATION",
       "getaccess bad id + unmapped");
    is(set_access(&b, p, 4 * G, 2, 0, 0), VMM_SUCCESS, "", "D.host_none");
    map(&b, p + 5 * G, G, 0, h1);
    is(set_access(&b, p, 6 * G, 1, 0, 1), VMM_SUCCESS, "VMM-ACCESS-HOLE", "D.gap.hole_inside_one");
    fl = 1;
    is(get_access(&b, &fl, 1, 0, p), VMM_SUCCESS, "", "D.gap.hole_inside_one.flags, before the hole");
    fl = 0;
    is(get_access(&b, &fl, 1, 0, p + 5 * G), VMM_SUCCESS, "", "D.gap.hole_inside_one.flags, behind it");
    is(set_access(&b, p + 4 * G, 2 * G, 1, 0, 1), IV, "VMM-ACCESS-NOT-MAPPED", "span.access_lead_hole");
    unmap(&b, p, 4 * G);
    map(&b, p, 4 * G, 0, h);
    is(get_access(&b, &fl, 1, 0, p), VMM_SUCCESS, "", "getaccess.remapped");
    model_close(&b.model);
}

static void facts_handles(void)
{
    struct bench b;
    bench_open(&b, "h100");
    uint64_t before = model_device_free(&b.model, 0), h = made(&b, G), p = taken(&b, 8 * G);
    tap_u64(before - model_device_free(&b.model, 0), G, "mem.create_delta/G");
    map(&b, p, G, 0, h);
    is(release(&b, h), VMM_SUCCESS, "", "A.orphan.release");
    is(release(&b, h), IV, "VMM-RELEASE-HANDLE-STALE", "A.again.release2");
    tap_u64(before - model_device_free(&b.model, 0), G, "A.again.release2.risen");
    is(map(&b, p + 2 * G, G, 0, h), VMM_SUCCESS, "", "A.second.map");
    is(unmap(&b, p, G), VMM_SUCCESS, "", "A.second.unmap_first");
    tap_u64(before - model_device_free(&b.model, 0), G, "A.second.unmap_first.risen");
    is(unmap(&b, p + 2 * G, G), VMM_SUCCESS, "", "A.second.unmap_last");
    tap_u64(model_device_free(&b.model, 0), before, "A.second.unmap_last.risen");
    is(release(&b, h), IV, "VMM-RELEASE-HANDLE-STALE", "A.second.release_after");
    is(release(&b, 0), IV, "VMM-RELEASE-HANDLE-ZERO", "release.h0");
    is(release(&b, 0xdead0), IV, "VMM-RELEASE-HANDLE-FORGED", "t_relbad");
    is(map(&b, p, G, 0, h), IV, "VMM-MAP-HANDLE-STALE", "t_maprel");
    model_close(&b.model);
}

static void facts_bytes(void)
{
    struct bench b;
    bench_open(&b, "h200x2");
    uint64_t p = taken(&b, 8 * G), h = made(&b, G);
    map(&b, p, G, 0, h);
    map(&b, p + G, G, 0, h);
    is(fill(&b, p, 1, 1), IV, "VMM-COPY-NO-WRITE", "m_memset_noaccess");
    set_access(&b, p, 2 * G, 1, 0, 3);
    tap_u64((uint64_t)model_byte(&b.model, p), 0, "mem.fresh_sum(0?)");
    is(fill(&b, p, G, 0x5a), VMM_SUCCESS, "", "ctx.memset");
    tap_u64((uint64_t)model_byte(&b.model, p + G + G / 2), 0x5a, "alias.read");
    is(fill(&b, p, 2 * G + 1, 1), IV, "VMM-COPY-RUNS-PAST", "m_memset_overrun");
    is(fill(&b, p + 4 * G, 0, 1), VMM_SUCCESS, "", "copy.memset0_unmapped");
    is(fill(&b, p + 4 * G, 1, 1), IV, "VMM-COPY-NOT-MAPPED", "m_memset_reserved");
    set_access(&b, p, G, 1, 0, 1);
    is(fill(&b, p, 1, 1), IV, "VMM-COPY-NO-WRITE", "m_memset_ro");
    set_access(&b, p, G, 1, 0, 0);
    set_access(&b, p, G, 1, 1, 3);
    is(fill(&b, p, 1, 1), IV, "VMM-COPY-NO-WRITE", "peer3.dev0_memset_without_access");
    unmap(&b, p, 2 * G);
    map(&b, p + 4 * G, G, 0, h);
    tap_u64((uint64_t)model_byte(&b.model, p + 4 * G), 0x5a, "remap.v(9)");
    model_close(&b.model);
}

/* The "system" answers with a file of the requested length. */
static struct model_answer dmabuf(struct bench *b, uint64_t ptr, uint64_t size, uint64_t flags, uint64_t length)
{
    FILE *file = tmpfile();
    int fd = file ? fileno(file) : -1;
    if (fd < 0 || ftruncate(fd, (off_t)length))
        tap_bail("no temporary file");
    struct vmm_call_mem_get_handle_for_address_range call = {
        {VMM_CALL_mem_get_handle_for_address_range, 0}, &fd, ptr, size, 1, flags};
    struct model_answer answer = ask(b, &call.head);
    fclose(file);
    return answer;
}

static void facts_dmabuf(void)
{
    struct bench b;
    bench_open(&b, "h100");
    uint64_t p = taken(&b, 8 * G), h = made(&b, 2 * G);
    is(dmabuf(&b, p, G, 0, G), IV, "VMM-DMABUF-NOT-MAPPED", "dmabuf.reserved");
    map(&b, p, 2 * G, 0, h);
    is(dmabuf(&b, p, 2 * G, 0, 2 * G), VMM_SUCCESS, "", "dmabuf.mapped");
    set_access(&b, p, 2 * G, 1, 0, 3);
    is(dmabuf(&b, p, G, 0, G), VMM_SUCCESS, "", "dmabuf.sub");
    is(dmabuf(&b, p, 4096, 0, 4096), VMM_SUCCESS, "", "dmabuf.un");
    is(dmabuf(&b, p, 2 * G, 1, 2 * G), VMM_ERROR_NOT_SUPPORTED, "VMM-DMABUF-PCIE", "dmabuf.fl1");
    map(&b, p + 2 * G, 2 * G, 0, made(&b, 2 * G));
    is(dmabuf(&b, p, 4 * G, 0, 4 * G), VMM_SUCCESS, "", "dmabuf.two");
    struct model_answer wrong = dmabuf(&b, p, 4 * G, 0, 2 * G);
    tap_ok(wrong.wrong && wrong.got == 2 * G && wrong.want == 4 * G, "a file that is too short is noticed");
    fill(&b, p, 1, 7);
    wrong = dmabuf(&b, p, G, 0, G);
    tap_ok(wrong.wrong && wrong.got == 0 && wrong.want == 7, "and one without the bytes");
    model_close(&b.model);
}

int main(void)
{
    facts_create();
    facts_reserve();
    facts_place();
    facts_tail();
    facts_map();
    facts_access();
    facts_handles();
    facts_bytes();
    facts_dmabuf();
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* watch: breaks each of the engine's invariants by hand, in a process with one object of each kind; the checks after calls find
 * it. */
#ifndef _DEFAULT_SOURCE
#define _DEFAULT_SOURCE 1 /* MAP_ANONYMOUS */
#endif
#include "watch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "breaks.h"
#include "checks.h"
#include "in_flight.h"
#include "rights.h"
#include "va_allocator_parts.h"
#include "system.h"
#include "team.h"

#define G (UINT64_C(2) << 20)
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define SMALL_SPACE (UINT64_C(64) << 20)

/*  R [M1 of H1][M2 of H2][M3 of H1][M4: of the host].....   small S    A1    object with H2's memory bound    C, S, E  */
struct scene {
    vmm_system *sys;
    struct sim_process *process;
    struct sim_machine *machine;
    vmm_deviceptr at, small, allocation;
    vmm_mem_generic_allocation_handle h1, h2, on_host, object;
    vmm_context context;
    vmm_stream stream;
    vmm_event event;
};

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s", vmm_result_name(result), vmm_last_detail()->note);
}

static void map(struct scene *s, unsigned place, vmm_mem_generic_allocation_handle handle)
{
    const vmm_mem_access_desc desc[] = {{{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, RW}, {{VMM_MEM_LOCATION_TYPE_HOST, 0}, RW}};
    need(vmm_mem_map(s->sys, s->at + place * G, G, 0, handle, 0));
    need(vmm_mem_set_access(s->sys, s->at + place * G, G, desc, handle == s->on_host ? 2 : 1));
}

static void bind(struct scene *s)
{
    const vmm_multicast_object_prop prop = {.num_devices = 2, .size = 2 * G};
    need(vmm_multicast_create(s->sys, &s->object, &prop));
    need(vmm_multicast_add_device(s->sys, s->object, 0));
    need(vmm_multicast_add_device(s->sys, s->object, 1));
    need(vmm_multicast_bind_mem(s->sys, s->object, 0, s->h2, 0, G, 0));
}

static void open_scene(struct scene *s)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}},
                                  host = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0}};
    memset(s, 0, sizeof *s);
    need(vmm_open("sim:h200x2", &s->sys));
    s->process = (struct sim_process *)s->sys->top;
    s->machine = s->process->machine;
    need(vmm_init(s->sys, 0));
    need(vmm_device_primary_ctx_retain(s->sys, &s->context, 0));
    need(vmm_ctx_set_current(s->sys, s->context));
    need(vmm_stream_create(s->sys, &s->stream, 0));
    need(vmm_event_create(s->sys, &s->event, 0));
    need(vmm_mem_alloc(s->sys, &s->allocation, G));
    need(vmm_mem_address_reserve(s->sys, &s->at, SMALL_SPACE, 0, 0, 0));
    need(vmm_mem_address_reserve(s->sys, &s->small, G, 0, 0, 0));
    need(vmm_mem_create(s->sys, &s->h1, G, &prop, 0));
    need(vmm_mem_create(s->sys, &s->h2, G, &prop, 0));
    need(vmm_mem_create(s->sys, &s->on_host, G, &host, 0));
    map(s, 0, s->h1);
    map(s, 1, s->h2);
    map(s, 2, s->h1);
    map(s, 3, s->on_host);
    bind(s);
    sim_machine_lock(s->machine);
    check_holds(watch_machine(s->machine), "a machine with one of everything");
}

static void close_scene(struct scene *s)
{
    check_holds(watch_machine(s->machine), "all is mended");
    sim_machine_unlock(s->machine);
    vmm_close(s->sys);
}

static void *object_of(const struct slots *slots, const void *value)
{
    void *object;
    slots_find(slots, (uint64_t)(uintptr_t)value, &object);
    return object;
}

static struct sim_handle *handle_of(const struct scene *s, uint64_t value)
{
    void *handle;
    slots_find(&s->process->handles, value, &handle);
    return handle;
}

static void test_mappings(struct scene *s)
{
    struct sim_process *p = s->process;
    struct sim_mapping *m1 = sim_mapping_at(p, s->at), *m4 = sim_mapping_at(p, s->at + 3 * G);
    struct sim_handle *h1 = m1->handle, *h2 = handle_of(s, s->h2);
    BREAKS(m1->size, 2 * G, process_check(p), "shows 0x400000 bytes at 0x0 of H1, which has 0x200000");
    BREAKS(m1->size, 0, process_check(p), "M1 has 0x0 bytes");
    BREAKS(m1->size, UINT64_MAX, process_check_at(p, s->at), "M1 has 0xffffffffffffffff bytes");
    BREAKS(m1->size, UINT64_MAX - s->at, process_check_at(p, s->at), "M1 shows 0xffff"); /* which end with the last address */
    BREAKS(m1->offset, 2 * G, process_check_at(p, s->at), "shows 0x200000 bytes at 0x400000 of H1");
    BREAKS(m1->offset, 3 * G, process_check_at(p, s->at), "shows 0x200000 bytes at 0x600000 of H1");
    BREAKS_TO(h1->maps, 0, process_check_at(p, s->at), "which has 0x200000 and counts 0 mappings");
    BREAKS(m1->start, s->at + G, process_check_at(p, s->at), "mappings: the floor of 0x");
    char words[96];
    snprintf(words, sizeof words, "M2 at 0x%" PRIx64 " overlaps M1 at 0x%" PRIx64 ", of 0x400000 bytes", s->at + G, s->at);
    BREAKS(h1->size, 2 * G, (m1->size = 2 * G, process_check(p)), words);
    m1->size = G;
    BREAKS(m1->offset, G, process_check_at(p, s->at), "shows 0x200000 bytes at 0x200000 of H1");
    BREAKS(m1->handle, NULL, process_check(p), "the handle of M1: there is none");
    BREAKS(m1->handle, h2, process_check(p), "H1 has 1 mappings, 2 are counted");
    BREAKS(h1->value, h2->value, process_check_at(p, s->at), "the handle of M1: value");
    BREAKS(h1->maps, 3, process_check(p), "H1 has 2 mappings, 3 are counted");
    BREAKS_TO(m1->access, 2, process_check_at(p, s->at), "M1 has rights 2 for location 0");
    BREAKS(m1->access, UINT64_C(3) << 10, process_check_at(p, s->at), "M1 has rights 3 for location 5");
    BREAKS(m1->access, UINT64_C(2) << 2 * SIM_HOST_SLOT, process_check_at(p, s->at), "M1 has rights 2 for location ");
    BREAKS(p->aliased, 0, process_check(p), "1 handles are mapped more than once, 0 are counted");
    BREAKS(p->host_sees, 7, process_check(p), " mappings are shown to the host, 7 are counted");
    BREAKS(m4->host_shown, 1, process_check_at(p, m4->start), "M4 is shown to the host with rights 1, which has 3");
    BREAKS(h1->rdma_first, m4, process_check(p), "handles name 1 mappings for RDMA, 0 of which are theirs");
    h1->rdma_first = m1;
    check_holds(process_check(p), "a mapping that its handle names for RDMA");
    h1->rdma_first = NULL;
    BREAKS(h1->rdma_late, m4, process_check(p), "handles name 1 mappings for RDMA, 0 of which are theirs");
    h1->rdma_late = m1;
    check_holds(process_check(p), "or for late RDMA");
    h1->rdma_late = NULL;
    BREAKS(p->mappings.count, 3, process_check(p), "mappings: count is 3, but more things are stored");
}

static void test_ranges(struct scene *s)
{
    struct sim_process *p = s->process;
    struct sim_reservation *r = sim_reservation_at(p, s->at), *small = sim_reservation_at(p, s->small);
    struct sim_allocation *a = sim_allocation_at(p, s->allocation);
    char words[120];
    snprintf(words, sizeof words, "M2 starts at 0x%" PRIx64 ", in no reservation", s->at + G);
    BREAKS(r->size, G, process_check_at(p, s->at + G), words);
    BREAKS(r->size, 2 * SMALL_SPACE, process_check(p), "");
    BREAKS_TO(r->start, r->start + G, process_check_at(p, s->at), "reservations: the floor of 0x");
    BREAKS(r->size, 3 * G, process_check(p), "R1: the range of 0x600000 bytes at");
    BREAKS(small->size, 0, process_check(p), "R2 has 0x0 bytes");
    BREAKS(small->size, UINT64_MAX, process_check(p), "R2 has 0xffffffffffffffff bytes at 0x");
    BREAKS(small->size, UINT64_MAX - s->small, process_check(p), "R2: the range of 0xffff");
    BREAKS_TO(small->size, 2 * G, process_check_at(p, s->small), "bytes of the range at");
    BREAKS(small->size, 2 * SMALL_SPACE, process_check_at(p, s->small), "R2: ");
    const uint64_t start = a->start;
    BREAKS_TO(a->start, start + G, process_check_at(p, start), "allocations: the floor of 0x");
    BREAKS(a->block, NULL, process_check_at(p, a->start), "its block is missing");
    BREAKS_TO(a->size, a->span + 1, process_check_at(p, a->start),
           "A1 has 0x200001 bytes of 0x200000, its block another size or no holder");
    BREAKS(a->span, 0, process_check_at(p, a->start), "A1 has 0x0 bytes at 0x");
    BREAKS_TO(a->block->holders, 0, process_check_at(p, a->start), "its block another size or no holder");
    BREAKS(a->block->size, 2 * G, process_check_at(p, a->start), "its block another size or no holder");
    BREAKS(a->context, 7, process_check_at(p, a->start), "A1: its context 0x7 has ended");
    BREAKS(a->block, NULL, watch_machine(s->machine), "A1 has no block");
    BREAKS(p->context_taken[0].size, 2 * G, process_check(p), ""); /* the context took nothing there */
    uint64_t open = p->va.chunks.count * p->va.chunk, free = free_ranges_sum(&p->va.small, 0, UINT64_MAX);
    snprintf(words, sizeof words, " are free, 0x%" PRIx64 " in open chunks and 0x", open);
    BREAKS(p->window.end, p->window.end + G, process_check(p), words);
    snprintf(words, sizeof words, "the open chunks have 0x%" PRIx64 " bytes, of which 0x%" PRIx64 " are taken and 0x%" PRIx64 " free",
             open, open - free - G / 2, free);
    BREAKS(small->size, G / 2, process_check(p), words);
}

static void insert(struct addrmap *map, uint64_t start, void *thing)
{
    if (!addrmap_insert(map, start, thing))
        tap_bail("no memory");
}

/* Things in the maps of the process where another one already is. */
static void test_overlaps(struct scene *s)
{
    struct sim_process *p = s->process;
    struct sim_mapping *m1 = sim_mapping_at(p, s->at);
    struct sim_allocation inside = {.start = s->at, .size = G, .span = G, .number = 9};
    struct sim_reservation within = {.start = s->at + G, .size = G, .number = 9};
    insert(&p->allocations, inside.start, &inside);
    char words[64];
    snprintf(words, sizeof words, "A9 at 0x%" PRIx64 " overlaps what ends at 0x%" PRIx64, s->at, s->at + SMALL_SPACE);
    check_breaks(process_check(p), words);
    check_breaks(process_check_at(p, s->at), "R1 and A9 overlap at 0x");
    BREAKS(m1->offset, G, process_check_at(p, s->at), "M1 shows 0x200000 bytes at 0x200000");
    addrmap_remove(&p->allocations, inside.start);
    insert(&p->reservations, within.start, &within);
    snprintf(words, sizeof words, "what starts at 0x%" PRIx64 " overlaps R at 0x%" PRIx64, within.start, s->at);
    check_breaks(process_check(p), words);
    addrmap_remove(&p->reservations, within.start);
    check_holds(process_check(p), "each thing has its addresses for itself");
}

static void test_space(struct scene *s)
{
    struct sim_process *p = s->process;
    struct va_allocator *va = &p->va;
    struct chunk *chunk = addrmap_floor(&va->chunks, s->small);
    BREAKS(p->reservations.count, p->reservations.count + 1, process_check(p), "reservations: count is 3");
    BREAKS(p->allocations.count, p->allocations.count + 1, process_check(p), "allocations: count is 2");
    BREAKS(p->mappings.count, p->mappings.count + 1, process_check(p), "mappings: count is 5");
    BREAKS(p->handles.remembered, p->handles.remembered + 1, process_check(p), "handles: ");
    BREAKS(p->contexts.remembered, p->contexts.remembered + 1, process_check(p), "contexts: ");
    BREAKS(p->streams.remembered, p->streams.remembered + 1, process_check(p), "streams: ");
    BREAKS(p->events.remembered, p->events.remembered + 1, process_check(p), "events: ");
    BREAKS(chunk->used, chunk->used - 1, process_check(p), "of the open chunk at");
    BREAKS(chunk->used, chunk->used - 1, process_check_at(p, s->small), "addresses: of the open chunk at");
    BREAKS(va->large.barrier, 4096, process_check_at(p, s->small), "addresses: free ranges: ");
    BREAKS(va->small.barrier, 4096, process_check_at(p, s->small), "addresses: free parts of chunks: ");
    va->last.newest = false;
    BREAKS(va->last.freed, true, process_check(p), "was freed last, and another one taken since");
    free_ranges_add(&va->large, chunk->start, va->chunk);
    check_breaks(process_check_at(p, s->small), "are free outside of it");
    free_ranges_take(&va->large, chunk->start, va->chunk);
    free_ranges_add(&va->large, s->at, SMALL_SPACE);
    check_breaks(process_check(p), "R1: 0x4000000 bytes of the range at");
    free_ranges_take(&va->large, s->at, SMALL_SPACE);
}

static void test_values(struct scene *s)
{
    struct sim_process *p = s->process;
    struct sim_handle *h1 = handle_of(s, s->h1);
    struct sim_context *c = object_of(&p->contexts, s->context);
    struct sim_stream *stream = object_of(&p->streams, s->stream);
    struct sim_event *event = object_of(&p->events, s->event);
    BREAKS(h1->block, NULL, process_check_value(p, s->h1), "H1 is live with 1 references, 2 mappings and no block");
    BREAKS_TO(h1->refs, 0, (h1->maps = 0, process_check_value(p, s->h1)), "H1 is live with 0 references, 0 mappings");
    h1->maps = 2;
    BREAKS(h1->block->size, 2 * G, process_check_value(p, s->h1), "H1 has 0x200000 bytes, its block 0x400000");
    BREAKS(h1->value, 7, process_check_value(p, s->h1), "H1: value 0x7 is not live");
    BREAKS(c->device, 9, process_check_value(p, c->value), "it is of device 9");
    BREAKS(p->primary[0], NULL, process_check_value(p, c->value), "it is not the primary context of device 0");
    BREAKS(c->primary, false, process_check(p), "it is the primary context of device 0");
    BREAKS(c->ended_primary, true, process_check_value(p, stream->value), "is not retained");
    BREAKS(stream->context, 7, process_check(p), "its context 0x7 has ended");
    BREAKS(event->context, 7, process_check(p), "its context 0x7 has ended");
    BREAKS(c->value, 7, process_check_value(p, (uint64_t)(uintptr_t)s->context), "C1: value 0x7 is not live");
    BREAKS(stream->value, 7, process_check_value(p, (uint64_t)(uintptr_t)s->stream), "S1: value 0x7 is not live");
    BREAKS(event->value, 7, process_check_value(p, (uint64_t)(uintptr_t)s->event), "value 0x7 is not live");
    BREAKS(p->primary_retains[1], 3, process_check(p), "the primary context of device 1 is retained 3 times, and is not there");
    check_holds(process_check_value(p, 12345), "a value that names nothing");
    BREAKS(p->streams.used, 99, process_check(p), "streams: 99 slots are used");
    BREAKS(p->events.used, 99, process_check(p), "events: 99 slots are used");
    BREAKS(p->contexts.used, 99, process_check(p), "contexts: 99 slots are used");
#ifndef POOL_PLAIN
    BREAKS(p->mappings.things.left, 99, process_check(p), "mappings: things: ");
    BREAKS(p->reservation_pool.left, 99, process_check(p), "room for reservations: ");
    BREAKS(p->handle_pool.left, 99, process_check(p), "room for handles: ");
    BREAKS(p->va.chunk_pool.left, 99, process_check(p), "addresses: room for chunks: ");
#endif
    BREAKS(p->in_flight->queue.count, 1, watch_machine(s->machine), "work: ");
}

/* The first of several objects of a kind is broken, the others are not: the check names the first. */
static void test_several(struct scene *s)
{
    struct sim_process *p = s->process;
    vmm_context context;
    vmm_stream stream;
    vmm_event event;
    struct sim_context *c = object_of(&p->contexts, s->context);
    struct sim_stream *first_stream = object_of(&p->streams, s->stream);
    struct sim_event *first_event = object_of(&p->events, s->event);
    sim_machine_unlock(s->machine);
    need(vmm_device_primary_ctx_retain(s->sys, &context, 1));
    need(vmm_stream_create(s->sys, &stream, 0));
    need(vmm_event_create(s->sys, &event, 0));
    sim_machine_lock(s->machine);
    check_holds(process_check(p), "a process with two contexts, streams and events");
    BREAKS(c->device, 9, process_check(p), "C1: it is of device 9");
    BREAKS(first_stream->context, 7, process_check(p), "S1: its context 0x7 has ended");
    BREAKS(first_event->context, 7, process_check(p), "E1: its context 0x7 has ended");
    sim_machine_unlock(s->machine);
    need(vmm_event_destroy(s->sys, event));
    need(vmm_stream_destroy(s->sys, stream));
    need(vmm_device_primary_ctx_release(s->sys, 1));
    sim_machine_lock(s->machine);
}

/* Ended objects are remembered and no longer live; current ones were returned by a call. */
static void test_touched(struct scene *s)
{
    struct sim_process *p = s->process;
    struct sim_mapping *m1 = sim_mapping_at(p, s->at);
    struct sim_allocation *a = sim_allocation_at(p, s->allocation);
    struct retired_range g = {.start = s->at, .size = G, .kind = VMM_OBJECT_MAPPING, .number = m1->number};
    retired_ranges_add(&p->retired, &g);
    struct retired_range *newest = &p->retired.range[p->retired.next - 1];
    check_breaks(process_check_touched(p), "retired ranges: M1 has ended, and is live at 0x");
    check_breaks(process_check(p), "retired ranges: M1 has ended, and is live at 0x");
    newest->start = s->at + G;
    check_holds(process_check(p), "a mapping that has ended, where another lies");
    BREAKS(newest->number, 99, process_check_touched(p), "M99 has ended, of 4 that there were");
    BREAKS_TO(newest->size, 0, process_check_touched(p), "retired ranges: the newest: number 1 had 0x0 bytes");
    newest->kind = VMM_OBJECT_RESERVATION;
    BREAKS(newest->start, s->at, process_check_touched(p), "R1 has ended, and is live at 0x");
    BREAKS(newest->number, 99, process_check_touched(p), "R99 has ended, of 2 that there were");
    newest->kind = VMM_OBJECT_ALLOCATION;
    newest->start = a->start;
    BREAKS(newest->number, a->number, process_check_touched(p), "A1 has ended, and is live at 0x");
    newest->number = 99;
    retired_ranges_add(&p->retired, &(struct retired_range){.size = G, .kind = VMM_OBJECT_ALLOCATION, .number = 1}); /* at 0 */
    check_holds(process_check_touched(p), "the newest is in order");
    check_breaks(process_check(p), "A99 has ended, of 1 that there were");
    BREAKS(p->retired.next, 9999, process_check(p), "retired ranges: the next entry is 9999 of 256");
    memset(&p->retired, 0, sizeof p->retired);
    context_stack_push(&p->current, 7);
    check_breaks(process_check_touched(p), "contexts: this thread's stack: context 1 is 0x7, which was never given out");
    check_breaks(process_check(p), "contexts: stack 0 of process");
    context_stack_set(&p->current, 0);
    check_holds(process_check(p), "all is mended");
}

/* Where the bytes of blocks lie: H1's are written, H2's not. */
static void test_places(struct scene *s)
{
    struct sim_machine *machine = s->machine;
    struct sim_block *b1 = handle_of(s, s->h1)->block, *b2 = handle_of(s, s->h2)->block;
    struct sim_allocation *a = sim_allocation_at(s->process, s->allocation);
    if (!block_data_touch(&b1->bytes, 0, 1) || !block_data_touch(&a->block->bytes, 0, 1))
        tap_bail("no bytes");
    check_holds(watch_machine(machine), "a machine with written bytes");
    struct sim_block *of_host = handle_of(s, s->on_host)->block;
    tap_ok(of_host->bytes.apart && !b1->bytes.apart, "a page separates what the host maps from the next block");
    BREAKS(b1->bytes.place, b1->bytes.place + 1, process_check_value(s->process, s->h1), "H1: 0x200000 bytes lie at 0x");
    BREAKS(a->block->bytes.place, 1, process_check_at(s->process, a->start), "A1: 0x200000 bytes lie at 0x1 of the file");
    BREAKS(b1->bytes.borrowed, true, process_check_value(s->process, s->h1), "H1: borrowed bytes, written, have a place");
    BREAKS(b2->bytes.open, true, process_check_value(s->process, s->h2), "H2: its bytes are open without a location");
    uint64_t lost = backing_file_take(&machine->backing, G);
    check_breaks(watch_machine(machine), "backing file: free places: there are ");
    backing_file_free(&machine->backing, lost, G);
    check_holds(watch_machine(machine), "nothing is lost");
    b1->next_shared = b1;
    machine->share = &(struct share){.blocks = b1};
    backing_file_init(&machine->share->memory);
    check_breaks(watch_machine(machine), "more than 8192 exported blocks are listed");
    struct sim_block *listed = calloc(SHARE_BLOCKS, sizeof *listed);
    for (unsigned i = 1; listed && i < SHARE_BLOCKS; i++)
        listed[i - 1].next_shared = &listed[i];
    machine->share->blocks = listed;
    check_holds(watch_machine(machine), "as many exported blocks as there can be");
    free(listed);
    machine->share->blocks = NULL;
    lost = backing_file_take(&machine->backing, G);
    check_breaks(watch_machine(machine), "backing file: free places: there are ");
    backing_file_free(&machine->backing, lost, G);
    BREAKS(machine->share->memory.windows, 1, watch_machine(machine), "backing file of exportable memory: 1 windows are counted");
    machine->share = NULL;
    b1->next_shared = NULL;
}

static void test_blocks(struct scene *s)
{
    struct sim_machine *machine = s->machine;
    struct sim_block *b1 = handle_of(s, s->h1)->block, *b2 = handle_of(s, s->h2)->block;
    BREAKS(b1->holders, 2, watch_machine(machine), "H1: block 2 has 1 holders, but holders is 2");
    BREAKS(b1->holders, 0, watch_machine(machine), "its block 0x200000 and 0 holders");
    BREAKS(b2->holders, 1, watch_machine(machine), "block 3 has 2 holders, but holders is 1");
    BREAKS(b2->binds, 2, watch_machine(machine), "block 3 has 1 binds, but binds is 2");
    BREAKS_TO(machine->blocks, 1, watch_machine(machine), "block 2 of 1 has a holder");
    BREAKS(b1->prop.location.id, -1, watch_machine(machine), "block 2 lies at location 1:-1");
    BREAKS(b1->prop.location.id, 99, watch_machine(machine), "block 2 lies at location 1:99");
    BREAKS(b1->prop.location.type, VMM_MEM_LOCATION_TYPE_INVALID, watch_machine(machine),
           "the blocks of device 0 have 0x400000 bytes, but 0x600000 are charged");
    BREAKS(machine->device_used[0], 0, watch_machine(machine),
           "the blocks of device 0 have 0x600000 bytes, but 0x0 are charged");
    BREAKS(machine->device_compressed[1], 5, watch_machine(machine),
           "the blocks of compressible memory of device 1 have 0x0 bytes, but 0x5");
    BREAKS(machine->node_used[0], 0, watch_machine(machine), "the blocks of node 0 have 0x200000 bytes");
    BREAKS(machine->spares, machine->spares + 1, watch_machine(machine), "there are fewer spare blocks");
    struct sim_block spare = {.next_shared = machine->spare}, another = {.next_shared = &spare};
    BREAKS(machine->spare, &spare, watch_machine(machine), "there are more spare blocks");
    BREAKS(machine->spare, &another, watch_machine(machine), "there are more spare blocks");
    b1->prop.alloc_flags.compression_type = 1;
    check_breaks(watch_machine(machine), "the blocks of compressible memory of device 0 have 0x200000 bytes, but 0x0");
    b1->prop.alloc_flags.compression_type = 0;
}

static void test_team(struct scene *s)
{
    struct sim_block *object = handle_of(s, s->object)->block;
    struct team *team = object->team;
    struct team_bind *bind = team->member[0].binds;
    BREAKS_TO(team->members, 3, team_check(team, object->size), "3 of 2 devices are in the team");
    BREAKS_TO(team->member[1].device, 0, team_check(team, object->size), "device 0 of machine 0 is listed after device 0");
    BREAKS(team->wanted, TEAM_MEMBERS + 1, team_check(team, object->size), "2 of 65 devices are in the team");
    BREAKS(team->member[0].machine, 5, team_check(team, object->size), "device 1 of machine 0 is listed after device 0 of machine 5");
    team->member[1].machine = 5;
    team->member[1].device = 0;
    check_holds(team_check(team, object->size), "the same device of another machine");
    team->member[1].machine = team->member[0].machine;
    team->member[1].device = 1;
    BREAKS(bind->size, 0, team_check(team, object->size), "0x0 bytes bound at 0x0 do not fit between 0x0 and 0x400000");
    BREAKS(bind->offset, 3 * G, team_check(team, object->size), "0x200000 bytes bound at 0x600000 do not fit");
    BREAKS(bind->at, 3 * G, team_check(team, object->size), "refers to 0x600000 in memory of 0x200000 bytes");
    BREAKS(bind->block->prop.location.type, VMM_MEM_LOCATION_TYPE_HOST_NUMA, team_check(team, object->size),
           "memory of location 3:0 is bound for device 0");
    BREAKS(team->count, 2, team_check(team, object->size), "count is 2, but the members have 1 binds");
    BREAKS(team->count, 0, team_check(team, object->size), "count is 0, but the members have more binds");
    BREAKS(bind->offset, 2 * G, team_check(team, object->size), "0x200000 bytes bound at 0x400000 do not fit");
    BREAKS(bind->at, G, team_check(team, object->size), "refers to 0x200000 in memory");
    BREAKS(bind->block, NULL, team_check(team, object->size), "has no block");
    BREAKS_TO(bind->block->binds, 0, team_check(team, object->size), "has a block with binds = 0");
    BREAKS(bind->block->prop.location.id, 1, team_check(team, object->size), "memory of location 1:1 is bound for device 0");
    BREAKS(bind->block, object, (object->binds = 1, team_check(team, object->size)), "in an object of");
    object->binds = 0;
    BREAKS(bind->next, bind, team_check(team, object->size), "bound at 0x0 do not fit between 0x200000");
    BREAKS(team->member[1].latest, bind, team_check(team, object->size), "the latest bind of device 1 is not among its binds");
    BREAKS(bind->at, G, watch_machine(s->machine), "object 5: the bind at 0x0");
    BREAKS(bind->shared, 1, watch_machine(s->machine), "block 3 has 1 holders, but holders is 2");
}

/* ---- after calls ---- */

static char reported[CHECK_ROOM];

static void keep(const char *said)
{
    if (!reported[0])
        snprintf(reported, sizeof reported, "%s", said);
}

static void test_calls(struct scene *s)
{
    struct sim_mapping *m1 = sim_mapping_at(s->process, s->at);
    uint64_t bytes, total;
    sim_machine_unlock(s->machine);
    unsigned before = atomic_load(&checks_on);
    void (*report)(const char *) = checks_report;
    checks_report = keep;
    m1->offset = G;
    atomic_store(&checks_on, CHECKS_OFF);
    need(vmm_mem_address_free(s->sys, s->small, G));
    tap_text(reported, "", "with checks off nothing is checked");
    atomic_store(&checks_on, CHECKS_OWN);
    uint64_t flags;
    const vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    vmm_mem_get_access(s->sys, &flags, &device, s->at);
    tap_ok(strstr(reported, "cuMemGetAccess: M1 shows"), "a call that names the broken mapping reports it: %s", reported);
    m1->offset = 0;
    sim_machine_lock(s->machine);
    struct sim_mapping *m4 = sim_mapping_at(s->process, s->at + 3 * G);
    sim_machine_unlock(s->machine);
    vmm_deviceptr behind = 0;
    m4->offset = G;
    reported[0] = '\0';
    need(vmm_mem_address_reserve(s->sys, &behind, G, 0, s->at + SMALL_SPACE, 0));
    tap_ok(strstr(reported, "cuMemAddressReserve: M4 shows"), "a call that returns the address behind it, too: %s", reported);
    m4->offset = 0;
    need(vmm_mem_address_free(s->sys, behind, G));
    vmm_mem_generic_allocation_handle again = 0;
    m1->handle->block->size = 2 * G;
    reported[0] = '\0';
    need(vmm_mem_retain_allocation_handle(s->sys, &again, s->at));
    tap_ok(strstr(reported, "cuMemRetainAllocationHandle: H1 has 0x200000 bytes, its block 0x400000"),
           "and one that returns a handle: %s", reported);
    m1->handle->block->size = G;
    need(vmm_mem_release(s->sys, again));
    s->process->aliased++;
    reported[0] = '\0';
    unsigned calls = 0;
    for (; !reported[0] && calls < 2000; calls++)
        need(vmm_mem_get_info(s->sys, &bytes, &total));
    tap_ok(strstr(reported, "cuMemGetInfo: 1 handles are mapped more than once, 2 are counted"),
           "a broken invariant that no call names is found within %u calls: %s", calls, reported);
    s->process->aliased--;
    const long page = sysconf(_SC_PAGESIZE);
    void *unreadable = mmap(NULL, (size_t)page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (unreadable == MAP_FAILED)
        tap_bail("no page");
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = device};
    tap_u64((uint64_t)vmm_mem_create(s->sys, unreadable, 0, &prop, 0), VMM_ERROR_INVALID_VALUE,
            "a check does not read what a refused call has not written");
    munmap(unreadable, (size_t)page);
    checks_report = report;
    atomic_store(&checks_on, before);
    sim_machine_lock(s->machine);
}

/* A process that a fork in the middle of a call may have torn is not checked. */
static void test_torn(struct scene *s)
{
    struct sim_process *p = s->process;
    void (*report)(const char *) = checks_report;
    const struct vmm_call call = {.id = VMM_CALL_init, .number = 7};
    checks_report = keep;
    p->aliased++;
    for (unsigned i = 0; i < 4; i++) {
        const uint64_t opened = p->opened, initialised = p->initialised;
        s->machine->torn = i == 1;
        p->opened += i == 2;
        p->initialised += i == 3;
        reported[0] = '\0';
        s->machine->unchecked = 0;
        watch_call(p, &call, VMM_SUCCESS);
        tap_ok(i ? !reported[0] : strstr(reported, "after call 7, cuInit: 1 handles are mapped more than once, 2") != NULL,
               "%s: %s", i ? "a process that may be torn is not checked" : "a whole one is", reported);
        reported[0] = '\0';
        retired_ranges_add(&p->retired, &(struct retired_range){.start = s->at, .size = G, .number = 99, .kind = VMM_OBJECT_MAPPING});
        watch_read(p, &call, VMM_SUCCESS);
        tap_ok(i ? !reported[0] : strstr(reported, "after call 7, cuInit: retired ranges: M99 has ended") != NULL,
               "after a call that only reads: %s", reported);
        memset(&p->retired, 0, sizeof p->retired);
        p->opened = opened;
        p->initialised = initialised;
    }
    s->machine->torn = false;
    s->machine->unchecked = 0;
    p->aliased--;
    checks_report = report;
}

/* The number of calls until everything is checked again: the number of objects plus binds, which no table of a process
 * counts. */
static uint64_t turn(struct scene *s)
{
    uint64_t bytes, total;
    s->machine->unchecked = 0;
    need(vmm_mem_get_info(s->sys, &bytes, &total));
    return s->machine->unchecked;
}

static void test_turns(struct scene *s)
{
    unsigned before = atomic_load(&checks_on);
    sim_machine_unlock(s->machine);
    atomic_store(&checks_on, CHECKS_OWN);
    uint64_t calls = turn(s);
    need(vmm_multicast_unbind(s->sys, s->object, 0, 0, G));
    tap_u64(turn(s), calls - 1, "without its bind, the next check of everything is one call nearer");
    need(vmm_mem_address_reserve(s->sys, &s->small, G, 0, 0, 0));
    tap_u64(turn(s), calls, "and with another reservation it is as far away as before");
    need(vmm_mem_map(s->sys, s->small, G, 0, s->h2, 0));
    tap_u64(turn(s), calls + 1, "a mapping puts it off by a call");
    need(vmm_mem_unmap(s->sys, s->small, G));
    tap_u64(turn(s), calls, "until it ends");
    atomic_store(&checks_on, before);
    sim_machine_lock(s->machine);
}

/* Only its bind holds H2's block from here on. */
static void test_bound_alone(struct scene *s)
{
    sim_machine_unlock(s->machine);
    need(vmm_multicast_bind_mem(s->sys, s->object, 0, s->h2, 0, G, 0));
    need(vmm_mem_unmap(s->sys, s->at + G, G));
    need(vmm_mem_release(s->sys, s->h2));
    sim_machine_lock(s->machine);
    struct team_bind *bind = handle_of(s, s->object)->block->team->member[0].binds;
    check_holds(watch_machine(s->machine), "a block that only a bind holds");
    BREAKS(bind->block->binds, 2, watch_machine(s->machine), "block 3 has 1 binds, but binds is 2");
    BREAKS(bind->block->holders, 2, watch_machine(s->machine), "block 3 has 1 holders, but holders is 2");
    BREAKS(bind->shared, 1, watch_machine(s->machine), "block 3 has 0 holders, but holders is 1");
}

static void test_bound_twice(struct scene *s)
{
    sim_machine_unlock(s->machine);
    need(vmm_multicast_bind_mem(s->sys, s->object, 0, s->h2, 0, G, 0));
    need(vmm_multicast_bind_mem(s->sys, s->object, G, s->h2, 0, G, 0));
    sim_machine_lock(s->machine);
    struct sim_block *object = handle_of(s, s->object)->block;
    struct team_member *member = &object->team->member[0];
    struct team_bind *first = member->binds;
    check_holds(watch_machine(s->machine), "the same memory bound twice");
    BREAKS(first->block->binds, 3, watch_machine(s->machine), "block 3 has 2 binds, but binds is 3");
    BREAKS(first->shared, 1, watch_machine(s->machine), "block 3 has 2 holders, but holders is 3");
    struct team_bind *latest = member->latest;
    member->latest = first;
    check_holds(team_check(object->team, object->size), "the latest bind is any of them");
    member->latest = latest;
    sim_machine_unlock(s->machine);
    need(vmm_multicast_unbind(s->sys, s->object, 0, 0, G));
    need(vmm_multicast_unbind(s->sys, s->object, 0, G, G));
    sim_machine_lock(s->machine);
}

static void test_mapped_thrice(struct scene *s)
{
    sim_machine_unlock(s->machine);
    map(s, 4, s->h1);
    sim_machine_lock(s->machine);
    check_holds(process_check(s->process), "a handle with a third mapping counts once as aliased");
    sim_machine_unlock(s->machine);
    need(vmm_mem_unmap(s->sys, s->at + 4 * G, G));
    sim_machine_lock(s->machine);
    check_holds(process_check(s->process), "and without it still does");
}

/* The assertions of the machine's lock, which only debug builds have. */
static void test_lock(struct scene *s)
{
    void (*report)(const char *) = checks_report;
    sim_machine_unlock(s->machine);
    checks_report = keep;
    reported[0] = '\0';
    sim_machine_compressed(s->machine, 0);
    tap_text(reported, SIM_DEBUG ? "used is called without the machine's lock" : "",
             "a function that needs the exclusive lock, without a lock");
    reported[0] = '\0';
    sim_mapping_at(s->process, s->at);
    tap_text(reported, SIM_DEBUG ? "sim_mapping_at is called without the machine's lock" : "",
             "a function that readers may call, without a lock");
    sim_machine_read(s->machine, true);
    reported[0] = '\0';
    sim_mapping_at(s->process, s->at);
    tap_text(reported, "", "a function that readers may call, as a reader");
    sim_machine_read(s->machine, false);
    checks_report = report;
    sim_machine_lock(s->machine);
}

int main(void)
{
    struct scene scene;
    open_scene(&scene);
    test_mappings(&scene);
    test_ranges(&scene);
    test_overlaps(&scene);
    test_space(&scene);
    test_values(&scene);
    test_several(&scene);
    test_touched(&scene);
    test_places(&scene);
    test_blocks(&scene);
    test_team(&scene);
    test_calls(&scene);
    test_torn(&scene);
    test_turns(&scene);
    test_mapped_thrice(&scene);
    test_bound_twice(&scene);
    test_bound_alone(&scene);
    test_lock(&scene);
    close_scene(&scene);
    return tap_done();
}

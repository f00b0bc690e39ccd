/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of boxes: which bytes they move, which are refused, and that a refused copy has written nothing. */
#include <string.h>

#include "test.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

enum { WIDTH = 16, HEIGHT = 3, DEPTH = 2, SIZE = 1 << 16, OLD = 0x11, NEW = 0x22 };

/* Two allocations with bytes of their own, and the copy of a box from one to the other. */
struct boxes {
    vmm_deviceptr to, from;
    vmm_memcpy3d copy;
};

static struct boxes boxes_of(struct fix *f)
{
    struct boxes b = {.to = 0};
    ACCEPTED(vmm_mem_alloc(S, &b.to, SIZE));
    ACCEPTED(vmm_mem_alloc(S, &b.from, SIZE));
    ACCEPTED(vmm_memset_d8(S, b.to, OLD, SIZE));
    ACCEPTED(vmm_memset_d8(S, b.from, NEW, SIZE));
    b.copy = (vmm_memcpy3d){.src_memory_type = VMM_MEMORYTYPE_DEVICE, .src_device = b.from,
                            .dst_memory_type = VMM_MEMORYTYPE_DEVICE, .dst_device = b.to,
                            .width_in_bytes = WIDTH, .height = HEIGHT, .depth = DEPTH};
    return b;
}

static unsigned char bytes[SIZE];

/* How many bytes of the destination are those of the source. */
static unsigned moved(struct fix *f, const struct boxes *b)
{
    unsigned count = 0;
    ACCEPTED(vmm_memcpy_dtoh(S, bytes, b->to, SIZE));
    for (unsigned i = 0; i < SIZE; i++)
        count += bytes[i] == NEW;
    return count;
}

static void ended(struct fix *f, const struct boxes *b)
{
    ACCEPTED(vmm_mem_free(S, b->from));
    ACCEPTED(vmm_mem_free(S, b->to));
}

/* The forms of the call: each makes the same of the same box. */
static vmm_result copied(struct fix *f, const struct boxes *b, int form, const vmm_memcpy3d *copy, vmm_stream stream)
{
    vmm_memcpy3d_peer peer;
    (void)b;
    if (copy)
        memcpy(&peer, copy, sizeof peer);
    switch (form) {
    case 0: return vmm_memcpy_3d(S, copy);
    case 1: return vmm_memcpy_3d_async(S, copy, stream);
    case 2: return vmm_memcpy_3d_peer(S, copy ? &peer : NULL);
    default: return vmm_memcpy_3d_peer_async(S, copy ? &peer : NULL, stream);
    }
}
enum { PEER_FORMS = 2, FORMS = 4 };

TEST_EXPECTS("box.copies", box_copies)
{
    for (int form = 0; form < FORMS; form++) {
        struct boxes b = boxes_of(f);
        b.copy.dst_pitch = 64;
        b.copy.dst_height = 8;
        b.copy.dst_x_in_bytes = 5;
        b.copy.dst_y = 1;
        b.copy.dst_z = 1;
        ACCEPTED(copied(f, &b, form, &b.copy, NULL));
        ACCEPTED(vmm_ctx_synchronize(S));
        CHECK_U64(moved(f, &b), WIDTH * HEIGHT * DEPTH);
        for (unsigned z = 0; z < DEPTH; z++)
            for (unsigned y = 0; y < HEIGHT; y++) {
                const unsigned at = ((z + 1) * 8 + y + 1) * 64 + 5;
                CHECK(bytes[at - 1] == OLD && bytes[at] == NEW && bytes[at + WIDTH - 1] == NEW && bytes[at + WIDTH] == OLD,
                      "form %d: row %u of layer %u is elsewhere", form, y, z);
            }
        ended(f, &b);
    }
}

TEST_EXPECTS("box.copies", box_copies_from_and_to_the_host)
{
    unsigned char host[WIDTH * HEIGHT * DEPTH], back[sizeof host + 1];
    for (unsigned i = 0; i < sizeof host; i++)
        host[i] = (unsigned char)(i + 1);
    memset(back, 0, sizeof back);
    for (int form = 0; form < FORMS; form++) {
        struct boxes b = boxes_of(f);
        vmm_memcpy3d in = b.copy, out = b.copy;
        in.src_memory_type = VMM_MEMORYTYPE_HOST;
        in.src_host = host;
        in.dst_pitch = 100;
        ACCEPTED(copied(f, &b, form, &in, NULL));
        out.src_device = b.to;
        out.src_pitch = 100;
        out.dst_memory_type = VMM_MEMORYTYPE_HOST;
        out.dst_host = back;
        ACCEPTED(copied(f, &b, form, &out, NULL));
        ACCEPTED(vmm_ctx_synchronize(S));
        CHECK(memcmp(host, back, sizeof host) == 0 && !back[sizeof host], "form %d: other bytes come back", form);
        ended(f, &b);
    }
}

TEST_EXPECTS("box.copies", box_copies_within_the_host)
{
    unsigned char from[2 * WIDTH], to[2 * WIDTH];
    memset(from, NEW, sizeof from);
    memset(to, OLD, sizeof to);
    vmm_memcpy3d copy = {.src_memory_type = VMM_MEMORYTYPE_HOST, .src_host = from, .dst_memory_type = VMM_MEMORYTYPE_HOST,
                         .dst_host = to, .dst_x_in_bytes = WIDTH, .width_in_bytes = WIDTH, .height = 1, .depth = 1};
    ACCEPTED(vmm_memcpy_3d(S, &copy));
    CHECK(to[WIDTH - 1] == OLD && to[WIDTH] == NEW && to[2 * WIDTH - 1] == NEW, "other bytes were copied");
    copy.width_in_bytes = 0;
    ACCEPTED(vmm_memcpy_3d(S, &copy));
    ACCEPTED(vmm_memcpy_3d_async(S, &copy, NULL));
}

TEST_EXPECTS("box.copies", box_copies_between_mappings)
{
    vmm_deviceptr p = fix_mapped(f, 2 * f->g, RW, NULL);
    unsigned char byte[2] = {0, 0};
    fix_fill(f, p, OLD, 2 * f->g);
    fix_fill(f, p, NEW, 64);
    const vmm_memcpy3d copy = {.src_memory_type = VMM_MEMORYTYPE_UNIFIED, .src_device = p, .dst_memory_type = VMM_MEMORYTYPE_HOST,
                               .dst_host = (void *)(uintptr_t)(p + f->g - 32), .width_in_bytes = 64, .height = 1, .depth = 1};
    ACCEPTED(vmm_memcpy_3d(S, &copy)); /* mapped memory is taken for what it is */
    ACCEPTED(vmm_ctx_synchronize(S));
    ACCEPTED(vmm_memcpy_dtoh(S, byte, p + f->g + 31, 2));
    CHECK(byte[0] == NEW && byte[1] == OLD, "0x%x and 0x%x are there", byte[0], byte[1]);
}

/* Every form is refused by the rule of the test and writes nothing. */
#define NOT_COPIED(b, code, argument, value)                                                         \
    do {                                                                                             \
        for (int form_ = 0; form_ < FORMS; form_++)                                                  \
            REFUSED(copied(f, &(b), form_, &(b).copy, NULL), code, argument, value);                 \
        CHECK_U64(moved(f, &(b)), 0);                                                                \
    } while (0)

TEST_BREAKS(BOX_NULL, box_that_is_null)
{
    struct boxes b = boxes_of(f);
    for (int form = 0; form < PEER_FORMS; form++)
        REFUSED(copied(f, &b, form, NULL, NULL), INVALID_VALUE, "pCopy", 0);
    ended(f, &b);
}

TEST_BREAKS(BOX_NULL, box_between_contexts_that_is_null)
{
    fix_need_simulator(f, "driver 580 ends the process");
    struct boxes b = boxes_of(f);
    for (int form = PEER_FORMS; form < FORMS; form++)
        REFUSED(copied(f, &b, form, NULL, NULL), INVALID_VALUE, "pCopy", 0);
    ended(f, &b);
}

TEST_BREAKS(ROWS_MEMORY, box_of_other_memory)
{
    struct boxes b = boxes_of(f);
    b.copy.src_memory_type = 0;
    NOT_COPIED(b, INVALID_VALUE, "src", 0);
    b.copy.src_memory_type = 5;
    NOT_COPIED(b, INVALID_VALUE, "src", 5);
    b.copy.src_memory_type = VMM_MEMORYTYPE_DEVICE;
    b.copy.src_device = 0;
    NOT_COPIED(b, INVALID_VALUE, "src", 0);
    b.copy.src_device = (vmm_deviceptr)(uintptr_t)bytes;
    NOT_COPIED(b, INVALID_VALUE, "src", (uint64_t)(uintptr_t)bytes);
    b.copy.src_device = b.from;
    b.copy.dst_device = fix_reserve(f, f->g);
    NOT_COPIED(b, INVALID_VALUE, "dst", b.copy.dst_device);
    ended(f, &b);
}

TEST_BREAKS(ROWS_PITCH, box_with_rows_beyond_their_pitch)
{
    struct boxes b = boxes_of(f);
    b.copy.src_pitch = WIDTH - 1;
    NOT_COPIED(b, INVALID_VALUE, "src", WIDTH - 1);
    b.copy.src_pitch = 0;
    b.copy.dst_pitch = WIDTH;
    b.copy.dst_x_in_bytes = 1;
    NOT_COPIED(b, INVALID_VALUE, "dst", WIDTH);
    ended(f, &b);
}

TEST_BREAKS(BOX_HEIGHT, box_with_layers_beyond_their_height)
{
    struct boxes b = boxes_of(f);
    b.copy.src_height = HEIGHT - 1;
    NOT_COPIED(b, INVALID_VALUE, "src", HEIGHT - 1);
    b.copy.src_height = 0;
    b.copy.dst_height = HEIGHT;
    b.copy.dst_y = 1;
    NOT_COPIED(b, INVALID_VALUE, "dst", HEIGHT);
    ended(f, &b);
}

/* As in mapped memory: measured. */
TEST_NEAR_MISS(BOX_HEIGHT, box_with_rows_that_leave_their_layer_in_a_pool)
{
    struct boxes b = boxes_of(f);
    vmm_deviceptr pooled = 0;
    ACCEPTED(vmm_mem_alloc_async(S, &pooled, 2 * SIZE, NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    b.copy.dst_device = pooled;
    b.copy.dst_height = HEIGHT;
    b.copy.dst_pitch = WIDTH;
    b.copy.dst_y = 1;
    b.copy.dst_x_in_bytes = 1;
    ACCEPTED(vmm_memcpy_3d(S, &b.copy));
    ACCEPTED(vmm_mem_free_async(S, pooled, NULL));
    ended(f, &b);
}

/* As measured: unlike a synchronisation, the wait of a copy does not give a pool its freed memory back. */
TEST_EXPECTS("pools.waits_of_copies", copies_that_wait_beside_a_pool)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    struct boxes b = boxes_of(f);
    vmm_memory_pool pool = NULL;
    vmm_deviceptr at = 0;
    uint64_t before = 0, held = 0;
    ACCEPTED(vmm_mem_pool_create(S, &pool, &props));
    ACCEPTED(vmm_mem_alloc_from_pool_async(S, &at, SIZE, pool, NULL));
    ACCEPTED(vmm_mem_pool_get_attribute(S, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &before));
    ACCEPTED(vmm_mem_free_async(S, at, NULL));
    for (int form = 0; form < 4; form += 2) {
        ACCEPTED(copied(f, &b, form, &b.copy, NULL));
        ACCEPTED(vmm_mem_pool_get_attribute(S, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &held));
        CHECK_U64(held, before);
    }
    ACCEPTED(vmm_stream_synchronize(S, NULL));
    ACCEPTED(vmm_mem_pool_get_attribute(S, pool, VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &held));
    CHECK_U64(held, 0);
    ACCEPTED(vmm_mem_pool_destroy(S, pool));
    ended(f, &b);
}

TEST_BREAKS(ROWS_END, box_beyond_its_memory)
{
    struct boxes b = boxes_of(f);
    b.copy.src_pitch = SIZE / 4;
    NOT_COPIED(b, INVALID_VALUE, "src", 5 * (SIZE / 4) + WIDTH);
    b.copy.src_pitch = 0;
    b.copy.dst_x_in_bytes = SIZE;
    b.copy.dst_pitch = SIZE + WIDTH;
    NOT_COPIED(b, INVALID_VALUE, "dst", (SIZE + WIDTH) * 5 + SIZE + WIDTH);
    ended(f, &b);
}

TEST_BREAKS(PEER_CONTEXT, box_between_other_contexts)
{
    fix_need_simulator(f, "a driver uses such a value without checking it");
    struct boxes b = boxes_of(f);
    vmm_memcpy3d_peer peer;
    memcpy(&peer, &b.copy, sizeof peer);
    peer.dst_context = (vmm_context)(uintptr_t)0x7777;
    REFUSED(vmm_memcpy_3d_peer(S, &peer), INVALID_CONTEXT, "dstContext", 0x7777);
    peer.dst_context = NULL;
    peer.src_context = (vmm_context)(uintptr_t)0x7778;
    REFUSED(vmm_memcpy_3d_peer_async(S, &peer, NULL), INVALID_CONTEXT, "srcContext", 0x7778);
    CHECK_U64(moved(f, &b), 0);
    ended(f, &b);
}

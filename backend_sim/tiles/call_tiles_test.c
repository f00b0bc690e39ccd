/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays, tiles and managed memory: cases beyond the suite, which depend on the mode, on earlier calls, or on other arguments. */
#include "report_rig.h"

static const vmm_mem_location here = {DEVICE, 0};

static void is(vmm_result result, const char *rule, const char *what)
{
    tap_text(result == VMM_SUCCESS ? "accepted" : vmm_last_detail()->rule, rule ? rule : "accepted", "%s", what);
}

static void warned(vmm_result result, const char *rule, const char *what)
{
    tap_ok(result == VMM_SUCCESS && vmm_last_detail()->rule && !strcmp(vmm_last_detail()->rule, rule), "%s: %s", what, rule);
}

static vmm_array array_of(uint64_t side, vmm_array_format format, unsigned channels, unsigned flags)
{
    const vmm_array3d_descriptor asked = {.width = side, .height = side, .format = format, .num_channels = channels, .flags = flags};
    vmm_array array = NULL;
    need(vmm_array_3d_create(sys, &array, &asked));
    return array;
}

static handle_t tile_pool(uint64_t size)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = here};
    handle_t handle = 0;
    prop.alloc_flags.usage = VMM_MEM_CREATE_USAGE_TILE_POOL;
    need(vmm_mem_create(sys, &handle, size, &prop, 0));
    return handle;
}

static vmm_array_map_info map_of(vmm_array array, handle_t pool)
{
    return (vmm_array_map_info){.resource.array = array, .mem_operation_type = VMM_MEM_OPERATION_TYPE_MAP, .mem_handle.mem_handle = pool,
                                .device_bit_mask = 1,
                                .subresource.sparse_level = {.extent_width = 128, .extent_height = 128, .extent_depth = 1}};
}

/* An offset so large that the sum wraps: the recorded driver accepts it and maps nothing. */
static void sums_that_wrap(void)
{
    begin("sim:h100,strict"); /* strict mode does not enforce hazards */
    const vmm_array array = array_of(512, VMM_AD_FORMAT_FLOAT, 1, VMM_ARRAY3D_SPARSE);
    vmm_array_map_info map = map_of(array, tile_pool(G));
    vmm_deviceptr at = 0;
    vmm_stream stream = NULL;
    map.offset = 0 - UINT64_C(65536);
    warned(vmm_mem_map_array_async(sys, &map, 1, NULL), "VMM-TILES-WRAPS", "an offset past the end of all");
    need(vmm_mem_alloc_managed(sys, &at, G, VMM_MEM_ATTACH_GLOBAL));
    need(vmm_stream_create(sys, &stream, 0));
    const vmm_deviceptr list = at + 4096;
    const uint64_t size = 0 - UINT64_C(4096);
    warned(vmm_mem_prefetch_async(sys, list, size, here, 0, NULL), "VMM-MANAGED-WRAPS", "a size past the end of all");
    warned(vmm_mem_discard_batch_async(sys, &list, &size, 1, 0, stream), "VMM-MANAGED-WRAPS", "and in a batch");
    end();
    begin("sim:h100");
    need(vmm_mem_alloc_managed(sys, &at, G, VMM_MEM_ATTACH_HOST));
    need(vmm_stream_create(sys, &stream, 0));
    const vmm_deviceptr again = at + 4096;
    is(vmm_mem_advise(sys, again, size, VMM_MEM_ADVISE_SET_READ_MOSTLY, here), "VMM-MANAGED-RANGE", "advice does not wrap");
    is(vmm_mem_prefetch_async(sys, again, 0 - UINT64_C(1), here, 0, NULL), NULL, "a prefetch of nothing");
    is(vmm_mem_discard_batch_async(sys, &again, &size, 1, 0, stream), NULL, "a discard of nothing");
    end();
}

static void memory_that_is_none(void)
{
    begin("sim:h100");
    const vmm_array array = array_of(512, VMM_AD_FORMAT_FLOAT, 1, VMM_ARRAY3D_SPARSE);
    const handle_t released = created(DEVICE), pool = tile_pool(G);
    vmm_deviceptr at = 0;
    need(vmm_mem_address_reserve(sys, &at, G, 0, 0, 0));
    need(vmm_mem_map(sys, at, G, 0, released, 0));
    need(vmm_mem_release(sys, released));
    vmm_array_map_info map = map_of(array, released);
    is(vmm_mem_map_array_async(sys, &map, 1, NULL), "VMM-TILES-HANDLE", "memory that only a mapping holds");
    map = map_of(array, pool);
    need(vmm_mem_map_array_async(sys, &map, 1, NULL));
    need(vmm_array_destroy(sys, array)); /* the map is done before */
    map = map_of(array_of(512, VMM_AD_FORMAT_FLOAT, 1, VMM_ARRAY3D_SPARSE), pool);
    need(vmm_mem_map_array_async(sys, &map, 1, NULL));
    end(); /* and is dropped here */
}

/* Compressed elements are copied in whole blocks. */
static void blocks(void)
{
    unsigned char bytes[256] = {0};
    begin("sim:h100");
    vmm_memcpy3d copy = {.src_memory_type = VMM_MEMORYTYPE_HOST, .src_host = bytes, .dst_memory_type = VMM_MEMORYTYPE_ARRAY,
                         .dst_array = array_of(64, 0x91, 4, 0), .width_in_bytes = 16, .height = 1, .depth = 1};
    is(vmm_memcpy_3d(sys, &copy), NULL, "two blocks");
    copy.width_in_bytes = 12;
    is(vmm_memcpy_3d(sys, &copy), "VMM-COPY-ARRAY-BOUNDS", "a block and a half");
    copy.width_in_bytes = 8;
    copy.dst_x_in_bytes = 4;
    is(vmm_memcpy_3d(sys, &copy), "VMM-COPY-ARRAY-BOUNDS", "from the middle of one");
    copy.dst_x_in_bytes = 8;
    is(vmm_memcpy_3d(sys, &copy), NULL, "the second one");
    const vmm_array blocks_of_8 = copy.dst_array, blocks_of_16 = array_of(64, 0x9d, 4, 0);
    const vmm_array halves = array_of(64, VMM_AD_FORMAT_HALF, 4, 0), floats = array_of(64, VMM_AD_FORMAT_FLOAT, 1, 0);
    const struct {
        vmm_array from, to;
        const char *rule, *what;
    } pairs[] = {{blocks_of_8, halves, NULL, "blocks into elements of as many bytes"},
                 {halves, blocks_of_8, NULL, "and back"},
                 {blocks_of_8, blocks_of_8, NULL, "blocks into blocks"},
                 {halves, floats, NULL, "elements into smaller ones"},
                 {blocks_of_8, blocks_of_16, "VMM-COPY-ARRAY-BOUNDS", "blocks into larger ones"},
                 {blocks_of_16, floats, "VMM-COPY-ARRAY-BOUNDS", "or into smaller elements"},
                 {floats, blocks_of_8, "VMM-COPY-ARRAY-BOUNDS", "and back"}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        copy = (vmm_memcpy3d){.src_memory_type = VMM_MEMORYTYPE_ARRAY, .src_array = pairs[i].from, .dst_memory_type = VMM_MEMORYTYPE_ARRAY,
                              .dst_array = pairs[i].to, .width_in_bytes = 16, .height = 1, .depth = 1};
        is(vmm_memcpy_3d(sys, &copy), pairs[i].rule, pairs[i].what);
    }
    end();
}

/* As observed with random calls on H200s: without levels of whole tiles, the rows of a three-dimensional level are padded to 8, unless
 * more fit without loss; after such levels they are padded at most to a tile's rows, in two dimensions as well. */
static void sizes_of_tails(void)
{
    static const struct {
        vmm_array3d_descriptor is;
        unsigned levels;
        uint64_t tail;
    } cases[] = {{{.width = 129, .height = 17, .depth = 40, .format = 2, .num_channels = 1}, 1, 0x60000},
                 {{.width = 257, .height = 65, .depth = 14, .format = 0xc0, .num_channels = 1}, 3, 0x70000},
                 {{.width = 17, .height = 101, .depth = 31, .format = 32, .num_channels = 1}, 10, 0x80000},
                 {{.width = 33, .height = 9, .depth = 28, .format = 32, .num_channels = 4}, 1, 0x50000},
                 {{.width = 257, .height = 151, .depth = 20, .format = 16, .num_channels = 2}, 9, 0xf0000},
                 {{.width = 51, .height = 101, .depth = 29, .format = 3, .num_channels = 2}, 3, 0x50000},
                 {{.width = 51, .height = 151, .depth = 45, .format = 32, .num_channels = 1}, 6, 0x80000},
                 {{.width = 65, .height = 151, .depth = 36, .format = 0x99, .num_channels = 2}, 9, 0x30000},
                 {{.width = 33, .height = 151, .depth = 22, .format = 32, .num_channels = 4}, 3, 0x60000},
                 {{.width = 100, .height = 300, .format = 32, .num_channels = 4}, 6, 0x40000},
                 {{.width = 80, .height = 80, .depth = 80, .format = 1, .num_channels = 1}, 2, 0x40000}};
    begin("sim:h200x2");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vmm_array3d_descriptor asked = cases[i].is;
        vmm_array_sparse_properties properties = {.miptail_size = 1};
        vmm_mipmapped_array array = NULL;
        asked.flags = VMM_ARRAY3D_SPARSE;
        need(vmm_mipmapped_array_create(sys, &array, &asked, cases[i].levels));
        need(vmm_mipmapped_array_get_sparse_properties(sys, &properties, array));
        tap_u64(properties.miptail_size, cases[i].tail, "the mip tail of shape %zu", i);
    }
    end();
}

/* As an H100 and H200s answered, of what has several mistakes. */
static void surfaces_of_blocks(void)
{
    static const struct {
        unsigned channels, flags, height;
        const char *rule;
    } cases[] = {{2, VMM_ARRAY3D_SURFACE_LDST, 64, "VMM-ARRAY-SURFACE"},
                 {2, VMM_ARRAY3D_SURFACE_LDST, 0, "VMM-ARRAY-SURFACE"},
                 {2, ~0u, 64, "VMM-ARRAY-FLAGS"},
                 {1, VMM_ARRAY3D_SURFACE_LDST, 64, "VMM-ARRAY-FORMAT"}};
    begin("sim:h200");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const vmm_array3d_descriptor asked = {.width = 64, .height = cases[i].height, .format = 0x99, .num_channels = cases[i].channels,
                                              .flags = cases[i].flags};
        vmm_array array = NULL;
        is(vmm_array_3d_create(sys, &array, &asked), cases[i].rule, "an array of blocks");
    }
    end();
}

/* As observed on an H200: layers begin at multiples of half a block where the first level fills little of it. */
static void memory_of_layers(void)
{
    static const struct {
        unsigned side, levels, channels;
        uint64_t size;
    } cases[] = {{33, 5, 4, 0x40000}, {66, 2, 1, 0x50000}, {66, 5, 4, 0x110000}, {49, 5, 4, 0x70000}, {97, 5, 1, 0x80000}};
    begin("sim:h200");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const vmm_array3d_descriptor asked = {.width = cases[i].side, .height = cases[i].side, .depth = 6, .format = VMM_AD_FORMAT_FLOAT,
                                              .num_channels = cases[i].channels, .flags = VMM_ARRAY3D_CUBEMAP | VMM_ARRAY3D_DEFERRED_MAPPING};
        vmm_array_memory_requirements requirements = {0};
        vmm_mipmapped_array array = NULL;
        need(vmm_mipmapped_array_create(sys, &array, &asked, cases[i].levels));
        need(vmm_mipmapped_array_get_memory_requirements(sys, &requirements, array, 0));
        tap_u64(requirements.size, cases[i].size, "the memory of a cubemap of %u by %u", cases[i].side, cases[i].side);
    }
    end();
}

/* Did the previous call end the capture with that result? Begins another one. */
static void captured(vmm_stream stream, vmm_result result, bool spoils, const char *what)
{
    vmm_graph graph = NULL;
    is(result, spoils ? "VMM-CAPTURE-FORBIDS" : vmm_last_detail()->rule, what);
    tap_result(vmm_stream_end_capture(sys, stream, &graph), spoils ? VMM_ERROR_STREAM_CAPTURE_INVALIDATED : VMM_SUCCESS, "and the capture");
    need(vmm_stream_begin_capture(sys, stream, VMM_STREAM_CAPTURE_MODE_GLOBAL));
}

/* As recorded: a forbidden call ends the capture, and graphs cannot contain a map or a prefetch. A call refused
 * because of its arguments does neither. */
static void while_captured(void)
{
    const vmm_array3d_descriptor asked = {.width = 64, .height = 64, .format = VMM_AD_FORMAT_FLOAT, .num_channels = 1};
    begin("sim:h100");
    vmm_stream s = NULL, other = NULL;
    vmm_deviceptr at = 0, more = 7;
    vmm_mipmapped_array levels = NULL, more_levels = NULL;
    vmm_graph graph = NULL;
    vmm_array one = NULL;
    const vmm_array array = array_of(512, VMM_AD_FORMAT_FLOAT, 1, VMM_ARRAY3D_SPARSE);
    vmm_array_map_info map = map_of(array, tile_pool(G));
    need(vmm_mipmapped_array_create(sys, &levels, &asked, 2));
    need(vmm_mem_alloc_managed(sys, &at, G, VMM_MEM_ATTACH_GLOBAL));
    need(vmm_stream_create(sys, &s, VMM_STREAM_NON_BLOCKING));
    need(vmm_stream_create(sys, &other, VMM_STREAM_NON_BLOCKING));
    need(vmm_stream_begin_capture(sys, s, VMM_STREAM_CAPTURE_MODE_GLOBAL));
    const uint64_t size = G, first = 0;
    captured(s, vmm_array_3d_create(sys, &one, &asked), true, "an array is not created");
    captured(s, vmm_mipmapped_array_create(sys, &more_levels, &asked, 2), true, "nor a mipmapped one");
    captured(s, vmm_array_destroy(sys, array), true, "or destroyed");
    captured(s, vmm_mipmapped_array_destroy(sys, levels), true, "or a mipmapped one");
    captured(s, vmm_array_destroy(sys, NULL), false, "no array");
    captured(s, vmm_mipmapped_array_destroy(sys, NULL), false, "no mipmapped array");
    captured(s, vmm_mem_map_array_async(sys, &map, 1, s), true, "no graph holds a map");
    captured(s, vmm_mem_map_array_async(sys, &map, 0, s), false, "an empty list");
    captured(s, vmm_mem_map_array_async(sys, NULL, 1, s), false, "no list");
    captured(s, vmm_mem_map_array_async(sys, &map, 1, other), false, "a map on another stream");
    captured(s, vmm_mem_alloc_managed(sys, &more, G, VMM_MEM_ATTACH_HOST), true, "managed memory is not allocated");
    tap_u64(more, 0, "and its place is cleared");
    more = 7;
    captured(s, vmm_mem_alloc_managed(sys, &more, 0, VMM_MEM_ATTACH_GLOBAL), false, "none of it");
    tap_u64(more, 0, "and its place is cleared then, too");
    captured(s, vmm_mem_alloc_managed(sys, &more, G, VMM_MEM_ATTACH_SINGLE), false, "for one stream");
    captured(s, vmm_mem_alloc_managed(sys, NULL, G, VMM_MEM_ATTACH_GLOBAL), false, "to nowhere");
    captured(s, vmm_mem_advise(sys, at, G, VMM_MEM_ADVISE_SET_READ_MOSTLY, here), true, "no advice");
    captured(s, vmm_mem_advise(sys, at, G, 22, here), false, "invalid advice");
    captured(s, vmm_mem_advise(sys, at, G, VMM_MEM_ADVISE_SET_ACCESSED_BY, (vmm_mem_location){4, 0}), false, "advice that takes no node");
    captured(s, vmm_mem_advise(sys, at, G, VMM_MEM_ADVISE_SET_ACCESSED_BY, (vmm_mem_location){DEVICE, 7}), false, "or no such device");
    captured(s, vmm_mem_advise(sys, at, G, VMM_MEM_ADVISE_UNSET_READ_MOSTLY, (vmm_mem_location){3, 0}), false, "advice about a node");
    captured(s, vmm_mem_advise(sys, at, G, VMM_MEM_ADVISE_SET_READ_MOSTLY, (vmm_mem_location){HOST, 0}), true, "but not about the host");
    captured(s, vmm_mem_advise(sys, at, G, VMM_MEM_ADVISE_SET_PREFERRED_LOCATION, here), true, "or a device");
    captured(s, vmm_mem_prefetch_async(sys, at, G, here, 0, s), true, "no graph holds a prefetch");
    captured(s, vmm_mem_prefetch_async(sys, at, G, here, 1, s), false, "one with flags");
    captured(s, vmm_mem_prefetch_async(sys, at, G, (vmm_mem_location){0, 5}, 0, s), false, "one to a location of no type");
    captured(s, vmm_mem_prefetch_async(sys, at, G, here, 0, other), false, "one on another stream");
    captured(s, vmm_stream_attach_mem_async(sys, s, at, 0, VMM_MEM_ATTACH_GLOBAL), true, "no attachment");
    captured(s, vmm_stream_attach_mem_async(sys, other, at, 0, VMM_MEM_ATTACH_GLOBAL), true, "nor on another stream");
    captured(s, vmm_mem_discard_batch_async(sys, &at, &size, 1, 0, s), true, "no batch of discards");
    captured(s, vmm_mem_prefetch_batch_async(sys, &at, &size, 1, &here, &first, 1, 0, s), true, "or of prefetches");
    captured(s, vmm_mem_discard_and_prefetch_batch_async(sys, &at, &size, 1, &here, &first, 1, 0, s), true, "or of both");
    need(vmm_stream_end_capture(sys, s, &graph));
    end();
}

/* A program has no address for an array's bytes. */
static void addresses_of_arrays(void)
{
    const vmm_deviceptr bytes_of_one = UINT64_C(0xa700000000000000);
    unsigned char bytes[16] = {0};
    begin("sim:h100");
    vmm_deviceptr at = 0;
    array_of(512, VMM_AD_FORMAT_FLOAT, 1, 0);
    need(vmm_mem_alloc(sys, &at, G));
    is(vmm_memcpy_htod(sys, bytes_of_one, bytes, sizeof bytes), "VMM-COPY-NOT-MAPPED", "a copy there");
    is(vmm_memcpy_dtoh(sys, bytes, bytes_of_one, sizeof bytes), "VMM-COPY-NOT-MAPPED", "and back");
    is(vmm_memcpy_dtod(sys, at, bytes_of_one, sizeof bytes), "VMM-COPY-NOT-MAPPED", "or on the device, from");
    is(vmm_memcpy_dtod(sys, bytes_of_one, at, sizeof bytes), "VMM-COPY-NOT-MAPPED", "or to");
    is(vmm_memcpy_dtod_async(sys, bytes_of_one, at, sizeof bytes, NULL), "VMM-COPY-NOT-MAPPED", "or later");
    is(vmm_memset_d8(sys, bytes_of_one, 1, 8), "VMM-COPY-NOT-MAPPED", "a fill");
    end();
}

static vmm_result fetch(const vmm_deviceptr *at, const uint64_t *size, uint64_t count, const vmm_mem_location *to, const uint64_t *index,
                        uint64_t places)
{
    return vmm_mem_prefetch_batch_async(sys, at, size, count, to, index, places, 0, VMM_STREAM_PER_THREAD);
}

static void batches(void)
{
    const vmm_mem_location to[] = {here, {HOST, 0}}, none[] = {{0, 0}, here}, far[] = {{DEVICE, 7}, here}, node[] = {{3, 0}, {3, 9}};
    const uint64_t size[] = {4096, 4096, 4096}, nothing[] = {0, 4096, 4096}, index[] = {0, 1}, late[] = {1, 2}, past[] = {0, 5}, twice[] = {0, 0};
    vmm_deviceptr start = 0;
    int where = 0;
    begin("sim:h100");
    need(vmm_mem_alloc_managed(sys, &start, G, VMM_MEM_ATTACH_GLOBAL));
    const vmm_deviceptr at[] = {start, start + 8192, start + 16384}, null[] = {0, start, start};
    is(fetch(at, size, 3, to, index, 2), NULL, "three prefetches to two places");
    need(vmm_mem_range_get_attribute(sys, &where, sizeof where, VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, start + 16384, 4096));
    tap_u64((uint64_t)(where + 10), 9, "the last one to the second of them, the host");
    is(fetch(at, size, 3, to, twice, 2), NULL, "three prefetches, and both places for the first");
    need(vmm_mem_range_get_attribute(sys, &where, sizeof where, VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, start + 16384, 4096));
    tap_u64((uint64_t)where, 0, "all go to the first place");
    is(fetch(at, size, 3, to, NULL, 2), "VMM-MANAGED-BATCH", "no indices");
    is(fetch(at, size, 3, NULL, index, 2), "VMM-MANAGED-BATCH", "no places");
    is(fetch(at, size, 3, to, index, 0), "VMM-MANAGED-BATCH", "none of them");
    is(fetch(at, size, 1, to, index, 2), "VMM-MANAGED-BATCH", "more places than prefetches");
    is(fetch(at, size, 3, to, late, 2), "VMM-MANAGED-BATCH", "the first place is not for the first");
    is(fetch(at, size, 3, to, past, 2), "VMM-MANAGED-BATCH", "an index past the list");
    is(fetch(at, size, 0, to, index, 1), "VMM-MANAGED-BATCH", "no prefetches");
    is(fetch(NULL, size, 1, to, index, 1), "VMM-MANAGED-BATCH", "no addresses");
    is(fetch(at, NULL, 1, to, index, 1), "VMM-MANAGED-BATCH", "no sizes");
    is(fetch(at, size, 2, none, index, 2), "VMM-MANAGED-LOCATION", "no place");
    is(fetch(at, size, 2, far, index, 2), "VMM-MANAGED-LOCATION", "a device that there is not");
    is(fetch(at, size, 2, node, index, 2), "VMM-MANAGED-LOCATION", "a node that there is not");
    is(fetch(null, size, 1, to, index, 1), "VMM-MANAGED-NULL", "address 0");
    is(fetch(at, nothing, 1, to, index, 1), "VMM-MANAGED-EMPTY", "size 0");
    is(vmm_mem_discard_batch_async(sys, at, size, 1, 1, VMM_STREAM_PER_THREAD), "VMM-MANAGED-BATCH", "flags");
    is(vmm_mem_discard_batch_async(sys, at, size, 1, 0, VMM_STREAM_LEGACY), "VMM-MANAGED-BATCH-STREAM", "the legacy stream");
    is(vmm_mem_discard_batch_async(sys, at, size, 1, 0, NULL), "VMM-MANAGED-BATCH-STREAM", "no stream");
    is(vmm_mem_discard_and_prefetch_batch_async(sys, at, size, 2, to, index, 2, 0, VMM_STREAM_PER_THREAD), NULL, "both");
    end();
}

/* As observed on two H200. */
static void addresses_that_do_not_matter(void)
{
    const vmm_mem_location node = {3, 0}, of_the_thread = {4, 0};
    vmm_deviceptr at = 0;
    int decompresses = 1;
    begin("sim:h200x2");
    need(vmm_mem_alloc_managed(sys, &at, G, VMM_MEM_ATTACH_GLOBAL));
    need(vmm_pointer_get_attribute(sys, &decompresses, VMM_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE, at));
    tap_u64((uint64_t)decompresses, 0, "managed memory is not for decompression by hardware");
    is(vmm_mem_free_async(sys, at + 4096, NULL), "VMM-POOL-FREE-UNKNOWN", "an address inside is not what it frees");
    is(vmm_mem_free_async(sys, at, NULL), "VMM-MANAGED-FREE-ASYNC", "managed memory is not freed in order");
    is(vmm_mem_advise(sys, 0, 4096, VMM_MEM_ADVISE_SET_PREFERRED_LOCATION, node), NULL, "advice about a node, and address 0");
    is(vmm_mem_advise(sys, at, 2 * G, VMM_MEM_ADVISE_UNSET_READ_MOSTLY, of_the_thread), NULL, "or more than there is");
    need(vmm_ctx_set_current(sys, NULL));
    is(vmm_mem_advise(sys, at, G, VMM_MEM_ADVISE_SET_PREFERRED_LOCATION, of_the_thread), NULL, "or without a context");
    is(vmm_mem_advise(sys, at, G, VMM_MEM_ADVISE_SET_PREFERRED_LOCATION, here), "VMM-CTX-CURRENT", "which a device takes");
    end();
}

static void attachment(void)
{
    vmm_deviceptr at = 0;
    vmm_stream stream = NULL;
    begin("sim:h100");
    need(vmm_mem_alloc_managed(sys, &at, G, VMM_MEM_ATTACH_GLOBAL));
    need(vmm_stream_create(sys, &stream, 0));
    is(vmm_stream_attach_mem_async(sys, stream, at, G, VMM_MEM_ATTACH_SINGLE), NULL, "all of it, by its size");
    is(vmm_stream_attach_mem_async(sys, stream, at, G - 1, VMM_MEM_ATTACH_SINGLE), "VMM-MANAGED-ATTACH-RANGE", "a part");
    is(vmm_stream_attach_mem_async(sys, stream, at + 4096, 0, VMM_MEM_ATTACH_SINGLE), "VMM-MANAGED-ATTACH-RANGE", "from its middle");
    is(vmm_stream_attach_mem_async(sys, stream, 0, 0, VMM_MEM_ATTACH_SINGLE), "VMM-MANAGED-NULL", "nothing");
    is(vmm_stream_attach_mem_async(sys, stream, at, 0, 3), "VMM-MANAGED-ATTACH-FLAGS", "flags that are two");
    is(vmm_stream_attach_mem_async(sys, NULL, at, 0, VMM_MEM_ATTACH_SINGLE), "VMM-MANAGED-ATTACH-SINGLE", "to no stream");
    is(vmm_stream_attach_mem_async(sys, NULL, at, 0, VMM_MEM_ATTACH_HOST), NULL, "to the host");
    end();
}

/* The common attributes of a range's pages. */
static void common(void)
{
    const vmm_mem_location host = {HOST, 0};
    vmm_deviceptr at = 0;
    int list[4], one = 0;
    begin("sim:h200x2");
    need(vmm_mem_alloc_managed(sys, &at, G, VMM_MEM_ATTACH_GLOBAL));
    need(vmm_mem_advise(sys, at, 8192, VMM_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
    need(vmm_mem_advise(sys, at + 8192, 8192, VMM_MEM_ADVISE_SET_PREFERRED_LOCATION, (vmm_mem_location){DEVICE, 1}));
    need(vmm_mem_range_get_attribute(sys, &one, sizeof one, VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, at, 8192));
    tap_u64((uint64_t)one, 0, "the first pages prefer device 0");
    need(vmm_mem_range_get_attribute(sys, &one, sizeof one, VMM_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, at, 16384));
    tap_u64((uint64_t)(one + 10), 8, "with those of device 1 they prefer none");
    for (int device = 0; device < 2; device++)
        need(vmm_mem_advise(sys, at, 4096, VMM_MEM_ADVISE_SET_ACCESSED_BY, (vmm_mem_location){DEVICE, device}));
    need(vmm_mem_advise(sys, at, 4096, VMM_MEM_ADVISE_SET_ACCESSED_BY, host));
    need(vmm_mem_range_get_attribute(sys, list, sizeof list, VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, at, 4096));
    tap_ok(list[0] == 0 && list[1] == 1 && list[2] == -1 && list[3] == -2, "a list of all, and one place more");
    need(vmm_mem_range_get_attribute(sys, list, sizeof list[0], VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, at, 4096));
    tap_ok(list[0] == 0, "a list with room for one");
    need(vmm_mem_range_get_attribute(sys, list, 2 * sizeof list[0], VMM_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, at, 4096));
    tap_ok(list[0] == 0 && list[1] == 1, "and for two, without the host");
    need(vmm_mem_prefetch_async(sys, at, 4096, (vmm_mem_location){4, 0}, 0, NULL));
    need(vmm_mem_prefetch_async(sys, at + 4096, 4096, here, 0, NULL));
    need(vmm_mem_range_get_attribute(sys, &one, sizeof one, VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID, at, 8192));
    tap_u64((uint64_t)(one + 10), 8, "a device and a node of one number have nothing in common");
    need(vmm_mem_range_get_attribute(sys, &one, sizeof one, VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE, at, 8192));
    tap_u64((uint64_t)one, 0, "nor a type");
    need(vmm_mem_range_get_attribute(sys, &one, sizeof one, VMM_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, at, 8192));
    tap_u64((uint64_t)(one + 10), 8, "or a place");
    end();
}

/* Refusals before cuInit: for invalid arguments, and for the missing cuInit. */
static void early(void)
{
    vmm_deviceptr at = 0;
    need(vmm_open("sim:h100", &sys));
    is(vmm_mem_alloc_managed(sys, NULL, G, VMM_MEM_ATTACH_GLOBAL), "VMM-ALLOC-NULL", "no place for the address");
    is(vmm_mem_alloc_managed(sys, &at, 0, VMM_MEM_ATTACH_GLOBAL), "VMM-ALLOC-SIZE-ZERO", "size 0");
    is(vmm_mem_alloc_managed(sys, &at, G, 7), "VMM-MANAGED-FLAGS", "flags");
    is(vmm_mem_alloc_managed(sys, &at, G, VMM_MEM_ATTACH_HOST), "VMM-INIT-REQUIRED", "a right one");
    is(vmm_mem_advise(sys, 1, 1, 9, here), "VMM-MANAGED-ADVICE", "advice");
    is(vmm_mem_advise(sys, 1, 1, 0, here), "VMM-MANAGED-ADVICE", "no advice");
    is(vmm_mem_advise(sys, 1, 1, VMM_MEM_ADVISE_SET_READ_MOSTLY, (vmm_mem_location){0, 0}), "VMM-MANAGED-LOCATION", "nowhere");
    is(vmm_mem_advise(sys, 1, 1, VMM_MEM_ADVISE_SET_READ_MOSTLY, (vmm_mem_location){9, 0}), "VMM-MANAGED-LOCATION", "no place");
    is(vmm_mem_advise(sys, 1, 1, VMM_MEM_ADVISE_SET_READ_MOSTLY, here), "VMM-INIT-REQUIRED", "right advice");
    is(vmm_mem_prefetch_async(sys, 1, 1, here, 1, NULL), "VMM-MANAGED-PREFETCH-FLAGS", "flags of a prefetch");
    is(vmm_mem_prefetch_async(sys, 1, 1, (vmm_mem_location){0, 0}, 0, NULL), "VMM-MANAGED-LOCATION", "a prefetch to nowhere");
    is(vmm_mem_prefetch_async(sys, 1, 1, here, 0, NULL), "VMM-INIT-REQUIRED", "a right one");
    end();
}

int main(void)
{
    sums_that_wrap();
    memory_that_is_none();
    blocks();
    sizes_of_tails();
    surfaces_of_blocks();
    memory_of_layers();
    addresses_of_arrays();
    while_captured();
    batches();
    addresses_that_do_not_matter();
    attachment();
    common();
    early();
    return tap_done();
}

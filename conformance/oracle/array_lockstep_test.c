/* SPDX-License-Identifier: Apache-2.0 */
/* Mix 4: arrays, the tiles of sparse ones, and managed memory. The simulator and the model agree; what one of them has wrong is noticed. */
#include "mix_rig.h"

#include "model/model_array.h"
#include "model/model_managed.h"

enum { MIX = LOCKSTEP_NEWEST_MIX, STEPS = 600, MANY_STEPS = 2000, RUNS = 16 };

/* ---- random calls ---- */

static void agreement(void)
{
    const char *const specs[] = {"sim:h200x2", "sim:odd,strict", "sim:max", "as-driver:sim:h200x2"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++)
        mix_agrees(specs[i], MIX, STEPS, 11);
}

static bool is_new(enum vmm_call_id call)
{
    return call >= VMM_CALL_array_3d_create && call <= VMM_CALL_mem_discard_and_prefetch_batch_async;
}

/* Each new call is made, half of them and more succeed, and hardly one is left out. No array has planes. */
static void what_is_made(void)
{
    const struct mix_made of = mix_made(MIX, MANY_STEPS, RUNS, is_new, VMM_CALL_array_get_plane);
    tap_ok(of.calls == 20 && 2 * of.succeeded > of.made && of.succeeded < of.made, "%" PRIu64 " of %" PRIu64 " calls of %u new kinds succeed",
           of.succeeded, of.made, of.calls);
    tap_ok(of.left_out < RUNS * MANY_STEPS / 500, "%" PRIu64 " calls are left out", of.left_out);
}

/* A system that refuses what it should not. */
static void a_wrong_system_is_noticed(void)
{
    static const char *const faults[] = {
        "array_3d_create:1", "array_3d_get_descriptor:1", "array_get_sparse_properties:1", "array_get_memory_requirements:1",
        "array_destroy:1", "mipmapped_array_create:1", "mipmapped_array_get_level:1", "mipmapped_array_get_sparse_properties:1",
        "mipmapped_array_get_memory_requirements:1", "mipmapped_array_destroy:1", "mem_map_array_async:1", "mem_map_array_async:7",
        "mem_alloc_managed:1", "mem_prefetch_async:1", "mem_advise:1", "mem_range_get_attribute:1", "stream_attach_mem_async:1",
        "mem_prefetch_batch_async:1", "mem_discard_batch_async:1", "mem_discard_and_prefetch_batch_async:1"};
    mix_faults(faults, sizeof faults / sizeof faults[0], MIX, MANY_STEPS);
}

/* ---- what the model has wrong, and what random calls seldom come to ---- */

#define POOL "h65 = mem_create handle=out size=2G prop={1 0 1:0 0 0 0 1 0.0.0.0} flags=0"
#define SPARSE "y64 = array_3d_create p_handle=out p_allocate_array={512 512 0 32 1 64}"
#define OTHER "y66 = array_3d_create p_handle=out p_allocate_array={512 512 0 32 1 64}"
#define WIDER "y66 = array_3d_create p_handle=out p_allocate_array={512 512 0 1 1 64}"
#define DEFERRED "y64 = array_3d_create p_handle=out p_allocate_array={200 200 0 32 1 128}"
#define PLAIN "y64 = array_3d_create p_handle=out p_allocate_array={64 64 0 32 1 0}"
#define LEVELS "y67 = mipmapped_array_create p_handle=out p_mipmapped_array_desc={512 512 0 32 1 64} num_mipmap_levels=10"
#define LEVEL(name, of, number) name " = mipmapped_array_get_level p_level_array=out h_mipmapped_array=" of " level=" number
#define NONE " {0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0} count=1 stream=s40"
#define MAP(array, x, width, operation, pool, offset) \
    "mem_map_array_async map_info_list={0 " array " 0 0 0 " x " 0 0 " width " 128 1 0 0 0 " operation " 0 " pool " " offset " 1 0 0 0}" NONE
#define MAP_TAIL(of, size, pool) \
    "mem_map_array_async map_info_list={1 " of " 1 0 0 0 0 0 0 0 0 0 0 " size " 1 0 " pool " 0 1 0 0 0}" NONE
#define PUT(array, x, y) "memcpy_3d p_copy={1 7 0 0 0 0 0 0, 3 " array " " x " " y " 0 0 0 0, 32 1 1}"
#define GET(array, x, y) "memcpy_3d p_copy={3 " array " " x " " y " 0 0 0 0, 1 1 0 0 0 0 0 0, 32 1 1}"
#define FREE "mem_get_info free=out total=out"
#define MANAGED "r64 = mem_alloc_managed dptr=out bytesize=10000 flags=1"
#define ADVISE(offset, count, advice, where) "mem_advise dev_ptr=r64" offset " count=" count " advice=" advice " location=" where
#define FETCH(offset, count, where) "mem_prefetch_async dev_ptr=r64" offset " count=" count " location=" where " flags=0 stream=s40"
#define ASK(attribute, size, offset, count) \
    "mem_range_get_attribute data=out data_size=" size " attribute=" attribute " dev_ptr=r64" offset " count=" count
#define BATCH(of, addresses, sizes, count, rest) of " dptrs=" addresses " sizes=" sizes " count=" count rest " flags=0 stream=s40"

static void wrong_byte(struct model *m) { m->arrays->windows[0].value[9] ^= 1; }
static void wrong_offset(struct model *m) { m->arrays->at[0]->tiles[0].offset += MODEL_TILE; }
static void wrongly_mapped(struct model *m) { m->arrays->at[0]->tiles[0].x++; }
static void wrong_flags(struct model *m) { m->arrays->at[0]->is.flags ^= VMM_ARRAY3D_SURFACE_LDST; }
static void wrong_tile(struct model *m) { m->arrays->at[0]->shape.tile[0] *= 2; }
static void wrong_tail(struct model *m) { m->arrays->at[0]->shape.tail += MODEL_TILE; }
static void wrong_need(struct model *m) { m->arrays->at[0]->shape.need += MODEL_TILE; }
static void wrong_level(struct model *m) { m->arrays->at[0]->levels[3]->value++; }
static void wrong_size(struct model *m) { m->arrays->backings[0].size += mix_unit; }
static void wrong_chunk(struct model *m) { m->arrays->chunks[0].taken[31] = true; }
static void wrong_advice(struct model *m) { m->parts[0].hint.read_mostly ^= true; }
static void wrong_pages(struct model *m) { m->parts[0].end--; }
static void wrong_place(struct model *m) { m->parts[0].hint.prefetched.type = VMM_MEM_LOCATION_TYPE_HOST; }
static void wrong_end(struct model *m) { m->managed[0].size--; }
static void wrong_span(struct model *m) { m->managed[0].span *= 2; }
static void wrong_context(struct model *m) { m->managed[0].device++; }
static void wrong_first_byte(struct model *m) { m->windows[0].value[0] ^= 1; }

static const struct mix_spoil spoils[] = {
    {"a byte of an array", wrong_byte, {PLAIN, PUT("y64", "0", "3")}, GET("y64", "0", "3")},
    {"a byte of a tile", wrong_byte, {SPARSE, POOL, MAP("y64", "0", "256", "1", "h65", "0"), PUT("y64", "480",
     "3")}, GET("y64", "480", "3")},
    {"where a tile's memory is", wrong_offset,
     {SPARSE, OTHER, POOL, MAP("y64", "0", "128", "1", "h65", "0"), MAP("y66", "0", "256", "1", "h65", "0"), PUT("y66", "0", "0"),
      "memcpy_3d p_copy={1 9 0 0 0 0 0 0, 3 y66 512 0 0 0 0 0, 32 1 1}"}, GET("y64", "0", "0")},
    {"which tile has memory", wrongly_mapped, {SPARSE, POOL, MAP("y64", "0", "128", "1", "h65", "0"), PUT("y64", "0",
     "0")}, GET("y64", "0", "0")},
    {"an array's flags", wrong_flags, {PLAIN}, "array_3d_get_descriptor p_array_descriptor=out h_array=y64"},
    {"the size of tiles", wrong_tile, {SPARSE}, "array_get_sparse_properties sparse_properties=out array=y64"},
    {"the size of a mip tail", wrong_tail, {LEVELS}, "mipmapped_array_get_sparse_properties sparse_properties=out mipmap=y67"},
    {"what a deferred array needs",
     wrong_need, {DEFERRED}, "array_get_memory_requirements memory_requirements=out array=y64 device=0"},
    {"the array of a level", wrong_level, {LEVELS, LEVEL("y68", "y67", "3")}, LEVEL("y69", "y67", "3")},
    {"memory that only tiles hold", wrong_size, {SPARSE, POOL, MAP("y64", "0", "128", "1", "h65",
     "0"), "mem_release handle=h65"}, FREE},
    {"a chunk of small arrays", wrong_chunk, {PLAIN, "array_destroy h_array=y64"}, FREE},
    {"an advice", wrong_advice, {MANAGED, ADVISE("", "10000", "1", "1:0")}, ASK("1", "4", "", "10000")},
    {"the pages of an advice", wrong_pages, {MANAGED, ADVISE("", "8192", "5", "1:0")}, ASK("3", "16", "+4096", "1")},
    {"where memory was prefetched to", wrong_place, {MANAGED, FETCH("", "10000", "1:0")}, ASK("4", "4", "", "10000")},
    {"the end of managed memory", wrong_end, {MANAGED}, ASK("1", "4", "", "10000")},
    {"the addresses that it takes", wrong_span, {MANAGED}, "r66 = mem_alloc_managed dptr=out bytesize=1 flags=1"},
    {"the device that it counts as", wrong_context, {MANAGED}, "pointer_get_attribute data=out attribute=9 ptr=r64"},
    {"a byte of it", wrong_first_byte, {MANAGED, "memset_d8 dst=r64 value=7 n=8"}, "memcpy_dtoh dst=out src=r64 byte_count=8"},
};

static const struct mix_story stories[] = {
    {"a tile without memory, which reads as zeros", NULL, {SPARSE, PUT("y64", "0", "0"), GET("y64", "0", "0")}},
    {"one that loses its memory", NULL,
     {SPARSE, POOL, MAP("y64", "0", "512", "1", "h65", "0"), PUT("y64", "0", "0"), MAP("y64", "0", "512", "2", "0", "0"), GET("y64", "0", "0")}},
    {"two arrays that see one tile", NULL,
     {SPARSE, OTHER, POOL, MAP("y64", "0", "128", "1", "h65", "0x10000"), MAP("y66", "0", "128", "1", "h65", "0x10000"),
      PUT("y64", "0", "0"), GET("y66", "0", "0")}},
    {"a tile of the second row of a box", NULL,
     {SPARSE, OTHER, POOL, "mem_map_array_async map_info_list={0 y64 0 0 0 0 0 0 512 256 1 0 0 0 1 0 h65 0 1 0 0 0}" NONE,
      MAP("y66", "0", "128", "1", "h65", "0x40000"), PUT("y64", "0", "128"),
      "memcpy_3d p_copy={1 9 0 0 0 0 0 0, 3 y64 1024 0 0 0 0 0, 32 1 1}", GET("y66", "0", "0")}},
    {"two arrays of elements of different sizes", NULL,
     {SPARSE, WIDER, POOL, MAP("y64", "0", "128", "1", "h65", "0"),
      "mem_map_array_async map_info_list={0 y66 0 0 0 0 0 0 256 256 1 0 0 0 1 0 h65 0 1 0 0 0}" NONE, PUT("y64", "0", "0"),
      PUT("y66", "0", "0"), GET("y64", "0", "0")}},
    {"a mip tail", NULL,
     {LEVELS, LEVEL("y68", "y67", "4"), LEVEL("y69", "y67", "3"), POOL, MAP_TAIL("y67", "0x10000", "h65"), PUT("y68", "0", "0"),
      PUT("y69", "32", "1"), GET("y68", "0", "0")}},
    {"a mip tail without memory", NULL, {LEVELS, LEVEL("y68", "y67", "4"), PUT("y68", "0", "0"), GET("y68", "0", "0")}},
    {"a mip tail and a tile that share memory", NULL,
     {LEVELS, LEVEL("y68", "y67", "4"), SPARSE, POOL, MAP_TAIL("y67", "0x10000", "h65"), PUT("y68", "0", "0"),
      MAP("y64", "0", "128", "1", "h65", "0"), PUT("y64", "0", "0"), GET("y68", "0", "0")}},
    {"a deferred array that gets other memory", NULL,
     {DEFERRED, POOL, "mem_map_array_async map_info_list={0 y64 0 0 0 0 0 0 0 0 0 0 0 0 1 0 h65 0 1 0 0 0}" NONE, PUT("y64", "0", "0"),
      "mem_map_array_async map_info_list={0 y64 0 0 0 0 0 0 0 0 0 0 0 0 1 0 h65 0x100000 1 0 0 0}" NONE, GET("y64", "0", "0")}},
    {"memory that was released, and is mapped", "VMM-TILES-HANDLE",
     {SPARSE, POOL, MAP("y64", "0", "128", "1", "h65", "0"), "mem_release handle=h65", FREE, MAP("y64", "0", "128", "1", "h65", "0")}},
    {"memory that goes back with the last tile", NULL,
     {SPARSE, POOL, MAP("y64", "0", "128", "1", "h65", "0"), "mem_release handle=h65", "array_destroy h_array=y64", FREE}},
    {"an offset whose sum wraps", "VMM-TILES-WRAPS", {SPARSE, POOL, MAP("y64", "0", "128", "1", "h65", "-0x10000")}},
    {"a level of an array that has ended", "VMM-ARRAY-ENDED",
     {LEVELS, LEVEL("y68", "y67", "0"), "mipmapped_array_destroy h_mipmapped_array=y67",
      "array_3d_get_descriptor p_array_descriptor=out h_array=y68"}},
    {"a mipmapped array that is not sparse, as a plain one", "VMM-ARRAY-KIND",
     {"y64 = mipmapped_array_create p_handle=out p_mipmapped_array_desc={64 64 0 32 1 0} num_mipmap_levels=3",
     "array_destroy h_array=y64"}},
    {"a level, which stays", NULL, {LEVELS, LEVEL("y68", "y67", "0"), "array_destroy h_array=y68", LEVEL("y69", "y67", "0")}},
    {"a copy past a row", "VMM-COPY-ARRAY-BOUNDS", {PLAIN, PUT("y64", "225", "0")}},
    {"an array without a context during a capture", "VMM-CTX-CURRENT",
     {"stream_begin_capture stream=s40 mode=0", "ctx_set_current ctx=0", PLAIN}},
    {"managed memory without a context during a capture", "VMM-CTX-CURRENT",
     {"stream_begin_capture stream=s40 mode=0", "ctx_set_current ctx=0", MANAGED}},
    {"advice without a context during a capture", "VMM-CTX-CURRENT",
     {MANAGED, "stream_begin_capture stream=s40 mode=0", "ctx_set_current ctx=0", ADVISE("", "10000", "1", "1:0")}},
    {"a batch with flags on a captured stream", "VMM-MANAGED-BATCH",
     {MANAGED, "stream_begin_capture stream=s40 mode=2",
      "mem_discard_batch_async dptrs=[r64 0 0] sizes=[1 0 0] count=1 flags=2 stream=s40"}},
    {"a map on a captured stream", "VMM-CAPTURE-FORBIDS",
     {SPARSE, POOL, "stream_begin_capture stream=s40 mode=2", MAP("y64", "0", "128", "1", "h65", "0")}},
    {"parts of managed memory of which different things were said", NULL,
     {MANAGED, ADVISE("", "10000", "5", "1:0"), ADVISE("+4096", "1", "5", "2:0"), ADVISE("+4096", "4096", "3", "1:0"),
      FETCH("+1", "8000", "2:3"), ADVISE("", "4096", "6", "1:0"), ASK("3", "16", "+4096", "5904"), ASK("2", "4", "+4096", "4096"),
      ASK("8", "4", "", "8192"), ASK("3", "16", "", "10000")}},
    {"pages behind the part in which a range begins", NULL,
     {MANAGED, FETCH("", "8192", "1:0"), FETCH("+8192", "1", "2:0"), ASK("4", "4", "+4096", "5904"), ASK("4", "4", "", "10000"),
      ASK("4", "4", "+8192", "1")}},
    {"a page that a prefetch passes over", NULL,
     {MANAGED, FETCH("", "1", "2:0"), ADVISE("+8192", "1", "1", "1:0"), FETCH("", "10000", "1:0"), ASK("8", "4", "+8192", "1"),
      ASK("8", "4", "", "8192")}},
    {"pages that become one part with both neighbours", NULL,
     {MANAGED, FETCH("", "1", "1:0"), FETCH("+8192", "1", "1:0"), FETCH("+4096", "1", "1:0"), ASK("4", "4", "+4096", "5904"),
      ADVISE("", "10000", "2", "1:0"), ASK("7", "4", "", "10000")}},
    {"advice that is taken back, and about a node", NULL,
     {MANAGED, ADVISE("", "10000", "1", "1:0"), ADVISE("", "4096", "2", "2:0"), ADVISE("", "10000", "3", "2:7"),
      ADVISE("+4096", "1", "4", "1:0"), ADVISE("", "10000", "3", "3:0"), ASK("1", "4", "", "10000"), ASK("6", "4", "", "4096"),
      ASK("5", "4", "", "10000")}},
    {"a range that wraps", "VMM-MANAGED-WRAPS", {MANAGED, FETCH("+8192", "-0x1000", "1:0")}},
    {"a range that wraps and ends in the page of its start", "VMM-MANAGED-WRAPS",
     {MANAGED, ADVISE("+4096", "4096", "1", "1:0"), FETCH("+4196", "-0x1", "1:0"), ASK("4", "4", "+4096", "1"), ASK("4", "4", "", "4096"),
      ASK("1", "4", "+100", "-0x1"), ASK("1", "4", "+4196", "-0x1")}},
    {"parts that become one at the end of a range", NULL,
     {MANAGED, FETCH("", "4096", "1:0"), FETCH("+8192", "1", "2:0"), FETCH("+4096", "4096", "2:0"), ADVISE("+8192", "1", "1", "1:0"),
      ADVISE("+8192", "1", "2", "1:0"), FETCH("+4096", "5904", "1:0"), ASK("4", "4", "", "10000")}},
    {"the attributes of a range that wraps", "VMM-MANAGED-WRAPS", {MANAGED, ASK("3", "16", "+8192", "-0x1000")}},
    {"a range past its end", "VMM-MANAGED-RANGE", {MANAGED, ADVISE("+1", "10000", "1", "1:0")}},
    {"a batch with two places", NULL,
     {MANAGED, BATCH("mem_prefetch_batch_async", "[r64 r64+4096 r64+8192]", "[4096 4096 100]", "3",
                     " prefetch_locs={1 0} {2 9} prefetch_loc_idxs=[0 2] num_prefetch_locs=2"),
      ASK("8", "4", "+8192", "4"), ASK("4", "4", "", "8192")}},
    {"a batch whose second range is invalid", "VMM-MANAGED-NULL",
     {MANAGED, "memset_d8 dst=r64 value=7 n=8",
      BATCH("mem_discard_and_prefetch_batch_async", "[r64 0 0]", "[4096 1 0]", "2",
            " prefetch_locs={1 0} {0 0} prefetch_loc_idxs=[0 0] num_prefetch_locs=1")}},
    {"bytes that were discarded", NULL,
     {MANAGED, "memset_d8 dst=r64 value=7 n=8", BATCH("mem_discard_batch_async", "[r64+4 0 0]", "[2 0 0]", "1", ""),
      "memcpy_dtoh dst=out src=r64 byte_count=8"}},
    {"rows of a node past the end of managed memory", "VMM-ROWS-END",
     {MANAGED, "g70 = graph_create graph=out flags=0",
      "n71 = graph_add_memset_node graph_node=out graph=g70 dependencies=[0 0 0] num_dependencies=0 memset_params={r64+9984 12 5 4 2 3} ctx=c1"}},
    {"a batch whose first range has both places", NULL,
     {MANAGED, BATCH("mem_prefetch_batch_async", "[r64 r64+4096 r64+8192]", "[4096 4096 100]", "3",
                     " prefetch_locs={4 0} {1 0} prefetch_loc_idxs=[0 0] num_prefetch_locs=2"),
      ASK("7", "4", "", "8292"), "mem_prefetch_async dev_ptr=r64 count=4096 location=1:0 flags=0 stream=s40", ASK("8", "4", "", "8292"),
      ASK("7", "4", "", "8292"), ASK("4", "4", "", "8292")}},
    {"managed memory that is freed in order", "VMM-MANAGED-FREE-ASYNC", {MANAGED, "mem_free_async dptr=r64 stream=s40"}},
    {"and from its middle", "VMM-POOL-FREE-UNKNOWN", {MANAGED, "mem_free_async dptr=r64+4 stream=s40"}},
    {"advice about a node, and no address", NULL, {"ctx_set_current ctx=0",
     "mem_advise dev_ptr=0 count=4096 advice=3 location=3:0"}},
    {"managed memory that is freed", NULL, {MANAGED, "mem_free dptr=r64", MANAGED}},
    {"managed memory without a context", "VMM-CTX-CURRENT", {"ctx_set_current ctx=0", MANAGED}},
    {"more than the host has", "VMM-MANAGED-MEMORY", {"r64 = mem_alloc_managed dptr=out bytesize=-1 flags=1"}},
    {"advice while a stream is captured", "VMM-CAPTURE-FORBIDS",
     {MANAGED, "stream_begin_capture stream=s40 mode=0", ADVISE("", "10000", "1", "1:0")}},
    {"managed memory while a stream is captured", "VMM-CAPTURE-FORBIDS", {"stream_begin_capture stream=s40 mode=0", MANAGED}},
    {"a prefetch on a captured stream", "VMM-CAPTURE-FORBIDS",
     {MANAGED, "stream_begin_capture stream=s40 mode=2", FETCH("", "10000", "1:0")}},
    {"a batch on a captured stream", "VMM-CAPTURE-FORBIDS",
     {MANAGED, "stream_begin_capture stream=s40 mode=2", BATCH("mem_discard_batch_async", "[r64 0 0]", "[2 0 0]", "1", "")}},
    {"an attachment on a captured stream", "VMM-CAPTURE-FORBIDS",
     {MANAGED, "stream_begin_capture stream=s40 mode=2", "stream_attach_mem_async stream=s40 dptr=r64 length=0 flags=1"}},
    {"an array while a stream is captured", "VMM-CAPTURE-FORBIDS", {"stream_begin_capture stream=s40 mode=0", PLAIN}},
};

/* ---- a driver ---- */

/* Why a step is not made on a driver. */
static void left_out(const char *const *before, const char *line, enum left_out why)
{
    struct lockstep pair;
    struct step step;
    char error[200];
    if (!lockstep_open(&pair, "as-driver:sim:h200x2") || !step_parse(line, mix_unit, &step, error, sizeof error))
        tap_bail("%s: %s%s", line, pair.difference, error);
    for (size_t i = 0; before[i]; i++)
        if (!mix_make(&pair, before[i]))
            tap_bail("%s: %s", before[i], pair.difference);
    tap_text(lockstep_left_out[lockstep_foresee(&pair, &step)], lockstep_left_out[why], "%s", line);
    tap_ok(lockstep_close(&pair), "and what was made is given back");
}

static void what_a_driver_is_not_asked(void)
{
    left_out((const char *const[]){SPARSE, "array_destroy h_array=y64", NULL}, "array_3d_get_descriptor p_array_descriptor=out h_array=y64",
             LEFT_OUT_FORGED);
    left_out((const char *const[]){SPARSE, "array_destroy h_array=y64", NULL}, "array_destroy h_array=y64", LEFT_OUT_CRASH);
    left_out((const char *const[]){SPARSE, NULL}, MAP("y64", "0", "128", "1", "0", "0"), LEFT_OUT_CRASH);
    left_out((const char *const[]){PLAIN, POOL, NULL}, MAP("y64", "0", "128", "1", "h65", "0"), LEFT_OUT_VARIES);
    left_out((const char *const[]){SPARSE, POOL, "mem_release handle=h65", NULL}, MAP("y64", "1", "128", "1", "h65", "0"), LEFT_OUT_FORGED);
    left_out((const char *const[]){SPARSE, POOL, NULL}, MAP("y64", "0", "128", "1", "h65", "-0x10000"), LEFT_OUT_UNKNOWN);
    left_out((const char *const[]){NULL}, "y64 = array_3d_create p_handle=out p_allocate_array={16384 16384 0 32 1 0}", LEFT_OUT_MUCH);
    left_out((const char *const[]){NULL}, "y64 = array_3d_create p_handle=out p_allocate_array={131072 65536 0 32 4 64}", LEFT_OUT_MUCH);
    left_out((const char *const[]){NULL}, "y64 = mipmapped_array_create p_handle=out p_mipmapped_array_desc={32768 32768 0 32 1 64} num_mipmap_levels=0",
             LEFT_OUT_NOT);
    left_out((const char *const[]){PLAIN, NULL}, "memcpy_3d_peer p_copy={3 y64 0 0 0 0 0 0, 1 1 0 0 0 0 0 0, 4 1 1}", LEFT_OUT_CRASH);
    left_out((const char *const[]){DEFERRED, NULL}, GET("y64", "0", "0"), LEFT_OUT_LOSES);
    left_out((const char *const[]){MANAGED, NULL}, "stream_attach_mem_async stream=s40 dptr=r64 length=0 flags=0", LEFT_OUT_CRASH);
    left_out((const char *const[]){NULL}, "r64 = mem_alloc_managed dptr=out bytesize=0x4000001 flags=1", LEFT_OUT_MUCH);
    left_out((const char *const[]){NULL}, "r64 = mem_alloc_managed dptr=out bytesize=-1 flags=1", LEFT_OUT_NOT);
    left_out((const char *const[]){LEVELS, NULL}, "array_get_memory_requirements memory_requirements=out array=y67 device=0", LEFT_OUT_FORGED);
    left_out((const char *const[]){LEVELS, NULL}, "array_get_sparse_properties sparse_properties=out array=y67", LEFT_OUT_FORGED);
    left_out((const char *const[]){PLAIN, NULL}, "array_get_sparse_properties sparse_properties=out array=y64", LEFT_OUT_NOT);
    left_out((const char *const[]){MANAGED, NULL}, ASK("3", "32", "", "1"), LEFT_OUT_LARGE);
    left_out((const char *const[]){MANAGED, NULL}, "memcpy_3d p_copy={2 r64 0 0 0 0 0 0, 1 1 0 0 0 0 0 0, 4 1 1}", LEFT_OUT_UNKNOWN);
}

/* What the model knows of the first byte of a level in a mip tail after two elements of a list, the tail's the second, and a write;
 * then: after a list of the whole tail alone, and a write. */
static void tails_behind_others(void)
{
    static const struct {
        const char *first, *spec, *what;
        bool known;
    } cases[] = {{"0 y64 0 0 0 0 0 0 128 128 1 0", "as-driver:sim:h200", "behind a tile, of a driver: nothing", false},
                 {"0 y64 0 0 0 0 0 0 128 128 1 0", "sim:h200", "behind a tile, of the simulator: all", true},
                 {"1 y70 1 0 0 0 0 0 0 0 0 0 0 0x20000", "as-driver:sim:h200", "behind a larger tail: nothing", false},
                 {"1 y70 1 0 0 0 0 0 0 0 0 0 0 0x10000", "as-driver:sim:h200", "behind a tail of the same size: all", true}};
    static const char *const before[] = {SPARSE, LEVELS, LEVEL("y68", "y67", "4"), POOL,
                                         "y70 = mipmapped_array_create p_handle=out p_mipmapped_array_desc={300 100 0 32 1 64} num_mipmap_levels=1"};
    char line[400];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const bool tail = cases[i].first[0] == '1';
        struct lockstep pair;
        bool made = lockstep_open(&pair, cases[i].spec);
        for (size_t k = 0; k < sizeof before / sizeof before[0]; k++)
            made = made && mix_make(&pair, before[k]);
        snprintf(line, sizeof line,
                 "mem_map_array_async map_info_list={%s%s 1 0 h65 0 1 0 0 0} {1 y67 1 0 0 0 0 0 0 0 0 0 0 0x10000 1 0 h65 0x100000 1 0 0 0} count=2 stream=s40",
                 cases[i].first, tail ? "" : " 0 0");
        made = made && mix_make(&pair, line) && mix_make(&pair, PUT("y68", "0", "0"));
        const struct model_array *level = pair.model.arrays->at[2];
        tap_ok(made && (model_array_byte(&pair.model, level, 0, 0, 0) >= 0) == cases[i].known, "%s %s", cases[i].what, pair.difference);
        made = mix_make(&pair, "mem_map_array_async map_info_list={1 y67 1 0 0 0 0 0 0 0 0 0 0 0x10000 1 0 h65 0x200000 1 0 0 0}" NONE) && mix_make(&pair, PUT("y68", "0", "0"));
        tap_ok(made && level->level == 4 && model_array_byte(&pair.model, level, 0, 0, 0) >= 0, "and all of one that is mapped alone %s", pair.difference);
        tap_ok(lockstep_close(&pair), "and what was made is given back");
    }
}

/* ---- the end of an episode ---- */

/* A driver's calls that give arrays back would not return while a stream waits for a value, so it is written. */
static void waits_end(void)
{
    static const char *const before[] = {PLAIN, "r66 = mem_address_reserve ptr=out size=1G alignment=0 addr=0 flags=0",
                                         "h67 = mem_create handle=out size=1G prop={1 0 1:0 0 0 0 0 0.0.0.0} flags=0",
                                         "mem_map ptr=r66 size=1G offset=0 handle=h67 flags=0",
                                         "mem_set_access ptr=r66 size=1G desc=[1:0=3 1:0=0 1:0=0] count=1",
                                         "memset_d8 dst=r66 value=0 n=8", "memset_d8 dst=r66+8 value=255 n=8",
                                         "r68 = mem_address_reserve ptr=out size=1G alignment=0 addr=0 flags=0",
                                         "h69 = mem_create handle=out size=1G prop={1 0 3:0 0 0 0 0 0.0.0.0} flags=0",
                                         "mem_map ptr=r68 size=1G offset=0 handle=h69 flags=0",
                                         "mem_set_access ptr=r68 size=1G desc=[1:0=3 3:0=3 1:0=0] count=2", "memset_d8 dst=r68 value=0 n=8",
                                         /* the host only reads */
                                         "mem_set_access ptr=r68 size=1G desc=[3:0=1 1:0=0 1:0=0] count=1"};
    static const char *const waits[] = {"r66 value=5 flags=0", "r66 value=5 flags=1", "r66 value=5 flags=2", "r66+8 value=5 flags=3",
                                        "r68 value=5 flags=0"};
    char line[100];
    for (size_t i = 0; i < sizeof waits / sizeof waits[0]; i++) {
        struct lockstep pair;
        bool made = lockstep_open(&pair, "as-driver:sim:h100");
        for (size_t k = 0; k < sizeof before / sizeof before[0]; k++)
            made = made && mix_make(&pair, before[k]);
        snprintf(line, sizeof line, "stream_wait_value32 stream=s40 addr=%s", waits[i]);
        tap_ok(made && mix_make(&pair, line) && pair.model.blocked >= 0, "a stream waits: %s %s", waits[i], pair.difference);
        tap_ok(lockstep_close(&pair), "it waits for nothing in the end");
    }
}

int main(void)
{
    agreement();
    what_is_made();
    mix_flips(MIX, STEPS);
    a_wrong_system_is_noticed();
    mix_spoils(spoils, sizeof spoils / sizeof spoils[0]);
    mix_stories(stories, sizeof stories / sizeof stories[0]);
    what_a_driver_is_not_asked();
    tails_behind_others();
    waits_end();
    return tap_done();
}

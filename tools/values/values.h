/* SPDX-License-Identifier: Apache-2.0 */
/* values.h - what stands in a script where a call takes an argument.
 *
 *     number      42  0x2a  1<<20  2MiB  64KiB  4gran  1hgran  max          (gran: the granularity of dev0's memory,
 *     rounded     roundup(5MiB)  roundup(r0.size,64KiB)
 *     float       f32:1.5  f64:-2e9                                         (its bits)
 *     name        h0@main (another process's)  r0  r0+2gran  r0.size  r0.end-1  before-after              hgran: of host memory; null is 0)
 *     location    dev0  dev-1  host  numa1  numa-current  loc:TYPE:ID  null
 *     rights      none  r  rw  or a raw number
 *     grant       dev0:rw  host:r  dev0:2  loc:7:0:rw
 *     memory      {dev0 handle=fd compression=1 rdma=1 usage=1 type=1 reserved=1 meta=1}  null
 *     pool        {dev0 handle=fd max=1GiB usage=2 type=1 reserved=1}  null
 *     bytes       "text"  hex:00ff  byte:0xab:64KiB  pattern:7:1gran
 */
#ifndef CUVMM_TOOLS_VALUES_H
#define CUVMM_TOOLS_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "symbols.h"
#include "vmm.h"
#include "words.h"

/* What values are read against. granule gives the unit of device or host memory; false when it is not known yet. */
struct value_env {
    struct symbols *symbols;
    bool (*granule)(void *user, bool host, uint64_t *bytes);
    void *user;
    /* The names of another process of the script, for NAME@PROCESS; NULL when there is none of that name. */
    struct symbols *(*process)(void *user, const char *name, size_t length);
    const char *what; /* that is read, as usages name it ("HANDLE"), for a name that may be meant; NULL: anything */
};

/* Each reads one word whole. False: *error says what, where and what was expected. */
bool value_number(const struct value_env *env, const struct word *word, uint64_t *out, struct words_error *error);
bool value_int(const struct value_env *env, const struct word *word, int *out, struct words_error *error);
bool value_location(const struct value_env *env, const struct word *word, vmm_mem_location *out,
                    struct words_error *error);
bool value_rights(const struct value_env *env, const struct word *word, int *out, struct words_error *error);
bool value_grant(const struct value_env *env, const struct word *word, vmm_mem_access_desc *out,
                 struct words_error *error);

/* Handle types of an allocation: none, fd, win32, kmt, fabric, joined with '|', or a number. */
bool value_handle_types(const struct value_env *env, const struct word *word, int *out, struct words_error *error);

/* One option of a memory's properties (handle=, compression=, rdma=, usage=, type=, reserved=, meta=); *known is false
 * for another key. */
bool value_prop_option(const struct value_env *env, const struct word *word, vmm_mem_allocation_prop *prop, bool *known,
                       struct words_error *error);

/* {...}: properties, or a list of grants of which at most max fit. */
bool value_prop(const struct value_env *env, const struct word *word, vmm_mem_allocation_prop *out,
                struct words_error *error);
bool value_pool_props(const struct value_env *env, const struct word *word, vmm_mem_pool_props *out, struct words_error *error);
bool value_grants(const struct value_env *env, const struct word *word, vmm_mem_access_desc *out, size_t max,
                  size_t *count, struct words_error *error);

/* Bytes to write or compare with, in memory of their own; at most VALUE_BYTES_MAX. */
#define VALUE_BYTES_MAX (UINT64_C(64) << 20)
bool value_bytes(const struct value_env *env, const struct word *word, unsigned char **bytes, uint64_t *size,
                 struct words_error *error);

/* Writes an error at offset characters into a word. Returns false. */
bool value_fail(struct words_error *error, const struct word *word, size_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* The same words back: "dev0", "numa1", "loc:7:99"; "none", "r", "rw", "5". Returns buffer. */
#define VALUE_ROOM 48
const char *value_location_text(vmm_mem_location location, char buffer[VALUE_ROOM]);
const char *value_rights_text(uint64_t rights, char buffer[VALUE_ROOM]);

/* {write32 r0 5 0 wait64 r0+8 1 1 barrier 0 9}: the operations of a batch, each with its address, value and flags, or
 * flags alone; a number is an operation without a name. At most max fit. */
bool value_mem_ops(const struct value_env *env, const struct word *word, vmm_stream_batch_mem_op_params *out, size_t max,
                   size_t *count, struct words_error *error);

/* "write32"; NULL for an operation without a name. */
const char *value_mem_op_name(vmm_stream_batch_mem_op_type operation);

/* {r0 r1 64 3 2 src_pitch=128 dst_memory_type=host}: a copy of a box to one address from another, of so many bytes, rows and layers;
 * then fields of vmm_memcpy3d by name. Memory is of a device where no type says otherwise, but for the names of arrays. */
bool value_box(const struct value_env *env, const struct word *word, vmm_memcpy3d *out, struct words_error *error);

/* {r0 r1 64}: numbers, by name or value; at most max. */
bool value_list(const struct value_env *env, const struct word *word, uint64_t *out, size_t max, size_t *count,
                struct words_error *error);

/* {stream any flags=1 src=dev0}: attributes of a batch's copies, each an access order (stream, call, any or a number), then its
 * options: flags, and the hints src and dst. */
bool value_copy_attributes(const struct value_env *env, const struct word *word, vmm_memcpy_attributes *out, size_t max, size_t *count,
                           struct words_error *error);

/* {r0 r1 64 3 2 src_row=128 r2 r3 64 1 1}: a batch's boxes, each to one address from another, of so many bytes, rows and layers; then
 * its options: dst_row, dst_rows, src_row, src_rows, order, flags, dst_type and src_type. */
bool value_boxes(const struct value_env *env, const struct word *word, vmm_memcpy3d_batch_op *out, size_t max, size_t *count,
                 struct words_error *error);

/* {n0 n1}: nodes of a graph, by name or value; at most max. */
bool value_nodes(const struct value_env *env, const struct word *word, vmm_graph_node *out, size_t max, size_t *count,
                 struct words_error *error);

/* {r0 0xab 64KiB}: a fill's address, value and bytes, and {r0 0xab 64KiB 4 pitch=1KiB height=3} with the size of an element, and
 * of rows with those bytes each. */
bool value_fill_node(const struct value_env *env, const struct word *word, vmm_memset_node_params *out, struct words_error *error);

/* {fill 1 32 r0 64KiB 0xab}: kernel, grid, block, arguments, which go to args. */
bool value_kernel_node(const struct value_env *env, const struct word *word, vmm_kernel_node_params *out, uint64_t *args,
                       size_t max, struct words_error *error);

/* {width=512 height=512 flags=0x40}: a structure of call_structs.def; fields that are not named keep their values. {... next ...}: a
 * list of at most max, whose other fields are 0. */
struct vmm_shape;
bool value_struct(const struct value_env *env, const struct word *word, const struct vmm_shape *shape, void *out,
                  struct words_error *error);
bool value_structs(const struct value_env *env, const struct word *word, const struct vmm_shape *shape, void *out, size_t max,
                   size_t *count, struct words_error *error);

/* The words inside {...} of word, cut out of it. */
bool value_inside(const struct word *word, struct words *inside, struct words_error *error);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Physical memory: who pays for it when, what it holds, and moving it about. */
#include "facts_calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define G FACTS_G
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

static long long fell(uint64_t before, uint64_t after)
{
    return (long long)(before - after);
}

/* Free memory through one life of 512 G, released while it is still mapped. */
static void memory_life(struct facts *f)
{
    const uint64_t size = 512 * G, before = fc_free_memory(f);
    vmm_mem_generic_allocation_handle handle = fc_make(f, size);
    uint64_t created = fc_free_memory(f);
    facts_value(f, "mem.create_delta/G", "%lld", fell(before, created) / (long long)G);
    vmm_deviceptr p = fc_take(f, size);
    fc_put(f, p, size, handle);
    uint64_t mapped = fc_free_memory(f);
    facts_value(f, "mem.map_delta", "%lld", fell(created, mapped));
    fc_grant(f, p, size, RW);
    uint64_t granted = fc_free_memory(f);
    facts_value(f, "mem.access_delta", "%lld", fell(mapped, granted));
    facts_setup(f, fc_release(f, handle), "release");
    facts_value(f, "mem.release_while_mapped/G", "%lld", fell(fc_free_memory(f), granted) / (long long)G);
    /* The recording filled all of the G; what must not be there for it to fail is each granule. */
    vmm_result usable = VMM_SUCCESS;
    for (uint64_t at = 0; at < size && usable == VMM_SUCCESS; at += G)
        usable = fc_kernel_fill(f, p + at + 4096 * (at / G), 3, 16);
    facts_result(f, usable, "mem.usable_after_release");
    facts_setup(f, fc_unmap(f, p, size), "unmap");
    facts_value(f, "mem.unmap_returns/G", "%lld", fell(fc_free_memory(f), granted) / (long long)G);
    facts_setup(f, fc_free(f, p, size), "free");
    facts_value(f, "mem.leftover", "%lld", fell(before, fc_free_memory(f)));
}

/* Fresh memory is zero, also where another owner wrote; what was written survives its mapping but not a part's. */
static void memory_bytes(struct facts *f)
{
    const uint64_t size = 4 * G;
    vmm_mem_access_desc desc = fc_desc(0, RW);
    vmm_mem_generic_allocation_handle handle = fc_make(f, size);
    vmm_deviceptr q = fc_take(f, size);
    fc_put(f, q, size, handle);
    fc_grant(f, q, size, RW);
    facts_value(f, "mem.fresh_sum(0?)", "%" PRIu64, fc_sum(f, q, size));
    facts_setup(f, fc_fill(f, q, 0xff, size), "fill");
    facts_setup(f, fc_unmap(f, q, size), "unmap");
    facts_setup(f, fc_release(f, handle), "release");
    handle = fc_make(f, size);
    fc_put(f, q, size, handle);
    fc_grant(f, q, size, RW);
    facts_value(f, "mem.recreate_sum(0?)", "%" PRIu64, fc_sum(f, q, size));
    facts_setup(f, fc_fill(f, q, 9, size), "fill");
    facts_setup(f, fc_unmap(f, q, size), "unmap");
    vmm_result part = fc_map(f, q, 2 * G, 2 * G, handle, 0);
    facts_explain(f, part, "mem.remap_keeps");
    vmm_result set = fc_set_access(f, q, 2 * G, &desc, 1);
    facts_explain(f, set, "mem.remap_keeps");
    unsigned char byte = 0;
    vmm_result copy = fc_dtoh(f, &byte, q, 1);
    facts_explain(f, copy, "mem.remap_keeps");
    facts_line(f, "mem.remap_keeps", "%s %s v=%d", facts_code(set), facts_code(copy), byte);
}

void facts_memory(struct facts *f)
{
    memory_life(f);
    uint64_t before = fc_free_memory(f);
    fc_take(f, (uint64_t)1 << 40);
    facts_value(f, "mem.reserve1T_delta", "%lld", fell(before, fc_free_memory(f)));
    memory_bytes(f);
}

/* Copies over the seam of two mappings [G of H1][G of H2], then with the second read-only, then gone. */
static void copy_lines(struct facts *f, vmm_deviceptr p, unsigned char *host)
{
    memset(host, 0x3c, 2 * G);
    facts_result(f, fc_htod(f, p, host, 2 * G), "copy.htod_span");
    memset(host, 0, 2 * G);
    facts_result(f, fc_dtoh(f, host, p, 2 * G), "copy.dtoh_span");
    facts_value(f, "copy.ok", "%d", host[2 * G - 1] == 0x3c && host[0] == 0x3c);
    facts_result(f, fc_dtod(f, p, p + 16, G), "copy.overlap_dtod");
    fc_grant(f, p + G, G, VMM_MEM_ACCESS_FLAGS_PROT_READ);
    facts_result(f, fc_htod(f, p + G - 8, host, 16), "copy.htod_second_ro");
    facts_result(f, fc_htod(f, p + 4 * G, host, 0), "copy.size0_unmapped");
    facts_result(f, fc_fill(f, p + 4 * G, 0, 0), "copy.memset0_unmapped");
    facts_setup(f, fc_unmap(f, p + G, G), "unmap");
    facts_result(f, fc_dtoh(f, host, p + G - 8, 16), "copy.dtoh_tail_unmapped");
    facts_result(f, fc_fill(f, 0, 1, 1), "copy.memset_null");
}

void facts_copy(struct facts *f)
{
    vmm_deviceptr p = fc_take(f, 8 * G);
    fc_put(f, p, G, fc_make(f, G));
    fc_put(f, p + G, G, fc_make(f, G));
    fc_grant(f, p, 2 * G, RW);
    unsigned char *host = malloc(2 * G);
    facts_require(f, host != NULL, "copy.htod_span", "no memory for the host's side");
    if (host)
        copy_lines(f, p, host);
    free(host);
}

void facts_remap(struct facts *f)
{
    const uint64_t size = 2 * G;
    unsigned char byte = 0;
    vmm_mem_generic_allocation_handle handle = fc_make(f, size);
    vmm_deviceptr p = fc_take(f, 8 * G);
    fc_put(f, p, size, handle);
    fc_grant(f, p, size, RW);
    facts_setup(f, fc_fill(f, p, 9, size), "fill");
    facts_result(f, fc_unmap(f, p, size), "remap.unmap");
    facts_result(f, fc_map(f, p + 4 * G, size, 0, handle, 0), "remap.map");
    facts_result(f, fc_dtoh(f, &byte, p + 4 * G, 1), "remap.read_noaccess");
    fc_grant(f, p + 4 * G, size, RW);
    facts_value(f, "remap.v(9)", "%d", fc_byte(f, p + 4 * G + 100));
}

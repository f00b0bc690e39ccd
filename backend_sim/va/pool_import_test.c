/* SPDX-License-Identifier: Apache-2.0 */
/* Pools of another machine with the same name, like another process: the importer's memory, memory added and removed,
 * forged bytes, and failing allocations. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"
#include "share_rig.h"

#include "checks.h"
#include "fabric_handle.h"
#include "pools.h"
#include "system.h"

#define CHUNK (UINT64_C(2) << 20) /* of a device with as little memory as here */
#define SMALL (UINT64_C(64) << 10)
#define LARGE (CHUNK + CHUNK / 4)
#define FD VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define FABRIC VMM_MEM_HANDLE_TYPE_FABRIC

static char small[128]; /* the spec of a small machine */
static vmm_system *from, *to; /* exporter and importer */
static vmm_memory_pool pool, import;
static vmm_deviceptr taken, got;
static vmm_mem_pool_ptr_export_data data;

static void must(vmm_result result, const char *what)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s %s", what, vmm_result_name(result), vmm_last_detail()->note);
}
#define MUST(call) must(call, #call)

static vmm_system *opened(const char *spec)
{
    vmm_system *sys = NULL;
    vmm_context context;
    MUST(vmm_open(spec, &sys));
    MUST(vmm_init(sys, 0));
    MUST(vmm_device_primary_ctx_retain(sys, &context, 0));
    MUST(vmm_ctx_set_current(sys, context));
    return sys;
}

static struct sim_process *process_of(const vmm_system *sys)
{
    return (struct sim_process *)sys->top;
}

static struct sim_pool *pool_of(const vmm_system *sys, vmm_memory_pool value)
{
    struct sim_pool *ended;
    return sim_pool_find(process_of(sys), (uint64_t)(uintptr_t)value, &ended);
}

static const char *wrong_with(const vmm_system *sys)
{
    struct sim_machine *machine = process_of(sys)->machine;
    struct machine_sum sum = {.machine = machine};
    sim_machine_lock(machine);
    const char *said = process_check(process_of(sys));
    for (int pass = 0; pass < MACHINE_PASSES && !said; pass++)
        said = process_check_blocks(process_of(sys), &sum, (enum machine_pass)pass);
    said = said ? said : machine_check(&sum);
    sim_machine_unlock(machine);
    return said;
}

static void whole(const char *when)
{
    const char *one = wrong_with(from), *other = wrong_with(to);
    tap_ok(!one && !other, "%s: %s", when, one ? one : other ? other : "all invariants hold");
}

static uint64_t free_bytes(void)
{
    size_t left = 0, all = 0;
    MUST(vmm_mem_get_info(to, &left, &all));
    return left;
}

static uint64_t byte_at(vmm_system *sys, vmm_deviceptr at)
{
    unsigned char byte = 0;
    MUST(vmm_memcpy_dtoh(sys, &byte, at, 1));
    return byte;
}

/* A pool in one machine, imported in the other. */
static void begin_at(vmm_mem_location location, vmm_mem_allocation_handle_type types)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = location, .handle_types = types};
    int fd = -1;
    MUST(vmm_mem_pool_create(from, &pool, &props));
    MUST(vmm_mem_pool_export_to_shareable_handle(from, &fd, pool, FD, 0));
    MUST(vmm_mem_pool_import_from_shareable_handle(to, &import, (void *)(intptr_t)fd, FD, 0));
    close(fd);
}

static void begin(void)
{
    begin_at((vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, 0}, FD);
}

static void take(uint64_t size, int value)
{
    taken = got = 0;
    MUST(vmm_mem_alloc_from_pool_async(from, &taken, size, pool, NULL));
    MUST(vmm_memset_d8(from, taken, (unsigned char)value, size));
    MUST(vmm_ctx_synchronize(from));
    MUST(vmm_mem_pool_export_pointer(from, &data, taken));
}

static void drop(vmm_system *sys, vmm_deviceptr at)
{
    MUST(vmm_mem_free_async(sys, at, NULL));
    MUST(vmm_ctx_synchronize(sys));
}

static vmm_result import_it(void)
{
    return vmm_mem_pool_import_pointer(to, &got, import, &data);
}

static void end(void)
{
    MUST(vmm_mem_pool_destroy(to, import));
    MUST(vmm_mem_pool_destroy(from, pool));
    MUST(vmm_ctx_synchronize(from));
    MUST(vmm_ctx_synchronize(to));
}

static void refused(vmm_result result, vmm_result expected, const char *rule, const char *what)
{
    const char *said = vmm_last_detail()->rule;
    tap_ok(result == expected && said && !strcmp(said, rule), "%s: %s by %s", what, vmm_result_name(result), said ? said : "no rule");
}

/* ---- the importer's memory ---- */

/* An allocation that straddles a previously imported chunk and a new one. */
static void test_chunks(void)
{
    uint64_t before = free_bytes();
    vmm_deviceptr first, first_there;
    begin();
    take(SMALL, 1);
    MUST(import_it());
    first = taken;
    first_there = got;
    take(LARGE, 2);
    MUST(import_it());
    tap_u64(got - first_there, taken - first, "the same places in both pools");
    tap_u64(pool_of(to, import)->memory.reserved, 2 * CHUNK, "two chunks exist, each once");
    tap_u64(before - free_bytes(), 2 * CHUNK, "and counted once for both");
    tap_u64(byte_at(to, got + LARGE - 1), 2, "the last byte");
    whole("with two allocations");
    drop(from, first);
    drop(from, taken);
    tap_u64(before - free_bytes(), 2 * CHUNK, "the importer keeps them");
    drop(to, first_there);
    drop(to, got);
    tap_u64(before - free_bytes(), 2 * CHUNK, "also after its frees");
    MUST(import_it());
    tap_u64(byte_at(to, got), 2, "and gets them again");
    drop(to, got);
    end();
    tap_u64(free_bytes(), before, "until its pool ends");
    whole("after that");
}

/* [chunk 0: the allocation][chunk 1: another one]: an allocation that ends with its chunk exports only that chunk. */
static void test_whole_chunk(void)
{
    vmm_deviceptr beside = 0;
    begin();
    MUST(vmm_mem_alloc_from_pool_async(from, &taken, CHUNK, pool, NULL));
    MUST(vmm_mem_alloc_from_pool_async(from, &beside, SMALL, pool, NULL));
    MUST(vmm_ctx_synchronize(from));
    MUST(vmm_mem_pool_export_pointer(from, &data, taken));
    const struct mempool *memory = &pool_of(from, pool)->memory;
    const uint64_t at = (taken - memory->start) / CHUNK, next = (beside - memory->start) / CHUNK;
    tap_ok(next == at + 1 && memory->chunks[at]->block->shared && !memory->chunks[next]->block->shared,
           "the chunk behind the allocation is not exported");
    drop(from, beside);
    drop(from, taken);
    end();
}

/* A second import yields the same pool, which holds the table only once. */
static void test_twice(void)
{
    vmm_memory_pool again = NULL;
    int fd = -1;
    begin();
    MUST(vmm_mem_pool_export_to_shareable_handle(from, &fd, pool, FD, 0));
    MUST(vmm_mem_pool_import_from_shareable_handle(to, &again, (void *)(intptr_t)fd, FD, 0));
    close(fd);
    tap_ok(pool_of(to, again)->table == pool_of(to, import)->table, "a second import");
    tap_u64(pool_of(to, again)->table->holders, 1, "holds the table once");
    whole("with a pool that was imported twice");
    MUST(vmm_mem_pool_destroy(to, again));
    end();
    whole("after that");
}

/* After the importer has freed an allocation, the exporter's new memory replaces the old one. */
static void test_other_memory(void)
{
    uint64_t before = free_bytes();
    begin();
    take(SMALL, 3);
    MUST(import_it());
    const vmm_deviceptr there = got;
    drop(from, taken);
    take(2 * SMALL, 4);
    refused(import_it(), VMM_ERROR_INVALID_VALUE, "VMM-POOL-IMPORT-TAKEN", "while the old one lives");
    tap_u64(byte_at(to, there), 3, "the import has its bytes");
    drop(to, there);
    MUST(import_it());
    tap_u64(got, there, "the new one is at that address");
    tap_u64(byte_at(to, got + 2 * SMALL - 1), 4, "with its own bytes");
    tap_u64(before - free_bytes(), CHUNK, "the old memory is free");
    whole("with other memory");
    drop(to, got);
    drop(from, taken);
    end();
    tap_u64(free_bytes(), before, "all is free");
}

/* Allocations between others, and one whose free here is still pending. */
static void test_between(void)
{
    vmm_deviceptr at[3], there[3];
    vmm_mem_pool_ptr_export_data of[3];
    begin();
    for (int i = 0; i < 3; i++) {
        take(SMALL, 20 + i);
        at[i] = taken;
        of[i] = data;
    }
    for (int i = 2; i > 0; i--) {
        data = of[i];
        MUST(import_it());
        there[i] = got;
    }
    tap_u64(there[2] - there[1], at[2] - at[1], "side by side");
    whole("between others");
    MUST(vmm_mem_free_async(to, there[1], NULL));
    MUST(import_it());
    tap_u64(got, there[1], "again while the free is pending");
    tap_u64(byte_at(to, got), 21, "with its bytes");
    drop(to, there[1]);
    drop(to, there[2]);
    for (int i = 0; i < 3; i++)
        drop(from, at[i]);
    end();
}

/* One that extends from a chunk with an earlier, live allocation into one that has different memory now. */
static void test_half_taken(void)
{
    begin();
    take(SMALL, 30);
    const vmm_deviceptr kept = taken;
    take(SMALL, 31);
    const vmm_deviceptr early = taken;
    MUST(import_it());
    const vmm_deviceptr early_there = got;
    take(LARGE, 32);
    MUST(import_it());
    drop(to, got);
    drop(from, taken);
    drop(from, early);
    take(LARGE, 33);
    tap_u64(taken, early, "the place is given out again");
    refused(import_it(), VMM_ERROR_INVALID_VALUE, "VMM-POOL-IMPORT-TAKEN", "while the earlier one lives");
    tap_u64(byte_at(to, early_there), 33, "the memory is the same");
    whole("half taken");
    drop(to, early_there);
    MUST(import_it());
    tap_u64(byte_at(to, got + LARGE - 1), 33, "then it exists");
    drop(to, got);
    drop(from, taken);
    drop(from, kept);
    end();
}

/* One that begins inside an earlier, live one. */
static void test_inside(void)
{
    begin();
    take(LARGE, 50);
    MUST(import_it());
    const vmm_deviceptr large = got;
    drop(from, taken);
    take(SMALL, 51);
    const vmm_deviceptr before = taken;
    take(SMALL, 52);
    refused(import_it(), VMM_ERROR_INVALID_VALUE, "VMM-POOL-IMPORT-TAKEN", "inside an earlier one");
    drop(to, large);
    MUST(import_it());
    tap_u64(byte_at(to, got), 52, "then it exists");
    drop(to, got);
    drop(from, taken);
    drop(from, before);
    end();
}

/* The shared state is damaged for a while. */
static void test_state_lost(void)
{
    int fd = -1, other = -1;
    vmm_memory_pool again = NULL;
    begin();
    take(SMALL, 40);
    MUST(vmm_mem_pool_export_to_shareable_handle(from, &fd, pool, FD, 0));
    struct share_state *state = process_of(from)->machine->share->folder.state;
    state->magic ^= 1;
    refused(vmm_mem_pool_export_to_shareable_handle(from, &other, pool, FD, 0), VMM_ERROR_OPERATING_SYSTEM, "VMM-SHARE-STATE", "an export");
    refused(vmm_mem_pool_import_from_shareable_handle(to, &again, (void *)(intptr_t)fd, FD, 0), VMM_ERROR_OPERATING_SYSTEM,
            "VMM-SHARE-STATE", "an import");
    refused(vmm_mem_pool_export_pointer(from, &data, taken), VMM_ERROR_OPERATING_SYSTEM, "VMM-SHARE-STATE", "an export of a pointer");
    refused(import_it(), VMM_ERROR_OPERATING_SYSTEM, "VMM-SHARE-STATE", "an import of a pointer");
    state->magic ^= 1;
    close(fd);
    MUST(import_it());
    drop(to, got);
    drop(from, taken);
    end();
}

/* Memory of a host node, which both access in place. */
static void test_host(void)
{
    begin_at((vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST_NUMA, 0}, FD);
    taken = got = 0;
    MUST(vmm_mem_alloc_from_pool_async(from, &taken, 4096, pool, NULL));
    MUST(vmm_mem_pool_export_pointer(from, &data, taken));
    MUST(import_it());
    bool shown = host_window_holds(&process_of(from)->window, taken, 4096) && host_window_holds(&process_of(to)->window, got, 4096);
    volatile unsigned char *here = (void *)(uintptr_t)taken, *there = (void *)(uintptr_t)got;
    if (shown)
        *here = 7;
    tap_ok(!shown || *there == 7, "each process sees the other's writes");
    whole("with memory of the host");
    drop(to, got);
    drop(from, taken);
    end();
}

/* The exporter has ended: imported memory stays, the rest is gone. */
static void test_gone(void)
{
    uint64_t before = free_bytes();
    begin();
    take(SMALL, 5);
    MUST(import_it());
    const vmm_deviceptr there = got;
    const vmm_mem_pool_ptr_export_data first = data;
    take(LARGE, 6);
    vmm_close(from);
    refused(import_it(), VMM_ERROR_INVALID_VALUE, "VMM-POOL-IMPORT-DATA", "an allocation that was not imported");
    tap_u64(pool_of(to, import)->memory.reserved, CHUNK, "no new chunk is left");
    data = first;
    MUST(import_it());
    tap_u64(got, there, "the imported allocation");
    tap_u64(byte_at(to, got), 5, "has its bytes");
    drop(to, got);
    MUST(vmm_mem_pool_destroy(to, import));
    from = opened(small);
    tap_u64(free_bytes(), before, "all is free");
    whole("after that");
}

/* ---- bytes that are forged ---- */

static void *row_of(const struct sim_pool *p, uint64_t row)
{
    uint64_t length = 32;
    return block_data_run(&p->table->bytes, 32 * row, &length);
}

/* The table belongs to the exporter; its contents are checked before use. */
static void test_forged(void)
{
    unsigned char kept[32];
    uint64_t *head, number;
    int fd = -1;
    vmm_memory_pool other = NULL;
    begin();
    take(SMALL, 7);
    head = row_of(pool_of(from, pool), 0);
    memcpy(kept, head, sizeof kept);
    tap_u64(head[0], UINT64_C(0x316c6f6f706d7663), "a table begins with the magic that other builds expect");
    MUST(vmm_mem_pool_export_to_shareable_handle(from, &fd, pool, FD, 0));
    /* a wrong magic, chunk or size; then chunks without rows, and rows without chunks */
    const struct {
        unsigned at;
        uint64_t value;
    } others[] = {{0, head[0] + 1}, {1, head[1] + 1}, {2, head[2] + 1}, {1, 0}, {2, 100000 * head[1]}, {2, head[2] - head[1]}};
    for (unsigned i = 0; i < sizeof others / sizeof others[0]; i++) {
        head[others[i].at] = others[i].value;
        refused(vmm_mem_pool_import_from_shareable_handle(to, &other, (void *)(intptr_t)fd, FD, 0), VMM_ERROR_NOT_SUPPORTED,
                "VMM-IMPORT-KIND", "a table with another head");
        refused(import_it(), VMM_ERROR_INVALID_VALUE, "VMM-POOL-IMPORT-DATA", "and its pool");
        memcpy(head, kept, sizeof kept);
    }
    head[1] = 1; /* so many chunks that the size of their rows wraps to the block's size */
    head[2] = (UINT64_C(1) << 59) + kept[2] / kept[1];
    refused(vmm_mem_pool_import_from_shareable_handle(to, &other, (void *)(intptr_t)fd, FD, 0), VMM_ERROR_NOT_SUPPORTED,
            "VMM-IMPORT-KIND", "a table that wraps");
    memcpy(head, kept, sizeof kept);
    close(fd);
    /* a label of a block that is not a chunk: the table itself, with a valid checksum */
    uint64_t *row = row_of(pool_of(from, pool), 1);
    const struct share_label label = share_label_of(pool_of(from, pool)->table);
    struct pool_pointer pointer;
    memcpy(&pointer, &data, sizeof pointer);
    memcpy(row, (uint64_t[4]){label.number, label.nonce[0], label.nonce[1], label.index}, 32);
    pointer.check = pool_pointer_add(pool_pointer_check(pool_of(from, pool)->table, pointer.offset, pointer.size), &label);
    memcpy(&data, &pointer, sizeof pointer);
    refused(import_it(), VMM_ERROR_INVALID_VALUE, "VMM-POOL-IMPORT-DATA", "a block that is not a chunk");
    number = row[0] = label.number + 1000; /* and one that does not exist */
    const struct share_label none = {.number = number, .nonce = {label.nonce[0], label.nonce[1]}, .index = label.index};
    pointer.check = pool_pointer_add(pool_pointer_check(pool_of(from, pool)->table, pointer.offset, pointer.size), &none);
    memcpy(&data, &pointer, sizeof pointer);
    refused(import_it(), VMM_ERROR_INVALID_VALUE, "VMM-POOL-IMPORT-DATA", "a block that is nowhere");
    tap_u64(pool_of(to, import)->memory.reserved, 0, "no new chunk is left");
    whole("after forged bytes");
    /* every word of a label counts */
    const struct share_label others_of[] = {{.number = label.number + 1, .nonce = {label.nonce[0], label.nonce[1]}, .index = label.index},
                                            {.number = label.number, .nonce = {label.nonce[0] + 1, label.nonce[1]}, .index = label.index},
                                            {.number = label.number, .nonce = {label.nonce[0], label.nonce[1] + 1}, .index = label.index},
                                            {.number = label.number, .nonce = {label.nonce[0], label.nonce[1]}, .index = label.index + 1}};
    for (unsigned i = 0; i < sizeof others_of / sizeof others_of[0]; i++)
        tap_ok(pool_pointer_add(1, &others_of[i]) != pool_pointer_add(1, &label), "another word %u of a label is another pointer", i);
    drop(from, taken);
    end();
}

/* An importer with fewer addresses than the exporter's pool has. */
static void test_fewer_addresses(void)
{
    begin();
    take(SMALL, 8);
    uint64_t size = pool_of(to, import)->memory.size;
    pool_of(to, import)->memory.size = SMALL / 2;
    refused(import_it(), VMM_ERROR_OUT_OF_MEMORY, "VMM-SYSTEM-HOST-MEMORY", "beyond them");
    pool_of(to, import)->memory.size = size;
    drop(from, taken);
    end();
}

/* ---- failing allocations ---- */

static uint64_t had;

/* New memory next to the importer's, and in place of memory that it no longer has. */
static void begin_again(void)
{
    begin();
    take(SMALL, 9);
    MUST(import_it());
    drop(to, got);
    drop(from, taken);
    take(LARGE, 10);
    had = pool_of(to, import)->memory.reserved;
}

static bool reported(void)
{
    const char *rule = vmm_last_detail()->rule;
    return rule && (!strcmp(rule, "VMM-SYSTEM-HOST-MEMORY") || !strcmp(rule, "VMM-IMPORT-SYSTEM") || !strcmp(rule, "VMM-SHARE-STATE")) &&
           pool_of(to, import)->memory.reserved == had && !got;
}

static bool ended(void)
{
    bool fine = !wrong_with(to);
    if (got) {
        fine = fine && byte_at(to, got + LARGE - 1) == 10;
        drop(to, got);
    }
    drop(from, taken);
    end();
    return fine;
}

static bool imports(void)
{
    return import_it() == VMM_SUCCESS;
}

static void test_failing(void)
{
    inject_try(&(struct inject_case){.name = "an import", .least = 4, .begin = begin_again, .call = imports, .reported = reported, .end = ended});
}

/* The first export of a machine without a name, which has no shared state yet. */
static vmm_system *alone;
static vmm_memory_pool first_pool;
static int first_fd;

static void begin_alone(void)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0},
                                      .handle_types = FD};
    first_fd = -1;
    alone = opened("sim:h100");
    MUST(vmm_mem_pool_create(alone, &first_pool, &props));
}

static bool exports(void)
{
    return vmm_mem_pool_export_to_shareable_handle(alone, &first_fd, first_pool, FD, 0) == VMM_SUCCESS;
}

static bool export_reported(void)
{
    const char *rule = vmm_last_detail()->rule;
    return rule && (!strcmp(rule, "VMM-SYSTEM-HOST-MEMORY") || !strcmp(rule, "VMM-EXPORT-SYSTEM") || !strcmp(rule, "VMM-SHARE-STATE")) &&
           first_fd < 0 && !pool_of(alone, first_pool)->table;
}

static bool ended_alone(void)
{
    bool fine = !wrong_with(alone);
    if (first_fd >= 0)
        close(first_fd);
    MUST(vmm_mem_pool_destroy(alone, first_pool));
    vmm_close(alone);
    return fine;
}

static void test_failing_export(void)
{
    inject_try(&(struct inject_case){.name = "a first export", .least = 8, .begin = begin_alone, .call = exports,
                                     .reported = export_reported, .end = ended_alone});
}

/* ---- fabrics ---- */

static void test_fabric(void)
{
    const vmm_mem_pool_props props = {.alloc_type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0},
                                      .handle_types = FABRIC | FD};
    unsigned char handle[VMM_FABRIC_HANDLE_SIZE];
    vmm_system *one = from, *other = to;
    int fd = -1;
    MUST(vmm_mem_pool_create(from, &pool, &props));
    refused(vmm_mem_pool_export_to_shareable_handle(from, &fd, pool, FD, 0), VMM_ERROR_NOT_PERMITTED, "VMM-EXPORT-FABRIC-IMEX",
            "a pool for a fabric, without a channel");
    MUST(vmm_mem_pool_destroy(from, pool));
    from = opened("sim:max,machine=one");
    to = opened("sim:max,machine=two");
    MUST(vmm_mem_pool_create(from, &pool, &props));
    MUST(vmm_mem_pool_export_to_shareable_handle(from, handle, pool, FABRIC, 0));
    MUST(vmm_mem_pool_import_from_shareable_handle(to, &import, handle, FABRIC, 0));
    take(SMALL, 11);
    MUST(import_it());
    tap_u64(byte_at(to, got), 11, "memory of another node");
    whole("with two nodes");
    drop(to, got);
    drop(from, taken);
    end();
    vmm_close(to);
    vmm_close(from);
    from = one;
    to = other;
}

int main(void)
{
    char profile[100];
    rig_begin();
    snprintf(profile, sizeof profile, "%s/small.profile", rig_root);
    FILE *file = fopen(profile, "w");
    if (!file || fputs("base = h100\nname = small\ndevice.memory = 64MiB\ndevice.reserved = 0\ncompression.memory = 0\n", file) < 0 || fclose(file))
        tap_bail("no profile can be written");
    snprintf(small, sizeof small, "sim:%s,machine=poolimport", profile);
    from = opened(small);
    to = opened(small);
    test_chunks();
    test_whole_chunk();
    test_twice();
    test_other_memory();
    test_between();
    test_half_taken();
    test_inside();
    test_state_lost();
    test_host();
    test_gone();
    test_forged();
    test_fewer_addresses();
    test_failing();
    test_failing_export();
    refused(import_it(), VMM_ERROR_INVALID_VALUE, "VMM-POOL-UNKNOWN", "a pool that has ended");
    test_fabric();
    vmm_close(to);
    vmm_close(from);
    remove(profile);
    rig_end();
    return tap_done();
}

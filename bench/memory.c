/* SPDX-License-Identifier: Apache-2.0 */
/* memory - the cost of simulated memory, as ratios within this run. Not a test: machines differ.
 *
 *   bench-memory [--backend SPEC] [--bytes N] [--rounds N] [--result FILE]
 *
 * Compares copies and fills through mappings with memcpy and memset of the same bytes, and host twins of kernels with
 * the same loop without checks, on memory with pages of the same size; medians of interleaved rounds. Then opens a
 * machine of 2 x 141 GB, allocates nearly all of it, writes a part, and prints the resident memory of this process. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/aims.h"
#include "lib/live.h"
#include "lib/room.h"
#include "lib/subject.h"
#include "options.h"
#include "os.h"
#include "pattern.h"
#include "twin.h"
#include "vmm.h"

enum { MOST_ROUNDS = 101, PIECES = 32 };

struct bench {
    vmm_system *sys;
    vmm_deviceptr one, other, pieces, out; /* of bytes each but out; pieces lies in PIECES mappings */
    unsigned char *plain, *plain_other;
    unsigned char *file; /* a mapping of a memory file: the same pages as the simulator's own */
    uint64_t bytes;
    unsigned rounds;
    struct aims aims;
};

static vmm_deviceptr mapped(vmm_system *sys, uint64_t size, unsigned pieces)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_access_desc desc = {prop.location, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};
    uint64_t piece = size / pieces;
    vmm_deviceptr at;
    need(vmm_mem_address_reserve(sys, &at, size, 0, 0, 0), "reserve");
    for (unsigned i = 0; i < pieces; i++) {
        vmm_mem_generic_allocation_handle handle;
        need(vmm_mem_create(sys, &handle, piece, &prop, 0), "create");
        need(vmm_mem_map(sys, at + i * piece, piece, 0, handle, 0), "map");
        need(vmm_mem_release(sys, handle), "release");
    }
    need(vmm_mem_set_access(sys, at, size, &desc, 1), "set access");
    return at;
}

static void unmap(vmm_system *sys, vmm_deviceptr at, uint64_t size)
{
    need(vmm_mem_unmap(sys, at, size), "unmap");
    need(vmm_mem_address_free(sys, at, size), "free");
}

/* ---- what is measured ---- */

/* Plain memory for a twin: it grants every run whole. */
static bool plain_run(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
                      unsigned char **bytes)
{
    (void)memory;
    (void)width;
    (void)size;
    (void)use;
    *bytes = (unsigned char *)(uintptr_t)address;
    return true;
}

static void plain_twin(vmm_kernel kernel, const uint64_t *args)
{
    struct twin_memory memory = {.run = plain_run};
    twin_of(kernel)(&memory, args);
}

static uint64_t plain(const void *memory)
{
    return (uint64_t)(uintptr_t)memory;
}

static void launch(struct bench *b, vmm_kernel kernel, const uint64_t *args, uint64_t count)
{
    need(vmm_launch(b->sys, kernel, 64, 256, args, count, NULL), vmm_kernel_name(kernel));
    need(vmm_ctx_synchronize(b->sys), "synchronize");
}

static void base_copy(struct bench *b) { memcpy(b->plain, b->plain_other, b->bytes); }
static void base_fill(struct bench *b) { memset(b->plain, 7, b->bytes); }
static void htod(struct bench *b) { need(vmm_memcpy_htod(b->sys, b->one, b->plain, b->bytes), "htod"); }
static void htod_32(struct bench *b) { need(vmm_memcpy_htod(b->sys, b->pieces, b->plain, b->bytes), "htod"); }
static void dtoh(struct bench *b) { need(vmm_memcpy_dtoh(b->sys, b->plain, b->one, b->bytes), "dtoh"); }
static void dtoh_32(struct bench *b) { need(vmm_memcpy_dtoh(b->sys, b->plain, b->pieces, b->bytes), "dtoh"); }
static void dtod(struct bench *b) { need(vmm_memcpy_dtod(b->sys, b->one, b->other, b->bytes), "dtod"); }
static void dtod_32(struct bench *b) { need(vmm_memcpy_dtod(b->sys, b->pieces, b->one, b->bytes), "dtod"); }
static void fill(struct bench *b) { need(vmm_memset_d8(b->sys, b->one, 7, b->bytes), "fill"); }
static void fill_32(struct bench *b) { need(vmm_memset_d8(b->sys, b->pieces, 7, b->bytes), "fill"); }

#define LAUNCHES(name, NUMBER, COUNT, ...)                                      \
    static void twin_of_##name(struct bench *b)                                 \
    {                                                                           \
        uint64_t at = b->one, out = b->out;                                     \
        launch(b, VMM_KERNEL_##NUMBER, (const uint64_t[]){__VA_ARGS__}, COUNT); \
        (void)out;                                                              \
    }                                                                           \
    static void twin_32_of_##name(struct bench *b)                              \
    {                                                                           \
        uint64_t at = b->pieces, out = b->out;                                  \
        launch(b, VMM_KERNEL_##NUMBER, (const uint64_t[]){__VA_ARGS__}, COUNT); \
        (void)out;                                                              \
    }

#define TWIN(name, NUMBER, COUNT, ...)                                    \
    static void base_##name(struct bench *b)                              \
    {                                                                     \
        uint64_t at = plain(b->file), out = plain(b->plain_other);        \
        plain_twin(VMM_KERNEL_##NUMBER, (const uint64_t[]){__VA_ARGS__}); \
        (void)out;                                                        \
    }                                                                     \
    LAUNCHES(name, NUMBER, COUNT, __VA_ARGS__)

TWIN(kernel_fill, FILL, 3, at, b->bytes, 9)
TWIN(pattern_write, PATTERN_WRITE, 3, at, b->bytes, 9)
TWIN(pattern_verify, PATTERN_VERIFY, 4, at, b->bytes, 9, out)
TWIN(sum, SUM, 3, at, b->bytes, out)
LAUNCHES(stride_read, STRIDE_READ, 4, at, b->bytes, 64, out)
LAUNCHES(random_read, RANDOM_READ, 5, at, b->bytes, b->bytes / 64, 9, out)

/* The loops of the twins that touch single elements, without any accessor. */
static void loop_stride_read(struct bench *b)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < b->bytes; i += 64)
        sum += b->file[i];
    memcpy(b->plain_other, &sum, sizeof sum);
}

static void loop_random_read(struct bench *b)
{
    uint64_t base = pattern_base(9), count = b->bytes / 8, sum = 0, value;
    for (uint64_t i = 0; i < b->bytes / 64; i++) {
        memcpy(&value, b->file + 8 * pattern_place(base, i, count), 8);
        sum += value;
    }
    memcpy(b->plain_other, &sum, sizeof sum);
}

static const struct row {
    const char *name;
    void (*base)(struct bench *b), (*one)(struct bench *b), (*many)(struct bench *b);
    double least; /* of the base's speed */
} rows[] = {
    {"copy from the host", base_copy, htod, htod_32, 0.9},
    {"copy to the host", base_copy, dtoh, dtoh_32, 0.9},
    {"copy between device addresses", base_copy, dtod, dtod_32, 0.9},
    {"fill", base_fill, fill, fill_32, 0.9},
    {"kernel fill", base_kernel_fill, twin_of_kernel_fill, twin_32_of_kernel_fill, 0.5},
    {"kernel pattern_write", base_pattern_write, twin_of_pattern_write, twin_32_of_pattern_write, 0.5},
    {"kernel pattern_verify", base_pattern_verify, twin_of_pattern_verify, twin_32_of_pattern_verify, 0.5},
    {"kernel sum", base_sum, twin_of_sum, twin_32_of_sum, 0.5},
    {"kernel stride_read", loop_stride_read, twin_of_stride_read, twin_32_of_stride_read, 0.95},
    {"kernel random_read", loop_random_read, twin_of_random_read, twin_32_of_random_read, 0.85},
};

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *times, unsigned count)
{
    qsort(times, count, sizeof *times, by_size);
    return times[count / 2];
}

static double time_of(struct bench *b, void (*body)(struct bench *b))
{
    double start = spent();
    body(b);
    return spent() - start;
}

static void measure(struct bench *b, const struct row *row)
{
    static double base[MOST_ROUNDS], one[MOST_ROUNDS], many[MOST_ROUNDS];
    row->base(b); /* fault in every page before measuring */
    row->one(b);
    row->many(b);
    for (unsigned i = 0; i < b->rounds; i++) {
        base[i] = time_of(b, row->base);
        one[i] = time_of(b, row->one);
        many[i] = time_of(b, row->many);
    }
    const double plainly = median(base, b->rounds), middle[] = {median(one, b->rounds), median(many, b->rounds)};
    printf("  %-40s %9.2f GB/s\n", row->name, 1e-9 * (double)b->bytes / plainly);
    for (unsigned i = 0; i < 2; i++) {
        char name[RESULT_NAME];
        snprintf(name, sizeof name, "%s, %u mapping%s", row->name, i ? PIECES : 1, i ? "s" : "");
        aims_wanted(&b->aims, name, plainly / middle[i], AIM_LEAST, row->least);
    }
}

/* ---- room ---- */

static void room(void)
{
    const uint64_t mib = UINT64_C(1) << 20, gib = mib << 10;
    const uint64_t most = UINT64_C(140) * 1000 * 1000 * 1000 / (2 * mib) * (2 * mib);
    vmm_system *sys;
    vmm_context ctx;
    uint64_t start = resident();
    need(vmm_open("sim:h200x2", &sys), "open");
    need(vmm_init(sys, 0), "init");
    need(vmm_ctx_create(sys, &ctx, 0, 0), "context");
    uint64_t opened = resident();
    vmm_deviceptr at = mapped(sys, most, 1);
    uint64_t created = resident();
    need(vmm_memset_d8(sys, at + most / 2, 1, gib), "fill");
    uint64_t touched = resident();
    unmap(sys, at, most);
    uint64_t freed = resident();
    printf("\nresident memory, MiB: %" PRIu64 " at the start, h200x2 opened +%" PRIu64 ", 140 GB mapped +%" PRIu64
           ", 1 GiB of it filled +%" PRIu64 ", unmapped +%" PRIu64 "\n",
           start / mib, (opened - start) / mib, (created - start) / mib, (touched - start) / mib,
           freed > start ? (freed - start) / mib : 0);
    vmm_close(sys);
}

int main(int argc, char **argv)
{
    uint64_t bytes = UINT64_C(64) << 20, rounds = 15;
    const char *spec = "sim:h100", *result = NULL;
    const struct option_row options[] = {
        {"result", OPTION_TEXT, &result, 0, 0},
        {"backend", OPTION_TEXT, &spec, 0, 0},
        {"bytes", OPTION_NUMBER, &bytes, 1, UINT64_C(1) << 34},
        {"rounds", OPTION_NUMBER, &rounds, 1, MOST_ROUNDS},
    };
    static struct bench b;
    if (!options_read(options, sizeof options / sizeof options[0], argc, argv, stderr) || !aims_open(&b.aims, result))
        return 2;
    room();
    uint64_t unit = (UINT64_C(2) << 20) * PIECES;
    b.bytes = (bytes + unit - 1) / unit * unit;
    b.rounds = (unsigned)rounds;
    vmm_context ctx;
    need(vmm_open(spec, &b.sys), "open");
    need(vmm_init(b.sys, 0), "init");
    need(vmm_ctx_create(b.sys, &ctx, 0, 0), "context");
    b.one = mapped(b.sys, b.bytes, 1);
    b.other = mapped(b.sys, b.bytes, 1);
    b.pieces = mapped(b.sys, b.bytes, PIECES);
    b.out = mapped(b.sys, UINT64_C(2) << 20, 1);
    b.plain = malloc(b.bytes);
    b.plain_other = malloc(b.bytes);
    if (!b.plain || !b.plain_other) {
        /* analysers: clang-analyzer-unix.Malloc is wrong: the program ends */
        fputs("the host has no memory left\n", stderr);
        return 1;
    }
    int file = os_file_new();
    if (file < 0 || !os_file_grow(file, b.bytes) || !(b.file = os_map(file, 0, b.bytes))) {
        fputs("the host has no memory files\n", stderr);
        return 1;
    }
    memset(b.file, 1, b.bytes);
    memset(b.plain, 1, b.bytes);
    memset(b.plain_other, 2, b.bytes);
    base_copy(&b);
    need(vmm_memcpy_htod(b.sys, b.other, b.plain, b.bytes), "htod");
    printf("%s, %" PRIu64 " MiB, medians of %u rounds: the same on plain memory, and the share of its speed\n", spec,
           b.bytes >> 20, b.rounds);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        measure(&b, &rows[i]);
    free(b.plain);
    free(b.plain_other);
    os_unmap(b.file, b.bytes);
    os_file_close(file);
    vmm_close(b.sys);
    return !aims_close(&b.aims);
}

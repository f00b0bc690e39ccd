/* SPDX-License-Identifier: Apache-2.0 */
/* An all-reduce of a vector by multicast: each device adds up one slice over all replicas and stores the sums to all.
 *
 *     before   dev0 [ a0 a1 a2 | a3 a4 a5 ]       device 0's slice | device 1's
 *              dev1 [ b0 b1 b2 | b3 b4 b5 ]
 *     dev0     load the sums of its slice, store them       dev1   the same for its slice; no wait between the two
 *     after    dev0 [ a0+b0 a1+b1 ... a5+b5 ]
 *              dev1 [ a0+b0 a1+b1 ... a5+b5 ]     every word as a plain loop computes it
 *
 * Words have 64 bits and wrap around, so the result is exact in any order. */
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "scheduled.h"
#undef LAUNCH
#include "team.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
/* Small devices: a test has two systems at once, and each takes addresses for all of its machine's memory. */
#define SMALL "\ndevice.memory = 1GiB\nattribute.107 = 0\ncompression.memory = 0"
#define LAUNCH_ON(stream, kernel, ...) vmm_launch(S, VMM_KERNEL_##kernel, 2, 96, ARGS(__VA_ARGS__), stream)

/* A team with a vector in its memory, between two guard words. */
struct reduction {
    struct crew crew;
    vmm_deviceptr sums[TEAM_MOST]; /* each device's own buffer for the sums of its slice */
    vmm_stream stream[TEAM_MOST];
    uint64_t *words, *want;        /* as the host computes them, with the two guard words */
};

static struct reduction prepare(struct fix *f, unsigned devices)
{
    struct reduction r = {.crew = team_crew(f, devices, devices)};
    for (unsigned device = 0; device < devices; device++) {
        team_on(f, &r.crew, device);
        r.sums[device] = team_reserve(f, r.crew.size);
        fix_map(f, r.sums[device], r.crew.size, team_memory(f, (int)device));
        fix_access_at(f, r.sums[device], r.crew.size, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, (int)device), RW);
        r.stream[device] = fix_stream(f);
    }
    r.words = malloc(r.crew.size);
    r.want = malloc(r.crew.size);
    fix_need(f, r.words && r.want ? VMM_SUCCESS : VMM_ERROR_OUT_OF_MEMORY);
    /* analysers: malloc-leak is wrong: want is freed with the words, where the sums were compared */
    return r;
}

/* Writes every device's own words into its memory and their sums into want; the guard words must not change. */
static void fill_in(struct fix *f, struct reduction *r, uint64_t at, uint64_t count)
{
    uint64_t state = count;
    memset(r->want, 0, 8 * (count + 2));
    for (unsigned device = 0; device < r->crew.devices; device++) {
        for (uint64_t i = 0; i < count + 2; i++) {
            bool beside = i == 0 || i == count + 1;
            r->words[i] = beside ? 77 : random_next(&state);
            r->want[i] = beside ? 77 : r->want[i] + r->words[i];
        }
        team_on(f, &r->crew, device);
        fix_need(f, vmm_memcpy_htod(S, r->crew.own[device] + at - 8, r->words, 8 * (count + 2)));
    }
}

/* Two kernels on each device, one after the other; no wait until all are launched. */
static void reduce(struct fix *f, struct reduction *r, uint64_t at, uint64_t count)
{
    unsigned devices = r->crew.devices;
    for (unsigned device = 0; device < devices; device++) {
        uint64_t first = count * device / devices, words = count * (device + 1) / devices - first;
        vmm_deviceptr slice = r->crew.mc + at + 8 * first;
        team_on(f, &r->crew, device);
        ACCEPTED(LAUNCH_ON(r->stream[device], MULTIMEM_LOAD_REDUCE, r->sums[device], slice, 8 * words));
        ACCEPTED(LAUNCH_ON(r->stream[device], MULTIMEM_STORE, slice, r->sums[device], 8 * words));
    }
    for (unsigned device = 0; device < devices; device++) {
        team_on(f, &r->crew, device);
        ACCEPTED(vmm_stream_synchronize(S, r->stream[device]));
    }
}

static void compare(struct fix *f, struct reduction *r, uint64_t at, uint64_t count)
{
    for (unsigned device = 0; device < r->crew.devices; device++) {
        uint64_t i = 0;
        team_on(f, &r->crew, device);
        fix_need(f, vmm_memcpy_dtoh(S, r->words, r->crew.own[device] + at - 8, 8 * (count + 2)));
        while (i < count + 2 && r->words[i] == r->want[i])
            i++;
        CHECK(i == count + 2, "%" PRIu64 " words, device %u: word %" PRIu64 " is %#" PRIx64 ", not %#" PRIx64, count, device,
              i, r->words[i], r->want[i]);
    }
}

static void all_reduce(struct fix *root, unsigned devices, const char *schedule)
{
    struct fix own, *f = &own;
    scheduled_open(root, f, schedule);
    struct reduction r = prepare(f, devices);
    /* fewer words than devices, odd counts, across the boundary of two units, and once nearly both units */
    const uint64_t most = r.crew.size / 8 - 2, some[] = {1, devices - 1, devices, 13, 4099, most};
    /* by the smallest team, since it takes each word as long as there are replicas; skipped where everything is slow */
    bool all = devices == 2 && strcmp(schedule, "late") == 0 && random_rounds(100) >= 100;
    for (size_t i = 0; i < sizeof some / sizeof some[0] - !all; i++) {
        uint64_t at = some[i] == most ? 8 : r.crew.unit - 8 * (some[i] / 2);
        fill_in(f, &r, at, some[i]);
        reduce(f, &r, at, some[i]);
        compare(f, &r, at, some[i]);
    }
    free(r.words);
    free(r.want);
    fix_close(f);
}

#define WITH(n)                                                                                           \
    TEST_EXPECTS_ON("multicast.all_reduce_vector", mc_all_reduce_##n, TEAM_OF(n) SMALL, TEST_AS_GIVEN, 0) \
    {                                                                                                     \
        team_need(f);                                                                                     \
        for (unsigned i = 0; i < SCHEDULES; i++)                                                          \
            all_reduce(f, n, schedules[i]);                                                               \
    }

WITH(2)
WITH(3)
WITH(4)
WITH(5)
WITH(6)
WITH(7)
WITH(8)

/* SPDX-License-Identifier: Apache-2.0 */
/* One source: kernels/kernels.cu as PTX leaves what the library's kernel leaves, which on the simulator is a twin written by hand,
 * and on a driver the same source as machine code. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "form.h"
#include "team.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

enum { HALF = 16 << 10, PART = 2 * HALF, PARTS = 2, OUT = 4096 };

static const struct shape {
    unsigned grid, block;
} shapes[] = {{1, 1}, {2, 96}, {3, 1000}};

/* What is compared: so many bytes at each of these addresses; of a team's memory, in the contexts of their devices. */
struct memory {
    vmm_deviceptr at[TEAM_MOST];
    const struct crew *crew;
    unsigned parts;
    uint64_t size;
    unsigned char *first, *second;
};

static void on(struct fix *f, const struct memory *m, unsigned part)
{
    if (m->crew)
        team_on(f, m->crew, part);
}

/* Bytes that differ everywhere; the results of kernels begin with zeros. */
static void fill(struct fix *f, const struct memory *m)
{
    for (uint64_t i = 0; i < m->size; i++)
        m->second[i] = i < OUT ? 0 : (unsigned char)(i * 7 + (i >> 8) * 13);
    for (unsigned i = m->parts; i-- > 0;) {
        on(f, m, i);
        fix_need(f, vmm_memcpy_htod(S, m->at[i], m->second, m->size));
    }
}

static void look(struct fix *f, const struct memory *m, unsigned char *bytes)
{
    for (unsigned i = m->parts; i-- > 0;) {
        on(f, m, i);
        fix_need(f, vmm_memcpy_dtoh(S, bytes + i * m->size, m->at[i], m->size));
    }
}

/* The kernel leaves the same, whichever form it has and however many threads there are. */
static void both(struct fix *f, const struct memory *m, vmm_kernel kernel, const uint64_t *args, uint64_t count)
{
    const vmm_kernel forms[] = {kernel, form_of(f, kernel, true)};
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
        for (unsigned form = 0; form < 2; form++) {
            fill(f, m);
            ACCEPTED(vmm_launch(S, forms[form], shapes[s].grid, shapes[s].block, args, count, NULL));
            ACCEPTED(vmm_ctx_synchronize(S));
            look(f, m, form ? m->second : m->first);
        }
        uint64_t i = 0;
        while (i < m->parts * m->size && m->first[i] == m->second[i])
            i++;
        CHECK(i == m->parts * m->size, "%s on %u times %u threads: byte %" PRIu64 " is %d, and from PTX %d",
              vmm_kernel_name(kernel), shapes[s].grid, shapes[s].block, i, m->first[i], m->second[i]);
    }
}
#define BOTH(kernel, ...) both(f, &m, VMM_KERNEL_##kernel, ARGS(__VA_ARGS__))

static void take(struct fix *f, struct memory *m)
{
    m->first = malloc(m->parts * m->size + 1);
    m->second = malloc(m->parts * m->size + 1);
    if (!m->first || !m->second)
        fix_skip(f, "the host has no memory left");
}

static void drop(struct memory *m)
{
    free(m->first);
    free(m->second);
}

/* Two parts, each with a seam between two mappings in its middle. */
static struct memory seams(struct fix *f)
{
    struct memory m = {.parts = PARTS, .size = PART};
    for (unsigned i = 0; i < PARTS; i++) {
        vmm_deviceptr p = fix_reserve(f, 2 * f->g);
        fix_map(f, p, f->g, fix_create(f, f->g));
        fix_map(f, p + f->g, f->g, fix_create(f, f->g));
        fix_access(f, p, 2 * f->g, RW);
        m.at[i] = p + f->g - HALF;
    }
    take(f, &m);
    return m;
}

TEST_EXPECTS("launch.ptx_leaves_what_its_twin_leaves", kernels_from_ptx)
{
    form_need(f);
    struct memory m = seams(f);
    const vmm_deviceptr out = m.at[0], a = m.at[0] + OUT, b = m.at[1] + OUT;
    const uint64_t most = PART - OUT, some = 1001;
    BOTH(FILL, a + 3, most - 5, 0x5a);
    BOTH(FILL, a + 3, 0, 0x5a);
    BOTH(PATTERN_WRITE, a + 8, most - 16, 11);
    BOTH(PATTERN_VERIFY, b + 8, 8 * some, 11, out);
    BOTH(SUM, b + 5, most - 7, out);
    BOTH(COPY, a + 1, b + 1, most - 2);
    BOTH(COPY, a + 1, b + 4, most - 4);
    BOTH(COPY, a + 16, b + 16, 8);
    BOTH(STRIDE_READ, b, most, 7, out);
    BOTH(RANDOM_READ, b, most, some, 5, out);
    BOTH(TOUCH, b + 8, 0, 8, out);
    BOTH(TOUCH, b + 12, 0, 4, out);
    BOTH(TOUCH, b + 13, 0, 1, out);
    BOTH(TOUCH, a + 8, 1, 8, out);
    BOTH(TOUCH, a + 12, 1, 4, out);
    BOTH(TOUCH, a + 13, 1, 1, out);
    BOTH(ATOMIC_ADD, out + 8, some);
    drop(&m);
}

/* A pattern that is there but for a word: counted, and found at its place. */
TEST_EXPECTS("launch.ptx_finds_what_its_twin_finds", wrong_word_from_ptx)
{
    form_need(f);
    vmm_deviceptr p = fix_mapped(f, f->g, RW, NULL), out = fix_mapped(f, f->g, RW, NULL);
    uint64_t found[2][3];
    ACCEPTED(vmm_launch(S, VMM_KERNEL_PATTERN_WRITE, 2, 96, ARGS(p, f->g, 3), NULL));
    ACCEPTED(vmm_ctx_synchronize(S));
    fix_fill(f, p + f->g / 2, 0x33, 8);
    fix_fill(f, p + f->g / 2 + 8000, 0x44, 1);
    for (unsigned form = 0; form < 2; form++) {
        fix_need(f, vmm_memset_d8(S, out, 0, 24));
        ACCEPTED(vmm_launch(S, form_of(f, VMM_KERNEL_PATTERN_VERIFY, form), 2, 96, ARGS(p, f->g, 3, out), NULL));
        fix_need(f, vmm_memcpy_dtoh(S, found[form], out, sizeof found[form]));
    }
    CHECK_U64(found[0][0], 2);
    CHECK_U64(found[0][1], f->g / 16);
    CHECK(memcmp(found[0], found[1], sizeof found[0]) == 0, "from PTX %" PRIu64 " words are wrong, the first is %" PRIu64,
          found[1][0], found[1][1]);
}

/* With a fence every address shows what was written through another one of the same memory. */
TEST_EXPECTS("launch.ptx_of_aliases", aliases_from_ptx)
{
    form_need(f);
    vmm_mem_generic_allocation_handle memory = fix_create(f, f->g);
    vmm_deviceptr p = fix_reserve(f, 2 * f->g);
    struct memory m = {.at = {p}, .parts = 1, .size = PART};
    fix_map(f, p, f->g, memory);
    fix_map(f, p + f->g, f->g, memory);
    fix_access(f, p, 2 * f->g, RW);
    take(f, &m);
    BOTH(ALIAS_WRITE_READ, p + OUT, p + f->g + OUT, PART - OUT, 1, p);
    drop(&m);
}

TEST_EXPECTS_ON("multicast.ptx_leaves_what_its_twin_leaves", multimem_from_ptx, TEAM, TEST_AS_GIVEN, 0)
{
    team_need(f);
    form_need(f);
    struct crew crew = team_crew(f, 3, 3);
    struct memory m = {.crew = &crew, .parts = 3, .size = PART};
    memcpy(m.at, crew.own, sizeof m.at);
    take(f, &m);
    BOTH(MULTIMEM_STORE, crew.mc + OUT, crew.own[0] + OUT + 8192, 8008);
    BOTH(MULTIMEM_REDUCE, crew.mc + OUT, crew.own[0] + OUT + 8192, 8008);
    BOTH(MULTIMEM_LOAD_REDUCE, crew.own[0] + OUT, crew.mc + OUT + 8192, 8008);
    BOTH(NORM_ARRIVE, crew.own[0], crew.mc + 8, crew.own[0] + OUT, 80);
    BOTH(NORM_FINISH, crew.own[0] + 16, crew.mc + OUT, crew.own[0] + OUT + 8, 1, 3);
    BOTH(NORM_FINISH, crew.own[0] + 16, crew.mc + OUT, crew.own[0], 1, 3);
    drop(&m);
}

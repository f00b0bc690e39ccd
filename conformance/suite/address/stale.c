/* SPDX-License-Identifier: Apache-2.0 */
/* Writes through one address and reads through another: defined in order, undefined within one launch, which
 * alias=stale:SEED shows. */
#include <stdio.h>
#include <string.h>

#include "test.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

#define ARGS(...) (const uint64_t[]){__VA_ARGS__}, sizeof((const uint64_t[]){__VA_ARGS__}) / sizeof(uint64_t)
#define LAUNCH(kernel, ...) vmm_launch(S, VMM_KERNEL_##kernel, 1, 64, ARGS(__VA_ARGS__), NULL)

static const char *const schedules[] = {"late", "eager", "random:1"};
enum { SCHEDULES = sizeof schedules / sizeof schedules[0], SEEDS = 12, WORDS = 64 };

static uint64_t word_at(struct fix *f, vmm_deviceptr ptr)
{
    uint64_t word = 0;
    fix_need(f, vmm_memcpy_dtoh(S, &word, ptr, sizeof word));
    return word;
}

/* Four launches and a fill without a wait between them: each reads what the previous one wrote through the other
 * address. */
TEST_EXPECTS("alias.launches_in_order", launches_through_two_addresses)
{
    vmm_deviceptr p = fix_mapped_twice(f), q = p + f->g, out = p + 2 * f->g;
    fix_need(f, vmm_memset_d8(S, out, 0, 64));
    ACCEPTED(LAUNCH(PATTERN_WRITE, p, f->g, 3));
    ACCEPTED(LAUNCH(PATTERN_VERIFY, q, f->g, 3, out));
    ACCEPTED(LAUNCH(FILL, q + 8, 4096, 1));
    ACCEPTED(LAUNCH(SUM, p + 8, 4096, out + 24));
    ACCEPTED(vmm_memset_d8_async(S, p + 8, 2, 4096, NULL));
    ACCEPTED(LAUNCH(ATOMIC_ADD, q + 8, 5));
    ACCEPTED(LAUNCH(STRIDE_READ, p + 8, 4096, 1, out + 32));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, out), 0);
    CHECK_U64(word_at(f, out + 24), 4096);
    CHECK_U64(word_at(f, out + 32), 2 * 4096 + 5);
    CHECK_U64(word_at(f, q + 8), UINT64_C(0x0202020202020207));
    CHECK_U64(word_at(f, p + 8), UINT64_C(0x0202020202020207));
}

/* With a fence each word is visible at once, and still in the next launch, whatever was there. */
TEST_EXPECTS("alias.fenced", writes_and_reads_with_a_fence)
{
    vmm_deviceptr p = fix_mapped_twice(f), q = p + f->g, out = p + 2 * f->g;
    fix_need(f, vmm_memset_d8(S, out, 0, 8));
    fix_need(f, vmm_memset_d8(S, p, 0, 8 * WORDS));
    for (int i = 0; i < 10; i++)
        ACCEPTED(LAUNCH(ALIAS_WRITE_READ, i % 2 ? p : q, i % 2 ? q : p, 8 * WORDS, 1, out));
    ACCEPTED(vmm_ctx_synchronize(S));
    CHECK_U64(word_at(f, out), 0);
    CHECK_U64(word_at(f, p), 10);
    CHECK_U64(word_at(f, q + 8 * (WORDS - 1)), 10);
}

/* ---- systems with old bytes ---- */

static void open_stale(struct fix *f, struct fix *own, unsigned seed, const char *schedule)
{
    char spec[96];
    fix_need_simulator(f, "no driver shows old bytes by a seed");
    snprintf(spec, sizeof spec, "sim:h100,alias=stale:%u,schedule=%s", seed, schedule);
    *own = (struct fix){.root = f->root, .out = f->out};
    fix_need(f, fix_open(own, spec, 0));
}

/* A launch that cuvmm warns of. */
static void aliased(struct fix *f, vmm_result result)
{
    fix_need(f, result);
    CHECK(vmm_last_detail()->rule && strcmp(vmm_last_detail()->rule, "VMM-LAUNCH-ALIAS") == 0, "told of nothing");
}

/* How many of the words does the second address still show with their old value? */
static uint64_t old_words(struct fix *f, vmm_deviceptr p, uint64_t words, bool fence, bool other)
{
    vmm_deviceptr out = p + 2 * f->g;
    fix_need(f, vmm_memset_d8(S, out, 0, 8));
    fix_need(f, vmm_memset_d8(S, p, 0, 8 * words));
    vmm_result result = LAUNCH(ALIAS_WRITE_READ, p, other ? p + f->g : p, 8 * words, fence, out);
    if (other && !fence)
        aliased(f, result);
    fix_need(f, result);
    fix_need(f, vmm_ctx_synchronize(S));
    for (uint64_t i = 0; i < words; i += words < WORDS ? 1 : WORDS / 4)
        CHECK_U64(word_at(f, p + (i % 2 ? f->g : 0) + 8 * i), 1);
    return word_at(f, out);
}

struct answers {
    uint64_t many, one, again, fenced, same;
};

static struct answers ask(struct fix *f, unsigned seed, const char *schedule)
{
    struct fix own;
    open_stale(f, &own, seed, schedule);
    vmm_deviceptr p = fix_mapped_twice(&own);
    struct answers answers = {old_words(&own, p, WORDS, false, true), old_words(&own, p, 1, false, true),
                              old_words(&own, p, 1, false, true), old_words(&own, p, WORDS, true, true),
                              old_words(&own, p, WORDS, false, false)};
    fix_close(&own);
    return answers;
}

TEST_EXPECTS("alias.stale_by_seed", old_words_of_seeds)
{
    unsigned old = 0, changed = 0;
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        struct answers first = ask(f, seed, schedules[0]);
        CHECK(first.many > WORDS / 8 && first.many < WORDS - WORDS / 8, "seed %u: %llu of %d words are old", seed,
              (unsigned long long)first.many, WORDS);
        CHECK(first.one <= 1 && first.again <= 1, "more old words than words");
        CHECK_U64(first.fenced, 0);
        CHECK_U64(first.same, 0);
        old += first.one == 1;
        changed += first.one != first.again;
        for (int s = 0; s < SCHEDULES; s++) {
            struct answers again = ask(f, seed, schedules[s]);
            CHECK(memcmp(&again, &first, sizeof first) == 0,
                  "seed %u: a different answer under %s", seed, schedules[s]);
        }
    }
    CHECK(old > 0 && old < SEEDS, "a single word is old by %u of %d seeds", old, SEEDS);
    CHECK(changed > 0, "every launch reads the same words as old");
}

/* The kernel moves bytes by 4096 through the other address: each byte it reads was written by this launch or before
 * it. */
TEST_EXPECTS("alias.whole_words", words_of_a_copy)
{
    static unsigned char bytes[4 * 4096];
    unsigned old = 0, new = 0, torn = 0;
    for (unsigned seed = 0; seed < 3; seed++) {
        struct fix own;
        open_stale(f, &own, seed, schedules[0]);
        vmm_deviceptr p = fix_mapped_twice(&own);
        fix_need(f, vmm_memset_d8(own.sys, p, 7, sizeof bytes));
        fix_need(f, vmm_memset_d8(own.sys, p, 9, 4096));
        aliased(f, vmm_launch(own.sys, VMM_KERNEL_COPY, 1, 64, ARGS(own.g + p + 4096, p, 3 * 4096), NULL));
        fix_need(f, vmm_ctx_synchronize(own.sys));
        fix_need(f, vmm_memcpy_dtoh(own.sys, bytes, p, sizeof bytes));
        for (unsigned i = 0; i < sizeof bytes; i += 8) {
            unsigned nines = 0, sevens = 0;
            for (unsigned b = 0; b < 8; b++)
                nines += bytes[i + b] == 9, sevens += bytes[i + b] == 7;
            torn += nines != 8 && sevens != 8;
            old += i >= 8192 && sevens == 8;
            new += i >= 8192 && nines == 8;
        }
        fix_close(&own);
    }
    CHECK_U64(torn, 0);
    CHECK(old > 100 && new > 100, "%u words are old and %u new", old, new);
}

/* Additions through two addresses in one launch: each addition includes the earlier ones. */
TEST_EXPECTS("alias.nothing_added_is_lost", additions_through_two_addresses)
{
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        struct fix own;
        open_stale(f, &own, seed, schedules[0]);
        vmm_deviceptr p = fix_mapped_twice(&own);
        fix_need(f, vmm_memset_d8(own.sys, p, 0, 64));
        /* the word is written through p, and the count is added to it through the other address */
        aliased(f, vmm_launch(own.sys, VMM_KERNEL_ALIAS_WRITE_READ, 1, 64,
                              ARGS(p, p + own.g + 8, 8, 0, p + own.g), NULL));
        fix_need(f, vmm_ctx_synchronize(own.sys));
        uint64_t word = 0;
        fix_need(f, vmm_memcpy_dtoh(own.sys, &word, p, 8));
        CHECK_U64(word, 2); /* 1 that was written, and 1 for p + 8, which does not show it */
        fix_close(&own);
    }
}

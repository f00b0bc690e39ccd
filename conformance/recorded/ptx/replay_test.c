/* SPDX-License-Identifier: Apache-2.0 */
/* What a device computed, compared with what the simulator computes: each pair of instruction and types, and each random kernel. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pairs.h"
#include "ptx_program.h"
#include "ptx_run.h"
#include "random.h"
#include "random_kernel.h"
#include "tap.h"

#define BASE UINT64_C(0x300000000)
#define RECORDED "conformance/recorded/ptx/h100-580.159.04-"

enum { SIZE = 1 << 20, PAIRS_MOST = 4000, LINE = 1 << 16, LANES_OUT = 256 << 10, CELLS_AT = 768 << 10 };

/* ---- a kernel over a flat piece of memory ---- */

struct flat {
    struct twin_memory memory; /* first: the accessor gets this pointer back */
    unsigned char *bytes;
};

static bool run(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use, unsigned char **bytes)
{
    struct flat *flat = (struct flat *)memory;
    (void)use;
    if (address < BASE || address - BASE > SIZE - width)
        return false;
    *size = *size < SIZE - (address - BASE) ? *size : SIZE - (address - BASE);
    *bytes = flat->bytes + (address - BASE);
    return true;
}

/* Runs the kernel k of the text. False: why says what went wrong. */
static bool compute(struct flat *flat, const char *text, unsigned grid, unsigned block, const uint64_t *params, char why[300])
{
    static const struct ptx_options none;
    struct ptx_error error;
    struct ptx_outcome outcome;
    struct ptx_program *program = ptx_program_new(text, strlen(text), &none, &error);
    if (!program) {
        snprintf(why, 300, "line %u: %s", error.place.line, error.text);
        return false;
    }
    struct ptx_launch launch = {.program = program, .kernel = &program->kernels[ptx_program_kernel(program, "k")], .grid = {grid, 1, 1},
                                .block = {block, 1, 1}, .params = (const unsigned char *)params, .local_most = 1 << 16};
    ptx_run(&flat->memory, &launch, &outcome);
    if (outcome.end != PTX_END_DONE)
        snprintf(why, 300, "it ended at line %u with %d", outcome.line.line, (int)outcome.end);
    ptx_program_free(program);
    return outcome.end == PTX_END_DONE;
}

/* ---- pairs ---- */

static void pair_results(const struct pair *pair, uint64_t *results, struct flat *flat, char why[300])
{
    static char text[PAIR_TEXT];
    const uint64_t params[] = {BASE, BASE + LANES_OUT};
    uint64_t *in = (uint64_t *)(void *)flat->bytes, *out = (uint64_t *)(void *)(flat->bytes + LANES_OUT);
    memset(flat->bytes, 0, SIZE);
    for (unsigned t = 0; t < PAIR_TUPLES; t++)
        for (unsigned i = 0; i < 4 && *pair->type[i + 1]; i++)
            in[4 * t + i] = pair_operand(pair, t, i);
    pair_text(pair, text);
    why[0] = '\0';
    compute(flat, text, PAIR_TUPLES / 128 + 1, 128, params, why);
    memcpy(results, out, 2 * PAIR_TUPLES * sizeof *results);
}

static double value_of(const char *type, uint64_t bits)
{
    double wide;
    float narrow;
    uint32_t word = (uint32_t)bits;
    if (strcmp(type, "f64") == 0) {
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    }
    if (type[0] == 'b')
        word <<= 16;
    if (strcmp(type, "f16") == 0) {
        int exponent = (int)(bits >> 10 & 31);
        double fraction = (double)(bits & 1023) / 1024;
        wide = exponent == 31 ? (bits & 1023 ? NAN : HUGE_VAL) : exponent ? ldexp(1 + fraction, exponent - 15) : ldexp(fraction, -14);
        return bits & 0x8000 ? -wide : wide;
    }
    memcpy(&narrow, &word, sizeof narrow);
    return (double)narrow;
}

/* The distance of one unit in the last place at x. */
static double unit_at(const char *type, double x)
{
    int fraction = strcmp(type, "f64") == 0 ? 52 : strcmp(type, "f16") == 0 ? 10 : type[0] == 'b' ? 7 : 23;
    int least = strcmp(type, "f64") == 0 ? -1022 : strcmp(type, "f16") == 0 ? -14 : -126, exponent;
    frexp(x, &exponent);
    exponent = exponent - 1 < least ? least : exponent - 1;
    return ldexp(1, exponent - fraction);
}

/* Both are approximations: each may be off as far as the documentation allows. */
static bool is_near(const struct pair *pair, const char *type, uint64_t want, uint64_t got)
{
    double a = value_of(type, want), b = value_of(type, got);
    if (isnan(a) || isnan(b) || isinf(a) || isinf(b))
        return (isnan(a) && isnan(b)) || a == b;
    double allowed = pair->near == PAIR_ABSOLUTE ? pair->most * fmax(1, fabs(a)) : pair->most * unit_at(type, fabs(a) > fabs(b) ? a : b);
    return fabs(a - b) <= 2 * allowed;
}

static bool agrees(const struct pair *pair, uint64_t want, uint64_t got)
{
    const char *type = pair->type[0];
    if (pair->near == PAIR_EXACT || want == got)
        return want == got;
    if (!strstr(type, "x2"))
        return is_near(pair, type, want, got);
    const char *half = type[0] == 'b' ? "bf16" : "f16";
    return is_near(pair, half, want & 0xffff, got & 0xffff) && is_near(pair, half, want >> 16, got >> 16);
}

/* The first tuple whose result differs, as a note. True: all agree, the hashes too. */
static bool same_row(const struct pair *pair, const char *recorded, const char *ours)
{
    char *a = strdup(recorded), *b = strdup(ours), *keep_a, *keep_b;
    bool same = true;
    char *x = strtok_r(a, "\t", &keep_a), *y = strtok_r(b, "\t", &keep_b);
    for (unsigned column = 0; x && y; column++) {
        char *in_x, *in_y;
        char *p = column == 2 ? strtok_r(x, " ", &in_x) : x, *q = column == 2 ? strtok_r(y, " ", &in_y) : y;
        for (unsigned i = 0; column == 2 && p && q; i++) {
            char *end_p, *end_q;
            uint64_t want = strtoull(p, &end_p, 16), got = strtoull(q, &end_q, 16);
            if ((!agrees(pair, want, got) || (pair->near == PAIR_EXACT && strcmp(p, q) != 0)) && same) {
                same = false;
                tap_note("operands %" PRIx64 " %" PRIx64 " %" PRIx64 ": the device %s, here %s", pair_operand(pair, i, 0),
                         *pair->type[2] ? pair_operand(pair, i, 1) : 0, *pair->type[3] ? pair_operand(pair, i, 2) : 0, p, q);
            }
            p = strtok_r(NULL, " ", &in_x);
            q = strtok_r(NULL, " ", &in_y);
        }
        if (column == 3 && strcmp(x, y) != 0 && same) {
            same = false;
            tap_note("only the hashes differ: %s, here %s", x, y);
        }
        x = strtok_r(NULL, "\t", &keep_a);
        y = strtok_r(NULL, "\t", &keep_b);
    }
    free(a);
    free(b);
    return same && !x && !y;
}

static const struct pair *pair_named(const struct pair *pairs, unsigned count, const char *name)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(pairs[i].name, name) == 0)
            return &pairs[i];
    return NULL;
}

static void test_pairs(struct flat *flat)
{
    static struct pair pairs[PAIRS_MOST];
    static uint64_t results[2 * PAIR_TUPLES];
    static char line[LINE], ours[LINE];
    unsigned count = pairs_all(pairs, PAIRS_MOST), seen = 0, wrong = 0, approximated = 0;
    FILE *file = fopen(RECORDED "pairs.tsv", "r");
    if (!file) {
        tap_skip("there is no recording yet", "what each instruction computes");
        return;
    }
    while (fgets(line, sizeof line, file)) {
        char name[80], why[300];
        line[strcspn(line, "\n")] = '\0';
        snprintf(name, sizeof name, "%.*s", (int)strcspn(line, "\t"), line);
        const struct pair *pair = pair_named(pairs, count, name);
        if (!pair || strstr(line, "\trefused ")) {
            tap_note("%s", line);
            wrong += !pair;
            continue;
        }
        pair_results(pair, results, flat, why);
        pair_row(pair, results, ours, sizeof ours);
        bool same = !why[0] && same_row(pair, line, ours);
        seen++;
        wrong += !same;
        approximated += pair->near != PAIR_EXACT;
        if (!same)
            tap_note("%s differs%s%s", name, why[0] ? ": " : "", why);
    }
    fclose(file);
    tap_u64(wrong, 0, "what each instruction computes is what the device computed");
    tap_ok(seen >= 200 && approximated < 40, "%u instructions with their types, %u of them approximated", seen, approximated);
}

/* ---- random kernels ---- */

static void test_kernels(struct flat *flat)
{
    static struct random_kernel kernel;
    static char line[LINE], ours[LINE];
    unsigned seen = 0, wrong = 0;
    FILE *file = fopen(RECORDED "kernels.tsv", "r");
    if (!file) {
        tap_skip("there is no recording yet", "what random kernels compute");
        return;
    }
    while (fgets(line, sizeof line, file)) {
        char why[300] = "";
        const uint64_t params[] = {BASE, BASE + LANES_OUT, BASE + CELLS_AT};
        line[strcspn(line, "\n")] = '\0';
        random_kernel_make(&kernel, strtoull(line, NULL, 10));
        memset(flat->bytes, 0, SIZE);
        for (unsigned i = 0; i < kernel.grid * kernel.block * RANDOM_INPUTS; i++)
            ((uint64_t *)(void *)flat->bytes)[i] = random_kernel_input(&kernel, i);
        compute(flat, kernel.text, kernel.grid, kernel.block, params, why);
        random_kernel_row(&kernel, (const uint64_t *)(void *)(flat->bytes + LANES_OUT), (const uint64_t *)(void *)(flat->bytes + CELLS_AT), ours,
                          sizeof ours);
        seen++;
        if (why[0] || strcmp(line, ours) != 0) {
            wrong++;
            tap_note("seed %" PRIu64 ": %s", kernel.seed, why);
            tap_note("device %s", line);
            tap_note("here   %s", ours);
        }
    }
    fclose(file);
    tap_u64(wrong, 0, "what random kernels compute is what the device computed");
    tap_ok(seen >= 299, "%u random kernels", seen);
}

int main(void)
{
    struct flat flat = {.memory = {.run = run}};
    flat.bytes = malloc(SIZE);
    test_pairs(&flat);
    test_kernels(&flat);
    free(flat.bytes);
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts made of garbage: random bytes, and real scripts with bytes, words and lines changed. For
 * any text the interpreter ends with one of its three statuses, and every error names its line.
 *
 *     CUVMM_SEED=N CUVMM_ROUNDS=N      repeats a run, or makes a longer one
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "script.h"
#include "tap.h"
#include "text.h"

static uint64_t state;

static uint32_t next_random(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(state >> 33);
}

static uint32_t below(size_t n)
{
    return (uint32_t)(next_random() % n);
}

/* Lines that create and use every kind of object; mutations of them get far. */
static const char *const lines[] = {
    "init", "c0 = context dev0", "s0 = stream", "r0 = reserve 8gran", "r1 = reserve 2gran align=4MiB",
    "h0 = create 2gran dev0 handle=fd", "h1 = create 1gran host", "map r0 2gran h0", "map r0 +2gran 2gran h0",
    "access r0 2gran dev0:rw", "access r0 4gran dev0:r host:none", "getaccess r0 dev0", "fill r0 64KiB 0x5a",
    "fill32 r0 64 7 stream=s0", "write r0 \"some text\"", "write r0 pattern:3:4KiB", "read r0 +5 16", "copy r0 r0+4KiB 99",
    "query r0 MAPPING_SIZE", "query-all r0 MAPPED RANGE_SIZE", "range r0", "meminfo", "a0 = alloc 1KiB", "freemem a0",
    "k0 = retain r0", "properties h0", "release h0", "release k0", "unmap r0 4gran", "unmap r0", "free r0", "draw",
    "leaks", "sync", "sync s0", "e0 = event", "record e0 s0", "wait none e0", "ready e0",
    "sync e0", "destroy e0", "destroy s0", "destroy c0", "check value r0 != r1", "check leaks 3",
    "check refs h0 1", "expect INVALID_VALUE: map r0 1gran 0", "expect warning VMM-UNMAP-HOLE: unmap r0 8gran",
    "call cuMemMap r0 2gran 0 h0 0", "call cuMemSetAccess r0 2gran {dev0:rw dev1:r} 2", "explain VMM-MAP-OVERLAP",
    "call cuMemGetAccess out dev0 r0", "check bytes r0 byte:1:9", "note a remark", "help map", "primary dev0",
    "granularity numa0 option=recommended",
};

#define LINES (sizeof lines / sizeof lines[0])

static char random_byte(void)
{
    static const char likely[] = " \t\n#\"\\{}=+-:,.()|<>0123456789abcdefghijklmnopqrstuvwxyzMiBKG";
    return below(12) ? likely[below(sizeof likely - 1)] : (char)below(256);
}

/* A few lines, mostly in an order that makes sense, some of them damaged. */
static void make_script(struct text *text)
{
    text->length = 0;
    if (below(8) == 0) {
        for (size_t n = below(600); n > 0; n--) {
            char byte = random_byte();
            text_add_bytes(text, &byte, 1);
        }
        return;
    }
    for (size_t i = 0, n = 5 + below(40); i < n; i++)
        text_add(text, "%s\n", i < 16 && below(40) ? lines[i] : lines[below(LINES)]);
    for (size_t damage = below(2) ? below(6) : 0; damage > 0 && text->length; damage--) {
        size_t at = below(text->length);
        switch (below(4)) {
        case 0: text->data[at] = random_byte(); break;
        case 1: /* a piece goes */
            text->length = at + below(text->length - at + 1) < text->length ? at : text->length;
            break;
        case 2: /* swap two bytes */
        {
            size_t other = below(text->length);
            char byte = text->data[at];
            text->data[at] = text->data[other];
            text->data[other] = byte;
            break;
        }
        default: /* a digit more */
            text->data[at] = (char)('0' + below(10));
            break;
        }
    }
}

/* Runs it; the number of errors that do not begin with name and line is added to *bare. */
static enum script_status run(const struct text *text, unsigned options, unsigned *bare)
{
    char *out = NULL, *err = NULL;
    size_t out_size, err_size;
    FILE *out_file = open_memstream(&out, &out_size), *err_file = open_memstream(&err, &err_size);
    FILE *in = text->length ? fmemopen(text->data, text->length, "rb") : NULL;
    struct script_options o = {.out = out_file, .err = err_file, .backend = options & 1 ? "sim:odd" : "sim:h200x2",
                               .draw = options & 2, .keep_going = (options & 4) || below(4), .quiet = options & 8,
                               .brief = options & 16, .addresses = options & 32, .colour = options & 64};
    struct script *script = script_new(&o, "garbage");
    if (in) {
        script_read(script, in);
        fclose(in);
    }
    enum script_status status = script_finish(script);
    fclose(out_file);
    fclose(err_file);
    if ((status == SCRIPT_OK) != (err_size == 0))
        ++*bare;
    if (err_size && strncmp(err, "garbage:", 8) != 0 && strncmp(err, "cuvmm: ", 7) != 0)
        ++*bare;
    free(out);
    free(err);
    return status;
}

int main(void)
{
    const char *seed_text = getenv("CUVMM_SEED"), *rounds_text = getenv("CUVMM_ROUNDS");
    uint64_t seed = seed_text ? strtoull(seed_text, NULL, 10) : 20263;
    unsigned rounds = rounds_text ? (unsigned)strtoul(rounds_text, NULL, 10) : random_rounds(400), bare = 0, statuses[3] = {0};
    struct text text = {0};
    state = seed;
    unsetenv("CUVMM_LAYERS");
    for (unsigned i = 0; i < rounds; i++) {
        make_script(&text);
        statuses[run(&text, below(128), &bare)]++;
    }
    tap_note("seed %llu, %u rounds: %u went through, %u failed, %u were wrong", (unsigned long long)seed, rounds,
             statuses[0], statuses[1], statuses[2]);
    tap_ok(statuses[0] + statuses[1] + statuses[2] == rounds, "every script ends with a status (CUVMM_SEED=%llu)",
           (unsigned long long)seed);
    tap_u64(bare, 0, "a script fails exactly when something was said, and every error begins with its place");
    tap_ok(rounds < 100 || (statuses[0] && statuses[1] && statuses[2]), "all three statuses occur");
    text_free(&text);
    return tap_done();
}

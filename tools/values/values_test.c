/* SPDX-License-Identifier: Apache-2.0 */
/* Values of scripts: numbers, names, places, bytes; what is refused, where and why. */
#include "values.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "text.h"

static struct symbols symbols;

static bool granule(void *user, bool host, uint64_t *bytes)
{
    (void)user;
    *bytes = host ? 4096 : 2097152;
    return true;
}

static bool no_granule(void *user, bool host, uint64_t *bytes)
{
    (void)user;
    (void)host;
    (void)bytes;
    return false;
}

static struct value_env env = {&symbols, granule, NULL, NULL, NULL};

static struct word word_of(const char *text, char *buffer)
{
    return (struct word){.text = strcpy(buffer, text), .column = 1};
}

static void test_numbers(void)
{
    static const struct {
        const char *text;
        uint64_t value;
    } cases[] = {{"0", 0}, {"42", 42}, {"0x2A", 42}, {"7B", 7}, {"3KiB", 3072}, {"2MiB", 2097152}, {"1GiB", 1U << 30},
                 {"1TiB", UINT64_C(1) << 40}, {"2gran", 4194304}, {"2hgran", 8192}, {"1<<47", UINT64_C(1) << 47},
                 {"max", UINT64_MAX}, {"null", 0}, {"max-1", UINT64_MAX - 1}, {"18446744073709551615", UINT64_MAX},
                 {"0xffffffffffffffff", UINT64_MAX}, {"1<<63", UINT64_C(1) << 63}, {"1+2-3", 0}, {"r", 0x10000},
                 {"r+1KiB", 0x10400}, {"r.size", 0x4000}, {"r.end-1", 0x13fff}, {"m.total", 99},
                 {"roundup(1)", 2097152}, {"roundup(2MiB)", 2097152}, {"roundup(0)", 0}, {"roundup(5,4)", 8},
                 {"roundup(r.size,4KiB)+1", 0x4001}, {"roundup(roundup(1,3),4)", 4}};
    char buffer[64];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct word word = word_of(cases[i].text, buffer);
        struct words_error error = {0};
        uint64_t value = 1234567;
        bool ok = value_number(&env, &word, &value, &error);
        tap_ok(ok && value == cases[i].value, "%s is %llu%s%s", cases[i].text, (unsigned long long)cases[i].value,
               ok ? "" : ": ", ok ? "" : error.text);
    }
}

/* A suggested name is one of the kind that is wanted at that place. r is a reservation, h a handle. */
static void test_near_names(void)
{
    static const struct {
        const char *text, *what, *said;
    } cases[] = {{"rr", "ADDRESS", "is \"r\" meant?"}, {"rr", NULL, "is \"r\" meant?"}, {"rr", "HANDLE", "names are given"},
                 {"hh", "HANDLE", "is \"h\" meant?"}, {"hh", "ADDRESS", "names are given"}, {"hh", "OBJECT", "is \"h\" meant?"},
                 {"hh", "DESCRIPTOR", "names are given"}, {"hh", "SIZE", "is \"h\" meant?"}, {"q", NULL, "names are given"}};
    char buffer[64];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct word word = word_of(cases[i].text, buffer);
        struct words_error error = {0};
        struct value_env wanted = env;
        uint64_t value;
        wanted.what = cases[i].what;
        tap_ok(!value_number(&wanted, &word, &value, &error) && strstr(error.text, cases[i].said), "%s as %s: %s", cases[i].text,
               cases[i].what ? cases[i].what : "anything", error.text);
    }
}

static void test_wrong_numbers(void)
{
    static const struct {
        const char *text, *what;
        int column;
    } cases[] = {{"", "missing", 1}, {"2MB", "unknown unit", 2}, {"0x", "not a number", 1}, {"18446744073709551616", "64 bits", 1},
                 {"1<<64", "64 bits", 1}, {"2<<63", "64 bits", 1}, {"16777216TiB", "64 bits", 1}, {"max+1", "64 bits", 1},
                 {"1-2", "below 0", 1}, {"1+", "missing", 3}, {"q", "nothing is named", 1}, {"rr", "\"r\" meant", 1},
                 {"r.length", "no part", 3}, {"h.end", "no part", 3}, {"m.size", "no part", 3}, {"1 2", "after", 2},
                 {"r*2", "after", 2}, {"roundup(1", "closing", 10}, {"roundup(1,0)", "multiple of 0", 13},
                 {"roundup(max)", "64 bits", 1}, {"roundup()", "expected", 9}, {"-1", "expected", 1}, {"%s%n", "expected", 1}};
    char buffer[64];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct word word = word_of(cases[i].text, buffer);
        struct words_error error = {0};
        uint64_t value = 77;
        bool ok = value_number(&env, &word, &value, &error);
        tap_ok(!ok && value == 77 && strstr(error.text, cases[i].what) && error.column == cases[i].column,
               "\"%s\" is refused at column %d: %d: %s", cases[i].text, cases[i].column, error.column, error.text);
    }
    struct value_env early = {&symbols, no_granule, NULL, NULL, NULL};
    struct words_error error = {0};
    struct word word = word_of("4gran", buffer);
    uint64_t value;
    tap_ok(!value_number(&early, &word, &value, &error) && strstr(error.text, "before init"),
           "granules are not known before init");
}

/* What is printed can be written again. */
static void test_round_trip(unsigned seed)
{
    bool same = true;
    srand(seed);
    for (int i = 0; i < 20000 && same; i++) {
        uint64_t value = (uint64_t)rand() << 33 ^ (uint64_t)rand() << 11 ^ (uint64_t)rand(), back = 0;
        value = value >> (unsigned)rand() % 64 << (unsigned)rand() % 64;
        char text[TEXT_SIZE_ROOM];
        struct word word = {.text = text, .column = 1};
        struct words_error error;
        text_size(value, text);
        same = value_number(&env, &word, &back, &error) && back == value;
    }
    tap_ok(same, "20000 sizes printed and read again (seed %u; CUVMM_SEED repeats it)", seed);
}

static void test_locations(void)
{
    static const struct {
        const char *text;
        int type, id;
    } cases[] = {{"dev0", 1, 0}, {"dev-1", 1, -1}, {"dev99", 1, 99}, {"host", 2, 0}, {"numa1", 3, 1},
                 {"numa-1", 3, -1}, {"numa-current", 4, 0}, {"loc:7:-3", 7, -3}, {"loc:0:0", 0, 0},
                 {"loc:2:99", 2, 99}, {"loc:4:1", 4, 1}};
    static const char *const wrong[] = {"", "dev", "device0", "gpu0", "numa", "loc:1", "loc:", "loc:a:b", "devx", "DEV0", "null"};
    char buffer[64], shown[VALUE_ROOM];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct word word = word_of(cases[i].text, buffer);
        struct words_error error = {0};
        vmm_mem_location location = {-5, -5};
        bool ok = value_location(&env, &word, &location, &error);
        tap_ok(ok && location.type == cases[i].type && location.id == cases[i].id, "%s", cases[i].text);
        tap_text(value_location_text(location, shown), cases[i].text, "%s is printed as it is written", cases[i].text);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct word word = word_of(wrong[i], buffer);
        struct words_error error = {0};
        vmm_mem_location location = {-5, -5};
        tap_ok(!value_location(&env, &word, &location, &error) && location.type == -5 && error.text[0],
               "\"%s\" is not a location: %s", wrong[i], error.text);
    }
}

static void test_grants(void)
{
    char buffer[64];
    struct words_error error = {0};
    vmm_mem_access_desc grant, list[2];
    size_t count = 9;
    struct word word = word_of("loc:7:0:5", buffer);
    tap_ok(value_grant(&env, &word, &grant, &error) && grant.location.type == 7 && grant.flags == 5,
           "a grant of raw numbers");
    word = word_of("{dev0:rw numa1:r}", buffer);
    tap_ok(value_grants(&env, &word, list, 2, &count, &error) && count == 2 && list[1].location.type == 3 &&
               list[1].flags == 1, "two grants in braces");
    word = word_of("{dev0:rw dev1:r host:r}", buffer);
    tap_ok(!value_grants(&env, &word, list, 2, &count, &error) && count == 2, "more grants than room: %s", error.text);
    word = word_of("{dev0:rw dev1:x}", buffer);
    tap_ok(!value_grants(&env, &word, list, 2, &count, &error) && error.column == 15, "a wrong one has its column: %d",
           error.column);
}

static void test_properties(void)
{
    char buffer[128];
    struct words_error error = {0};
    vmm_mem_allocation_prop prop = {0};
    struct word word = word_of("{numa2 handle=fd|fabric|0x10 compression=1 rdma=1 usage=3 type=2 reserved=9 meta=1}", buffer);
    tap_ok(value_prop(&env, &word, &prop, &error), "every property at once %s", error.text);
    tap_ok(prop.requested_handle_types == 0x19 && prop.location.type == 3 && prop.location.id == 2 && prop.type == 2,
           "place, type and handle types");
    tap_ok(prop.alloc_flags.compression_type == 1 && prop.alloc_flags.gpu_direct_rdma_capable == 1 &&
               prop.alloc_flags.usage == 3 && prop.alloc_flags.reserved[0] == 9 && prop.win32_handle_meta_data,
           "flags");
    word = word_of("{dev0}", buffer);
    tap_ok(value_prop(&env, &word, &prop, &error) && prop.type == VMM_MEM_ALLOCATION_TYPE_PINNED &&
               prop.requested_handle_types == 0 && !prop.win32_handle_meta_data, "omitted fields are zero, and the type "
                   "is pinned");
    word = word_of("{dev0 colour=1}", buffer);
    tap_ok(!value_prop(&env, &word, &prop, &error) && strstr(error.text, "colour"), "an unknown one: %s", error.text);
}

static void test_bytes(void)
{
    static const struct {
        const char *text;
        size_t size;
        unsigned char first;
    } cases[] = {{"hex:00ff10", 3, 0}, {"hex:Ab", 1, 0xab}, {"byte:7:3", 3, 7}, {"byte:0:0", 0, 0}};
    static const char *const wrong[] = {"hex:", "hex:0", "hex:zz", "byte:1", "byte:256:1", "pattern:1", "pattern:1:65MiB",
                                        "text", "byte::1", "pattern:x:1"};
    char buffer[64];
    unsigned char *bytes, *again;
    uint64_t size;
    struct words_error error = {0};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct word word = word_of(cases[i].text, buffer);
        bool ok = value_bytes(&env, &word, &bytes, &size, &error);
        if (tap_ok(ok && size == cases[i].size && (!size || bytes[0] == cases[i].first), "%s", cases[i].text) || ok)
            free(bytes);
    }
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct word word = word_of(wrong[i], buffer);
        tap_ok(!value_bytes(&env, &word, &bytes, &size, &error), "\"%s\" is refused: %s", wrong[i], error.text);
    }
    struct word word = word_of("pattern:1:1KiB", buffer);
    bool ok = value_bytes(&env, &word, &bytes, &size, &error);
    word = word_of("pattern:2:1KiB", buffer);
    ok = value_bytes(&env, &word, &again, &size, &error) && ok;
    tap_ok(ok && size == 1024 && memcmp(bytes, again, 1024) != 0, "patterns of two seeds differ");
    tap_ok(ok && memcmp(bytes, bytes + 512, 512) != 0, "a pattern does not repeat soon");
    free(bytes);
    free(again);
}

static void test_names(void)
{
    static const char *const good[] = {"r", "r0", "_x", "Buffer_2", "device0", "gran2"};
    static const char *const bad[] = {"", "0r", "a-b", "max", "null", "dev0", "numa12", "host", "gran", "none",
                                      "abcdefghijklmnopqrstuvwxyzabcdef"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        tap_ok(symbols_name_ok(good[i], strlen(good[i])), "%s may be a name", good[i]);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        tap_ok(!symbols_name_ok(bad[i], strlen(bad[i])), "\"%s\" may not", bad[i]);
}

int main(void)
{
    const char *seed = getenv("CUVMM_SEED");
    symbols_set(&symbols, "r", SYMBOL_RESERVATION, 0x10000)->size = 0x4000;
    symbols_set(&symbols, "h", SYMBOL_HANDLE, 5)->size = 0x4000;
    symbols_set(&symbols, "m", SYMBOL_NUMBER, 9)->total = 99;
    test_numbers();
    test_near_names();
    test_wrong_numbers();
    test_round_trip(seed ? (unsigned)strtoul(seed, NULL, 10) : 20262);
    test_locations();
    test_grants();
    test_properties();
    test_bytes();
    test_names();
    symbols_free(&symbols);
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "profile_keys.h"
#include "profile_value.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "tap.h"

/* ---- invalid texts ---- */

struct bad {
    const char *text;
    int line, column;
    const char *says; /* part of the message */
};

/* A minimal profile: all required keys in twelve lines. */
#define TINY                                                                                                      \
    "name = tiny\ndevices = 1\ndevice.memory = 1MiB\ngranularity.device.minimum = 4KiB\n"                         \
    "granularity.device.recommended = 4KiB\ngranularity.host.minimum = 4KiB\n"                                    \
    "granularity.host.recommended = 4KiB\nva.start = 1MiB\nva.end = 4MiB\nva.granularity = 4KiB\n"                \
    "va.alignment_max = 1MiB\nva.hint_max = 1<<30\n"

/* Every mistake with the position, counted from 1, of the wrong piece. */
static const struct bad bad_texts[] = {
    {"base = h10", 1, 8, "expected a built-in profile (h100, h200, h200x2, h200x4, gb200x4, min, max, large, odd), found 'h10'"},
    {"base =", 1, 6, "expected a value after '=', found nothing"},
    {"= h100", 1, 1, "expected a key before '=', found nothing"},
    {"base h100", 1, 1, "expected 'key = value', found 'base h100'"},
    {"devices = 1\nbase = h100", 2, 1, "'base' must be the first key"},
    {"base = h100\nbase = h100", 2, 1, "'base' must be the first key"},
    {"base = h100\n\n  devics = 2", 3, 3, "did you mean 'devices'?"},
    {"base = h100\nddeeviices = 2", 2, 1, "did you mean 'devices'?"},
    {"base = h100\ndevices = 1x1", 2, 11, "found '1x1'"},
    {"base = h100\npartial = yes", 2, 1, "did you mean 'map.partial'?"},
    {"base = h100\nbsae = h100", 2, 1, "did you mean 'base'?"},
    {"base = h100\natribute.4 = 1", 2, 1, "did you mean 'attribute.N'?"},
    {"base = h100\nzzzzzzzzzzzz = 1", 2, 1, "expected a key of a profile, found 'zzzzzzzzzzzz'"},
    {"base = h100\nDEVICES = 2", 2, 1, "found 'DEVICES'"},
    {"base = h100\ndevices = 2\ndevices = 2", 3, 1, "'devices' is given twice, first on line 2, 'devices = 2'"},
    {"base = h100\nattribute.16 = 2\nattribute.16 = 3", 3, 1,
     "'attribute.16' is given twice, first on line 2, 'attribute.16 = 2'"},
    {"base = h100\nattribute. = 2", 2, 1, "found 'attribute.'"},
    {"base = h100\nattribute.x = 2", 2, 11, "expected an integer from 1 to 9999, found 'x'"},
    {"base = h100\nattribute.0 = 2", 2, 11, "expected a number from 1 to 9999, found '0'"},
    {"base = h100\nattribute.10000 = 2", 2, 11, "expected a number from 1 to 9999"},
    {"base = h100\nattribute.16 = 1x", 2, 16, "found '1x'"},
    {"base = h100\nattribute.16 = 2147483648", 2, 16, "found '2147483648'"},
    {"base = h100\nattribute.16 = -2147483649", 2, 16, "found '-2147483649'"},
    {"base = h100\nattribute.16 = 99999999999999999999999", 2, 16, "found '999"},
    {"base = h100\ndevices = 0", 2, 11, "expected a number from 1 to 31, found '0'"},
    {"base = h100\ndevices = 32", 2, 11, "expected a number from 1 to 31, found '32'"},
    {"base = h100\ndevices = -1", 2, 11, "found '-1'"},
    {"base = h100\ndevices = 5%n%s", 2, 11, "found '5%n%s'"},
    {"base = h100\ndevices = two", 2, 11, "expected an integer from 1 to 31, found 'two'"},
    {"base = h100\ndevice.memory = much", 2, 17, "expected a size such as"},
    {"base = h100\ndevice.memory = 80GB", 2, 19, "expected a unit (B, KiB, MiB, GiB, TiB) or '<<', found 'GB'"},
    {"base = h100\ndevice.memory = 80 gib", 2, 20, "found 'gib'"},
    {"base = h100\ndevice.memory = -1", 2, 17, "found '-1'"},
    {"base = h100\ndevice.memory = 1.5GiB", 2, 18, "found '.5GiB'"},
    {"base = h100\ndevice.memory = 18446744073709551616", 2, 17, "fits into 64 bits"},
    {"base = h100\ndevice.memory = 16777216TiB", 2, 17, "fits into 64 bits"},
    {"base = h100\ndevice.memory = 1<<64", 2, 17, "fits into 64 bits"},
    {"base = h100\ndevice.memory = 3<<63", 2, 17, "fits into 64 bits"},
    {"base = h100\ndevice.memory = 1<<", 2, 20, "expected a number of bits after '<<', found nothing"},
    {"base = h100\ndevice.memory = 1<<x", 2, 20, "found 'x'"},
    {"base = h100\ndevice.memory = 1<<30GiB", 2, 20, "found '30GiB'"},
    {"base = h100\ndevice.memory = 1 < 3", 2, 19, "found '< 3'"},
    {"base = h100\ndevice.memory = 1><3", 2, 18, "expected a unit (B, KiB, MiB, GiB, TiB) or '<<', found '><3'"},
    {"base = h100\ndevice.memory = 1<>3", 2, 18, "found '<>3'"},
    {"base = h100\ndevice.memory = 1<", 2, 18, "found '<'"},
    {"base = h100\ndevice.memory = 0x", 2, 18, "found 'x'"},
    {"base = h100\nmap.partial = maybe", 2, 15, "expected yes or no, found 'maybe'"},
    {"base = h100\nmap.partial = Yes", 2, 15, "found 'Yes'"},
    {"base = h100\nname = my machine", 2, 10, "expected letters, digits, '-' and '_' in 'name', found ' '"},
    {"base = h100\nname = 0123456789012345678901234567890123456789012345678901234567890123", 2, 8,
     "expected at most 63 characters for 'name', found 64"},
    {"base = h200x2\npeers = 0", 2, 9, "expected all, none, or pairs of devices such as 0-1,2-3, found '0'"},
    {"base = h200x2\npeers = 0-1,", 2, 13, "found nothing"},
    {"base = h200x2\npeers = 0-1, 1-", 2, 14, "found '1-'"},
    {"base = h200x2\npeers = 0-1-2", 2, 9, "found '0-1-2'"},
    {"base = h200x2\npeers = 1-1", 2, 9, "expected two different devices, found the pair '1-1'"},
    {"base = h200x2\npeers = 0-31", 2, 9, "expected devices from 0 to 30, found the pair '0-31'"},
    {"base = h200x2\npeers = 0-2", 2, 9, "expected links between devices 0 to 1"},
    {"\x01 = h100", 1, 1, "expected text, found the control character 0x01"},
    {"base = h100\nva.start = \x01", 2, 12, "expected text, found the control character 0x01"},
    {"base = h100\r\ndevices = 2\r3", 2, 12, "found the control character 0x0D"},
    {"base = h100\nvallo = \xC3\xB6", 2, 1, "found 'vallo'"},
    {"base = h100\ndevices = \xC3\xB6", 2, 11, "found '\\xC3\\xB6'"},
    {"base = h100\ndevices = \x7F", 2, 11, "found the control character 0x7F"},
    {"base = h200x2\npeers = 31-0", 2, 9, "expected devices from 0 to 30, found the pair '31-0'"},
    {"base = h100\nva.taken = 64GiB-65GiB,", 2, 24, "expected none, or ranges such as 1GiB-2GiB, found nothing"},
    /* inconsistent values */
    {"base = h100\ngranularity.device.minimum = 3MiB", 2, 30, "expected a power of two for 'granularity.device.minimum'"},
    {"base = h100\ngranularity.device.minimum = 2KiB", 2, 30, "from 4096 to"},
    {"base = h100\ngranularity.host.minimum = 4MiB", 2, 28,
     "expected 'granularity.host.minimum' up to 'granularity.host.recommended' (2097152), found 4194304"},
    {"base = h100\ngranularity.multicast.minimum = 1MiB", 2, 33,
     "expected 'granularity.device.minimum' up to 'granularity.multicast.minimum' (1048576), found 2097152"},
    {"base = h100\ngranularity.multicast.minimum = 2KiB", 2, 33, "expected 'granularity.multicast.minimum' from 4096 to"},
    {"base = h100\ngranularity.multicast.recommended = 3MiB", 2, 37,
     "expected a power of two for 'granularity.multicast.recommended', found 3145728"},
    {"base = h100\ngranularity.multicast.minimum = 8MiB\ngranularity.multicast.recommended = 4MiB", 2, 33,
     "expected 'granularity.multicast.minimum' up to 'granularity.multicast.recommended' (4194304), found 8388608"},
    {"base = h100\ngranularity.host.recommended = 4KiB", 2, 32,
     "expected 'granularity.host.minimum' up to 'granularity.host.recommended' (4096), found 2097152"},
    {"base = h100\nva.granularity = 0", 2, 18, "from 4096 to"},
    {"base = h100\nva.start = 0", 2, 12, "expected 'va.start' from 4096"},
    {"base = h100\nva.start = 1MiB", 2, 12, "expected 'va.start' as a multiple of 'va.granularity' (2097152)"},
    {"base = h100\nva.start = 2MiB", 2, 12, "expected 'va.start' as a multiple of 'va.chunk' (33554432)"},
    {"base = h100\nva.chunk = 64MiB\nva.start = 32MiB", 3, 12, "as a multiple of 'va.chunk' (67108864), found 33554432"},
    {"base = h100\nva.start = 32MiB\nva.chunk = 64MiB", 2, 12, "as a multiple of 'va.chunk' (67108864), found 33554432"},
    {"base = h100\nva.chunk = 48MiB", 2, 12, "expected a power of two for 'va.chunk'"},
    {"base = h100\nva.chunk = 1MiB", 2, 12, "expected 'va.granularity' up to 'va.chunk' (1048576)"},
    {"base = h100\nva.chunk = 0\nva.context = 64GiB", 3, 14, "expected 0 for 'va.context' because 'va.chunk' is 0"},
    {"base = h100\nva.context = 1MiB", 2, 14, "expected 'va.context' as a multiple of 'va.chunk'"},
    {"base = h100\nva.context = 0x7ffffe000000", 2, 14, "expected 'va.context' from"},
    {"base = h100\nva.taken = 1GiB", 2, 12, "expected none, or ranges such as 1GiB-2GiB, found '1GiB'"},
    {"base = h100\nva.taken = 64GiB-32GiB", 2, 12, "expected a range that ends after its start"},
    {"base = h100\nva.taken = 64GiB-x", 2, 12, "expected a size such as"},
    {"base = h100\nva.taken = x-64GiB", 2, 12, "expected a size such as"},
    {"base = h100\nva.taken = 64GiB-65GiB, 65GiB-66GiB,67GiB-68GiB, 69GiB-70GiB,71GiB-72GiB", 2, 62, "at most 4 ranges"},
    {"base = h100\nva.taken = 64GiB-65GiB,64GiB-66GiB", 2, 12, "in order, as multiples of 33554432; range 2 is not"},
    {"base = h100\nva.taken = 1MiB-1GiB", 2, 12, "range 1 is not"},
    {"base = h100\nva.start = 0x7ffffe000000", 2, 12, "expected 'va.start' below 'va.end'"},
    {"base = h100\nva.end = 1<<60", 2, 10, "expected 'va.end' from 4096 to"},
    {"base = h100\nva.hint_max = 1<<40", 2, 15, "expected 'va.end' up to 'va.hint_max'"},
    {"base = h100\nva.chunk = 1<<41", 2, 12, "expected 'va.chunk' from 4096 to"},
    {"base = h100\nva.end = 0x10000200000", 2, 10, "as a multiple of 'va.chunk'"},
    {"base = h100\nva.alignment_max = 3MiB", 2, 20, "power of two"},
    {"base = h100\nva.alignment_max = 0", 2, 20, "expected a power of two for 'va.alignment_max', found 0"},
    {"base = min\nva.end = 0x600000000001", 2, 10, "expected 'va.end' as a multiple of 'va.granularity' (2097152)"},
    {"base = min\nva.taken = 0x100000000000-0x100000200001", 2, 12, "range 1 is not"},
    {"base = min\nva.taken = 0x100000000000-0x700000000000", 2, 12, "between 'va.start' and 'va.end', in order, as multiples"},
    {TINY "attribute.134 = 1\nattribute.16 = 1", 13, 17, "expected attribute.134 (the nearest NUMA node) from -1 to 0, found 1"},
    {TINY "attribute.16 = 1\nattribute.134 = 1", 14, 17, "expected attribute.134 (the nearest NUMA node) from -1 to 0, found 1"},
    {"base = min\nattribute.134 = 1", 2, 17, "expected attribute.134 (the nearest NUMA node) from -1 to 0, found 1"},
    {"base = gb200x4\nattribute.134 = 1\nhost.nodes = 1", 2, 17, "from -1 to 0, found 1"},
    {"base = h100\nattribute.134 = -2", 2, 17, "from -1 to 0, found -2"},
    {"base = h100\nhost.memory = 1<<51", 2, 15, "expected 'host.memory' from 0 to"},
    {"base = h100\nva.alignment_max = 4KiB", 2, 20, "expected 'va.granularity' up to 'va.alignment_max'"},
    {"base = h100\ndevice.memory = 0", 2, 17, "expected 'device.memory' from 4096"},
    {"base = h100\ndevice.memory = 1MiB\ncompression.memory = 0", 2, 17,
     "expected 'granularity.device.minimum' up to 'device.memory' (1048576)"},
    {"base = h100\ndevice.memory = 1<<51", 2, 17, "expected 'device.memory' from 4096 to 1125899906842624 bytes"},
    {"base = h100\ndevice.reserved = 1TiB", 2, 19, "expected 'device.reserved' below 'device.memory'"},
    {"base = h100\ncompression.memory = 1TiB", 2, 22, "expected 'compression.memory' up to 'device.memory'"},
    {"base = h100\ndevice.memory = 1GiB", 2, 17, "expected 'compression.memory' up to 'device.memory'"},
    {"base = h100\nhost.memory = 0", 2, 15, "attribute.145 = 1 needs 'host.memory' above 0"},
    {"base = min\nattribute.145 = 1", 2, 17, "attribute.145 = 1 needs 'host.memory' above 0"},
    {"base = h100\nhost.nodes = 0", 2, 14, "attribute.141 = 1 needs 'host.nodes' and 'host.memory' above 0"},
    {"base = max\nhost.nodes = 9", 2, 14, "expected a number from 0 to 8, found '9'"},
    {"base = h100\nattribute.134 = 1", 2, 17, "from -1 to 0, found 1"},
    {TINY "compression.memory = 64KiB", 13, 22, "'compression.memory' above 0 needs attribute.107 = 1"},
    {"base = min\ncompression.memory = 1MiB", 2, 22, "'compression.memory' above 0 needs attribute.107 = 1"},
    {"base = gb200x4\nattribute.134 = 2", 2, 17, "expected attribute.134 (the nearest NUMA node) from -1 to 1, found 2"},
    {"base = h100\nattribute.145 = 0\nhost.memory = 0", 3, 15, "attribute.141 = 1 needs 'host.nodes' and 'host.memory' above 0"},
    {"base = min\nattribute.141 = 1", 2, 17, "attribute.141 = 1 needs 'host.nodes' and 'host.memory' above 0"},
    {"base = h100\ndevice.clusters = 18 x", 2, 19, "expected numbers of multiprocessors in 'device.clusters', such as 18 18 16"},
    {"base = h100\ndevice.clusters = 18  16", 2, 19, "expected numbers of multiprocessors"},
    {"base = h100\ndevice.clusters = 1000", 2, 19, "expected numbers of multiprocessors"},
    {"base = h100\nattribute.107 = 0", 0, 0, "'compression.memory' above 0 needs attribute.107 = 1"},
    {"base = h100\npeers = 0-1", 2, 9, "expected links between devices 0 to 0, found one of a device that does not exist"},
    {"base = odd\npeers = 1-3", 2, 9, "expected links between devices 0 to 2, found one of a device that does not exist"},
    {"base = odd\npeers = 0-1,30-29", 2, 9, "expected links between devices 0 to 2, found one of a device that does not exist"},
    {"", 0, 0, "expected the key 'name', found none; give it, or start from a built-in profile"},
    {"# nothing\n", 0, 0, "expected the key 'name'"},
    {"name = x\ndevices = 1\n", 0, 0, "expected the key 'device.memory', found none"},
};

static void check_bad(const char *text, size_t length, const struct bad *want, const char *label)
{
    struct sim_profile profile, before;
    struct sim_profile_error error = {-1, -1, "", ""};
    memset(&profile, 0xA5, sizeof profile);
    before = profile;
    bool parsed = sim_profile_parse(text, length, &profile, &error);
    bool right = !parsed && error.line == want->line && error.column == want->column && strstr(error.text, want->says);
    if (!tap_ok(right, "%s: refused at %d:%d", label, want->line, want->column))
        tap_note("got %d:%d %s", error.line, error.column, error.text);
    tap_ok(memcmp(&profile, &before, sizeof profile) == 0, "%s: the profile is unchanged", label);
}

/* The message quotes the line with that number. */
static void check_source(const char *text, const char *want)
{
    struct sim_profile profile;
    struct sim_profile_error error = {-1, -1, "", "of an earlier text"};
    tap_ok(!sim_profile_parse(text, strlen(text), &profile, &error), "no profile");
    tap_text(error.source, want, "the message quotes the line");
}

static void test_source(void)
{
    check_source("base = h100\n  devices = two # or three\r\nname = x\n", "'devices = two # or three'");
    check_source("base = h100\nname", "'name'");
    check_source("base = h100\ndevice.memory = 100GiB\ndevice.memory = 1KiB", "'device.memory = 1KiB'");
    check_source("devices = 1\n", "");
    tap_u64(sim_span_line("a\nb", 3, 2).length, 1, "a last line without a newline");
    tap_u64(sim_span_line("a\nb", 3, 3).length + sim_span_line("a\nb", 3, 0).length, 0, "lines that do not exist are empty");
    check_source("base = h100\ndevices = 1\nhost.nodes = 99999", "'host.nodes = 99999'");
}

static void test_bad_texts(void)
{
    test_source();
    for (size_t i = 0; i < sizeof bad_texts / sizeof bad_texts[0]; i++) {
        char label[48];
        snprintf(label, sizeof label, "bad text %zu", i);
        check_bad(bad_texts[i].text, strlen(bad_texts[i].text), &bad_texts[i], label);
    }
    struct sim_profile profile;
    tap_ok(!sim_profile_parse("x", 1, &profile, NULL), "error may be NULL");
}

static void test_bytes_that_are_no_text(void)
{
    const char nul[] = "base = h100\ndevices = \0 2";
    const struct bad zero = {NULL, 2, 11, "control character 0x00"};
    check_bad(nul, sizeof nul - 1, &zero, "a zero byte");

    size_t length = 1 << 20;
    char *text = malloc(length);
    if (!text)
        tap_bail("no memory");
    memset(text, 'x', length);
    const struct bad no_equals = {NULL, 1, 1, "expected 'key = value', found 'xxxxxxxxxx"};
    check_bad(text, length, &no_equals, "a line of 1 MiB");
    text[length - 3] = '=';
    const struct bad no_key = {NULL, 1, 1, "expected a key of a profile, found 'xxxxxxxxxx"};
    check_bad(text, length, &no_key, "a key of 1 MiB");
    memcpy(text, "source=", 7);
    const struct bad too_long = {NULL, 1, 8, "expected at most 159 characters for 'source', found 1048569"};
    text[length - 3] = 'x';
    check_bad(text, length, &too_long, "a value of 1 MiB");
    memset(text, '\n', length);
    text[length - 1] = '!';
    const struct bad deep = {NULL, 1 << 20, 1, "found '!'"};
    check_bad(text, length, &deep, "a mistake in line 1048576");
    free(text);
}

static int attributes_of_h100(void)
{
    struct sim_profile h100 = {.attributes = 0};
    sim_profile_builtin("h100", &h100);
    return h100.attributes;
}

static void test_many_attributes(void)
{
    static char text[SIM_MAX_ATTRIBUTES * 32] = "base = h100\n";
    size_t used = strlen(text);
    for (int i = 0; i < SIM_MAX_ATTRIBUTES; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "attribute.%d = %d\n", 2000 + i, i);
    const struct bad want = {NULL, 2 + SIM_MAX_ATTRIBUTES - attributes_of_h100(), 1,
                             "expected at most 256 attributes, found one more"};
    check_bad(text, used, &want, "256 attributes beside those of h100");
}

/* Texts assembled at random (xorshift) from meaningful pieces. */
static void test_random_texts(void)
{
    static const char *const pieces[] = {"base", "=",     "h100", "\n",       "devices", "1<<",   "GiB", "-1", "peers",
                                         "0-1",  ",",     "#",    "attribute.", "102",   "va.end", " ",  "\t", "\r",
                                         "odd",  "name",  "0x",   "18446744073709551615", "yes",  "\x80", "max"};
    const uint32_t seed = 12345;
    uint32_t state = seed;
    int good = 0, placed = 0;
    const int rounds = 20000;
    tap_note("random texts: seed %u in %s", seed, __func__);
    for (int i = 0; i < rounds; i++) {
        char text[256] = "";
        struct sim_profile profile;
        struct sim_profile_error error = {-1, -1, "", ""};
        size_t count = 0;
        for (int n = 0; n < 12; n++) {
            state ^= state << 13;
            state ^= state >> 17;
            state ^= state << 5;
            const char *piece = pieces[state % (sizeof pieces / sizeof pieces[0])];
            memcpy(text + count, piece, strlen(piece));
            count += strlen(piece);
        }
        if (sim_profile_parse(text, count, &profile, &error))
            good++;
        else
            placed += error.line >= 0 && error.column >= 0 && error.text[0];
    }
    tap_ok(good + placed == rounds, "each of %d random texts is accepted, or refused with a position", rounds);
}

/* ---- valid texts ---- */

static void must_parse(const char *text, struct sim_profile *profile, const char *label)
{
    struct sim_profile_error error = {0, 0, "", ""};
    bool parsed = sim_profile_parse(text, strlen(text), profile, &error);
    if (!tap_ok(parsed, "%s", label))
        tap_bail("%d:%d %s", error.line, error.column, error.text);
}

static void test_values(void)
{
    static const struct {
        const char *text;
        uint64_t value;
    } sizes[] = {{"4096", 4096},         {"4096B", 4096},      {"64KiB", 65536},   {"64 KiB", 65536},
                 {"3MiB", 3145728},      {"1GiB", 1073741824}, {"1<<30", 1 << 30}, {"3 << 20", 3145728},
                 {"0x1000000", 1 << 24}, {"0X1000000", 1 << 24}, {"0x10MiB", 1 << 24}, {"1TiB", UINT64_C(1) << 40},
                 {"0x400<<20", 1 << 30},  {"0xABCDEF000", UINT64_C(0xabcdef000)}, {"0xabcdef000", UINT64_C(0xabcdef000)}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        char text[128];
        struct sim_profile profile;
        snprintf(text, sizeof text, "base = min\ngranularity.device.minimum = 4KiB\ndevice.memory = %s", sizes[i].text);
        must_parse(text, &profile, sizes[i].text);
        tap_u64(profile.device_memory, sizes[i].value, "'%s' is %" PRIu64, sizes[i].text, sizes[i].value);
    }
}

#define UNPACKED "va.chunk = 0\nva.context = 0\nva.taken = none\n"

/* The last accepted value of a range, and the refused one after it. */
static void test_edges(void)
{
    static const struct {
        const char *before, *accepted, *refused, *says;
    } edges[] = {
        {"base = h100\ndriver.version = ", "11000", "10999", "expected a number from 11000 to 999990, found '10999'"},
        {"base = h100\ndriver.version = ", "999990", "999991", "expected a number from 11000 to 999990, found '999991'"},
        {"base = h100\ndevices = ", "31", "32", "expected a number from 1 to 31, found '32'"},
        {"base = min\nhost.nodes = ", "0", "-1", "expected a number from 0 to 8, found '-1'"},
        {"base = h100\nhost.nodes = ", "8", "9", "expected a number from 0 to 8, found '9'"},
        {"base = h100\nattribute.9999 = ", "2147483647", "2147483648", "from -2147483648 to 2147483647, found '2147483648'"},
        {"base = h100\nattribute.1 = ", "-2147483648", "-2147483649", "from -2147483648 to 2147483647, found '-2147483649'"},
        {"base = h100\nattribute.1 = ", "+0x7fffffff", "+0x80000000", "from -2147483648 to 2147483647, found '+0x80000000'"},
        {"base = gb200x4\nattribute.134 = ", "1", "2", "from -1 to 1, found 2"},
        {"base = gb200x4\nattribute.134 = ", "-1", "-2", "from -1 to 1, found -2"},
        {"base = odd\nattribute.134 = ", "0", "1", "from -1 to 0, found 1"},
        {"base = odd\ndevice.memory = 48MiB\ndevice.reserved = ", "50331647", "48MiB",
         "expected 'device.reserved' below 'device.memory' (50331648), found 50331648"},
        {"base = odd\ncompression.memory = ", "48MiB", "50331649",
         "expected 'compression.memory' up to 'device.memory' (50331648), found 50331649"},
        {"base = odd\ncompression.memory = 64KiB\ndevice.memory = ", "64KiB", "65535",
         "expected 'granularity.device.minimum' up to 'device.memory' (65535), found 65536"},
        {"base = h100\ndevice.memory = ", "1<<50", "1125899906842625",
         "expected 'device.memory' from 4096 to 1125899906842624 bytes, found 1125899906842625"},
        {"base = min\ngranularity.device.minimum = 4096\ndevice.memory = ", "4096", "4095",
         "expected 'device.memory' from 4096 to 1125899906842624 bytes, found 4095"},
        {"base = h100\nhost.memory = ", "1<<50", "1125899906842625",
         "expected 'host.memory' from 0 to 1125899906842624 bytes, found 1125899906842625"},
        {"base = odd\ngranularity.device.minimum = ", "4KiB", "2KiB",
         "expected 'granularity.device.minimum' from 4096 to 1099511627776 bytes, found 2048"},
        {"base = h100\ngranularity.device.recommended = ", "1<<40", "1<<41",
         "expected 'granularity.device.recommended' from 4096 to 1099511627776 bytes, found 2199023255552"},
        {"base = h100\ngranularity.host.recommended = ", "1<<40", "1<<41",
         "expected 'granularity.host.recommended' from 4096 to 1099511627776 bytes, found 2199023255552"},
        {"base = odd\ngranularity.host.minimum = ", "64KiB", "128KiB",
         "expected 'granularity.host.minimum' up to 'granularity.host.recommended' (65536), found 131072"},
        {"base = odd\ngranularity.device.recommended = ", "64KiB", "32KiB",
         "expected 'granularity.device.minimum' up to 'granularity.device.recommended' (32768), found 65536"},
        {"base = odd\ngranularity.multicast.recommended = ", "1<<40", "1<<41",
         "expected 'granularity.multicast.recommended' from 4096 to 1099511627776 bytes, found 2199023255552"},
        {"base = odd\ngranularity.multicast.minimum = ", "64KiB", "32KiB",
         "expected 'granularity.device.minimum' up to 'granularity.multicast.minimum' (32768), found 65536"},
        {"base = odd\ngranularity.multicast.recommended = ", "128KiB", "64KiB",
         "expected 'granularity.multicast.minimum' up to 'granularity.multicast.recommended' (65536), found 131072"},
        {"base = odd\nva.granularity = ", "4KiB", "2KiB",
         "expected 'va.granularity' from 4096 to 1099511627776 bytes, found 2048"},
        {"base = min\nva.end = 1<<47\nva.granularity = ", "1<<40", "1<<41",
         "expected 'va.granularity' from 4096 to 1099511627776 bytes, found 2199023255552"},
        {"base = odd\nva.alignment_max = ", "64KiB", "32KiB",
         "expected 'va.granularity' up to 'va.alignment_max' (32768), found 65536"},
        {"base = odd\nva.granularity = 4KiB\nva.start = ", "4KiB", "0",
         "expected 'va.start' from 4096 to 144115188075855872 bytes, found 0"},
        {"base = min\nva.hint_max = 1<<58\nva.end = ", "1<<57", "0x200000000200000",
         "expected 'va.end' from 4096 to 144115188075855872 bytes, found 144115188077953024"},
        {"base = min\nva.hint_max = 1<<59\nva.end = 1<<57\nva.start = ", "0x1ffffffffe00000", "1<<57",
         "expected 'va.start' below 'va.end' (144115188075855872), found 144115188075855872"},
        {"base = h100\nva.hint_max = ", "0x7ffffe000000", "0x7ffffdffffff",
         "expected 'va.end' up to 'va.hint_max' (140737454800895), found 140737454800896"},
        {"base = h100\nva.start = 1<<40\nva.end = 1<<46\nva.chunk = ", "1<<40", "1<<41",
         "expected 'va.chunk' from 4096 to 1099511627776 bytes, found 2199023255552"},
        {"base = odd\nva.chunk = ", "64KiB", "32KiB", "expected 'va.granularity' up to 'va.chunk' (32768), found 65536"},
        {"base = h100\nva.context = ", "0x302000000", "0x300000000",
         "expected 'va.context' from 12918456320 to 140737387692032 bytes, found 12884901888"},
        {"base = h100\nva.context = ", "0x7ffffa000000", "0x7ffffc000000",
         "expected 'va.context' from 12918456320 to 140737387692032 bytes, found 140737421246464"},
        {"base = h100\nva.taken = ", "0x302000000-0x304000000", "0x300000000-0x304000000",
         "as multiples of 33554432; range 1 is not"},
        {"base = h100\nva.taken = ", "0x7ffffc000000-0x7ffffe000000", "0x7ffffc000000-0x800000000000", "range 1 is not"},
        {"base = h100\nva.taken = ", "64GiB-65GiB,65GiB-66GiB,66GiB-67GiB,67GiB-68GiB",
         "64GiB-65GiB,65GiB-66GiB,66GiB-67GiB,0x10be000000-68GiB", "range 4 is not"},
        {"base = h100\nva.taken = ", "64GiB-0x1002000000", "64GiB-64GiB", "expected a range that ends after its start"},
        {"base = h100\n" UNPACKED "va.hint_max = ", "18446744073709551615", "18446744073709551616", "fits into 64 bits"},
        {"base = h100\nva.hint_max = ", "0xFFFFFFFFFFFFFFFF", "0x10000000000000000", "fits into 64 bits"},
        {"base = h100\nva.hint_max = ", "1<<63", "1<<64", "fits into 64 bits"},
        {"base = h100\nva.hint_max = ", "3<<62", "5<<62", "fits into 64 bits"},
        {"base = h100\nva.hint_max = ", "16777215TiB", "16777216TiB", "fits into 64 bits"},
        {"base = h100\nva.hint_max = ", "17179869183GiB", "17179869184GiB", "fits into 64 bits"},
    };
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        struct sim_profile profile;
        struct sim_profile_error error = {0, 0, "", ""};
        char accepted[256], refused[256];
        snprintf(accepted, sizeof accepted, "%s%s", edges[i].before, edges[i].accepted);
        snprintf(refused, sizeof refused, "%s%s", edges[i].before, edges[i].refused);
        must_parse(accepted, &profile, accepted);
        bool good = sim_profile_parse(refused, strlen(refused), &profile, &error);
        if (!tap_ok(!good && strstr(error.text, edges[i].says), "the value after it is refused: %s", edges[i].refused))
            tap_note("says %s", error.text);
    }
}

/* Texts of the greatest length that fits. */
static void test_longest_texts(void)
{
    static const struct {
        const char *key;
        size_t most, at;
    } texts[] = {{"name", SIM_NAME_MAX - 1, offsetof(struct sim_profile, name)},
                 {"device.name", SIM_NAME_MAX - 1, offsetof(struct sim_profile, device_name)},
                 {"source", 159, offsetof(struct sim_profile, source)}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        struct sim_profile profile;
        char value[200] = "", text[256];
        memset(value, 'x', texts[i].most);
        snprintf(text, sizeof text, "base = h100\n%s = %s", texts[i].key, value);
        must_parse(text, &profile, texts[i].key);
        tap_text((const char *)&profile + texts[i].at, value, "%zu characters of '%s'", texts[i].most, texts[i].key);
        snprintf(text, sizeof text, "base = h100\n%s = %sx", texts[i].key, value);
        tap_ok(!sim_profile_parse(text, strlen(text), &profile, NULL), "a longer text is refused");
        snprintf(text, sizeof text, "base = h100\n%s = y", texts[i].key);
        must_parse(text, &profile, "a one-letter value replaces the base's");
        const char *rest = (const char *)&profile + texts[i].at;
        bool clear = rest[0] == 'y';
        for (size_t j = 1; j <= texts[i].most; j++)
            clear &= !rest[j];
        tap_ok(clear, "nothing of the base's value remains");
    }
}

/* Each required key, omitted alone. */
static void test_required_keys(void)
{
    static const char *const lines[][2] = {{"name", "tiny"},
                                           {"devices", "1"},
                                           {"device.memory", "1MiB"},
                                           {"granularity.device.minimum", "4KiB"},
                                           {"granularity.device.recommended", "4KiB"},
                                           {"granularity.host.minimum", "4KiB"},
                                           {"granularity.host.recommended", "4KiB"},
                                           {"va.start", "1MiB"},
                                           {"va.end", "4MiB"},
                                           {"va.granularity", "4KiB"},
                                           {"va.alignment_max", "1MiB"},
                                           {"va.hint_max", "1<<30"}};
    enum { LINES = sizeof lines / sizeof lines[0] };
    for (size_t out = 0; out <= LINES; out++) {
        char text[1024] = "", says[200];
        struct sim_profile profile;
        struct sim_profile_error error = {-1, -1, "", ""};
        for (size_t i = 0; i < LINES; i++)
            if (i != out)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%s = %s\n", lines[i][0], lines[i][1]);
        if (out == LINES) {
            must_parse(text, &profile, "all required keys");
            continue;
        }
        snprintf(says, sizeof says,
                 "expected the key '%s', found none; give it, or start from a built-in profile with 'base = h100'",
                 lines[out][0]);
        bool good = sim_profile_parse(text, strlen(text), &profile, &error);
        tap_ok(!good && !error.line && !error.column, "without '%s' the text is refused, without a position", lines[out][0]);
        tap_text(error.text, says, "the message names the key");
    }
}

/* ---- misspelt keys, compared with a plain table of distances ---- */

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t edits(const char *a, const char *b)
{
    size_t table[48][48];
    for (size_t i = 0; i <= strlen(a); i++)
        for (size_t j = 0; j <= strlen(b); j++)
            table[i][j] = !i ? j : !j ? i : least(table[i - 1][j - 1] + (a[i - 1] != b[j - 1]),
                                                  1 + least(table[i - 1][j], table[i][j - 1]));
    return table[strlen(a)][strlen(b)];
}

/* The first of the nearest keys, at most three edits away and fewer than the key's length. */
static const char *plain_nearest(const char *name)
{
    const char *best = NULL;
    size_t far = 4;
    for (size_t i = 0; i < SIM_K_COUNT + 2; i++) {
        const char *key = i < SIM_K_COUNT ? sim_keys[i].name : i == SIM_K_COUNT ? "base" : "attribute.N";
        const char *dot = strrchr(key, '.');
        size_t off = dot && !strcmp(dot + 1, name) ? 0 : edits(name, key);
        if (off < far && off < strlen(key)) {
            far = off;
            best = key;
        }
    }
    return best;
}

static bool as_plain(const char *name)
{
    const char *got = sim_key_nearest((struct sim_span){name, strlen(name)}), *want = plain_nearest(name);
    if (got == want || (got && want && !strcmp(got, want)))
        return true;
    tap_note("'%s' is near '%s', not '%s'", name, want ? want : "nothing", got ? got : "nothing");
    return false;
}

static void test_misspelt_keys(void)
{
    unsigned wrong = 0;
    uint32_t state = 4711;
    for (int i = 0; i < SIM_K_COUNT; i++)
        for (int round = 0; round < 40; round++) {
            char name[64];
            size_t length = (size_t)snprintf(name, sizeof name, "%s", sim_keys[i].name);
            for (int edit = 0; edit < round % 5; edit++) {
                state = state * 1664525 + 1013904223;
                size_t at = (state >> 16) % (length + 1);
                if (state >> 30 == 0 && at < length) {
                    memmove(name + at, name + at + 1, length - at); /* with the terminator */
                    length--;
                } else if (state >> 30 == 1 && at < length) {
                    name[at] = 'z';
                } else {
                    memmove(name + at + 1, name + at, length - at + 1);
                    name[at] = 'e';
                    length++;
                }
            }
            wrong += !as_plain(name);
        }
    static const char *const words[] = {"", "b", "ase", "bas", "va", "va.", "chunk", "end", "N", "imex", "minimum", "a.b",
                                        "devicess"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        wrong += !as_plain(words[i]);
    tap_u64(wrong, 0, "the suggested key is the one with the fewest edits");
    char word[64];
    memset(word, 'a', sizeof word);
    tap_ok(!sim_key_nearest((struct sim_span){word, sizeof word}), "a long word has no near key");
}

/* ---- quotes ---- */

static void test_quotes(void)
{
    static const struct {
        const char *text, *quoted;
    } quotes[] = {{"", "nothing"},
                  {"a", "'a'"},
                  {" ~", "' ~'"},
                  {"\x1f\x7f\x80\xff", "'\\x1F\\x7F\\x80\\xFF'"},
                  {"0123456789012345678901234567890123456789", "'0123456789012345678901234567890123456789'"},
                  {"01234567890123456789012345678901234567890", "'0123456789012345678901234567890123456789...'"},
                  {"012345678901234567890123456789012345678\x80", "'012345678901234567890123456789012345678\\x80'"},
                  {"012345678901234567890123456789012345678\x80+", "'012345678901234567890123456789012345678\\x80...'"}};
    for (size_t i = 0; i < sizeof quotes / sizeof quotes[0]; i++) {
        char buffer[SIM_QUOTE_MAX];
        tap_text(sim_span_quote((struct sim_span){quotes[i].text, strlen(quotes[i].text)}, buffer), quotes[i].quoted,
                 "text %zu is quoted", i);
    }
}

/* ---- a base's addresses in another address range ---- */

static void test_places_of_a_base(void)
{
    static const struct {
        const char *text;
        bool context, first, second;
    } kept[] = {
        {"va.start = 0x302000000", true, true, true},
        {"va.start = 0x10000000000", true, true, true},
        {"va.start = 0x10002000000", true, false, true},
        {"va.start = 0x555500000000", true, false, true},
        {"va.start = 0x555502000000", true, false, false},
        {"va.start = 0x7f8a36000000", true, false, false},
        {"va.start = 0x7f8a38000000", false, false, false},
        {"va.end = 0x7f8a3a000000", true, true, true},
        {"va.end = 0x7f8a38000000", false, true, true},
        {"va.end = 0x565800000000", false, true, true},
        {"va.end = 0x5657fe000000", false, true, false},
        {"va.end = 0x10004000000", false, true, false},
        {"va.end = 0x10002000000", false, false, false},
        {"va.chunk = 0", false, true, true},
        {"va.chunk = 64MiB\nva.start = 0x304000000\nva.end = 0x7ffffc000000", false, true, true},
        {"va.chunk = 256MiB\nva.start = 0x310000000\nva.end = 0x7ffff0000000", false, false, true},
    };
    for (size_t i = 0; i < sizeof kept / sizeof kept[0]; i++) {
        struct sim_profile p;
        char text[128];
        snprintf(text, sizeof text, "base = h100\n%s", kept[i].text);
        must_parse(text, &p, kept[i].text);
        struct sim_range want[SIM_MAX_TAKEN] = {{0}};
        int count = 0;
        if (kept[i].first)
            want[count++] = (struct sim_range){UINT64_C(0x10000000000), UINT64_C(0x10004000000)};
        if (kept[i].second)
            want[count++] = (struct sim_range){UINT64_C(0x555500000000), UINT64_C(0x565800000000)};
        tap_ok(p.va_context == (kept[i].context ? UINT64_C(0x7f8a36000000) : 0) && !memcmp(p.va_taken, want, sizeof want),
               "the driver's own range is %s, and %d of others'", kept[i].context ? "kept" : "left out", count);
    }
}

static void test_layout_of_a_text(void)
{
    struct sim_profile profile;
    must_parse("# a comment\r\n\r\n \tbase=h100 # the parent\r\ndevice.name = A #1 machine\r\n"
               "source = see tracker#5\r\n  devices   =   3   \r\npeers = 0-2 , 1-2\r\nattribute.16 = -5\r\nattribute.999 = 0x10",
               &profile, "comments, blanks and line ends of other systems");
    tap_text(profile.device_name, "A", "a '#' after a blank opens a comment");
    tap_text(profile.source, "see tracker#5", "a '#' inside a word does not");
    tap_u64((uint64_t)profile.devices, 3, "blanks around a value are ignored");
    tap_u64(profile.peers[0], 4, "peers of device 0");
    tap_u64(profile.peers[1], 4, "peers of device 1");
    tap_u64(profile.peers[2], 3, "peers of device 2, in both directions");
    int value = 0;
    tap_ok(sim_profile_attribute(&profile, 16, &value) && value == -5, "an attribute replaces the base's");
    tap_ok(sim_profile_attribute(&profile, 999, &value) && value == 16, "an attribute is added");
    value = 77;
    tap_ok(!sim_profile_attribute(&profile, 998, &value) && value == 77, "an unlisted attribute has no value");
}

static void test_base_and_defaults(void)
{
    struct sim_profile profile, whole;
    int value = 0;
    must_parse("base = h100\n", &profile, "a base alone");
    tap_text(profile.name, "h100-custom", "a profile with a base gets its own name");
    tap_text(profile.source, "a user's profile, based on h100", "a profile with a base claims no recording");
    must_parse("base = h100\nname = mine\nsource = measured", &profile, "with a name");
    tap_text(profile.name, "mine", "the name is kept");
    tap_text(profile.source, "measured", "the source is kept");
    must_parse("base = h200x2\ndevices = 4", &profile, "more devices than the base has");
    tap_u64(profile.peers[3], 7, "'all' of the base covers the additional devices");
    must_parse("base = h200x2\ndevices = 31", &profile, "the most devices");
    tap_u64(profile.peers[30], 0x3FFFFFFF, "device 30 has all peers");
    must_parse("base = min\nfabric.imex = yes", &profile, "an IMEX channel that no device can use");
    tap_ok(profile.imex, "the channel exists");
    must_parse("base = min\nattribute.134 = 0", &profile, "node 0 as the nearest node of a machine without NUMA");
    tap_ok(sim_profile_attribute(&profile, 134, &value) && value == 0 && !profile.host_nodes, "the attribute has its value");
    must_parse("base = odd\ndevices = 1", &profile, "fewer devices than the base links");
    tap_u64(profile.peers[0], 0, "links to missing devices are dropped");
    must_parse("base = odd\ngranularity.multicast.recommended = 0", &profile, "a multicast granularity of 0");
    tap_u64(sim_profile_multicast(&profile, 1), profile.device_granularity[1], "it equals the device's granularity");
    must_parse("base = h100\nattribute.16 = +2\ndevice.reserved = 0<<70", &profile, "a signed number, and a shifted 0");
    tap_ok(sim_profile_attribute(&profile, 16, &value) && value == 2 && !profile.device_reserved, "they have their values");
    must_parse("base = h100", &whole, "a base with reserved addresses");
    tap_ok(whole.va_context && whole.va_taken[0].end, "the base has such addresses");
    must_parse("base = h100\nva.end = 0x304000000", &profile, "an address range that ends below them");
    tap_ok(!profile.va_context && !profile.va_taken[0].end, "the base's addresses are dropped");
    must_parse("base = h100\nva.start = 0x7fb000000000", &profile, "an address range that starts above them");
    tap_ok(!profile.va_context && !profile.va_taken[0].end, "they are dropped there, too");
    must_parse("base = h100\nva.start = 1TiB\nva.chunk = 1TiB\nva.end = 64TiB", &profile, "chunks that do not fit them");
    tap_ok(!profile.va_context && !profile.va_taken[0].end, "they are dropped as well");
    must_parse(TINY, &profile, "only the required keys, without a base");
    tap_ok(profile.host_nodes == 0 && profile.host_memory == 0 && !profile.partial_map && !profile.imex &&
               profile.compression_memory == 0 && profile.va_chunk == 0 && !profile.va_context &&
               profile.attributes == 0 && profile.peers[0] == 0,
           "optional values have their defaults");
    tap_text(profile.device_name, "cuvmm simulated device", "an unnamed device gets a name");
    tap_text(profile.clusters, "0", "a device without multiprocessors has none for clusters");
    must_parse(TINY "attribute.16 = 12", &profile, "multiprocessors without groups");
    tap_text(profile.clusters, "12", "they are one group");
    must_parse(TINY "attribute.16 = 1000", &profile, "more multiprocessors than a group can have");
    tap_text(profile.clusters, "0", "they have no group");
    must_parse("base = h100\ndevice.clusters = 20 4", &profile, "its own groups");
    tap_text(profile.clusters, "20 4", "they take the place of the base's");
}

/* ---- built-in profiles ---- */

/* Writes a profile as text, which must parse to the same machine. */
static void write_profile(const struct sim_profile *p, char *text, size_t size)
{
    size_t used = (size_t)snprintf(
        text, size,
        "name = %s\nsource = %s\ndriver.version = %d\ndevices = %d\ndevice.name = %s\ndevice.memory = %" PRIu64
            "\ndevice.reserved = %" PRIu64
        "\nhost.nodes = %d\nhost.memory = %" PRIu64 "\ngranularity.device.minimum = %" PRIu64
        "\ngranularity.device.recommended = 0x%" PRIx64 "\ngranularity.host.minimum = %" PRIu64
        "\ngranularity.host.recommended = %" PRIu64 "\ngranularity.multicast.minimum = %" PRIu64
        "\ngranularity.multicast.recommended = %" PRIu64 "\nva.start = 0x%" PRIx64 "\nva.end = %" PRIu64
        "\nva.granularity = %" PRIu64 "\nva.chunk = %" PRIu64 "\nva.context = %" PRIu64 "\nva.alignment_max = %" PRIu64
            "\nva.hint_max = %" PRIu64
        "\nmap.partial = %s\nfabric.imex = %s\ncompression.memory = %" PRIu64 "\n",
        p->name, p->source, p->driver_version, p->devices, p->device_name, p->device_memory, p->device_reserved, p->host_nodes,
        p->host_memory, p->device_granularity[0], p->device_granularity[1], p->host_granularity[0],
        p->host_granularity[1], p->multicast_granularity[0], p->multicast_granularity[1], p->va_start,
        p->va_end, p->va_granularity, p->va_chunk, p->va_context,
        p->va_alignment_max, p->va_hint_max,
        p->partial_map ? "yes" : "no", p->imex ? "yes" : "no", p->compression_memory);
    const char *lead = "va.taken = ";
    for (int i = 0; i < SIM_MAX_TAKEN && p->va_taken[i].end; i++) {
        used += (size_t)snprintf(text + used, size - used, "%s0x%" PRIx64 "-%" PRIu64, lead, p->va_taken[i].start,
                                 p->va_taken[i].end);
        lead = ",";
    }
    used += (size_t)snprintf(text + used, size - used, "\n%s%s%s", p->clusters[0] ? "device.clusters = " : "", p->clusters,
                             p->clusters[0] ? "\n" : "");
    lead = "peers = ";
    for (int i = 0; i < p->devices; i++)
        for (int j = i + 1; j < p->devices; j++)
            if (p->peers[i] >> j & 1) {
                used += (size_t)snprintf(text + used, size - used, "%s%d-%d", lead, i, j);
                lead = ",";
            }
    for (int i = 0; i < p->attributes; i++)
        used += (size_t)snprintf(text + used, size - used, "\nattribute.%d = %d", p->attribute[i].attribute,
                                 p->attribute[i].value);
}

static void test_builtin(void)
{
    size_t count = 0;
    for (; sim_profile_builtin_name(count); count++) {
        const char *name = sim_profile_builtin_name(count);
        struct sim_profile profile, again;
        char text[4096];
        must_parse(sim_profile_builtin_text(count), &profile, name);
        tap_text(profile.name, name, "%s has its name", name);
        tap_ok(strlen(profile.source) > 10 && !strstr(profile.source, "user"), "%s names its source", name);
        memset(&again, 0, sizeof again);
        tap_ok(sim_profile_builtin(name, &again) && memcmp(&again, &profile, sizeof again) == 0, "%s by name", name);
        write_profile(&profile, text, sizeof text);
        must_parse(text, &again, "the profile, written and read again");
        tap_ok(memcmp(&again, &profile, sizeof again) == 0, "%s survives the round trip", name);
    }
    tap_u64(count, 9, "nine built-in profiles");
    tap_ok(!sim_profile_builtin_name(count + 1) && !sim_profile_builtin_name(SIZE_MAX), "and none behind the first that "
        "is missing");
    tap_ok(!sim_profile_builtin_text(count) && !sim_profile_builtin_text(SIZE_MAX), "no profile after the last");
    struct sim_profile untouched, before;
    memset(&untouched, 0x5A, sizeof untouched);
    before = untouched;
    tap_ok(!sim_profile_builtin("h1000", &untouched) && memcmp(&untouched, &before, sizeof before) == 0,
           "an unknown name finds no profile");
}

static int attribute(const struct sim_profile *profile, int number)
{
    int value = -99;
    sim_profile_attribute(profile, number, &value);
    return value;
}

static void test_recorded_machines(void)
{
    struct sim_profile h100, h200;
    if (!sim_profile_builtin("h100", &h100) || !sim_profile_builtin("h200x2", &h200))
        tap_bail("no recorded profile");
    tap_text(h100.device_name, "NVIDIA H100 80GB HBM3", "name of the H100");
    tap_u64(h100.device_memory, UINT64_C(85017493504), "memory of the H100");
    tap_text(h200.device_name, "NVIDIA H200", "name of the H200");
    tap_u64(h200.device_memory, UINT64_C(150109880320), "memory of the H200");
    static const int recorded[][3] = {{102, 1, 1}, {103, 1, 1}, {104, 0, 0}, {105, 0, 0}, {107, 1, 1}, {110, 1, 1},
                                      {116, 1, 1}, {128, 1, 1}, {132, 0, 1}, {134, 0, 0}, {141, 1, 1}, {145, 1, 1},
                                      {143, 0, 0}, {124, 1, 1}, {41, 1, 1},  {88, 0, 0},  {100, 0, 0}, {89, 1, 1},
                                      {112, 1, 1},
                                      /* those that differ */
                                      {36, 2619000, 3201000}, {37, 5120, 6016}, {38, 52428800, 62914560},
                                      {108, 32768000, 39321600}, {139, 590352606, 590680286}, {140, 381751518, 415174878}};
    for (size_t i = 0; i < sizeof recorded / sizeof recorded[0]; i++)
        tap_ok(attribute(&h100, recorded[i][0]) == recorded[i][1] && attribute(&h200, recorded[i][0]) == recorded[i][2],
               "attribute %d as recorded on both", recorded[i][0]);
    tap_ok(h200.devices == 2 && h200.peers[0] == 2 && h200.peers[1] == 1, "the two H200 are peers");
    struct sim_profile one;
    tap_ok(sim_profile_builtin("h200", &one) && one.devices == 1 && !one.peers[0] && one.device_memory == h200.device_memory && !attribute(&one, 132) &&
               attribute(&one, 37) == 6016,
           "one of them alone, as recorded, has no multicast");
    tap_ok(!h100.imex && !h200.imex && !h100.partial_map, "neither has an IMEX channel or partial maps");
}

/* Facts about the unrecorded machines on which documentation and other tests rely. */
static void test_other_machines(void)
{
    static const uint64_t mib = UINT64_C(1) << 20, gib = UINT64_C(1) << 30, own = UINT64_C(0x100000000000);
    static const struct {
        const char *name;
        uint64_t devices, peers_of_0, memory, compression, host_nodes, host_memory, start, end, granularity, chunk;
    } is[] = {
        {"gb200x4", 4, 14, 184 * gib, 184 * gib, 2, 480 * gib, 0x302000000, 0x7ffffe000000, 2 * mib, 32 * mib},
        {"min", 1, 0, gib, 0, 0, 0, own, 0x600000000000, 2 * mib, 0},
        {"max", 8, 254, 256 * gib, 256 * gib, 2, 0, own, 0x600000000000, 2 * mib, 0},
        {"large", 4, 2, 192 * gib, 96 * gib, 2, 512 * gib, own, 0x600000000000, 4 * mib, 0},
        {"h200x4", 4, 14, UINT64_C(150109880320), UINT64_C(150109880320), 1, 0, 0x602000000, 0x7ffffe000000, 2 * mib, 32 * mib},
        {"odd", 3, 2, 48 * mib, 16 * mib, 1, 32 * mib, own, 0x100010000000, mib / 16, 0}};
    for (size_t i = 0; i < sizeof is / sizeof *is; i++) {
        struct sim_profile p;
        if (!sim_profile_builtin(is[i].name, &p))
            tap_bail("no profile %s", is[i].name);
        tap_ok((uint64_t)p.devices == is[i].devices && p.peers[0] == is[i].peers_of_0 && p.device_memory == is[i].memory &&
                   p.compression_memory == is[i].compression && (uint64_t)p.host_nodes == is[i].host_nodes &&
                   (!is[i].host_memory || p.host_memory == is[i].host_memory),
               "%s: devices and memory", p.name);
        tap_ok(p.va_start == is[i].start && p.va_end == is[i].end && p.va_granularity == is[i].granularity &&
                   p.va_chunk == is[i].chunk && !p.va_context == !is[i].chunk && !p.va_taken[0].end == !is[i].chunk,
               "%s: addresses", p.name);
    }
}

/* On `large` no two granularities are equal, and the usual 2 MiB is used only where it cannot matter. */
static void test_large(void)
{
    struct sim_profile p;
    if (!sim_profile_builtin("large", &p))
        tap_bail("no profile large");
    const uint64_t all[] = {p.device_granularity[0], p.device_granularity[1], p.host_granularity[0], p.host_granularity[1],
                            p.multicast_granularity[0], p.multicast_granularity[1]};
    unsigned equal = 0;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        for (size_t j = 0; j < i; j++)
            equal += all[i] == all[j];
    tap_ok(!equal && all[0] == UINT64_C(4) << 20 && all[5] == UINT64_C(256) << 20 && p.va_granularity == all[0],
           "large: %u granularities are equal", equal);
}

/* Attributes of the recorded machines are those of the profile that was written with each recording. */
static void test_recorded_attributes(void)
{
    static const char *const names[] = {"h100", "h200x2", "h200x4"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        char path[100], line[200];
        struct sim_profile p;
        unsigned seen = 0, wrong = 0;
        int number, value;
        snprintf(path, sizeof path, "conformance/recorded/recordings/%s-580.159.04/profile", names[i]);
        FILE *file = fopen(path, "r");
        if (!file || !sim_profile_builtin(names[i], &p))
            tap_bail("no profile %s, or no file %s", names[i], path);
        while (fgets(line, sizeof line, file))
            if (sscanf(line, "attribute.%d = %d", &number, &value) == 2) {
                seen++;
                wrong += attribute(&p, number) != value;
            }
        fclose(file);
        tap_ok(seen >= 20 && !wrong, "%s: %u attributes, %u of them not as recorded", names[i], seen, wrong);
    }
}

static void test_other_attributes(void)
{
    static const char *const names[] = {"gb200x4", "min", "max", "odd"};
    static const char *const devices[] = {"NVIDIA GB200", "cuvmm minimal device", "cuvmm maximal device", "cuvmm odd device"};
    static const int attributes[][5] = {
        {16, 152, 132, 132, 132}, {75, 10, 9, 9, 9}, {88, 1, 0, 0, 0},   {89, 1, 0, 1, 1},  {100, 1, 0, 0, 0}, {102, 1, 1, 1, 1},
        {103, 1, 0, 1, 1},        {107, 1, 0, 1, 1}, {110, 1, 0, 1, 1},  {112, 1, 0, 1, 1}, {116, 1, 0, 1, 1}, {124, 1, 0, 1, 1},
        {128, 1, 0, 1, 1},        {132, 1, 0, 1, 1}, {134, 0, -1, 0, 0}, {141, 1, 0, 1, 1}, {143, 1, 0, 1, 0}, {145, 1, 0, 1, 1}};
    for (size_t i = 0; i < 4; i++) {
        struct sim_profile p;
        unsigned wrong = 0;
        if (!sim_profile_builtin(names[i], &p))
            tap_bail("no profile %s", names[i]);
        for (size_t j = 0; j < sizeof attributes / sizeof *attributes; j++)
            if (attribute(&p, attributes[j][0]) != attributes[j][1 + i]) {
                tap_note("attribute %d is %d", attributes[j][0], attribute(&p, attributes[j][0]));
                wrong++;
            }
        tap_u64(wrong, 0, "%s: the expected values", p.name);
        tap_text(p.device_name, devices[i], "%s: its device name", p.name);
        tap_ok(p.imex == (i == 0 || i == 2) && p.partial_map == (i == 2), "%s: IMEX channel and partial maps", p.name);
    }
}

/* ---- files ---- */

static void write_file(const char *path, const char *text, size_t length)
{
    FILE *file = fopen(path, "wb");
    if (!file || fwrite(text, 1, length, file) != length || fclose(file))
        tap_bail("cannot write %s", path);
}

/* It exists, but cannot be opened. */
static void test_socket(const char *folder)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    struct sim_profile profile;
    snprintf(name.sun_path, sizeof name.sun_path, "%s/socket", folder);
    int own = socket(AF_UNIX, SOCK_STREAM, 0);
    if (own < 0 || bind(own, (const struct sockaddr *)&name, sizeof name))
        tap_bail("no socket");
    tap_result(sim_profile_read(name.sun_path, &profile, NULL), VMM_ERROR_OPERATING_SYSTEM, "a socket");
    close(own);
    unlink(name.sun_path);
}

/* Opened as descriptor 0, which a program may have closed. */
static void test_first_descriptor(const char *path)
{
    struct sim_profile profile;
    int kept = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    errno = ENOENT; /* of something before */
    tap_result(sim_profile_read(path, &profile, NULL), VMM_SUCCESS, "a file is read as descriptor 0");
    tap_ok(fcntl(STDIN_FILENO, F_GETFD) < 0, "and closed");
    if (kept >= 0 && (dup2(kept, STDIN_FILENO) != STDIN_FILENO || close(kept)))
        tap_bail("no standard input");
}

static void test_files(void)
{
    char folder[] = "profile_test.XXXXXX", path[64], pipe[64], big[64];
    struct sim_profile profile;
    struct sim_profile_error error = {0, 0, "", ""};
    if (!mkdtemp(folder))
        tap_bail("cannot create a folder");
    snprintf(path, sizeof path, "%s/p", folder);
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    snprintf(big, sizeof big, "%s/big", folder);
    write_file(path, "base = odd\nname = file", 22);
    tap_result(sim_profile_read(path, &profile, &error), VMM_SUCCESS, "a file is read");
    tap_text(profile.name, "file", "the profile has the file's name");
    test_first_descriptor(path);
    write_file(path, "base = odd\nnome = file", 22);
    tap_result(sim_profile_read(path, &profile, &error), VMM_ERROR_INVALID_VALUE, "a file with an error");
    tap_ok(error.line == 2 && error.column == 1, "the error has its position");
    write_file(path, "", 0);
    tap_result(sim_profile_read(path, &profile, &error), VMM_ERROR_INVALID_VALUE, "an empty file is refused: %s", error.text);
    write_file(path, "base = odd\nnome = file", 22);
    char spec[80];
    vmm_system *sys = NULL;
    snprintf(spec, sizeof spec, "sim:%s", path);
    tap_ok(vmm_open(spec, &sys) == VMM_ERROR_INVALID_VALUE &&
               strstr(vmm_last_detail()->note, ":2:1: expected a key of a profile") &&
               strstr(vmm_last_detail()->note, "; the line is 'nome = file'"),
           "vmm_open reports the position: %s", vmm_last_detail()->note);
    tap_text(profile.name, "file", "the earlier profile is unchanged");
    tap_result(sim_profile_read("no/such/file", &profile, &error), VMM_ERROR_NOT_FOUND, "a missing file");
    tap_ok(error.line == 0 && error.column == 0 && !strcmp(error.text, "cannot be opened: No such file or directory"),
           "there is no position, but a reason: %s", error.text);
    snprintf(pipe, sizeof pipe, "%s/p/p", folder);
    tap_result(sim_profile_read(pipe, &profile, NULL), VMM_ERROR_NOT_FOUND, "a path through a pipe is not found");
    snprintf(pipe, sizeof pipe, "%s/pipe", folder);
    error = (struct sim_profile_error){7, 7, "", ""};
    tap_result(sim_profile_read(folder, &profile, &error), VMM_ERROR_OPERATING_SYSTEM, "a folder");
    tap_ok(!error.line && !error.column && !strcmp(error.text, "cannot be read: not a regular file"),
           "a folder is not a file: %s",
           error.text);
    vmm_result result = sim_profile_read("/proc/self/mem", &profile, &error); /* a regular file that cannot be read at offset 0 */
    tap_ok(result == VMM_ERROR_NOT_FOUND ||
               (result == VMM_ERROR_OPERATING_SYSTEM && !strncmp(error.text, "cannot be read: ", 16) && strstr(error.text, strerror(EIO))),
           "a file that cannot be read: %s", error.text);
    if (mkfifo(pipe, 0600) == 0)
        tap_result(sim_profile_read(pipe, &profile, NULL), VMM_ERROR_OPERATING_SYSTEM, "a pipe does not hang");
    test_socket(folder);
    char *text = calloc(1, (1 << 20) + 1);
    if (!text)
        tap_bail("no memory");
    memset(text, '\n', (1 << 20) + 1);
    write_file(big, text, (1 << 20) + 1);
    tap_result(sim_profile_read(big, &profile, &error), VMM_ERROR_INVALID_VALUE, "a file of more than 1 MiB");
    tap_text(error.text, "not a profile: larger than 1 MiB", "with the reason");
    memcpy(text, "base = odd", 10);
    write_file(big, text, 1 << 20);
    tap_result(sim_profile_read(big, &profile, &error), VMM_SUCCESS, "a file of 1 MiB is read");
    tap_text(profile.name, "odd-custom", "whole");
    free(text);
    unlink(path);
    unlink(pipe);
    unlink(big);
    tap_ok(rmdir(folder) == 0, "nothing is left behind");
}

/* sim_profile_has: listed, and not 0. */
static void has(void)
{
    struct sim_profile profile = {.attributes = 3, .attribute = {{11, 0}, {12, 1}, {13, -1}}};
    tap_ok(!sim_profile_has(&profile, 10) && !sim_profile_has(&profile, 11),
           "an attribute that is missing or 0 counts as absent");
    tap_ok(sim_profile_has(&profile, 12) && sim_profile_has(&profile, 13), "other values it has, below 0 too");
}

int main(void)
{
    has();
    test_bad_texts();
    test_bytes_that_are_no_text();
    test_many_attributes();
    test_random_texts();
    test_values();
    test_edges();
    test_longest_texts();
    test_required_keys();
    test_misspelt_keys();
    test_quotes();
    test_places_of_a_base();
    test_layout_of_a_text();
    test_base_and_defaults();
    test_builtin();
    test_other_machines();
    test_large();
    test_recorded_attributes();
    test_other_attributes();
    test_recorded_machines();
    test_files();
    return tap_done();
}

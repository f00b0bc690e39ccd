/* SPDX-License-Identifier: Apache-2.0 */
#include "factcheck.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Two lines of the same form with numbers in it that depend on where things lie. */
#define LOW(address) ((address) & (FACTS_G - 1))

static bool same_word(const char *a, const char *b)
{
    size_t length = strcspn(a, " ");
    return length == strcspn(b, " ") && memcmp(a, b, length) == 0;
}

/* "SUCCESS p=7f8a38800000 hint=7f8a38800000 ctz=23" */
static bool same_reservation(const char *recorded, const char *got)
{
    char code[2][32];
    uint64_t p[2], hint[2];
    int zeros[2];
    if (sscanf(recorded, "%31s p=%" SCNx64 " hint=%" SCNx64 " ctz=%d", code[0], &p[0], &hint[0], &zeros[0]) != 4 ||
        sscanf(got, "%31s p=%" SCNx64 " hint=%" SCNx64 " ctz=%d", code[1], &p[1], &hint[1], &zeros[1]) != 4)
        return false;
    if (strcmp(code[0], code[1]) != 0 || !hint[0] != !hint[1] || LOW(hint[0]) != LOW(hint[1]))
        return false;
    if (strcmp(code[0], "SUCCESS") != 0)
        return p[0] == p[1] && zeros[0] == zeros[1];
    return LOW(p[0]) == LOW(p[1]) && (p[0] == hint[0]) == (p[1] == hint[1]);
}

/* "=a=7f8a38800000 b=7f8a39000000 c=7f8a33e00000 b-a=8388608": 4 G, 4 G and G bytes long */
static bool apart(uint64_t a, uint64_t a_size, uint64_t b, uint64_t b_size)
{
    return a < b ? b - a >= a_size : a - b >= b_size;
}

static bool same_sequence(const char *recorded, const char *got)
{
    uint64_t a, b, c;
    (void)recorded;
    return sscanf(got, "=a=%" SCNx64 " b=%" SCNx64 " c=%" SCNx64, &a, &b, &c) == 3 && !LOW(a) && !LOW(b) && !LOW(c) &&
           apart(a, 4 * FACTS_G, b, 4 * FACTS_G) && apart(a, 4 * FACTS_G, c, FACTS_G) &&
           apart(b, 4 * FACTS_G, c, FACTS_G);
}

static bool same_handle(const char *recorded, const char *got)
{
    uint64_t a, b;
    return sscanf(recorded, "=%" SCNx64, &a) == 1 && sscanf(got, "=%" SCNx64, &b) == 1 && !a == !b;
}

/* "SUCCESS off=140231630127104 n/G=2": the offset is the address itself where an output was 0 */
static bool same_offset(const char *recorded, const char *got)
{
    char code[2][32];
    uint64_t off[2];
    const char *rest[2] = {strstr(recorded, " n/G="), strstr(got, " n/G=")};
    if (sscanf(recorded, "%31s off=%" SCNu64, code[0], &off[0]) != 2 ||
        sscanf(got, "%31s off=%" SCNu64, code[1], &off[1]) != 2 || !rest[0] != !rest[1])
        return false;
    return strcmp(code[0], code[1]) == 0 && off[1] >= FACTS_G && LOW(off[0]) == LOW(off[1]) &&
           (!rest[0] || strcmp(rest[0], rest[1]) == 0);
}

static bool same_refusal(const char *recorded, const char *got)
{
    return strcmp(recorded, got) == 0 || strcmp(got, "INVALID_VALUE, by a rule that the driver crashes") == 0;
}

/* "SUCCESS bytes=8 =39f": numbers that name a thing are 0 or not, all before them is equal */
static bool same_name(const char *recorded, const char *got)
{
    const char *last[2] = {strrchr(recorded, ' '), strrchr(got, ' ')};
    if (!last[0] || !last[1] || last[0] - recorded != last[1] - got)
        return false;
    return memcmp(recorded, got, (size_t)(last[0] - recorded)) == 0 &&
           !strtoull(last[0] + 1 + (last[0][1] == '='), NULL, 16) ==
               !strtoull(last[1] + 1 + (last[1][1] == '='), NULL, 16);
}

/* Equal but for hexadecimal numbers of their own: "alias=32 other=33 same=1", where 32 and 33 name things. */
static bool same_but_numbers(const char *recorded, const char *got)
{
    static const char digits[] = "0123456789abcdef", verdict[] = "same=";
    const char *start = recorded;
    const ptrdiff_t length = sizeof verdict - 1;
    while (*recorded && *got) {
        size_t a = strspn(recorded, digits), b = strspn(got, digits);
        bool number = a && b && recorded > start && recorded[-1] == '=';
        if (recorded - start >= length && memcmp(recorded - length, verdict, sizeof verdict - 1) == 0)
            number = false;
        if (!number && *recorded != *got)
            return false;
        recorded += number ? a : 1;
        got += number ? b : 1;
    }
    return *recorded == *got;
}

/* "value=39f same: interior=1 alias=0 other=0": equal from the second word on */
static bool same_value(const char *recorded, const char *got)
{
    const char *a = strchr(recorded, ' '), *b = strchr(got, ' ');
    return a && b && strcmp(a, b) == 0;
}

static bool same_before(const char *recorded, const char *got, const char *where)
{
    const char *end = strstr(recorded, where);
    size_t length = end ? (size_t)(end - recorded) : strlen(recorded);
    return strncmp(recorded, got, length) == 0;
}

/* Equal up to where the addresses begin. */
static bool same_before_at(const char *recorded, const char *got)
{
    return same_before(recorded, got, " at=");
}

static bool same_before_given(const char *recorded, const char *got)
{
    return same_before(recorded, got, " given=");
}

static bool any(const char *recorded, const char *got)
{
    (void)recorded;
    return *got != 0;
}

#define PLACED "addresses are the allocator's choice"
#define NAMED "the number is a name of the thing: not 0, or 0 where the driver says so"

static const struct relation {
    const char *name, *recorded; /* patterns; the first row that fits decides */
    bool (*same)(const char *recorded, const char *got);
    const char *reason;
} relations[] = {
    {"reserve.seq", "*", same_sequence, PLACED ": three ranges that do not overlap"},
    {"reserve.reuse", "*", same_word, PLACED ": the same one again"},
    {"reserve.*", "* p=*", same_reservation,
     PLACED ": code, hint taken or not, alignment at least as asked, output untouched"},
    {"handle.v?", "*", same_handle, "handle values are opaque: not 0, no two alike"},
    {"ptr.*.rangestart", "INVALID_VALUE *", same_offset, "output untouched, so the offset is the address itself"},
    {"ptr.*.mapbase", "INVALID_VALUE *", same_offset, "output untouched, so the offset is the address itself"},
    {"ptr.HOST.addrrange", "*", same_offset, "base is 0, so the offset is the address itself"},
    {"ptr.NUMA0.addrrange", "*", same_offset, "base is 0, so the offset is the address itself"},
    {"*!", "SIGNAL *", same_refusal, "the driver crashes; the simulator refuses and says so"},
    {"A.values", "*", any, "handle values are opaque"},
    {"G.first", "=*", any, PLACED},
    {"G.hint.first+65536G.*", "*", any, PLACED ": above the address space, or not, by where the first lies"},
    {"G.hint.*", "*", same_word, PLACED ": a free hint that the driver does not take may be taken"},
    {"G.sequence", "*", same_before_at, PLACED},
    {"G.place.*", "size=*", same_before_at, PLACED},
    {"G.place.*", "one G after another*", any, PLACED},
    {"G.noctx_hint", "*", same_before_given, PLACED ": a free hint that the driver does not take may be taken"},
    {"G.big_hint", "*", same_before_at, PLACED},
    {"G.align.*", "SUCCESS at=*", same_before_at, PLACED},
    {"G.count.*", "* at=*", same_before_at, PLACED},
    {"G.largest", "* at=*", same_before_at, PLACED},
    {"G.overlap.*", "* at=*", same_before_at, PLACED},
    {"L.place.*", "*", same_before_at, PLACED},
    {"H.overlap.*", "*", same_word, "overlapping copies are undefined; the simulator copies as memmove does"},
    {"I.identity.*", "value=* same:*", same_value, NAMED},
    {"I.identity.*", "* same=? value=*", same_name, NAMED},
    {"I.identity.*", "*", same_but_numbers, NAMED},
    {"I.*.attr7", "SUCCESS *", same_name, NAMED},
    {"I.*.attr20", "SUCCESS *", same_name, NAMED},
    {"J.*.attr1", "SUCCESS *", same_name, NAMED},
    {"J.*.attr7", "SUCCESS *", same_name, NAMED},
    {"J.*.attr20", "SUCCESS *", same_name, NAMED},
    {"I.many_one.cumemalloc.attr1", "SUCCESS *", same_name, NAMED},
    {"I.many_one.cumemalloc.attr3", "SUCCESS *", same_name, PLACED},
    {"I.many_one.cumemalloc.attr11", "SUCCESS *", same_name, PLACED},
    {"I.many_one.cumemalloc.attr19", "SUCCESS *", same_name, PLACED},
    {"J.values", "*", same_but_numbers, PLACED},
};

bool fact_agrees(const char *name, const char *recorded, const char *got, const char **reason)
{
    *reason = NULL;
    for (size_t i = 0; i < sizeof relations / sizeof relations[0]; i++)
        if (fnmatch(relations[i].name, name, 0) == 0 && fnmatch(relations[i].recorded, recorded, 0) == 0) {
            *reason = relations[i].reason;
            return relations[i].same(recorded, got);
        }
    return strcmp(recorded, got) == 0;
}

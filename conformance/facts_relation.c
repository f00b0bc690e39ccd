#include "factcheck.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
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
    return strncmp(recorded, "SIGNAL ", 7) == 0 && strcmp(got, "INVALID_VALUE, by a rule that the driver crashes") == 0;
}

static const struct relation {
    const char *name, *recorded; /* patterns; the first row that fits decides */
    bool (*same)(const char *recorded, const char *got);
    const char *reason;
} relations[] = {
    {"reserve.seq", "*", same_sequence, "addresses are the allocator's choice: three ranges that do not overlap"},
    {"reserve.reuse", "*", same_word, "addresses are the allocator's choice: the same one again"},
    {"reserve.*", "* p=*", same_reservation,
     "addresses are the allocator's choice: code, hint taken or not, alignment at least as asked, output untouched"},
    {"handle.v?", "*", same_handle, "handle values are opaque: not 0, no two alike"},
    {"ptr.*.rangestart", "INVALID_VALUE *", same_offset, "output untouched, so the offset is the address itself"},
    {"ptr.*.mapbase", "INVALID_VALUE *", same_offset, "output untouched, so the offset is the address itself"},
    {"ptr.HOST.addrrange", "*", same_offset, "base is 0, so the offset is the address itself"},
    {"ptr.NUMA0.addrrange", "*", same_offset, "base is 0, so the offset is the address itself"},
    {"*!", "SIGNAL *", same_refusal, "the driver crashes; the simulator refuses and says so"},
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

/* SPDX-License-Identifier: Apache-2.0 */
/* Kernels for pairs, operands for them, and rows of the table. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pairs.h"

/* What a type's operands are taken for in a register: "len" and "bit" are numbers of 32 bits, "ang" and "exp" floats. */
static const char *held_as(const char *type)
{
    if (strcmp(type, "len") == 0 || strcmp(type, "bit") == 0)
        return "b32";
    if (strcmp(type, "ang") == 0 || strcmp(type, "exp") == 0)
        return "f32";
    if (strcmp(type, "tf32") == 0 || strstr(type, "x2"))
        return "b32";
    if (strcmp(type, "u8") == 0 || strcmp(type, "s8") == 0 || strstr(type, "16"))
        return "b16";
    if (strcmp(type, "u32") == 0 || strcmp(type, "s32") == 0)
        return "b32";
    if (strcmp(type, "u64") == 0 || strcmp(type, "s64") == 0)
        return "b64";
    return type;
}

static unsigned append(char *text, unsigned at, const char *line)
{
    return at + (unsigned)snprintf(text + at, PAIR_TEXT - at, "%s\n", line);
}

/* From a word of 64 bits into a register. */
static unsigned take(char *text, unsigned at, const char *type, char name, unsigned place)
{
    const char *held = held_as(type);
    char line[200];
    if (strcmp(held, "pred") == 0)
        snprintf(line, sizeof line, ".reg .pred %%%c; ld.global.b64 %%x, [%%in+%u]; and.b64 %%x, %%x, 1; setp.ne.u64 %%%c, %%x, 0;", name,
                 8 * place, name);
    else if (strcmp(held, "b16") == 0)
        snprintf(line, sizeof line, ".reg .b16 %%%c; ld.global.b64 %%x, [%%in+%u]; cvt.u16.u64 %%%c, %%x;", name, 8 * place, name);
    else if (strcmp(held, "b32") == 0)
        snprintf(line, sizeof line, ".reg .b32 %%%c; ld.global.b64 %%x, [%%in+%u]; cvt.u32.u64 %%%c, %%x;", name, 8 * place, name);
    else if (strcmp(held, "f32") == 0)
        snprintf(line, sizeof line, ".reg .f32 %%%c; ld.global.b64 %%x, [%%in+%u]; cvt.u32.u64 %%w, %%x; mov.b32 %%%c, %%w;", name,
                 8 * place, name);
    else
        snprintf(line, sizeof line, ".reg .%s %%%c; ld.global.b64 %%x, [%%in+%u]; mov.b64 %%%c, %%x;",
                 strcmp(held, "f64") == 0 ? "f64" : "b64", name, 8 * place, name);
    return append(text, at, line);
}

static unsigned declare(char *text, unsigned at, const char *type)
{
    char line[40];
    snprintf(line, sizeof line, ".reg .%s %%d;", held_as(type));
    return append(text, at, line);
}

/* The result as a word of 64 bits, with zeros above it. */
static unsigned give(char *text, unsigned at, const char *type)
{
    const char *held = held_as(type);
    if (strcmp(held, "pred") == 0)
        at = append(text, at, "selp.b64 %x, 1, 0, %d;");
    else if (strcmp(held, "b16") == 0)
        at = append(text, at, "cvt.u64.u16 %x, %d;");
    else if (strcmp(held, "b32") == 0)
        at = append(text, at, "cvt.u64.u32 %x, %d;");
    else if (strcmp(held, "f32") == 0)
        at = append(text, at, "mov.b32 %w, %d; cvt.u64.u32 %x, %w;");
    else
        at = append(text, at, "mov.b64 %x, %d;");
    return append(text, at, "st.global.b64 [%out], %x;");
}

/* Memory of an atomic holds a; in shared memory it is put there and taken back. */
static unsigned memory(const struct pair *pair, char *text, unsigned at, bool before)
{
    bool shared = strstr(pair->name, "shared") != NULL;
    if (before && shared)
        return append(text, at, ".shared .align 8 .b8 s[2048]; mov.u64 %m, s; mad.wide.u32 %m, %t, 8, %m; ld.global.b64 %x, [%in]; "
                                "st.shared.b64 [%m], %x;");
    if (before)
        return append(text, at, pair->second ? "add.u64 %m, %out, 8; ld.global.b64 %x, [%in]; st.global.b64 [%m], %x;" : "add.u64 %m, %out, 8;");
    return shared ? append(text, at, "ld.shared.b64 %x, [%m]; st.global.b64 [%out+8], %x;") : at;
}

void pair_text(const struct pair *pair, char text[PAIR_TEXT])
{
    static const char names[] = "abce";
    unsigned at = append(text, 0, ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 p, .param .u64 r)\n{");
    at = append(text, at, ".reg .b64 %in, %out, %x, %m; .reg .b32 %w, %t, %b0, %n; .reg .pred %q;");
    at = append(text, at, "mov.u32 %t, %tid.x; mov.u32 %b0, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %n, %b0, %n, %t;");
    at = append(text, at, "ld.param.u64 %in, [p]; ld.param.u64 %out, [r]; mad.wide.u32 %in, %n, 32, %in; mad.wide.u32 %out, %n, 16, %out;");
    for (unsigned i = 0; i < 4; i++)
        if (*pair->type[i + 1])
            at = take(text, at, pair->type[i + 1], names[i], i);
    at = memory(pair, text, at, true);
    at = declare(text, at, pair->type[0]);
    at = append(text, at, pair->body);
    at = give(text, at, pair->type[0]);
    at = memory(pair, text, at, false);
    append(text, at, "ret;\n}");
}

/* ---- operands ---- */

static uint64_t mixed(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t name_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (; *name; name++)
        hash = (hash ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    return hash;
}

static const uint64_t wholes[] = {0, 1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 63, 64, 127, 128, 255, 256, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffff,
                                  0x800000, 0xffffff, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 0x100000000,
                                  0x7fffffffffffffff, 0x8000000000000000, 0xfffffffffffffffe, 0xffffffffffffffff};

static uint64_t whole_operand(uint64_t random, unsigned special, unsigned bits)
{
    uint64_t mask = UINT64_MAX >> (64 - bits);
    if (special < sizeof wholes / sizeof wholes[0])
        return wholes[special] & mask;
    uint64_t value = random >> (mixed(random) % bits);
    return (mixed(random + 1) & 1 ? 0 - value : value) & mask;
}

/* Sign, exponent and fraction put together; a special one by its number. */
static uint64_t float_operand(uint64_t random, unsigned special, unsigned exponent, unsigned fraction)
{
    uint64_t top = (UINT64_C(1) << exponent) - 1, middle = top >> 1, ones = (UINT64_C(1) << fraction) - 1, one = middle << fraction;
    uint64_t half_up = one | UINT64_C(1) << (fraction - 1), sign = UINT64_C(1) << (exponent + fraction);
    const uint64_t specials[] = {0, one, half_up, one + (UINT64_C(1) << fraction), one - (UINT64_C(1) << fraction), top << fraction,
                                 top << fraction | UINT64_C(1) << (fraction - 1), top << fraction | 1, 1, ones, UINT64_C(1) << fraction,
                                 (UINT64_C(1) << fraction) | ones, (top << fraction) - 1, one | 1, one - 1, (middle + fraction) << fraction | ones};
    if (special < 32)
        return specials[special / 2] | (special & 1 ? sign : 0);
    uint64_t part = random & ones, s = random >> 63 << (exponent + fraction), place = mixed(random + 2);
    switch (place >> 32 & 7) {
    case 0: return s | part; /* subnormal */
    case 1: return s | (place % (top + 1)) << fraction | part;
    case 2: return s | (place % (top + 1)) << fraction | (part & ~(ones >> 3));
    default: return s | ((middle - fraction / 2 + place % (fraction + 1)) << fraction) | part;
    }
}

/* A float between the limits; special ones among them. */
static uint64_t ranged(uint64_t random, unsigned special, double most)
{
    float value = (float)(((double)(random >> 11) / 0x1p53 * 2 - 1) * most);
    uint32_t bits;
    if (special < 32)
        return float_operand(random, special, 8, 23);
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static uint64_t of_type(const char *type, uint64_t random, unsigned special)
{
    if (strcmp(type, "pred") == 0)
        return random >> 17 & 1;
    if (strcmp(type, "len") == 0)
        return random >> 60 ? random % 70 : whole_operand(random, special, 32);
    if (strcmp(type, "bit") == 0)
        return random % 32;
    if (strcmp(type, "ang") == 0)
        return ranged(random, special, 3.14159);
    if (strcmp(type, "exp") == 0)
        return ranged(random, special, 140);
    if (strstr(type, "x2")) {
        bool b = type[0] == 'b';
        uint64_t low = float_operand(random, special % 48, b ? 8 : 5, b ? 7 : 10), high = float_operand(mixed(random), (special + 5) % 64, b ? 8 : 5, b ? 7 : 10);
        return low | high << 16;
    }
    if (strcmp(type, "f16") == 0)
        return float_operand(random, special, 5, 10);
    if (strcmp(type, "bf16") == 0)
        return float_operand(random, special, 8, 7);
    if (strcmp(type, "f32") == 0)
        return float_operand(random, special, 8, 23);
    if (strcmp(type, "f64") == 0)
        return float_operand(random, special, 11, 52);
    return whole_operand(random, special, strstr(type, "64") ? 64 : strstr(type, "16") ? 16 : strstr(type, "8") ? 8 : 32);
}

/* In the first tuples and in a third of the others an operand is special, each with another step through the specials. */
uint64_t pair_operand(const struct pair *pair, unsigned tuple, unsigned i)
{
    static const unsigned steps[] = {1, 5, 11, 17};
    uint64_t random = mixed(name_of(pair->type[i + 1]) + mixed(tuple * 4u + i + 1));
    bool special = tuple < PAIR_SHOWN / 2 || random % 3 == 0;
    unsigned which = tuple < PAIR_SHOWN ? (tuple * steps[i] + i * 3) % 33 : (unsigned)(random >> 20) % 33;
    uint64_t value = of_type(pair->type[i + 1], mixed(random), special ? which : 99);
    return pair->divides && i == 1 && !value ? 1 : value;
}

/* ---- rows ---- */

static uint64_t plain_half(uint64_t bits, bool b)
{
    uint64_t magnitude = bits & 0x7fff;
    return magnitude > (b ? 0x7f80u : 0x7c00u) ? 0x7fff : bits;
}

uint64_t pair_plain(const struct pair *pair, uint64_t bits)
{
    const char *type = pair->type[0];
    if (strstr(type, "x2"))
        return plain_half(bits & 0xffff, type[0] == 'b') | plain_half(bits >> 16 & 0xffff, type[0] == 'b') << 16;
    if (strcmp(type, "f16") == 0 || strcmp(type, "bf16") == 0)
        return plain_half(bits, type[0] == 'b');
    if (strcmp(type, "f32") == 0 || strcmp(type, "tf32") == 0)
        return (bits & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : bits;
    if (strcmp(type, "f64") == 0)
        return (bits & INT64_MAX) > UINT64_C(0x7ff0000000000000) ? UINT64_C(0x7ff8000000000000) : bits;
    return bits;
}

static uint64_t memory_of(const struct pair *pair, uint64_t bits)
{
    const char *type = pair->type[0];
    unsigned width = strstr(type, "64") ? 64 : strstr(type, "16") && !strstr(type, "x2") ? 16 : 32;
    return pair_plain(pair, bits & (UINT64_MAX >> (64 - width)));
}

size_t pair_row(const struct pair *pair, const uint64_t *results, char *line, size_t size)
{
    size_t at = (size_t)snprintf(line, size, "%s\t%s", pair->name, pair->type[0]);
    for (unsigned i = 0; i < PAIR_SHOWN; i++) {
        at += (size_t)snprintf(line + at, size - at, "%c%" PRIx64, i ? ' ' : '\t', pair_plain(pair, results[2 * i]));
        if (pair->second)
            at += (size_t)snprintf(line + at, size - at, "/%" PRIx64, memory_of(pair, results[2 * i + 1]));
    }
    for (unsigned k = 0; k < PAIR_HASHES && pair->near == PAIR_EXACT; k++) {
        uint64_t hash = 0;
        for (unsigned i = PAIR_SHOWN + k * PAIR_HASHED; i < PAIR_SHOWN + (k + 1) * PAIR_HASHED; i++) {
            hash = mixed(hash + pair_plain(pair, results[2 * i]) + 1);
            if (pair->second)
                hash = mixed(hash + memory_of(pair, results[2 * i + 1]) + 2);
        }
        at += (size_t)snprintf(line + at, size - at, "%c%016" PRIx64, k ? ' ' : '\t', hash);
    }
    return at;
}

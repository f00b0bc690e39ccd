/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that a script writes or compares with. See values.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"
#include "values.h"

static const char hint[] = "bytes are \"text\", hex:00ff..., byte:VALUE:SIZE or pattern:SEED:SIZE";

static int hex(char c)
{
    const char *digits = "0123456789abcdef";
    char low = c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c;
    const char *found = low ? strchr(digits, low) : NULL;
    return found ? (int)(found - digits) : -1;
}

static bool hex_bytes(const struct word *word, unsigned char **bytes, uint64_t *size, struct words_error *error)
{
    size_t length = strlen(word->text) - 4;
    for (size_t i = 0; i < length; i++)
        if (hex(word->text[4 + i]) < 0)
            return value_fail(error, word, 4 + i, "\"%.1s\" is no hexadecimal digit", word->text + 4 + i);
    if (length == 0 || length % 2)
        return value_fail(error, word, 4, "%zu hexadecimal digits; every byte has two", length);
    *size = length / 2;
    *bytes = text_grow(NULL, length / 2);
    for (size_t i = 0; i < length / 2; i++)
        /* analysers: clang-analyzer-core.UndefinedBinaryOperatorResult is wrong: no digit is below 0, as was asked above */
        (*bytes)[i] = (unsigned char)(hex(word->text[4 + 2 * i]) << 4 | hex(word->text[5 + 2 * i]));
    return true;
}

/* NAME:A:SIZE, both numbers. */
static bool two_numbers(const struct value_env *env, const struct word *word, size_t from, uint64_t *first,
                        uint64_t *size, struct words_error *error)
{
    char *colon = strchr(word->text + from, ':');
    if (!colon)
        return value_fail(error, word, 0, "\"%.40s\" lacks its size; %s", word->text, hint);
    struct word rest = *word, head = *word;
    size_t at = (size_t)(colon - word->text) + 1;
    rest.text += at;
    rest.column += (int)at;
    head.text += from;
    head.column += (int)from;
    *colon = 0;
    bool ok = value_number(env, &head, first, error);
    *colon = ':';
    if (!ok || !value_number(env, &rest, size, error))
        return false;
    if (*size > VALUE_BYTES_MAX)
        return value_fail(error, word, at, "%" PRIu64 " bytes; a script holds at most 64MiB at a time (fill can do more)",
                          *size);
    return true;
}

static void make_pattern(unsigned char *bytes, uint64_t size, uint64_t seed)
{
    for (uint64_t i = 0; i < size; i++) {
        uint64_t x = (i / 8 + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ seed * UINT64_C(0xbf58476d1ce4e5b9);
        x ^= x >> 31;
        x *= UINT64_C(0x94d049bb133111eb);
        bytes[i] = (unsigned char)((x ^ x >> 29) >> (i % 8 * 8));
    }
}

bool value_bytes(const struct value_env *env, const struct word *word, unsigned char **bytes, uint64_t *size,
                 struct words_error *error)
{
    uint64_t first, length;
    if (word->quoted) {
        *size = strlen(word->text);
        *bytes = text_grow(NULL, (size_t)*size);
        memcpy(*bytes, word->text, (size_t)*size);
        return true;
    }
    if (strncmp(word->text, "hex:", 4) == 0)
        return hex_bytes(word, bytes, size, error);
    bool pattern = strncmp(word->text, "pattern:", 8) == 0;
    if (!pattern && strncmp(word->text, "byte:", 5) != 0)
        return value_fail(error, word, 0, "\"%.40s\" where bytes are expected; %s", word->text, hint);
    if (!two_numbers(env, word, pattern ? 8 : 5, &first, &length, error))
        return false;
    if (!pattern && first > 255)
        return value_fail(error, word, 5, "%" PRIu64 " is no byte; 0 to 255 are", first);
    *size = length;
    *bytes = text_grow(NULL, (size_t)length);
    if (pattern)
        make_pattern(*bytes, length, first);
    else
        memset(*bytes, (int)first, (size_t)length);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* json_check.h - for tests: is a text a single JSON value according to RFC 8259? Shares no code with the writer. */
#ifndef CUVMM_LAYERS_JSON_CHECK_H
#define CUVMM_LAYERS_JSON_CHECK_H

#include <stdbool.h>
#include <string.h>

static bool json_check_value(const char **at, const char *end, int depth);

static inline void json_check_blank(const char **at, const char *end)
{
    while (*at < end && (**at == ' ' || **at == '\t' || **at == '\n' || **at == '\r'))
        ++*at;
}

static inline bool json_check_char(const char **at, const char *end, char c)
{
    if (*at == end || **at != c)
        return false;
    ++*at;
    return true;
}

static inline bool json_check_text(const char **at, const char *end)
{
    if (!json_check_char(at, end, '"'))
        return false;
    while (*at < end && **at != '"') {
        unsigned char c = (unsigned char)*(*at)++;
        if (c < 0x20 || c > 0x7E)
            return false;
        if (c != '\\')
            continue;
        if (*at == end)
            return false;
        if (**at != 'u') {
            if (!strchr("\"\\/bfnrt", *(*at)++))
                return false;
            continue;
        }
        ++*at;
        for (int i = 0; i < 4; i++)
            if (*at == end || !strchr("0123456789abcdefABCDEF", *(*at)++))
                return false;
    }
    return json_check_char(at, end, '"');
}

static inline bool json_check_number(const char **at, const char *end)
{
    const char *start = *at;
    if (*at < end && **at == '-')
        ++*at;
    const char *digits = *at;
    while (*at < end && **at >= '0' && **at <= '9')
        ++*at;
    return *at > start && *at > digits && (*digits != '0' || *at == digits + 1);
}

/* "{...}" or "[...]" */
static inline bool json_check_group(const char **at, const char *end, int depth)
{
    bool object = *(*at)++ == '{';
    char close = object ? '}' : ']';
    json_check_blank(at, end);
    if (json_check_char(at, end, close))
        return true;
    do {
        json_check_blank(at, end);
        if (object && !json_check_text(at, end))
            return false;
        json_check_blank(at, end);
        if (object && !json_check_char(at, end, ':'))
            return false;
        if (!json_check_value(at, end, depth + 1))
            return false;
        json_check_blank(at, end);
    } while (json_check_char(at, end, ','));
    return json_check_char(at, end, close);
}

static bool json_check_value(const char **at, const char *end, int depth)
{
    static const char *const words[] = {"null", "true", "false"};
    json_check_blank(at, end);
    if (*at == end || depth > 32)
        return false;
    if (**at == '{' || **at == '[')
        return json_check_group(at, end, depth);
    if (**at == '"')
        return json_check_text(at, end);
    for (int i = 0; i < 3; i++)
        if ((size_t)(end - *at) >= strlen(words[i]) && memcmp(*at, words[i], strlen(words[i])) == 0) {
            *at += strlen(words[i]);
            return true;
        }
    return json_check_number(at, end);
}

static inline bool json_check(const char *text, size_t length)
{
    const char *at = text, *end = text + length;
    if (!json_check_value(&at, end, 0))
        return false;
    json_check_blank(&at, end);
    return at == end;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "path_pattern.h"

#include <stdio.h>
#include <string.h>

bool path_pattern_is_own(const char *pattern)
{
    for (const char *at = strchr(pattern, '%'); at && at[1]; at = strchr(at + 2, '%'))
        if (at[1] == 'p')
            return true;
    return false;
}

const char *path_pattern_wrong(const char *pattern, char *why, size_t size)
{
    for (const char *at = strchr(pattern, '%'); at; at = strchr(at + 2, '%'))
        if (at[1] != 'p' && at[1] != '%') {
            snprintf(why, size, "\"%.60s\" has %%%.1s%s; write %%p for the number of the process, %%%% for a percent sign",
                     pattern, at + 1, at[1] ? "" : " at its end");
            return why;
        }
    return NULL;
}

/* Adds as much as fits; the length is what all of it needs. */
static size_t add(char *path, size_t size, size_t length, const char *text, size_t count)
{
    if (length < size) {
        size_t fits = count < size - length ? count : size - length - 1;
        memcpy(path + length, text, fits);
        path[length + fits] = '\0';
    }
    return length + count;
}

bool path_pattern(const char *pattern, long process, char *path, size_t size)
{
    char number[24];
    size_t length = add(path, size, 0, "", 0);
    int digits = snprintf(number, sizeof number, "%ld", process);
    while (*pattern) {
        size_t plain = strcspn(pattern, "%");
        length = add(path, size, length, pattern, plain);
        pattern += plain;
        if (!*pattern)
            break;
        if (pattern[1] == 'p')
            length = add(path, size, length, number, (size_t)digits);
        else
            length = add(path, size, length, "%", 1);
        pattern += 2;
    }
    return length < size;
}

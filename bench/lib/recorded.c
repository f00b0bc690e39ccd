/* SPDX-License-Identifier: Apache-2.0 */
#include "recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BENCH_TIMES
#define BENCH_TIMES "conformance/recorded/facts/times.tsv"
#endif

/* The line's figures, after "MACHINE<tab>lat.2M<tab>"; false if there is none. */
static bool find_line(const char *machine, char *figures, int size)
{
    char key[64];
    bool found = false;
    FILE *file = fopen(BENCH_TIMES, "r");
    int length = snprintf(key, sizeof key, "%s\tlat.2M\t", machine);
    while (file && !found && fgets(figures, size, file))
        found = strncmp(figures, key, (size_t)length) == 0;
    if (file)
        fclose(file);
    return found;
}

double recorded_call(const char *machine, const char *call)
{
    char line[512], key[64];
    if (!find_line(machine, line, sizeof line))
        return 0;
    int length = snprintf(key, sizeof key, "%s=", call);
    for (char *word = strtok(line, "\t "); word; word = strtok(NULL, "\t "))
        if (strncmp(word, key, (size_t)length) == 0)
            return strtod(word + length, NULL);
    return 0;
}

double recorded_life(const char *machine)
{
    static const char *const calls[] = {"reserve", "create", "map", "setaccess", "unmap", "release", "free"};
    double sum = 0;
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        sum += recorded_call(machine, calls[i]);
    return sum;
}

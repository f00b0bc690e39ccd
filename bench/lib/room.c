/* SPDX-License-Identifier: Apache-2.0 */
#include "room.h"

#include <stdio.h>
#include <unistd.h>

uint64_t resident(void)
{
    unsigned long long total, pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    if (fscanf(file, "%llu %llu", &total, &pages) != 2)
        pages = 0;
    fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

double room_of_mappings(struct live *live, const char *spec, uint64_t count)
{
    struct live one;
    live_open(&one, spec, 1, UINT64_C(2) << 20); /* allocate what any machine needs before measuring */
    live_close(&one);
    uint64_t before = resident();
    live_open(live, spec, count, UINT64_C(2) << 20);
    uint64_t after = resident();
    return after > before ? (double)(after - before) / (double)count : 0;
}

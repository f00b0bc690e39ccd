/* SPDX-License-Identifier: Apache-2.0 */
#include "aims.h"

bool aims_open(struct aims *aims, const char *path)
{
    *aims = (struct aims){.path = path};
    return !path || results_read(&aims->before, path, stderr);
}

bool aims_close(const struct aims *aims)
{
    return !aims->path || results_write(&aims->now, aims->path, stderr);
}

void aims_ratio(struct aims *aims, const char *name, double value, enum aim better, const char *unit)
{
    const double *before = results_find(&aims->before, name);
    results_add(&aims->now, name, value, better);
    printf(" %9.2f %s", value, unit);
    if (before)
        printf(", was %.2f", *before);
    putchar('\n');
}

void aims_wanted(struct aims *aims, const char *name, double value, enum aim which, double aim)
{
    const bool good = which == AIM_LEAST ? value >= aim : value <= aim;
    char wanted[64] = "(no aim)";
    if (aim > 0)
        snprintf(wanted, sizeof wanted, "(at %s %g: %s)", which == AIM_LEAST ? "least" : "most", aim, good ? "reached" : "missed");
    printf("  %-44s", name);
    aims_ratio(aims, name, value, which, wanted);
}

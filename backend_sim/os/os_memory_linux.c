/* SPDX-License-Identifier: Apache-2.0 */
#include "os_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix.h"

enum { PATH = 512 };

/* The files of a control group, in versions 1 and 2. */
struct form {
    const char *mount, *limit, *used, *dropped[2];
};

static const struct form forms[] = {
    {"/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file ", "total_active_file "}},
    {"/sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file ", "active_file "}}};

static FILE *file_of(const struct form *form, const char *group, const char *name)
{
    char path[2 * PATH];
    snprintf(path, sizeof path, "%s%s/%s", form->mount, group, name);
    return posix.fopen(path, "re");
}

/* Reads a number; false when there is none, for example when the file says "max". */
static bool number_in(const struct form *form, const char *group, const char *name, uint64_t *number)
{
    FILE *file = file_of(form, group, name);
    bool read = file && fscanf(file, "%" SCNu64, number) == 1;
    if (file)
        fclose(file);
    return read;
}

static uint64_t droppable(const struct form *form, const char *group)
{
    char line[128];
    uint64_t sum = 0;
    FILE *file = file_of(form, group, "memory.stat");
    while (file && fgets(line, sizeof line, file))
        for (int i = 0; i < 2; i++)
            if (strncmp(line, form->dropped[i], strlen(form->dropped[i])) == 0)
                sum += strtoull(line + strlen(form->dropped[i]), NULL, 10);
    if (file)
        fclose(file);
    return sum;
}

/* How much memory a group may still use; UINT64_MAX when it has no limit. */
static uint64_t left_in(const struct form *form, const char *group, uint64_t *most)
{
    const uint64_t none = UINT64_C(1) << 60; /* a limit beyond any machine's memory counts as none */
    uint64_t used;
    if (!number_in(form, group, form->limit, most) || *most > none || !number_in(form, group, form->used, &used))
        return UINT64_MAX;
    uint64_t dropped = droppable(form, group), taken = used > dropped ? used - dropped : 0;
    return *most > taken ? *most - taken : 0;
}

/* The minimum over the group and its enclosing groups. In a container the path may be invisible; then the container's own group
 * is the root. */
static void look_at(const struct form *form, char *group, uint64_t *left, uint64_t *limit)
{
    for (bool more = true; more;) {
        uint64_t most, here = left_in(form, group, &most);
        if (here < *left) {
            *left = here;
            *limit = most;
        }
        char *slash = strrchr(group, '/');
        more = slash != NULL;
        if (slash)
            *slash = '\0';
    }
}

/* The path in "4:memory:/a/b" or "0::/a/b"; NULL for a line of another form. */
static char *group_in(char *line, const struct form *form)
{
    char *kind = strchr(line, ':'), *path = kind ? strchr(kind + 1, ':') : NULL;
    if (!path)
        return NULL;
    *path++ = '\0';
    path[strcspn(path, "\n")] = '\0';
    bool first = form == &forms[0];
    return strcmp(kind + 1, first ? "memory" : "") == 0 && strlen(path) < PATH ? path : NULL;
}

uint64_t os_memory_left(uint64_t *limit)
{
    char line[PATH + 64], copy[PATH + 64];
    uint64_t left = UINT64_MAX;
    FILE *groups = posix.fopen("/proc/self/cgroup", "re");
    *limit = UINT64_MAX;
    while (groups && fgets(line, sizeof line, groups))
        for (const struct form *form = forms; form < forms + sizeof forms / sizeof forms[0]; form++) {
            memcpy(copy, line, sizeof copy);
            char *group = group_in(copy, form);
            if (group)
                look_at(form, group, &left, limit);
        }
    if (groups)
        fclose(groups);
    return left;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a control group leaves: files of both versions, complete, truncated and missing, as the system might show
 * them. */
#include "os_memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "tap.h"

#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
enum { FILES = 6 };

struct file {
    const char *path, *text;
};

static const struct file *shown; /* the files that exist now, up to an entry without a path; NULL: the system's own files */

/* Replaces the C library's fopen in the whole program. */
FILE *fopen(const char *path, const char *how)
{
    for (const struct file *file = shown; file && file->path; file++)
        if (strcmp(file->path, path) == 0) {
            FILE *text = tmpfile();
            if (text) {
                fputs(file->text, text);
                rewind(text);
            }
            return text;
        }
    (void)how;
    return NULL;
}

#define V1 "/sys/fs/cgroup/memory"
#define V2 "/sys/fs/cgroup"
#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN
#define LONG_PATH HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED TEN TEN
#define GROUP {"/proc/self/cgroup", "0::/a\n"}

static const struct row {
    const char *name;
    uint64_t left, limit;
    struct file file[FILES];
} rows[] = {
    {"no groups", UINT64_MAX, UINT64_MAX, {{NULL, NULL}}},
    {"droppable caches do not count as used", 750, 1000,
     {GROUP, {V2 "/a/memory.max", "1000\n"}, {V2 "/a/memory.current", "400\n"},
      {V2 "/a/memory.stat", "anon 7\ninactive_file 100\nactive_file 50\n"}}},
    {"more is droppable than used", 1000, 1000,
     {GROUP, {V2 "/a/memory.max", "1000\n"}, {V2 "/a/memory.current", "40\n"}, {V2 "/a/memory.stat", "active_file 50\n"}}},
    {"as much is droppable as used", 1000, 1000,
     {GROUP, {V2 "/a/memory.max", "1000\n"}, {V2 "/a/memory.current", "50\n"}, {V2 "/a/memory.stat", "active_file 50\n"}}},
    {"more is used than the limit allows", 0, 1000, {GROUP, {V2 "/a/memory.max", "1000\n"}, {V2 "/a/memory.current", "1400\n"}}},
    {"the group does not report what is droppable", 600, 1000,
     {GROUP, {V2 "/a/memory.max", "1000\n"}, {V2 "/a/memory.current", "400\n"}}},
    {"the group does not report what is used", UINT64_MAX, UINT64_MAX, {GROUP, {V2 "/a/memory.max", "1000\n"}}},
    {"no limit", UINT64_MAX, UINT64_MAX, {GROUP, {V2 "/a/memory.max", "max\n"}, {V2 "/a/memory.current", "400\n"}}},
    {"a limit beyond any machine's memory", UINT64_MAX, UINT64_MAX,
     {GROUP, {V2 "/a/memory.max", "9223372036854771712\n"}, {V2 "/a/memory.current", "400\n"}}},
    {"an empty file", UINT64_MAX, UINT64_MAX, {GROUP, {V2 "/a/memory.max", ""}, {V2 "/a/memory.current", "400\n"}}},
    {"the enclosing group has less left", 300, 500,
     {{"/proc/self/cgroup", "0::/a/b\n"}, {V2 "/a/b/memory.max", "1000\n"}, {V2 "/a/b/memory.current", "1\n"},
      {V2 "/a/memory.max", "500\n"}, {V2 "/a/memory.current", "200\n"}}},
    {"the root's own files, where the group's path is invisible", 90, 100,
     {GROUP, {V2 "/memory.max", "100\n"}, {V2 "/memory.current", "10\n"}}},
    {"version 1, among lines of other controllers", 70, 80,
     {{"/proc/self/cgroup", "3:cpu,cpuacct:/z\n4:memory:/a\n"}, {V1 "/a/memory.limit_in_bytes", "80\n"},
      {V1 "/a/memory.usage_in_bytes", "30\n"}, {V1 "/a/memory.stat", "inactive_file 3\ntotal_inactive_file 20\n"}}},
    {"lines in no known form", UINT64_MAX, UINT64_MAX,
     {{"/proc/self/cgroup", "memory\n4:memory\n\n"}, {V2 "/memory.max", "100\n"}, {V2 "/memory.current", "10\n"}}},
    {"a path that is too long is skipped", 600, 1000,
     {{"/proc/self/cgroup", "0::/" LONG_PATH "\n0::/a\n"}, {V2 "/a/memory.max", "1000\n"}, {V2 "/a/memory.current", "400\n"}}},
};

static void groups(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t limit = 7;
        shown = rows[i].file;
        tap_u64(os_memory_left(&limit), rows[i].left, "%s: bytes left", rows[i].name);
        tap_u64(limit, rows[i].limit, "%s: the limit", rows[i].name);
    }
}

#define MIB(n) (UINT64_C(n) << 20)

/* An eighth, at most 64 MiB, stays free; the caller may take part of the rest without another query. */
static void room(void)
{
    static const struct {
        const char *max, *used;
        uint64_t size, more;
        bool fits;
    } asked[] = {{"1048576", "0", 917504, 0, true},
                 {"1048576", "0", 917505, 0, false},
                 {"1048576", "0", 917504 - 160, 10, true},
                 {"1048576", "1000000", 1, 0, false},
                 {"1048576", "1000000", 0, 0, true},
                 {"1073741824", "0", MIB(960), 0, true},
                 {"1073741824", "0", MIB(960) + 1, 0, false},
                 {"1073741824", "0", MIB(1), MIB(8), true},
                 {"max", "0", MIB(1), MIB(8), true}};
    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        const struct file files[] = {GROUP, {V2 "/a/memory.max", asked[i].max},
                                     {V2 "/a/memory.current", asked[i].used}, {NULL, NULL}};
        uint64_t more = 7;
        shown = files;
        bool fits = os_memory_room(asked[i].size, &more);
        tap_ok(fits == asked[i].fits && more == asked[i].more,
               "with a limit of %s, of which %s is used, %" PRIu64 " %s; then %" PRIu64 " more without a query",
               asked[i].max, asked[i].used, asked[i].size, asked[i].fits ? "is allowed" : "is refused", more);
    }
    shown = NULL;
}
#endif

int main(void)
{
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    groups();
    room();
#else
    tap_skip("files of groups are Linux's, and cannot be shown under this tool", "control groups");
#endif
    return tap_done();
}

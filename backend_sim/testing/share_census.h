/* SPDX-License-Identifier: Apache-2.0 */
/* share_census.h - for tests: counts everything that could be left behind, before and after.
 *
 *     before   { descriptors 7, tokens 0, memories 1, files 5, bytes 1458176 }
 *              ... ten thousand rounds ...
 *     after    { descriptors 7, tokens 0, memories 1, files 5, bytes 1458176 }     equal, or something leaks
 *
 * Files of slots are not counted: they are empty, at most 256, and stay for the next process. They are removed with the
 * machine. Bytes are the space that the files take in their file system, so holes do not count.
 */
#ifndef SIM_SHARE_CENSUS_H
#define SIM_SHARE_CENSUS_H

#include <fcntl.h>

#include "share_rig.h"

struct census {
    unsigned descriptors; /* of this process */
    unsigned tokens, memories, files;
    uint64_t bytes; /* of all files in the folders of machines */
};

static inline void census_file(struct census *census, const char *folder, const char *name)
{
    char path[600];
    struct stat is;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    census->tokens += strncmp(name, "token.", 6) == 0;
    census->memories += strncmp(name, "mem.", 4) == 0;
    if (strncmp(name, "slot.", 5) != 0 && !stat(path, &is)) {
        census->files++;
        census->bytes += (uint64_t)is.st_blocks * 512;
    }
}

struct census_folder {
    struct census *census;
    char path[300];
};

static inline void census_each_file(void *user, const char *name)
{
    struct census_folder *folder = user;
    census_file(folder->census, folder->path, name);
}

static inline void census_each_folder(void *user, const char *name)
{
    struct census_folder folder = {.census = user};
    snprintf(folder.path, sizeof folder.path, "%s/%s", rig_root, name);
    os_folder_each(folder.path, 100000, census_each_file, &folder);
}

static inline unsigned census_descriptors(void)
{
    unsigned count = 0;
    for (int fd = 0; fd < 256; fd++)
        count += fcntl(fd, F_GETFD) >= 0;
    return count;
}

static inline struct census census_now(void)
{
    struct census census = {.descriptors = census_descriptors()};
    os_folder_each(rig_root, 1000, census_each_folder, &census);
    return census;
}

/* Compares two counts as one test point; prints the differences. */
static inline void census_same(const struct census *before, const char *what)
{
    struct census now = census_now();
    tap_ok(now.descriptors == before->descriptors && now.tokens == before->tokens && now.memories == before->memories &&
               now.files == before->files && now.bytes == before->bytes,
           "%s: %u descriptors (%u), %u tokens (%u), %u memories (%u), %u files (%u), %" PRIu64 " bytes (%" PRIu64 ")",
           what, now.descriptors, before->descriptors, now.tokens, before->tokens, now.memories, before->memories,
           now.files, before->files, now.bytes, before->bytes);
}

#endif

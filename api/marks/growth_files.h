/* SPDX-License-Identifier: Apache-2.0 */
/* growth_files.h - how many descriptors of device memory the process has open.
 *
 *     /proc/self/fd:  3 -> /dev/nvidiactl    4 -> anon_inode:[dmabuf]    5 -> .../token-7    6 -> /tmp/log        3
 *
 * Descriptors that a driver opens for itself are counted as well; their number stays constant. */
#ifndef CUVMM_GROWTH_FILES_H
#define CUVMM_GROWTH_FILES_H

#include <stdbool.h>
#include <stdint.h>

/* What was found last. Descriptors are recounted only when the number that the next one would get has changed: each one that
 * stays open raises it sooner or later. */
struct growth_files {
    bool known;
    int lowest;
    uint64_t count;
};

/* 0 if the system cannot tell. */
uint64_t growth_files(struct growth_files *before);

/* Is that the link target of such a descriptor? */
bool growth_file_is_memory(const char *target);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* growth_files.h - how many descriptors of device memory the process has open.
 *
 *     /proc/self/fd:  3 -> /dev/nvidiactl    4 -> anon_inode:[dmabuf]    5 -> .../token-7    6 -> /tmp/log        3
 *
 * What a driver opens for itself is counted with the rest: it stays the same. */
#ifndef CUVMM_GROWTH_FILES_H
#define CUVMM_GROWTH_FILES_H

#include <stdbool.h>
#include <stdint.h>

/* What was found last. Descriptors are counted again when the number that the next one would get has changed: each that stays open
 * moves it on, sooner or later. */
struct growth_files {
    bool known;
    int lowest;
    uint64_t count;
};

/* 0 where the system cannot tell. */
uint64_t growth_files(struct growth_files *before);

/* Is that the target of such a descriptor? */
bool growth_file_is_memory(const char *target);

#endif

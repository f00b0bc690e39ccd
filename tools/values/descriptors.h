/* SPDX-License-Identifier: Apache-2.0 */
/* descriptors.h - the descriptors that the calls of a script or a replay made, which stay open until they are closed here.
 *
 *   before   a call answered descriptor 5     5 is unused
 *   keep     5                                5 is ours: shown as "a descriptor", since its number is chance
 *   close    5                                5 is a number again, and closed
 *
 * Of all other numbers, open or not, nothing is known: the program may have inherited some.
 */
#ifndef CUVMM_TOOLS_DESCRIPTORS_H
#define CUVMM_TOOLS_DESCRIPTORS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct descriptors {
    int *fd;
    size_t count;
};

/* Owns it from now on. */
void descriptors_keep(struct descriptors *descriptors, int fd);
/* Is the number that of one that is kept? descriptors may be NULL. */
bool descriptors_have(const struct descriptors *descriptors, uint64_t number);
/* Closes the one of that number; false and nothing done where none is kept. */
bool descriptors_close(struct descriptors *descriptors, uint64_t number);
void descriptors_clear(struct descriptors *descriptors);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* sweep_source.h - the source lines of places in programs, where they have debug information and addr2line is installed.
 *
 *     /home/me/pool 0x11f5 0x1302   ->   "pool.c:76" "pool.c:91"
 */
#ifndef CUVMM_TOOLS_SWEEP_SOURCE_H
#define CUVMM_TOOLS_SWEEP_SOURCE_H

#include "sweep_calls.h"

/* Fills in the source of each site for which it is known. */
void sweep_sources(struct sweep_calls *calls);

/* The file and line of a line of addr2line, without folders: "pool.c:76"; "" where it does not know. */
void sweep_source_of(const char *line, char *source, size_t size);

#endif

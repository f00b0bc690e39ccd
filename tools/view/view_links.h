/* SPDX-License-Identifier: Apache-2.0 */
/* view_links.h - who exported to whom: exports and imports of several traces, put together.
 *
 *     process 4711   call 5  cuMemExportToShareableHandle(H1)   shared 0x51a...
 *     process 4712   call 3  cuMemImportFromShareableHandle     shared 0x51a...      4711 call 5 -> 4712 call 3, sure
 *
 * A number that both traces have is sure: of a descriptor on the simulator, a fabric handle, a handle of IPC. Of several exports
 * with it the last one before the import counts, for the number of a file may be given again. A driver's descriptors have none:
 * then the earliest export before the import that was not imported yet, of memory as large as what the importer maps, is a guess.
 */
#ifndef CUVMM_TOOLS_VIEW_LINKS_H
#define CUVMM_TOOLS_VIEW_LINKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "timeline.h"

struct view_link {
    uint32_t from, from_call, from_object; /* trace, its call, and what was exported; the object may be TIMELINE_NONE */
    uint32_t to, to_call, to_object;
    bool guess;
};

struct view_links {
    struct view_link *link;
    size_t count, room;
    size_t unmatched; /* imports whose export is in none of the traces */
};

/* The traces name their processes and have one clock. */
void view_links_find(const struct timeline *traces, size_t count, struct view_links *links);
void view_links_free(struct view_links *links);

#endif

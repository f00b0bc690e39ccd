/* SPDX-License-Identifier: Apache-2.0 */
/* facts_script.h - a group of calls on one reservation as a table.
 *
 *   {S_MAP("map.full", 0, 4 * G, 0, H4)}       cuMemMap(p, 4 G, 0, handle[H4], 0), compared with the line map.full
 *   {S_MAP(NULL, 0, G, 0, H1)}                 the same as set-up: has to succeed, compared with nothing
 *
 * at is an offset from the world's base address p, which a group chooses.
 */
#ifndef CUVMM_FACTS_SCRIPT_H
#define CUVMM_FACTS_SCRIPT_H

#include "factcheck.h"

enum facts_op {
    FACTS_MAP,
    FACTS_UNMAP,
    FACTS_SET,  /* set access by desc */
    FACTS_GET,  /* get access of desc[0].location; the flags stay for SHOW */
    FACTS_SHOW, /* the value of the last GET */
    FACTS_PEEK, /* get access of device 0 and its value in one line */
    FACTS_FILL, /* memset with the value 1 */
    FACTS_FREE  /* address free */
};

struct facts_step {
    enum facts_op op;
    const char *name;
    uint64_t at, size, offset;
    int handle; /* index in the world */
    uint64_t flags;
    bool nowhere; /* address 0, whatever at says */
    vmm_mem_access_desc desc[2];
    uint64_t count;
    bool no_desc, no_flags; /* NULL desc or location; NULL flags */
};

#define FACTS_HANDLES 8

struct facts_world {
    vmm_deviceptr p;
    vmm_mem_generic_allocation_handle handle[FACTS_HANDLES];
    uint64_t flags; /* of the last get */
};

void facts_script(struct facts *f, struct facts_world *world, const struct facts_step *steps, size_t count);

#define FACTS_SCRIPT(f, world, steps) facts_script((f), (world), (steps), sizeof(steps) / sizeof(steps)[0])

#define S_MAP(n, where, length, off, h) \
    .op = FACTS_MAP, .name = (n), .at = (where), .size = (length), .offset = (off), .handle = (h)
#define S_UNMAP(n, where, length) .op = FACTS_UNMAP, .name = (n), .at = (where), .size = (length)
#define S_SET(n, where, length, ...) \
    .op = FACTS_SET, .name = (n), .at = (where), .size = (length), .desc = {__VA_ARGS__}
#define S_GET(n, where, type, id) .op = FACTS_GET, .name = (n), .at = (where), .desc = {{{(type), (id)}, 0}}
#define S_SHOW(n) .op = FACTS_SHOW, .name = (n)
#define S_PEEK(n, where) .op = FACTS_PEEK, .name = (n), .at = (where)
#define S_FILL(n, where, length) .op = FACTS_FILL, .name = (n), .at = (where), .size = (length)
#define S_FREE(n, where, length) .op = FACTS_FREE, .name = (n), .at = (where), .size = (length)

/* Grants: S_SET(..., ON(0, RW)), .count = 1 */
#define S_NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE
#define S_READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define S_WRITE VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define S_ON(id, flags) {{VMM_MEM_LOCATION_TYPE_DEVICE, (id)}, (flags)}
#define S_AT(type, id, flags) {{(type), (id)}, (flags)}

#endif

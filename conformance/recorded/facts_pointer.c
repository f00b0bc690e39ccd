/* SPDX-License-Identifier: Apache-2.0 */
/* Every query about one address, as the lines ptr.NAME.*. */
#include "facts_calls.h"

#include <inttypes.h>
#include <stdio.h>

#define G FACTS_G

/* How a line shows the attribute. */
enum form {
    NUMBER,   /* four bytes, =7 */
    WIDE,     /* eight bytes, =7 */
    DISTANCE, /* from the value to the address asked about, off=7 */
    LENGTH,   /* in units of G, n/G=7 */
    NULLNESS, /* null=1 */
    SELF,     /* whether it is the address asked about */
    CODE      /* opaque, the code alone */
};

static const struct query {
    const char *name;
    vmm_pointer_attribute attribute;
    enum form form;
    unsigned preset; /* what the output holds before; a refusal leaves it */
} queries[] = {
    {"memtype", VMM_POINTER_ATTRIBUTE_MEMORY_TYPE, NUMBER, 99},
    {"rangestart", VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR, DISTANCE, 0},
    {"rangesize", VMM_POINTER_ATTRIBUTE_RANGE_SIZE, LENGTH, 0},
    {"mapped", VMM_POINTER_ATTRIBUTE_MAPPED, NUMBER, 9},
    {"allowedht", VMM_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, WIDE, 99},
    {"ordinal", VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL, NUMBER, 99},
    {"context", VMM_POINTER_ATTRIBUTE_CONTEXT, NULLNESS, 0},
    {"legacyipc", VMM_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, NUMBER, 9},
    {"accessflags", VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS, NUMBER, 99},
    {"mapsize", VMM_POINTER_ATTRIBUTE_MAPPING_SIZE, LENGTH, 0},
    {"mapbase", VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, DISTANCE, 0},
    {"bufid", VMM_POINTER_ATTRIBUTE_BUFFER_ID, CODE, 0},
    {"blockid", VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID, CODE, 0},
    {"hostptr", VMM_POINTER_ATTRIBUTE_HOST_POINTER, SELF, 0},
};

static void show(struct facts *f, const struct query *q, const char *line, const char *code, uint64_t value,
                 vmm_deviceptr ptr)
{
    switch (q->form) {
    case NUMBER:
    case WIDE:
        facts_line(f, line, "%s=%" PRIu64, code, value);
        break;
    case DISTANCE:
        facts_line(f, line, "%s off=%" PRIu64, code, ptr - value);
        break;
    case LENGTH:
        facts_line(f, line, "%s n/G=%g", code, (double)value / (double)G);
        break;
    case NULLNESS:
        facts_line(f, line, "%s null=%d", code, value == 0);
        break;
    case SELF:
        facts_line(f, line, "%s %d", code, value == ptr);
        break;
    case CODE:
        facts_line(f, line, "%s", code);
        break;
    }
}

static void ask(struct facts *f, const struct query *q, const char *name, vmm_deviceptr ptr)
{
    char line[64];
    unsigned number = q->preset;
    uint64_t wide = q->preset;
    vmm_result result =
        q->form == NUMBER ? fc_attribute(f, &number, q->attribute, ptr) : fc_attribute(f, &wide, q->attribute, ptr);
    uint64_t value = q->form == NUMBER ? number : wide;
    snprintf(line, sizeof line, "ptr.%s.%s", name, q->name);
    facts_explain(f, result, line);
    facts_require(f, result == VMM_SUCCESS || value == q->preset, line, "a refusal wrote its output");
    show(f, q, line, facts_code(result), value, ptr);
}

static void ask_range(struct facts *f, const char *name, vmm_deviceptr ptr)
{
    char line[64];
    vmm_deviceptr base = 0;
    uint64_t size = 0;
    vmm_result result = fc_range(f, &base, &size, ptr);
    snprintf(line, sizeof line, "ptr.%s.addrrange", name);
    facts_explain(f, result, line);
    facts_line(f, line, "%s off=%" PRIu64 " n/G=%g", facts_code(result), result == VMM_SUCCESS ? ptr - base : 0,
               (double)size / (double)G);
}

void facts_pointer_lines(struct facts *f, const char *name, vmm_deviceptr ptr)
{
    ask_range(f, name, ptr);
    for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
        ask(f, &queries[i], name, ptr);
}

/* [ 2 G ][4 G exportable][2 G][ 8 G ], first only reserved, then mapped, then with rights. */
void facts_pointer(struct facts *f)
{
    vmm_deviceptr p = fc_take(f, 16 * G);
    vmm_mem_allocation_prop prop = fc_prop(0);
    vmm_mem_generic_allocation_handle exportable = 0;
    prop.requested_handle_types = VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    facts_setup(f, fc_create(f, &exportable, 4 * G, &prop, 0), "create");
    facts_pointer_lines(f, "reserved", p + G);
    fc_put(f, p + 2 * G, 4 * G, exportable);
    fc_put(f, p + 6 * G, 2 * G, fc_make(f, 2 * G));
    facts_pointer_lines(f, "mapped", p + 3 * G + 5);
    fc_grant(f, p + 2 * G, 6 * G, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    facts_pointer_lines(f, "access", p + 3 * G + 5);
    facts_pointer_lines(f, "access2", p + 7 * G);
    /* The recording tried to map a part here; the driver refused, so the address is only reserved. */
    facts_require(f, fc_map(f, p + 8 * G, G, G, exportable, 0) != VMM_SUCCESS, "ptr.offmap.memtype",
                  "a part of the memory could be mapped");
    facts_pointer_lines(f, "offmap", p + 8 * G + 9);
    facts_setup(f, fc_unmap(f, p + 2 * G, 4 * G), "unmap");
    facts_pointer_lines(f, "unmapped", p + 3 * G);
    facts_pointer_lines(f, "bogus", p + ((uint64_t)1 << 38));
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Copies and fills that the rights of a range forbid: refused by the call, and nothing else breaks. */
#include "facts_calls.h"

#include <stdio.h>

#define G FACTS_G

enum work { HTOD, DTOH, DTOD, FILL };

static const struct working {
    const char *name;
    int rights; /* of facts_beforehand */
    enum work work;
    uint64_t at, size;
} workings[] = {
    {"c_htod_reserved", FACTS_UNMAPPED, HTOD, 0, 16},
    {"c_htod_noaccess", FACTS_NO_RIGHTS, HTOD, 0, 16},
    {"c_htod_ro", VMM_MEM_ACCESS_FLAGS_PROT_READ, HTOD, 0, 16},
    {"c_dtoh_ro", VMM_MEM_ACCESS_FLAGS_PROT_READ, DTOH, 0, 16},
    {"c_dtoh_reserved", FACTS_UNMAPPED, DTOH, 0, 16},
    {"c_dtoh_noaccess", FACTS_NO_RIGHTS, DTOH, 0, 16},
    {"c_htod_overrun", VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, HTOD, 2 * G - 8, 16},
    {"m_memset_ro", VMM_MEM_ACCESS_FLAGS_PROT_READ, FILL, 0, 16},
    {"m_memset_noaccess", FACTS_NO_RIGHTS, FILL, 0, 16},
    {"m_memset_reserved", FACTS_UNMAPPED, FILL, 0, 16},
    {"m_memset_overrun", VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, FILL, 0, 2 * G + 1},
    {"c_dtod_noaccess", FACTS_NO_RIGHTS, DTOD, 0, 16},
    {"m_memset_unreserved", VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, FILL, (uint64_t)1 << 38, 16},
};

static vmm_result work(struct facts *f, const struct working *w, vmm_deviceptr p)
{
    unsigned char host[16] = {0};
    switch (w->work) {
    case HTOD:
        return fc_htod(f, p + w->at, host, w->size);
    case DTOH:
        return fc_dtoh(f, host, p + w->at, w->size);
    case DTOD:
        return fc_dtod(f, p + w->at, p + w->at + G, w->size);
    case FILL:
        return fc_fill(f, p + w->at, 1, w->size);
    }
    return VMM_ERROR_UNKNOWN;
}

vmm_deviceptr facts_beforehand(struct facts *f, int rights, vmm_mem_generic_allocation_handle *handle)
{
    vmm_deviceptr p = fc_take(f, 8 * G);
    *handle = fc_make(f, 2 * G);
    if (rights >= FACTS_NO_RIGHTS)
        fc_put(f, p, 2 * G, *handle);
    if (rights >= 0)
        fc_grant(f, p, 2 * G, rights);
    return p;
}

/* Of a refusal nothing sticks to the context; and everything can still be taken apart. */
void facts_afterwards(struct facts *f, const char *name, vmm_deviceptr p, vmm_mem_generic_allocation_handle handle)
{
    char line[64];
    vmm_deviceptr ordinary = 0, another = 0;
    vmm_result sync = vmm_ctx_synchronize(f->sys), alloc = fc_alloc(f, &ordinary, 16);
    snprintf(line, sizeof line, "%s.then", name);
    facts_line(f, line, "sync=%s alloc=%s", facts_code(sync), facts_code(alloc));
    vmm_result reserve = fc_reserve(f, &another, G, 0, 0, 0), unmap = fc_unmap(f, p, 2 * G);
    vmm_result release = fc_release(f, handle), released = fc_free(f, p, 8 * G);
    snprintf(line, sizeof line, "%s.vmm_after", name);
    facts_line(f, line, "reserve=%s unmap=%s release=%s free=%s", facts_code(reserve), facts_code(unmap),
               facts_code(release), facts_code(released));
}

void facts_device_work(struct facts *f)
{
    for (size_t i = 0; i < sizeof workings / sizeof workings[0]; i++) {
        const struct working *w = &workings[i];
        vmm_mem_generic_allocation_handle handle;
        vmm_deviceptr p = facts_beforehand(f, w->rights, &handle);
        facts_result(f, work(f, w, p), w->name);
        facts_afterwards(f, w->name, p, handle);
    }
}

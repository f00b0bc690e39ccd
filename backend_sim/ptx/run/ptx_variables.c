/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_variables.h"

#include <string.h>

#include "ptx_memory.h"

uint64_t ptx_variables_place(const struct ptx_program *program, uint64_t *offsets)
{
    enum { LEAST = 16 };
    uint64_t at = 0;
    for (uint32_t i = 0; i < program->global_count && at >> 60 == 0; i++) {
        if (program->globals[i].managed)
            continue;
        const uint64_t align = program->globals[i].align > LEAST ? program->globals[i].align : LEAST;
        at = (at + align - 1) / align * align;
        offsets[i] = at;
        at += program->globals[i].size;
    }
    return at ? at : LEAST;
}

void ptx_variable_initial(const struct ptx_global *variable, const uint64_t *addresses, unsigned char *bytes)
{
    memcpy(bytes, variable->initial, variable->size);
    for (uint32_t i = 0; i < variable->fixup_count; i++) {
        const struct ptx_fixup *f = &variable->fixups[i];
        uint64_t value = (f->of_routine ? PTX_FUNCTIONS + 16 * (uint64_t)f->number : addresses[f->number]) + (uint64_t)f->offset;
        value >>= f->shift;
        memcpy(bytes + f->at, &value, f->bytes);
    }
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The table of twins, and single elements. */
#include "twin.h"

#include <string.h>

twin_kernel twin_of(vmm_kernel kernel)
{
    static const twin_kernel twins[] = {
#define VMM_KERNEL(name, NUMBER) [VMM_KERNEL_##NUMBER] = twin_##name,
#include "kernels.def"
    };
    return twins[kernel];
}

/* Bytes of one element that is written, little-endian on every host that has such devices; NULL in *at if they are zero, and
 * on a dry run. */
static bool element(struct twin_memory *memory, uint64_t address, unsigned width, enum twin_use use,
                    unsigned char **at)
{
    uint64_t size = width;
    memory->writes++;
    return memory->run(memory, address, width, &size, use, at);
}

/* Requests as much as can be remembered at once, so that the next elements need no request. */
bool twin_ask(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *value)
{
    struct twin_known *known = &memory->known[(address >> TWIN_KNOWN_SHIFT) % TWIN_KNOWN];
    uint64_t unit = UINT64_C(1) << TWIN_KNOWN_SHIFT, size = unit - address % unit;
    bool alone = memory->dry || memory->fleeting;
    unsigned char *at;
    *value = 0;
    if (!known->at && known->writes == memory->writes + 1 && address - known->start <= known->size - width)
        return true;
    if (size < width || alone)
        size = width;
    if (!memory->run(memory, address, width, &size, TWIN_READ, &at))
        return false;
    if (at)
        *value = twin_taken(at, width);
    if (!alone && size >= sizeof *value)
        *known = (struct twin_known){address, size, at, memory->writes + 1};
    return true;
}

bool twin_store(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t value)
{
    unsigned char *at;
    if (!element(memory, address, width, TWIN_WRITE, &at))
        return false;
    if (at)
        memcpy(at, &value, width);
    return true;
}

bool twin_add(struct twin_memory *memory, uint64_t address, uint64_t value)
{
    unsigned char *at;
    if (!element(memory, address, 8, TWIN_ATOMIC, &at))
        return false;
    if (at)
        twin_add_word(at, value);
    return true;
}

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

/* The element's own bytes, little-endian on every host that has such devices; NULL in *at where they are zero, and on a dry run. */
static bool element(struct twin_memory *memory, uint64_t address, unsigned width, enum twin_use use,
                    unsigned char **at)
{
    uint64_t size = width;
    return memory->run(memory, address, width, &size, use, at);
}

bool twin_load(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *value)
{
    unsigned char *at;
    if (!element(memory, address, width, TWIN_READ, &at))
        return false;
    *value = 0;
    if (at)
        memcpy(value, at, width);
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
    uint64_t old;
    if (!element(memory, address, 8, TWIN_ATOMIC, &at))
        return false;
    if (!at)
        return true;
    memcpy(&old, at, sizeof old);
    old += value;
    memcpy(at, &old, sizeof old);
    return true;
}

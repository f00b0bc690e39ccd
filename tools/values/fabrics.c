/* SPDX-License-Identifier: Apache-2.0 */
#include "fabrics.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

/* It fits into a pointer, as which a call gets it. */
#define FIRST (UINT64_C(1) << (UINTPTR_MAX > UINT32_MAX ? 40 : 31))

uint64_t fabrics_keep(struct fabrics *fabrics, const unsigned char *bytes)
{
    fabrics->handle = text_grow(fabrics->handle, (fabrics->count + 1) * sizeof *fabrics->handle);
    memcpy(fabrics->handle[fabrics->count], bytes, sizeof *fabrics->handle);
    return FIRST + fabrics->count++;
}

void fabrics_find(const struct fabrics *fabrics, uint64_t number, unsigned char *bytes)
{
    bool known = number >= FIRST && number - FIRST < fabrics->count;
    memset(bytes, 0, VMM_FABRIC_HANDLE_SIZE);
    if (known)
        memcpy(bytes, fabrics->handle[number - FIRST], VMM_FABRIC_HANDLE_SIZE);
}

uint64_t fabrics_ending(const struct fabrics *fabrics, uint64_t last)
{
    for (size_t i = 0; i < fabrics->count; i++)
        if (memcmp(fabrics->handle[i] + VMM_FABRIC_HANDLE_SIZE - sizeof last, &last, sizeof last) == 0)
            return FIRST + i;
    return 0;
}

void fabrics_clear(struct fabrics *fabrics)
{
    free(fabrics->handle);
    *fabrics = (struct fabrics){0};
}

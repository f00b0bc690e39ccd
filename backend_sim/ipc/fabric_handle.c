/* SPDX-License-Identifier: Apache-2.0 */
#include "fabric_handle.h"

#include <stddef.h>
#include <string.h>

#include "fnv.h"

#define FABRIC_MAGIC UINT64_C(0x3163697262616676) /* the last byte is the version */

struct layout {
    uint64_t magic, domain;
    uint32_t channel, index;
    uint64_t machine, number, nonce[2], sum;
};

_Static_assert(sizeof(struct layout) == VMM_FABRIC_HANDLE_SIZE, "a handle fills the 64 bytes of the API's structure");

static uint64_t sum_of(const struct layout *layout)
{
    return fnv1a(FNV1A, layout, offsetof(struct layout, sum));
}

void fabric_handle_write(void *bytes, const struct imex_place *place, const struct share_label *label)
{
    struct layout layout = {.magic = FABRIC_MAGIC,
                            .domain = place->domain,
                            .channel = place->channel,
                            .index = label->index,
                            .machine = label->machine,
                            .number = label->number,
                            .nonce = {label->nonce[0], label->nonce[1]}};
    layout.sum = sum_of(&layout);
    memcpy(bytes, &layout, sizeof layout);
}

bool fabric_handle_read(const void *bytes, struct imex_place *place, struct share_label *label)
{
    struct layout layout;
    memcpy(&layout, bytes, sizeof layout);
    *place = (struct imex_place){layout.domain, layout.channel};
    *label = (struct share_label){layout.machine, layout.number, {layout.nonce[0], layout.nonce[1]}, layout.index};
    return layout.magic == FABRIC_MAGIC && layout.sum == sum_of(&layout);
}

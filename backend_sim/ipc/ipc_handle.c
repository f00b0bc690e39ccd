/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc_handle.h"

#include <stddef.h>
#include <string.h>

#include "fnv.h"

#define IPC_MAGIC UINT64_C(0x3163706976756300) /* the first byte is the kind, the last one the version */

struct layout {
    uint64_t magic, machine, number, nonce[2];
    uint64_t entry, maker; /* an index below a size; a context below a process below a serial */
    uint64_t sum;
};

enum { LOW = 16 };
#define LOWEST ((UINT64_C(1) << LOW) - 1)

_Static_assert(sizeof(struct layout) == VMM_FABRIC_HANDLE_SIZE, "a handle fills the 64 bytes of the API's structure");

static uint64_t sum_of(const struct layout *layout)
{
    return fnv1a(FNV1A, layout, offsetof(struct layout, sum));
}

void ipc_handle_write(void *bytes, const struct ipc_handle *handle)
{
    struct layout layout = {.magic = IPC_MAGIC | (uint64_t)handle->kind,
                            .machine = handle->label.machine,
                            .number = handle->label.number,
                            .nonce = {handle->label.nonce[0], handle->label.nonce[1]},
                            .entry = handle->size << LOW | (handle->label.index & LOWEST),
                            .maker = handle->home << 2 * LOW | (uint64_t)handle->process << LOW | (handle->context & LOWEST)};
    layout.sum = sum_of(&layout);
    memcpy(bytes, &layout, sizeof layout);
}

bool ipc_handle_read(const void *bytes, struct ipc_handle *handle)
{
    struct layout layout;
    memcpy(&layout, bytes, sizeof layout);
    const uint64_t kind = layout.magic ^ IPC_MAGIC;
    *handle = (struct ipc_handle){kind == IPC_EVENT ? IPC_EVENT : IPC_MEMORY,
                                  {layout.machine, layout.number, {layout.nonce[0], layout.nonce[1]},
                                   (uint32_t)(layout.entry & LOWEST)},
                                  layout.maker >> 2 * LOW, layout.entry >> LOW, (uint16_t)(layout.maker >> LOW & LOWEST),
                                  (uint32_t)(layout.maker & LOWEST)};
    return kind <= IPC_EVENT && layout.sum == sum_of(&layout);
}

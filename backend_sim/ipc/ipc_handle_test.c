/* SPDX-License-Identifier: Apache-2.0 */
#include "ipc_handle.h"

#include <string.h>

#include "tap.h"

enum { SIZE = VMM_FABRIC_HANDLE_SIZE };

static bool same(const struct ipc_handle *a, const struct ipc_handle *b)
{
    return a->kind == b->kind && a->home == b->home && a->size == b->size && a->context == b->context && a->process == b->process && a->label.machine == b->label.machine &&
           a->label.number == b->label.number && a->label.index == b->label.index &&
           !memcmp(a->label.nonce, b->label.nonce, sizeof a->label.nonce);
}

int main(void)
{
    const struct ipc_handle memory = {IPC_MEMORY, {11, 12, {13, 14}, 15}, 16, UINT64_C(1) << 40, 18, 17};
    struct ipc_handle event = memory, found;
    unsigned char bytes[SIZE], other[SIZE];
    event.kind = IPC_EVENT;
    ipc_handle_write(bytes, &memory);
    tap_ok(ipc_handle_read(bytes, &found) && same(&found, &memory), "memory: what is written is read");
    ipc_handle_write(other, &event);
    tap_ok(ipc_handle_read(other, &found) && same(&found, &event), "an event as well");
    tap_ok(memcmp(bytes, other, SIZE) != 0, "and differs from memory");
    ipc_handle_write(other, &memory);
    tap_ok(!memcmp(bytes, other, SIZE), "the same twice: the same bytes");
    int accepted = 0;
    for (size_t bit = 0; bit < 8 * SIZE; bit++) {
        memcpy(other, bytes, SIZE);
        other[bit / 8] ^= (unsigned char)(1 << bit % 8);
        accepted += ipc_handle_read(other, &found);
    }
    tap_ok(accepted == 0, "no handle has one bit inverted");
    memset(other, 0, SIZE);
    tap_ok(!ipc_handle_read(other, &found), "zeros are not a handle");
    memset(other, 0xff, SIZE);
    tap_ok(!ipc_handle_read(other, &found), "ones are not a handle");
    return tap_done();
}

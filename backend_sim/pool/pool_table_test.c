/* SPDX-License-Identifier: Apache-2.0 */
/* pool_table: the checksum of an exported allocation is the same in every build, because processes of different
 * builds compare it. */
#include "pool_table.h"

#include "tap.h"

int main(void)
{
    const struct share_label label = {.machine = 9, .number = 2, .nonce = {3, 4}, .index = 5};
    struct share_label other = label;
    tap_u64(pool_pointer_add(1, &label), UINT64_C(0x2ed7fbeb69c01ee2), "a chunk is added by its number, its nonce and its place");
    other.machine = 8;
    tap_u64(pool_pointer_add(1, &other), UINT64_C(0x2ed7fbeb69c01ee2), "not by its machine, which the table's part has");
    other.nonce[1] = 5;
    tap_ok(pool_pointer_add(1, &other) != pool_pointer_add(1, &label), "another chunk makes another check");
    tap_ok(pool_pointer_add(pool_pointer_add(1, &other), &label) != pool_pointer_add(pool_pointer_add(1, &label), &other),
           "and so does another order");
    return tap_done();
}

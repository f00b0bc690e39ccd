/* SPDX-License-Identifier: Apache-2.0 */
#include "fnv.h"

#include "tap.h"

int main(void)
{
    static const unsigned char bytes[8] = {0x88, 0x77, 0x66, 0x55, 0x44, 0x33, 0x22, 0x11};
    tap_u64(fnv1a(FNV1A, "", 0), UINT64_C(0xcbf29ce484222325), "of nothing");
    tap_u64(fnv1a(FNV1A, "foobar", 6), UINT64_C(0x85944171f73967e8), "a published example");
    tap_u64(fnv1a(fnv1a(FNV1A, "foo", 3), "bar", 3), fnv1a(FNV1A, "foobar", 6), "in two parts");
    tap_u64(fnv1a_word(FNV1A, UINT64_C(0x1122334455667788)), fnv1a(FNV1A, bytes, sizeof bytes), "a word is its bytes, lowest first");
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_handle.h - the 64 bytes that stand for memory of a fabric, to be sent by any means.
 *
 *   [ magic | domain | channel, index | machine | number | nonce      | check ]
 *     what    who may   the block in     of which  which ever          over all
 *     it is             its table        node      was there           before it
 *
 * They hold nothing and prove nothing: whoever has them may have made them up. The check tells bytes that were damaged from
 * a handle; everything else is compared with what the node's state says.
 */
#ifndef SIM_FABRIC_HANDLE_H
#define SIM_FABRIC_HANDLE_H

#include "imex.h"

/* A block of a machine, as others name it. */
struct share_label {
    uint64_t machine, number, nonce[2];
    uint32_t index;
};

void fabric_handle_write(void *bytes, const struct imex_place *place, const struct share_label *label);
/* False when the bytes are no handle. */
bool fabric_handle_read(const void *bytes, struct imex_place *place, struct share_label *label);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_handle.h - the 64 bytes that name memory of a fabric; programs send them by any means.
 *
 *   [ magic | domain | channel, index | machine | number | nonce      | check ]
 *     what    who may   the block in     of which  which ever          over all
 *     it is             its table        node      was there           before it
 *
 * A fabric handle holds no memory and proves nothing: it can be forged. The check distinguishes damaged bytes from a handle;
 * the importer compares everything else with the node's state.
 */
#ifndef SIM_FABRIC_HANDLE_H
#define SIM_FABRIC_HANDLE_H

#include "imex.h"

/* A block of a machine, as other processes name it. */
struct share_label {
    uint64_t machine, number, nonce[2];
    uint32_t index;
};

void fabric_handle_write(void *bytes, const struct imex_place *place, const struct share_label *label);
/* False when the bytes are not a handle. */
bool fabric_handle_read(const void *bytes, struct imex_place *place, struct share_label *label);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* fabric_handle.h - the 64 bytes that name memory on a fabric. Programs can send them in any way.
 *
 *   [ magic | domain | channel, index | machine | number | nonce      | check ]
 *     kind of  needed to   the block in  the     never reused         over all
 *     data     import it   its table     node                         bytes before it
 *
 * A fabric handle holds no memory and proves nothing: a program can forge one. The check distinguishes damaged bytes from a
 * handle; the importer compares everything else with the node's state.
 */
#ifndef SIM_FABRIC_HANDLE_H
#define SIM_FABRIC_HANDLE_H

#include "imex.h"

/* Identifies a block of a machine to other processes. */
struct share_label {
    uint64_t machine, number, nonce[2];
    uint32_t index;
};

void fabric_handle_write(void *bytes, const struct imex_place *place, const struct share_label *label);
/* Returns false if the bytes are not a handle. */
bool fabric_handle_read(const void *bytes, struct imex_place *place, struct share_label *label);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* share_mark.h - names beside the numbers in a machine's state: the process of each slot, the process and call that exported each
 * block, and the call by which each holder got it. Marks serve messages only; no decision depends on them.
 *
 *   before   block 7: 2 MiB, bits 0 and 3
 *   after    block 7: 2 MiB, exported by 4711 "server", in call 5;  slot 0: since call 4, one handle
 *                                                                     slot 3: 4712 "worker", since call 3, two handles
 *
 * Each mark has one writer, the process of its slot. A mark is valid only with the key of this block and this process, which is
 * stored last: a process killed before that store leaves a holder without a mark, and marks of earlier holders and blocks need no
 * clearing.
 */
#ifndef SIM_SHARE_MARK_H
#define SIM_SHARE_MARK_H

#include "os_inspect.h"
#include "share_folder.h"

/* Packs a call's number in its system and its kind (enum vmm_call_id) into one word; 0: unknown. */
uint64_t share_call(uint64_t number, unsigned id);
uint64_t share_call_number(uint64_t call);
/* The driver's name of the call; NULL when the value is not a call. */
const char *share_call_name(uint64_t call);

/* Writes this process's number and program name. */
void share_mark_process(struct share_person *who);
/* Reads both, with a printable name; returns the process's number. */
uint64_t share_person_read(const struct share_person *who, char program[OS_PROGRAM]);

/* Make sure that there is space for the block's entry, and for its marks. */
bool share_mark_block(const struct share_folder *folder, unsigned index);
bool share_mark_room(const struct share_folder *folder, unsigned index);

/* Records that the slot's process holds the block with that many handles; 0: no longer. call is the call that made the first
 * handle, and may be recorded later than the handles; 0: unknown, or already recorded. */
void share_mark_hold(struct share_state *state, unsigned index, unsigned slot, uint64_t call, uint64_t handles);
/* Returns false, and stores zeros, when there is no mark. */
bool share_mark_read(const struct share_state *state, unsigned index, unsigned slot, uint64_t *call, uint64_t *handles);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* share_mark.h - names beside numbers in a machine's state: which process a slot is, who exported a block and by which call,
 * and since which call each holder has it. For people; nothing is decided by it.
 *
 *   before   block 7: 2 MiB, bits 0 and 3
 *   after    block 7: 2 MiB, exported by 4711 "server", its call 5;  slot 0: since call 4, one handle
 *                                                                     slot 3: 4712 "worker", since call 3, two handles
 *
 * Each mark has one writer, the process of its slot. A mark counts only with the key of this block and this process, which
 * is stored last: whoever is killed before that leaves a holder without a mark, and nobody has to clear what an earlier
 * holder of an earlier block left there.
 */
#ifndef SIM_SHARE_MARK_H
#define SIM_SHARE_MARK_H

#include "os_inspect.h"
#include "share_folder.h"

/* A call by its number in its system and its kind (enum vmm_call_id), in one word; 0: not known. */
uint64_t share_call(uint64_t number, unsigned id);
uint64_t share_call_number(uint64_t call);
/* The driver's name for it; NULL where it is none. */
const char *share_call_name(uint64_t call);

/* Writes that it is this process. */
void share_mark_process(struct share_person *who);
/* What is written there, harmless to print; returns the process's number. */
uint64_t share_person_read(const struct share_person *who, char program[OS_PROGRAM]);

/* Makes sure that marks of the block find room. */
bool share_mark_room(const struct share_folder *folder, unsigned index);

/* The slot's process holds the block by so many handles, 0: no longer. The call is the first one's, and may be told later
 * than the handles; 0: it is not known, or has been told. */
void share_mark_hold(struct share_state *state, unsigned index, unsigned slot, uint64_t call, uint64_t handles);
/* Where there is none: false, and zeros. */
bool share_mark_read(const struct share_state *state, unsigned index, unsigned slot, uint64_t *call, uint64_t *handles);

#endif

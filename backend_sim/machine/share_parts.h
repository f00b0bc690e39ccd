/* SPDX-License-Identifier: Apache-2.0 */
/* share_parts.h - private to share.h's implementation; call everything with the state's lock:
 *
 *   share.c          joins a machine, and leaves it               share_lock.c     the state's lock
 *   share_use.c      publishes this process's use                share_tidy.c     cleans up after ended processes
 *   share_export.c   block -> entry -> token
 *   share_import.c   token -> entry -> view, with a holder        share_drop.c     releases by holders and watchers
 *   share_view.c     entry -> block that sees another's bytes, in a file of share_memory.c
 */
#ifndef SIM_SHARE_PARTS_H
#define SIM_SHARE_PARTS_H

#include "share.h"

#define SHARE_MEMORY_OUT "the host's memory is exhausted"

/* Has this process joined, and can it use its slot? A forked child inherits its parent's slot, which it must not use. */
bool share_joined(const struct share *share);

/* The path of a file of the machine, in path. */
const char *share_file_of(const struct share *share, const char *kind, uint64_t number, char path[OS_PATH_MAX]);

/* Removes the entries of a slot whose process has ended or is ending. */
void share_clear_slot(const struct share *share, unsigned index);

/* Is the block without any holder and any descriptor? Then share_end_block can end it. */
bool share_is_over(const struct share *share, const struct share_block *block);
void share_end_block(const struct share *share, struct share_block *block);

/* Removes the file of a token without a block, left by an exporter that was killed between creating the two: only the last token
 * can be one. */
void share_forget_token(const struct share *share);

/* Frees this machine's part of its blocks that have ended. */
void share_collect(struct share *share);

/* Lists one of this machine's blocks as shared, with the entry of that index and number. */
void share_list(struct share *share, struct sim_block *block, uint64_t number, unsigned index);

/* Frees a listed block; or all of them, but bytes that other processes can still reach stay in the file. */
void share_forget(struct share *share, struct sim_block *block);
void share_leave_blocks(struct share *share);

/* The memory file of process home, opened if necessary; NULL on failure. Closes files without users. */
struct share_memory *share_memory_of(struct share *share, uint64_t home);
void share_forget_memory(struct share *share);

/* This machine's view of the block with that number, without a holder; created on first use. */
enum share_found share_see(struct share *share, struct sim_machine *machine, unsigned index, uint64_t number,
                           struct sim_block **block, char text[SHARE_WHY]);

/* Publishes a block in the state, unless it is already there. Returns NULL, or the reason for a failure. */
const char *share_publish_block(struct share *share, struct sim_machine *machine, struct sim_block *block);

#endif

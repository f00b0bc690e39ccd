/* SPDX-License-Identifier: Apache-2.0 */
/* share_parts.h - the inside of share.h, all of it with the state's lock:
 *
 *   share.c          takes part in a machine, and leaves it       share_lock.c     the state's lock
 *   share_use.c      tells others what this process has           share_tidy.c     clears up after those that ended
 *   share_export.c   block -> entry -> token
 *   share_import.c   token -> entry -> view, with a holder        share_drop.c     holders and watchers that let go
 *   share_view.c     entry -> block that sees another's bytes, in a file of share_memory.c
 */
#ifndef SIM_SHARE_PARTS_H
#define SIM_SHARE_PARTS_H

#include "share.h"

#define SHARE_MEMORY_OUT "the host's memory is exhausted"

/* Does this process take part, and can that be touched? A forked child has its parent's part, which it leaves alone. */
bool share_joined(const struct share *share);

/* The path of a file of the machine, in path. */
const char *share_file_of(const struct share *share, const char *kind, uint64_t number, char path[OS_PATH_MAX]);

/* Takes away what a slot has, whose process is gone or goes. */
void share_clear_slot(const struct share *share, unsigned index);

/* Does no process hold the block, and is no descriptor of it left? Then it can be ended. */
bool share_is_over(const struct share *share, const struct share_block *block);
void share_end_block(const struct share *share, struct share_block *block);

/* The file of a token that no block has, since its maker was killed in between: only the last that was made can be such. */
void share_forget_token(const struct share *share);

/* Frees this machine's part of its blocks that have ended. */
void share_collect(struct share *share);

/* One of this machine's blocks is shared from now on: the entry with that index and number is its. */
void share_list(struct share *share, struct sim_block *block, uint64_t number, unsigned index);

/* Frees a block that is listed; or all of them, of which what others can still reach stays in the file. */
void share_forget(struct share *share, struct sim_block *block);
void share_leave_blocks(struct share *share);

/* The file of the memory of process home, opened if need be; NULL: it cannot be. Those without users are closed. */
struct share_memory *share_memory_of(struct share *share, uint64_t home);
void share_forget_memory(struct share *share);

/* The block with that number, as this machine sees it, without holding it; made if it was not seen yet. */
enum share_found share_see(struct share *share, struct sim_machine *machine, unsigned index, uint64_t number,
                           struct sim_block **block, char text[SHARE_WHY]);

/* Names a block in the state, if it is not there yet. NULL, or what is in the way. */
const char *share_publish_block(struct share *share, struct sim_machine *machine, struct sim_block *block);

#endif

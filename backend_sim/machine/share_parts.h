/* SPDX-License-Identifier: Apache-2.0 */
/* share_parts.h - the inside of share.h: share.c takes part, share_tidy.c clears up. All of it with the state's lock. */
#ifndef SIM_SHARE_PARTS_H
#define SIM_SHARE_PARTS_H

#include "share.h"

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

/* The block with that number, as this machine sees it, without holding it; made if it was not seen yet. */
enum share_found share_see(struct share *share, struct sim_machine *machine, unsigned index, uint64_t number,
                           struct sim_block **block, char text[SHARE_WHY]);

/* Names a block in the state, if it is not there yet. NULL, or what is in the way. */
const char *share_publish_block(struct share *share, struct sim_machine *machine, struct sim_block *block);

#endif

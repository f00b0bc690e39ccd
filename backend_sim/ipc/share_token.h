/* SPDX-License-Identifier: Apache-2.0 */
/* share_token.h - the file that an exported descriptor is of. It names a block of a machine and holds no memory.
 *
 *   FOLDER/token.7   [ magic | machine's id | block's index, number, nonce | machine's name ]
 *   export           a new open file of it, read-only, on which a hold lies (os_share.h)
 *
 * The hold is the descriptor's: duplicates of it, in whatever process or on the way in a message, keep it, so whether
 * anybody has one left is asked of the file (share_token_is_out) and not of the processes.
 */
#ifndef SIM_SHARE_TOKEN_H
#define SIM_SHARE_TOKEN_H

#include "share_state.h"

struct share_token {
    uint64_t magic, machine, index, number, nonce[2];
    char name[SHARE_NAME_MAX + 8]; /* of the machine; "" for one without a name */
};

/* Writes it into a new file. False when the system has no room. */
bool share_token_write(int file, const struct share_token *token, struct os_file_is *is);

/* A descriptor to hand out; -1 when there is none to be had. */
int share_token_open(const char *path);

/* Is there a descriptor left? A file that is not there has none; one that cannot be opened is taken to have. */
bool share_token_is_out(const char *path);

enum share_token_is { SHARE_TOKEN, SHARE_TOKEN_NONE, SHARE_TOKEN_UNREAD };

/* Reads a token from a descriptor of any kind, without waiting; NONE when it is none, UNREAD when the system does not let it
 * be read. */
enum share_token_is share_token_read(int file, struct share_token *token, struct os_file_is *is);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* share_token.h - the file behind an exported descriptor. It names a block of a machine and holds no memory.
 *
 *   FOLDER/token.7   [ magic | machine's id | block's index, number, nonce | machine's name ]
 *   export           opens the file again, read-only, with a hold on it (os_share.h)
 *
 * The hold belongs to the descriptor: its duplicates, in any process or in flight in a message, keep the hold. So
 * share_token_is_out can query the file instead of the processes to see whether a descriptor is left.
 */
#ifndef SIM_SHARE_TOKEN_H
#define SIM_SHARE_TOKEN_H

#include "share_state.h"

struct share_token {
    uint64_t magic, machine, index, number, nonce[2];
    char name[SHARE_NAME_MAX + 8]; /* the machine's name; "" if it has none */
};

/* Writes the token into a new file. False when the system has no space. */
bool share_token_write(int file, const struct share_token *token, struct os_file_is *is);

/* Opens a descriptor for the importer; -1 on failure. */
int share_token_open(const char *path);

/* Is any descriptor left? A missing file has none; a file that cannot be opened counts as having one. */
bool share_token_is_out(const char *path);

enum share_token_is { SHARE_TOKEN, SHARE_TOKEN_NONE, SHARE_TOKEN_UNREAD };

/* Reads a token from a descriptor of any kind, without waiting. NONE: it is not a token; UNREAD: the system refuses the read. */
enum share_token_is share_token_read(int file, struct share_token *token, struct os_file_is *is);

#endif

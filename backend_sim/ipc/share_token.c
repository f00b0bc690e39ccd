/* SPDX-License-Identifier: Apache-2.0 */
#include "share_token.h"

#include <string.h>

#define TOKEN_MAGIC UINT64_C(0x31656b6f74636d76)

bool share_token_write(int file, const struct share_token *token, struct os_file_is *is)
{
    struct share_token whole = *token;
    whole.magic = TOKEN_MAGIC;
    return os_file_write(file, 0, &whole, sizeof whole) && os_file_look(file, is);
}

int share_token_open(const char *path)
{
    int file = os_file_open(path, OS_OPEN_READ);
    if (file < 0 || os_lock(file))
        return file;
    os_file_close(file);
    return -1;
}

bool share_token_is_out(const char *path)
{
    int file = os_file_open(path, OS_OPEN_READ);
    if (file < 0)
        return os_file_exists(path);
    bool out = !os_lock_exclusive(file);
    os_unlock(file); /* so that a child that another thread is forking now does not inherit it */
    os_file_close(file);
    return out;
}

enum share_token_is share_token_read(int file, struct share_token *token, struct os_file_is *is)
{
    if (!os_file_look(file, is))
        return SHARE_TOKEN_UNREAD;
    if (!is->regular || is->size != sizeof *token || !os_file_is_readable(file))
        return SHARE_TOKEN_NONE;
    if (!os_file_read(file, 0, token, sizeof *token))
        return SHARE_TOKEN_UNREAD;
    if (token->magic != TOKEN_MAGIC || token->name[sizeof token->name - 1])
        return SHARE_TOKEN_NONE;
    for (char *c = token->name; *c; c++) /* the name may appear in a message, and may be forged */
        if (*c < ' ' || *c > '~')
            *c = '?';
    return SHARE_TOKEN;
}

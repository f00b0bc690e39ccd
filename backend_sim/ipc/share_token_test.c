/* SPDX-License-Identifier: Apache-2.0 */
/* The file behind a descriptor: writing it, opening it for export, finding its descriptors, reading it. */
#include "share_token.h"

#include <fcntl.h>
#include <sys/file.h>

#include "share_rig.h"

/* Creates a token's file, which must not exist yet. */
static bool token_made(const char *path, const struct share_token *token, struct os_file_is *is)
{
    int file = os_file_open(path, OS_OPEN_NEW);
    bool made = file >= 0 && share_token_write(file, token, is);
    if (file >= 0)
        os_file_close(file);
    return made;
}

int main(void)
{
    struct share_token token = {.machine = 1, .index = 2, .number = 3, .nonce = {4, 5}, .name = "name"}, read_back;
    struct os_file_is made, is;
    char path[128];
    int ends[2];
    rig_begin();
    snprintf(path, sizeof path, "%s/token", rig_root);
    tap_ok(!share_token_is_out(path), "a missing token has no descriptor");
    tap_ok(token_made(path, &token, &made) && !token_made(path, &token, &is), "a token can be created only once");
    tap_ok(!share_token_is_out(path), "a new token has no exported descriptor");
    char magic[8];
    int begun = open(path, O_RDONLY);
    tap_ok(read(begun, magic, sizeof magic) == sizeof magic && !memcmp(magic, "vmctoke1", sizeof magic),
           "a token starts with the magic that other builds of this version expect: %.8s", magic);
    close(begun);
    int fd = share_token_open(path), other = share_token_open(path);
    tap_ok(fd >= 0 && other >= 0 && fd != other && share_token_is_out(path), "two descriptors are exported");
    tap_ok((fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY && ftruncate(fd, 0), "a descriptor is read-only");
    tap_ok(share_token_read(fd, &read_back, &is) == SHARE_TOKEN && read_back.machine == 1 && read_back.index == 2 &&
               read_back.number == 3 && read_back.nonce[1] == 5 && strcmp(read_back.name, "name") == 0 &&
                   is.number == made.number &&
               is.device == made.device,
           "a token reads back unchanged");
    close(fd);
    tap_ok(share_token_is_out(path), "the second descriptor is still open");
    close(other);
    tap_ok(!share_token_is_out(path), "after both are closed no descriptor is left");
    int alone = open(path, O_RDONLY), next = dup(alone);
    close(next);
    tap_ok(!flock(alone, LOCK_EX) && share_token_open(path) == -1, "a token that another process is looking at is not exported");
    close(alone);
    alone = open(path, O_RDONLY);
    int after = dup(alone);
    tap_u64((uint64_t)after, (uint64_t)next, "the failed export leaves no descriptor open");
    close(after);
    close(alone);
    int written = open(path, O_WRONLY);
    tap_ok(share_token_read(written, &token, &is) == SHARE_TOKEN_NONE, "a write-only file is not a token");
    close(written);
    tap_ok(share_token_read(-1, &token, &is) == SHARE_TOKEN_UNREAD, "descriptor -1 cannot be read");
    tap_ok(!pipe(ends) && share_token_read(ends[0], &token, &is) == SHARE_TOKEN_NONE,
           "an empty pipe is not a token, and does not block");
    int folder = open(rig_root, O_RDONLY);
    tap_ok(share_token_read(folder, &token, &is) == SHARE_TOKEN_NONE, "a folder is not a token");
    close(ends[0]);
    close(ends[1]);
    close(folder);
    unlink(path);
    strcpy(token.name, "\x01\x1f a~\x7f\x80\xff");
    tap_ok(token_made(path, &token, &made), "a token with forged contents");
    fd = share_token_open(path);
    tap_ok(share_token_read(fd, &read_back, &is) == SHARE_TOKEN && strcmp(read_back.name, "?? a~???") == 0,
           "only the printable part of its name is read: %s", read_back.name);
    close(fd);
    unlink(path);
    rig_end();
    return tap_done();
}

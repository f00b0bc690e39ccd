/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS; before any header */
#include "findings_stream.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "os_environment.h"
#include "posix.h"

#ifndef SOCK_CLOEXEC
#define SOCK_CLOEXEC 0 /* a system without it has no such sockets either (macOS): in that case there is no stream */
#endif

static _Atomic int held = -1; /* the number of the kept connection plus 1; 0: keep the next one; -1: keep none */

static const char *stream_path(void)
{
    const char *path = os_environment("CUVMM_CHECK_STREAM");
    return path && path[0] && strlen(path) < sizeof((struct sockaddr_un *)0)->sun_path ? path : NULL;
}

bool findings_streamed(void)
{
    return stream_path() != NULL;
}

/* ---- a record's memory ---- */

void record_again(struct json *record, const char *kind)
{
    jsonw_reset(record);
    jsonw_open(record, NULL, '{');
    jsonw_int(record, "v", 1);
    jsonw_int(record, "pid", getpid());
    jsonw_text(record, "kind", kind);
}

bool record_begin(struct json *record, const char *kind)
{
    void *memory = findings_streamed()
                       ? posix.mmap(NULL, RECORD_MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                       : MAP_FAILED;
    if (memory == MAP_FAILED)
        return false;
    *record = (struct json){.text = memory, .room = RECORD_MOST, .fixed = true};
    record_again(record, kind);
    return true;
}

void record_end(struct json *record)
{
    posix.munmap(record->text, RECORD_MOST);
}

/* ---- sending ---- */

static int connect_to(int file, const struct sockaddr_un *address, size_t length)
{
    int result;
    do
        result = posix.connect(file, (const struct sockaddr *)address, (unsigned)(offsetof(struct sockaddr_un, sun_path) + length));
    while (result != 0 && errno == EINTR);
    return result != 0 && errno == EISCONN ? 0 : result; /* the interrupted call had succeeded */
}

/* -1: there is no reader. */
static int open_connection(void)
{
    const char *path = stream_path();
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int file = path ? posix.socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0) : -1;
    if (file < 0)
        return -1;
    size_t length = strlen(path);
    memcpy(address.sun_path, path, length + 1);
    if (connect_to(file, &address, length + 1) == 0)
        return file;
    /* An abstract name begins with a zero byte and contains no other. */
    memmove(address.sun_path + 1, path, length);
    address.sun_path[0] = '\0';
    if (length + 1 < sizeof address.sun_path && connect_to(file, &address, length + 1) == 0)
        return file;
    close(file);
    return -1;
}

static int take_connection(void)
{
    int kept = atomic_load(&held);
    return kept > 0 ? kept - 1 : open_connection();
}

static void leave_connection(int file, bool works)
{
    int none = 0;
    int kept = atomic_load(&held);
    if (kept == file + 1) {
        if (works)
            return;
        atomic_store(&held, -1);
    } else if (works && atomic_compare_exchange_strong(&held, &none, file + 1)) {
        return;
    }
    close(file);
}

static enum record_fate send_whole(int file, const struct json *record)
{
    struct iovec part = {record->text, record->length};
    const struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    ssize_t sent;
    do
        sent = posix.sendmsg(file, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent >= 0 ? RECORD_SENT : errno == EMSGSIZE ? RECORD_TOO_LONG : RECORD_UNREAD;
}

enum record_fate record_send(struct json *record)
{
    jsonw_close(record, '}');
    if (record->failed)
        return RECORD_TOO_LONG;
    int file = take_connection();
    if (file < 0)
        return RECORD_UNREAD;
    enum record_fate fate = send_whole(file, record);
    leave_connection(file, fate != RECORD_UNREAD);
    return fate;
}

void findings_hold_stream(void)
{
    int none = -1;
    atomic_compare_exchange_strong(&held, &none, 0);
}

void findings_close_stream(void)
{
    int kept = atomic_exchange(&held, -1);
    if (kept > 0)
        close(kept - 1);
}

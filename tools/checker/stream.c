/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* accept4, ucred; before any header */
#include "stream.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "exec_file.h"

enum { MOST = 256, WAITING = 4096, LONGEST = 256 << 10 }; /* connections read at once; connections that wait; bytes of a record */
enum { UNTIL, BY_PATH, ABSTRACT, LISTENERS };

struct stream {
    stream_handler handle;
    void *user;
    char folder[STREAM_PATH], path[STREAM_PATH];
    struct pollfd file[LISTENERS + MOST]; /* after the listeners, connections in order of arrival */
    nfds_t count;
    char record[LONGEST];
};

/* ---- reading ---- */

/* The program's processes run as this user; root may have changed to another. */
static bool is_ours(int file)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    return getsockopt(file, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && (peer.uid == geteuid() || peer.uid == 0);
}

/* Takes one connection. Returns false if there is none, or no room. */
static bool take(struct stream *stream, int listener)
{
    if (stream->count == LISTENERS + MOST)
        return false;
    int file = accept4(stream->file[listener].fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (file < 0)
        return false;
    /* Any user who can access the folder is entitled to; but any user can try the abstract name. */
    if (listener == ABSTRACT && !is_ours(file))
        close(file);
    else
        stream->file[stream->count++] = (struct pollfd){.fd = file, .events = POLLIN};
    return true;
}

/* Reads what is there. False at the end. */
static bool read_some(struct stream *stream, int file)
{
    ssize_t length;
    while ((length = recv(file, stream->record, sizeof stream->record, 0)) > 0)
        stream->handle(stream->user, stream->record, (size_t)length);
    return length < 0 && (errno == EAGAIN || errno == EINTR);
}

/* Reads every connection with data, and drops those that have ended. */
static void read_ready(struct stream *stream)
{
    nfds_t kept = LISTENERS;
    for (nfds_t i = LISTENERS; i < stream->count; i++) {
        if (!stream->file[i].revents || read_some(stream, stream->file[i].fd))
            stream->file[kept++] = stream->file[i];
        else
            close(stream->file[i].fd);
    }
    stream->count = kept;
}

/* Returns how many it accepted. */
static int accept_all(struct stream *stream)
{
    nfds_t before = stream->count;
    for (int listener = BY_PATH; listener < LISTENERS; listener++)
        while (take(stream, listener))
            ;
    return (int)(stream->count - before);
}

/* Reads what was sent before the program ended. Does not wait for a process that outlives it and sends forever. */
static void read_rest(struct stream *stream)
{
    int accepted, left = 2 * WAITING + MOST;
    do { /* reading makes room for waiting connections */
        for (nfds_t i = LISTENERS; i < stream->count; i++)
            stream->file[i].revents = POLLIN;
        read_ready(stream);
        accepted = accept_all(stream);
        left -= accepted;
    } while (accepted && left > 0);
}

void stream_read(struct stream *stream, int until)
{
    stream->file[UNTIL].fd = until;
    for (bool going = true; going;) {
        bool full = stream->count == LISTENERS + MOST;
        for (int listener = BY_PATH; listener < LISTENERS; listener++)
            stream->file[listener].events = full ? 0 : POLLIN;
        if (poll(stream->file, stream->count, -1) < 0)
            continue;
        read_ready(stream);
        accept_all(stream);
        going = !stream->file[UNTIL].revents;
    }
    stream->file[UNTIL].fd = -1;
}

/* ---- opening ---- */

static int listen_at(const char *path, bool abstract)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t length = strlen(path);
    if (length + 2 > sizeof address.sun_path) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path + abstract, path, length + 1);
    int file = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length + 1);
    if (file >= 0 && (bind(file, (struct sockaddr *)&address, size) != 0 || listen(file, WAITING) != 0)) {
        int error = errno;
        close(file);
        errno = error;
        return -1;
    }
    return file;
}

/* The run's own folder, in the first location whose path is not too long. */
static bool make_folder(struct stream *stream)
{
    const char *place;
    for (unsigned i = 0; (place = exec_place(i)) != NULL; i++) {
        if (place[0] != '/' || strlen(place) > STREAM_PATH - sizeof "/cuvmm-check-XXXXXX/stream" - 1)
            continue;
        snprintf(stream->folder, sizeof stream->folder, "%.80s/cuvmm-check-XXXXXX", place);
        if (!mkdtemp(stream->folder))
            continue;
        snprintf(stream->path, sizeof stream->path, "%.100s/stream", stream->folder);
        return true;
    }
    stream->folder[0] = '\0';
    return false;
}

static void release(struct stream *stream)
{
    for (nfds_t i = 0; i < stream->count; i++)
        if (stream->file[i].fd >= 0)
            close(stream->file[i].fd);
    if (stream->path[0])
        unlink(stream->path);
    if (stream->folder[0])
        rmdir(stream->folder);
    free(stream);
}

struct stream *stream_open(stream_handler handle, void *user)
{
    struct stream *stream = calloc(1, sizeof *stream);
    if (!stream)
        return NULL;
    stream->handle = handle;
    stream->user = user;
    for (int i = 0; i < LISTENERS; i++)
        stream->file[i] = (struct pollfd){.fd = -1, .events = POLLIN};
    stream->count = LISTENERS;
    bool good = make_folder(stream) && (stream->file[BY_PATH].fd = listen_at(stream->path, false)) >= 0;
    /* Without the second name a program that changes its root directory cannot send; everything else works. */
    if (good)
        stream->file[ABSTRACT].fd = listen_at(stream->path, true);
    if (good)
        return stream;
    int error = errno;
    release(stream);
    errno = error;
    return NULL;
}

const char *stream_path(const struct stream *stream)
{
    return stream->path;
}

void stream_close(struct stream *stream)
{
    read_rest(stream);
    release(stream);
}

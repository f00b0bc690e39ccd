/* SPDX-License-Identifier: Apache-2.0 */
#include "view_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { CONNECTIONS = 32, REQUEST = 8192, KEY = 32, PATIENCE = 10 /* seconds for a browser to take an answer */ };

struct connection {
    int fd;
    size_t length;
    char request[REQUEST + 1];
};

struct server {
    struct view_pages *pages;
    int listens;
    char host[40], key[KEY + 1];
    struct connection *connection[CONNECTIONS];
    size_t count;
};

static bool make_key(char key[KEY + 1])
{
    unsigned char bytes[KEY / 2];
    const int fd = open("/dev/urandom", O_RDONLY | O_CLOEXEC);
    const bool good = fd >= 0 && read(fd, bytes, sizeof bytes) == (ssize_t)sizeof bytes;
    if (fd >= 0)
        close(fd);
    for (size_t i = 0; good && i < sizeof bytes; i++)
        snprintf(key + 2 * i, 3, "%02x", bytes[i]);
    return good;
}

static bool listen_at(struct server *server, uint16_t port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_port = htons(port)};
    socklen_t size = sizeof at;
    const int yes = 1;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    server->listens = socket(AF_INET, SOCK_STREAM, 0);
    if (server->listens < 0)
        return false;
    fcntl(server->listens, F_SETFD, FD_CLOEXEC);
    setsockopt(server->listens, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (bind(server->listens, (const struct sockaddr *)&at, sizeof at) != 0 || listen(server->listens, CONNECTIONS) != 0 ||
        getsockname(server->listens, (struct sockaddr *)&at, &size) != 0)
        return false;
    snprintf(server->host, sizeof server->host, "127.0.0.1:%u", ntohs(at.sin_port));
    return true;
}

static void drop(struct server *server, size_t i)
{
    close(server->connection[i]->fd);
    free(server->connection[i]);
    server->connection[i] = server->connection[--server->count];
}

/* Browsers open connections that they may never use; the eldest makes room for another. */
static void take_in(struct server *server)
{
    const struct timeval patience = {.tv_sec = PATIENCE};
    const int fd = accept(server->listens, NULL, NULL);
    if (fd < 0)
        return;
    if (server->count == CONNECTIONS)
        drop(server, 0);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
    struct connection *connection = text_grow(NULL, sizeof *connection);
    connection->fd = fd;
    connection->length = 0;
    server->connection[server->count++] = connection;
}

static void send_all(int fd, const char *bytes, size_t length)
{
    while (length) {
        const ssize_t sent = send(fd, bytes, length, 0);
        if (sent <= 0)
            return; /* it went away */
        bytes += sent;
        length -= (size_t)sent;
    }
}

static void answer(struct server *server, const struct connection *connection)
{
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out)
        return;
    view_answer(server->pages, connection->request, server->host, server->key, out);
    if (fclose(out) == 0)
        send_all(connection->fd, text, length);
    free(text);
}

/* What has come of a request. False: the connection has ended, or was answered. */
static bool hear(struct server *server, struct connection *connection)
{
    const ssize_t got = recv(connection->fd, connection->request + connection->length, REQUEST - connection->length, 0);
    if (got <= 0)
        return false;
    connection->length += (size_t)got;
    connection->request[connection->length] = '\0';
    const bool whole = strstr(connection->request, "\r\n\r\n") || connection->length == REQUEST;
    if (whole)
        answer(server, connection);
    return !whole;
}

static void serve(struct server *server)
{
    struct pollfd files[CONNECTIONS + 1];
    for (;;) {
        files[0] = (struct pollfd){.fd = server->listens, .events = POLLIN};
        for (size_t i = 0; i < server->count; i++)
            files[i + 1] = (struct pollfd){.fd = server->connection[i]->fd, .events = POLLIN};
        const size_t count = server->count;
        if (poll(files, (nfds_t)count + 1, -1) < 0 && errno != EINTR)
            return;
        for (size_t i = count; i-- > 0;) /* the last first: dropping one moves the last to its place */
            if (files[i + 1].revents && !hear(server, server->connection[i]))
                drop(server, i);
        if (files[0].revents)
            take_in(server);
    }
}

int view_serve(struct view_pages *pages, uint16_t port, FILE *out, FILE *err)
{
    struct server server = {.pages = pages, .listens = -1};
    if (!make_key(server.key) || !listen_at(&server, port)) {
        fprintf(err, "cuvmm view: no page can be served at 127.0.0.1%s: %s\n", port ? " and this port" : "", strerror(errno));
        if (server.listens >= 0)
            close(server.listens);
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    fprintf(out, "http://%s/%s/\n", server.host, server.key);
    fflush(out);
    fprintf(err, "cuvmm view: open this address with a browser of this machine; Ctrl-C ends it\n");
    serve(&server);
    return 2;
}

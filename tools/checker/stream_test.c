/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "stream.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "findings_stream.h"
#include "tap.h"

enum { SENDERS = 600, EACH = 20 };

static struct {
    unsigned records, wrong, last[SENDERS];
    size_t longest;
    bool slow;
} seen;

/* Records of this test: "SENDER NUMBER" and anything behind it. */
static void handle(void *user, const char *text, size_t length)
{
    unsigned sender, number;
    char copy[64] = "";
    seen.wrong += user != &seen;
    memcpy(copy, text, length < sizeof copy ? length : sizeof copy - 1);
    seen.records++;
    seen.longest = length > seen.longest ? length : seen.longest;
    if (seen.slow)
        sched_yield();
    if (sscanf(copy, "%u %u", &sender, &number) != 2)
        return;
    seen.wrong += sender >= SENDERS || number != seen.last[sender] + 1;
    if (sender < SENDERS)
        seen.last[sender] = number;
}

/* -1: there is no reader. */
static int connect_to(const char *path, bool abstract)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    strcpy(address.sun_path + abstract, path);
    int file = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (connect(file, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path) + 1)) == 0)
        return file;
    close(file);
    return -1;
}

static bool send_one(const char *path, bool abstract, const char *text, size_t length)
{
    int file = connect_to(path, abstract);
    bool sent = file >= 0 && send(file, text, length, MSG_NOSIGNAL) == (ssize_t)length;
    if (file >= 0)
        close(file);
    return sent;
}

static const char *path;

/* A stream that is read by a thread while another waits for the program's process. */
struct reading {
    struct stream *stream;
    int until[2];
    pthread_t thread;
};

static void *read_until(void *argument)
{
    struct reading *reading = argument;
    stream_read(reading->stream, reading->until[0]);
    return NULL;
}

static void begin(struct reading *reading)
{
    reading->stream = stream_open(handle, &seen);
    if (!reading->stream || pipe(reading->until) != 0 || pthread_create(&reading->thread, NULL, read_until, reading))
        tap_bail("no stream");
    path = stream_path(reading->stream);
}

static void end(struct reading *reading)
{
    close(reading->until[1]);
    pthread_join(reading->thread, NULL);
    close(reading->until[0]);
    stream_close(reading->stream);
}

/* Half of them connect for each record, half once. */
static void *send_many(void *argument)
{
    unsigned sender = (unsigned)(size_t)argument;
    char text[64];
    int file = sender % 2 ? connect_to(path, false) : -1;
    for (unsigned i = 1; i <= EACH; i++) {
        size_t length = (size_t)snprintf(text, sizeof text, "%u %u", sender, i);
        if (sender % 2 ? send(file, text, length, MSG_NOSIGNAL) < 0 : !send_one(path, false, text, length))
            tap_bail("a record cannot be sent: %s", strerror(errno));
    }
    if (file >= 0)
        close(file);
    return NULL;
}

static void test_many(void)
{
    pthread_t thread[SENDERS];
    memset(&seen, 0, sizeof seen);
    seen.slow = true;
    struct reading reading;
    begin(&reading);
    tap_ok(path[0] == '/', "a socket in a separate folder");
    for (size_t i = 0; i < SENDERS; i++)
        if (pthread_create(&thread[i], NULL, send_many, (void *)i))
            tap_bail("no thread");
    for (size_t i = 0; i < SENDERS; i++)
        pthread_join(thread[i], NULL);
    end(&reading);
    tap_u64(seen.records, SENDERS * EACH, "%d senders at once: each record arrives", SENDERS);
    tap_u64(seen.wrong, 0, "each sender's in its order, though its connections were many");
}

static void test_sizes(void)
{
    static char text[RECORD_MOST];
    memset(&seen, 0, sizeof seen);
    memset(text, 'x', sizeof text);
    struct reading reading;
    begin(&reading);
    tap_ok(send_one(path, false, text, sizeof text), "the longest record can be sent");
    tap_ok(send_one(path, false, "x", 1) && send_one(path, true, "x", 1), "the shortest, and by the other name");
    int idle = connect_to(path, false), empty = connect_to(path, false);
    close(empty);
    char copy[200];
    snprintf(copy, sizeof copy, "%s", path);
    end(&reading);
    tap_ok(seen.records == 3 && seen.longest == sizeof text, "whole; one that sends nothing is not awaited");
    tap_ok(send(idle, "x", 1, MSG_NOSIGNAL) < 0 && connect_to(copy, false) < 0 && connect_to(copy, true) < 0 && access(copy, F_OK) != 0,
           "then there is no reader, and nothing is left");
    close(idle);
    *strrchr(copy, '/') = '\0';
    tap_ok(access(copy, F_OK) != 0, "nor is the folder");
}

/* What is sent before a process is killed arrives, and data from other senders does not. */
static void test_processes(void)
{
    memset(&seen, 0, sizeof seen);
    struct stream *stream = stream_open(handle, &seen);
    path = stream_path(stream);
    pid_t child = fork();
    if (child == 0) {
        send_one(path, false, "0 1", 3);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    if (geteuid() == 0 && (child = fork()) == 0) {
        bool refused = setuid(65534) == 0 && !send_one(path, false, "0 2", 3);
        send_one(path, true, "0 2", 3); /* may connect, but is not read */
        _exit(refused ? 0 : 1);
    }
    int status = 0;
    if (geteuid() == 0)
        waitpid(child, &status, 0);
    stream_close(stream);
    tap_u64(seen.records, 1, "a killed process's record arrives");
    if (geteuid() == 0)
        tap_ok(status == 0, "another user's does not");
    else
        tap_skip("this is not root", "another user's does not");
}

static void test_folders(void)
{
    char longer[200];
    memset(longer, 'x', sizeof longer);
    longer[0] = '/';
    longer[sizeof longer - 1] = '\0';
    const char *folders[] = {longer, "relative", "/nowhere"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        setenv("TMPDIR", folders[i], 1);
        struct stream *stream = stream_open(handle, &seen);
        tap_ok(stream && strncmp(stream_path(stream), "/tmp/cuvmm-check-", 17) == 0, "with the TMPDIR %.20s it is in /tmp", folders[i]);
        stream_close(stream);
    }
    unsetenv("TMPDIR");
}

int main(void)
{
    test_many();
    test_sizes();
    test_processes();
    test_folders();
    return tap_done();
}

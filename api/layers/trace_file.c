/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700 /* realpath */
#include "trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lifecycle.h"
#include "os_write.h"
#include "posix.h"
#include "trace_record.h"

enum { CHUNK_WORDS = sizeof(struct trace_chunk) / sizeof(uint64_t) };
_Static_assert(TRACE_RECORD_MOST <= TRACE_CHUNK - sizeof(struct trace_chunk), "a record fits into a chunk");

static int write_all(int fd, const void *bytes, size_t length)
{
    for (size_t done = 0; done < length;) {
        ssize_t written = os_write_quietly(fd, (const char *)bytes + done, length - done);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written ? errno : ENOSPC;
        done += (size_t)written;
    }
    return 0;
}

static int write_zeros(int fd, size_t length)
{
    static const char zeros[TRACE_BINARY_PAGE];
    int error = 0;
    for (; length && !error; length -= sizeof zeros)
        error = write_all(fd, zeros, sizeof zeros);
    return error;
}

/* ---- beginning ---- */

static void begin_chunk(struct trace_file *file)
{
    struct trace_chunk chunk = {.index = file->chunks, .before = file->calls, .number = file->number};
    memcpy(file->window, &chunk, sizeof chunk);
    file->used = CHUNK_WORDS;
    file->in_chunk = 0;
}

/* Fills the head of a mapped file of zeros. */
static void fill_head(struct trace_file *file, const char *header, size_t length, uint32_t start, bool own)
{
    struct trace_binary *head = file->head;
    char *text = (char *)(head + 1);
    memcpy(head->magic, TRACE_BINARY_MAGIC, sizeof head->magic);
    head->format = TRACE_BINARY_FORMAT;
    head->order = TRACE_BINARY_ORDER;
    head->start = start;
    head->chunk = TRACE_CHUNK;
    head->header = (uint32_t)length + 1;
    head->own = own;
    memcpy(text, header, length);
    text[length] = '\n';
    head->calls = (uint32_t)trace_calls_write(text + length + 1);
    file->window = (uint64_t *)(void *)((char *)head + start);
    file->room = TRACE_CHUNK / sizeof(uint64_t);
    begin_chunk(file);
}

/* Where to create the file: at the target of a symbolic link, if it is one. ENOTSUP if the name belongs to something other than
 * a regular file. */
static int target_of(const char *path, char target[PATH_MAX])
{
    struct stat status;
    if (posix.stat(path, &status) != 0)
        return snprintf(target, PATH_MAX, "%s", path) < PATH_MAX ? 0 : ENAMETOOLONG;
    if (!S_ISREG(status.st_mode))
        return ENOTSUP;
    return realpath(path, target) ? 0 : errno;
}

static int map(struct trace_file *file, size_t size)
{
    void *memory = posix.mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file->fd, 0);
    if (memory == MAP_FAILED)
        return errno;
    file->head = memory;
    file->mapped = size;
    return 0;
}

static void drop(struct trace_file *file)
{
    if (file->head)
        posix.munmap(file->head, file->mapped);
    close(file->fd);
    *file = (struct trace_file){.fd = -1};
}

int trace_file_begin(struct trace_file *file, const char *path, const char *header, size_t length, bool own)
{
    char target[PATH_MAX], beside[PATH_MAX + 32];
    const size_t texts = sizeof(struct trace_binary) + length + 1 + trace_calls_write(NULL),
                 start = (texts + TRACE_BINARY_PAGE - 1) / TRACE_BINARY_PAGE * TRACE_BINARY_PAGE;
    *file = (struct trace_file){.fd = -1};
    int error = target_of(path, target);
    if (error)
        return error;
    snprintf(beside, sizeof beside, "%s.%ld", target, (long)getpid());
    unlink(beside); /* left by a process with the same number that was killed at that point */
    file->fd = posix.open(beside, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return errno;
    error = write_zeros(file->fd, start + TRACE_CHUNK);
    if (!error)
        error = map(file, start + TRACE_CHUNK);
    if (!error) {
        fill_head(file, header, length, (uint32_t)start, own);
        error = rename(beside, target) ? errno : 0;
    }
    if (error) {
        unlink(beside);
        drop(file);
    }
    return error;
}

/* ---- going on ---- */

/* Truncates the part of a chunk that a failed write has left. */
static int append(struct trace_file *file)
{
    const off_t end = (off_t)(file->head->start + (file->chunks + 1) * TRACE_CHUNK);
    int error = write_all(file->fd, file->window, TRACE_CHUNK);
    if (error && posix.ftruncate(file->fd, end) == 0)
        lseek(file->fd, end, SEEK_SET);
    return error;
}

int trace_file_append(struct trace_file *file)
{
    struct trace_chunk chunk;
    int cancel = life_no_cancel();
    memcpy(&chunk, file->window, sizeof chunk);
    chunk.used = (uint32_t)(file->used * sizeof(uint64_t));
    chunk.calls = file->in_chunk;
    memcpy(file->window, &chunk, sizeof chunk);
    memset(file->window + file->used, 0, TRACE_CHUNK - chunk.used);
    int error = append(file);
    if (!error) {
        file->chunks++;
        atomic_store_explicit(&file->head->commit, trace_commit(file->chunks, 0), memory_order_release);
        begin_chunk(file);
    }
    life_may_cancel(cancel);
    return error;
}

static bool chunk_fits(const struct trace_file *file, uint64_t number)
{
    struct trace_chunk chunk;
    memcpy(&chunk, file->window, sizeof chunk);
    return trace_number_fits(chunk.number, number);
}

uint64_t *trace_file_room_for(struct trace_file *file, size_t words, uint64_t number, int *error)
{
    if (!trace_file_room(file, words, error))
        return NULL;
    if (!chunk_fits(file, number) && file->used > CHUNK_WORDS && (*error = trace_file_append(file)) != 0)
        return NULL;
    if (!chunk_fits(file, number))
        memcpy((char *)file->window + offsetof(struct trace_chunk, number), &number, sizeof number);
    return file->window + file->used;
}

void trace_file_end(struct trace_file *file, bool whole)
{
    if (!file->head)
        return;
    if (whole)
        atomic_store_explicit(&file->head->end, file->calls + 1, memory_order_release);
    if (!file->chunks) /* zeros that cannot be truncated stay, and do no harm */
        (void)!posix.ftruncate(file->fd, (off_t)(file->head->start + file->used * sizeof(uint64_t)));
    drop(file);
}

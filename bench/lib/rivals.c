/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memfd_create, MAP_ANONYMOUS */
#include "rivals.h"

#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "os_huge.h"
#include "subject.h"

#define GRANULE ((size_t)2 << 20)

/* ---- mmap ---- */

#ifdef MFD_CLOEXEC
static int new_file(void)
{
    int file = memfd_create("bench", MFD_CLOEXEC);
    if (file >= 0 && ftruncate(file, (off_t)GRANULE) != 0) {
        close(file);
        return -1;
    }
    return file;
}
#else
static int new_file(void)
{
    return -1;
}
#endif

static unsigned char *reserve(size_t size)
{
    void *at = mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? NULL : at;
}

static bool map(unsigned char *at, int file)
{
    return mmap(at, GRANULE, PROT_NONE, MAP_SHARED | MAP_FIXED, file, 0) != MAP_FAILED;
}

static bool unmap(unsigned char *at)
{
    return mmap(at, GRANULE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED;
}

static bool grant(unsigned char *at)
{
    return mprotect(at, GRANULE, PROT_READ | PROT_WRITE) == 0;
}

bool mmap_rival_open(struct mmap_rival *rival, uint64_t count)
{
    *rival = (struct mmap_rival){.file = new_file(), .count = count};
    rival->live = rival->file < 0 ? NULL : reserve(count * GRANULE);
    bool ok = rival->live != NULL;
    for (uint64_t i = 0; ok && i < count; i++)
        ok = map(rival->live + i * GRANULE, rival->file) && grant(rival->live + i * GRANULE);
    if (!ok)
        mmap_rival_close(rival);
    return ok;
}

void mmap_rival_close(struct mmap_rival *rival)
{
    if (rival->live)
        munmap(rival->live, rival->count * GRANULE);
    if (rival->file >= 0)
        close(rival->file);
    *rival = (struct mmap_rival){.file = -1};
}

static bool one_life(void)
{
    unsigned char *at = reserve(GRANULE);
    int file = new_file();
    bool ok = at && file >= 0 && map(at, file) && grant(at) && unmap(at);
    if (file >= 0)
        close(file);
    if (at)
        munmap(at, GRANULE);
    return ok;
}

double mmap_rival_lives(void *state, unsigned units)
{
    double start = spent();
    (void)state;
    for (unsigned i = 0; i < units; i++)
        if (!one_life()) {
            perror("a life of mmap");
            exit(1);
        }
    return spent() - start;
}

/* ---- a container ---- */

static int by_key(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

bool container_rival_open(struct container_rival *rival, uint64_t count)
{
    *rival = (struct container_rival){.count = count};
    rival->key = malloc(count * sizeof *rival->key);
    bool ok = rival->key != NULL;
    for (uint64_t i = 0; ok && i < count; i++) {
        rival->key[i] = i * GRANULE;
        ok = tsearch(&rival->key[i], &rival->root, by_key) != NULL;
        rival->count = ok ? count : i;
    }
    if (!ok)
        container_rival_close(rival);
    return ok;
}

void container_rival_close(struct container_rival *rival)
{
    for (uint64_t i = 0; rival->key && i < rival->count; i++)
        tdelete(&rival->key[i], &rival->root, by_key);
    free(rival->key);
    *rival = (struct container_rival){.root = NULL};
}

double container_rival_lives(void *state, unsigned units)
{
    struct container_rival *rival = state;
    double start = spent();
    for (unsigned i = 0; i < units; i++) {
        uint64_t key = (rival->count + i % 1024) * GRANULE;
        if (!tsearch(&key, &rival->root, by_key) || !tfind(&key, &rival->root, by_key) ||
            !tdelete(&key, &rival->root, by_key)) {
            fputs("the host has no memory left\n", stderr);
            exit(1);
        }
    }
    return spent() - start;
}

/* ---- pointers ---- */

bool pointers_rival_open(struct pointers_rival *rival, uint64_t count)
{
    const uint64_t unit = GRANULE, lines = count * sizeof *rival->line, bytes = lines + count * sizeof *rival->pointer;
    *rival = (struct pointers_rival){.count = count, .chance = 1, .memory = malloc(bytes + unit)};
    if (!rival->memory)
        return false;
    unsigned char *first = (unsigned char *)(((uintptr_t)rival->memory + unit - 1) & ~(uintptr_t)(unit - 1));
    os_huge_pages(first, bytes);
    rival->line = (void *)first;
    rival->pointer = (void *)(first + lines);
    for (uint64_t i = 0; i < count; i++) {
        rival->line[i][0] = 0;
        rival->pointer[i] = rival->line[i];
    }
    return true;
}

void pointers_rival_close(struct pointers_rival *rival)
{
    free(rival->memory);
    *rival = (struct pointers_rival){.memory = NULL};
}

double pointers_rival_changes(void *state, unsigned units)
{
    struct pointers_rival *rival = state;
    double start = spent();
    for (unsigned i = 0; i < units; i++) {
        uint64_t *line = rival->pointer[(rival->chance >> 33) % rival->count];
        line[1]++;
        rival->chance = rival->chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407) + line[0]; /* which is 0 */
    }
    return spent() - start;
}

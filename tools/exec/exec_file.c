/* SPDX-License-Identifier: Apache-2.0 */
#include "exec_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static const char *named(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && folder[0] ? folder : NULL;
}

const char *exec_place(unsigned number)
{
    const char *const places[] = {named() ? named() : "/dev/shm", "/tmp"};
    return number < sizeof places / sizeof places[0] ? places[number] : NULL;
}

/* The open file; -1 on failure. */
static int make_in(const char *folder, char *path, size_t path_size, size_t size)
{
    int length = snprintf(path, path_size, "%s/cuvmm-XXXXXX", folder);
    int fd = length < (int)path_size ? mkstemp(path) : -1;
    if (fd < 0)
        return -1;
    int error = posix_fallocate(fd, 0, (off_t)size);
    if (!error && fcntl(fd, F_SETFD, FD_CLOEXEC) == 0)
        return fd;
    unlink(path);
    close(fd);
    errno = error;
    return -1;
}

static int make(char *path, size_t path_size, size_t size)
{
    int fd = make_in(exec_place(0), path, path_size, size);
    return fd >= 0 || named() ? fd : make_in(exec_place(1), path, path_size, size);
}

bool exec_zeros(char *path, size_t path_size, size_t size)
{
    int fd = make(path, path_size, size);
    if (fd >= 0)
        close(fd);
    else
        path[0] = '\0';
    return fd >= 0;
}

void *exec_shared(char *path, size_t path_size, size_t size)
{
    int fd = make(path, path_size, size);
    void *memory = fd >= 0 ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    if (fd >= 0)
        close(fd);
    if (fd >= 0 && memory == MAP_FAILED)
        unlink(path);
    if (memory == MAP_FAILED)
        path[0] = '\0';
    return memory == MAP_FAILED ? NULL : memory;
}

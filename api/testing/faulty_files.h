/* SPDX-License-Identifier: Apache-2.0 */
/* faulty_files.h - for tests of code that reads files: fstat and mmap that fail on request. They take the place of the
 * system's functions in a `struct posix` (posix.h). */
#ifndef CUVMM_FAULTY_FILES_H
#define CUVMM_FAULTY_FILES_H

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/stat.h>

static struct {
    bool fstat, mmap; /* it fails */
} faulty_file;

static inline int faulty_fstat(int fd, struct stat *status)
{
    errno = EIO;
    return faulty_file.fstat ? -1 : fstat(fd, status);
}

static inline void *faulty_mmap(void *at, size_t size, int rights, int flags, int fd, off_t offset)
{
    errno = ENOMEM;
    return faulty_file.mmap ? MAP_FAILED : mmap(at, size, rights, flags, fd, offset);
}

#endif

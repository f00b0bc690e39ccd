/* SPDX-License-Identifier: Apache-2.0 */
/* What cuvmm check runs, and what it puts before it: found, and looked at before anything is started. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static bool refuse(FILE *err, const char *path, const char *why)
{
    fprintf(err, "cuvmm check: %s: %s\n", path, why);
    return false;
}

/* As execvp looks: a name without '/' is in a folder of PATH. */
static bool find(const char *name, char *path, size_t size, FILE *err)
{
    const char *folders = getenv("PATH");
    if (strchr(name, '/')) {
        snprintf(path, size, "%s", name);
        return access(path, F_OK) == 0 || refuse(err, name, strerror(errno));
    }
    for (const char *at = folders ? folders : ""; *at; at += *at == ':') {
        size_t length = strcspn(at, ":");
        snprintf(path, size, "%.*s%s%s", (int)length, at, length ? "/" : "./", name);
        at += length;
        if (access(path, X_OK) == 0)
            return true;
    }
    return refuse(err, name, "no such program in PATH; one that lies here is ./NAME");
}

/* Is there a loader, which puts libraries before a program? */
static bool has_loader(int fd, const Elf64_Ehdr *head)
{
    for (unsigned i = 0; i < head->e_phnum; i++) {
        Elf64_Phdr segment;
        if (pread(fd, &segment, sizeof segment, (off_t)(head->e_phoff + (uint64_t)i * head->e_phentsize)) !=
            (ssize_t)sizeof segment)
            return false;
        if (segment.p_type == PT_INTERP)
            return true;
    }
    return false;
}

/* Scripts are run by a program of their own, which takes the preload along. */
static bool can_be_preloaded(int fd, const char *path, FILE *err)
{
    Elf64_Ehdr head, own;
    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return true;
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    bool known = self >= 0 && pread(self, &own, sizeof own, 0) == (ssize_t)sizeof own;
    if (self >= 0)
        close(self);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || (known && head.e_machine != own.e_machine))
        return refuse(err, path, "is built for another kind of machine than this cuvmm");
    return has_loader(fd, &head) ||
           refuse(err, path, "is statically linked: no library can be put before it, and it can load no driver");
}

static bool runs_as_other(const struct stat *status)
{
    return ((status->st_mode & S_ISUID) && status->st_uid != getuid()) ||
           ((status->st_mode & S_ISGID) && status->st_gid != getgid());
}

bool check_program(const char *name, char *path, size_t size, FILE *err)
{
    struct stat status;
    if (!find(name, path, size, err))
        return false;
    if (stat(path, &status) != 0)
        return refuse(err, path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return refuse(err, path, "is a folder");
    if (access(path, X_OK) != 0 || !(status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
        return refuse(err, path, "is not executable");
    if (runs_as_other(&status))
        return refuse(err, path, "is setuid or setgid: the loader puts no library before programs with another's rights");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return true; /* it may run without being readable */
    bool can = can_be_preloaded(fd, path, err);
    close(fd);
    return can;
}

bool check_folder(const char *library, char *folder, size_t size, FILE *err)
{
    static const char *const places[] = {"../lib/cuvmm", "../lib"};
    char self[3800], path[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *named = getenv("CUVMM_CHECK_LIBRARIES");
    self[length > 0 ? length : 0] = '\0';
    if (strrchr(self, '/'))
        *strrchr(self, '/') = '\0';
    if (named && named[0]) {
        snprintf(folder, size, "%s", named);
        snprintf(path, sizeof path, "%.3800s/%s", named, library);
        if (access(path, R_OK) == 0)
            return true;
    }
    for (size_t i = 0; !(named && named[0]) && i < sizeof places / sizeof places[0]; i++) {
        snprintf(folder, size, "%s/%s", self, places[i]);
        snprintf(path, sizeof path, "%s/%s/%s", self, places[i], library);
        if (access(path, R_OK) == 0)
            return true;
    }
    fprintf(err, "cuvmm check: %s is not beside this command (../lib, ../lib/cuvmm); name its folder in "
                 "CUVMM_CHECK_LIBRARIES\n", library);
    return false;
}

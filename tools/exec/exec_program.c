/* SPDX-License-Identifier: Apache-2.0 */
#include "exec_program.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What is said of it. */
struct look {
    const char *who;
    FILE *err;
};

static int refuse(const struct look *look, int status, const char *path, const char *why)
{
    fprintf(look->err, "%s: %s: %s\n", look->who, path, why);
    return status;
}

/* Searches like execvp: a name without '/' is looked up in PATH. */
static int find(const struct look *look, const char *name, char *path, size_t size)
{
    const char *folders = getenv("PATH");
    if (strchr(name, '/')) {
        snprintf(path, size, "%s", name);
        return access(path, F_OK) == 0 ? EXEC_FINE : refuse(look, EXEC_NOT_FOUND, name, strerror(errno));
    }
    for (const char *at = folders ? folders : ""; *at; at += *at == ':') {
        size_t length = strcspn(at, ":");
        snprintf(path, size, "%.*s%s%s", (int)length, at, length ? "/" : "./", name);
        at += length;
        if (access(path, X_OK) == 0)
            return EXEC_FINE;
    }
    return refuse(look, EXEC_NOT_FOUND, name, "no such program in PATH; one that lies here is ./NAME");
}

/* Is there a dynamic loader, which can preload libraries? */
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

/* Scripts are run by an interpreter, which inherits the preload. */
static int can_be_preloaded(const struct look *look, int fd, const char *path)
{
    Elf64_Ehdr head, own;
    if (pread(fd, &head, sizeof head, 0) != (ssize_t)sizeof head || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
        return EXEC_FINE;
    int self = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    bool known = self >= 0 && pread(self, &own, sizeof own, 0) == (ssize_t)sizeof own;
    if (self >= 0)
        close(self);
    if (head.e_ident[EI_CLASS] != ELFCLASS64 || (known && head.e_machine != own.e_machine))
        return refuse(look, EXEC_CANNOT, path, "is built for another kind of machine than this cuvmm");
    if (has_loader(fd, &head))
        return EXEC_FINE;
    return refuse(look, EXEC_CANNOT, path, "is statically linked: no library can be put before it, and it can load no driver; link it "
                                           "without -static");
}

static bool runs_as_other(const struct stat *status)
{
    return ((status->st_mode & S_ISUID) && status->st_uid != getuid()) ||
           ((status->st_mode & S_ISGID) && status->st_gid != getgid());
}

int exec_program(const char *who, const char *name, char *path, size_t size, FILE *err)
{
    const struct look look = {who, err};
    struct stat status;
    int found = find(&look, name, path, size);
    if (found != EXEC_FINE)
        return found;
    if (stat(path, &status) != 0)
        return refuse(&look, EXEC_CANNOT, path, strerror(errno));
    if (S_ISDIR(status.st_mode))
        return refuse(&look, EXEC_CANNOT, path, "is a folder; name the program in it");
    if (access(path, X_OK) != 0 || !(status.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)))
        return refuse(&look, EXEC_CANNOT, path, "is not executable; chmod +x makes it so, and a script can be given to its interpreter: "
                                                "python3 SCRIPT");
    if (runs_as_other(&status))
        return refuse(&look, EXEC_CANNOT, path, "is setuid or setgid: the loader puts no library before programs with another's rights; "
                                                "run a copy that is yours");
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return EXEC_FINE; /* it may be executable without being readable */
    int can = can_be_preloaded(&look, fd, path);
    close(fd);
    return can;
}

bool exec_folder(const char *who, const char *library, char *folder, size_t size, FILE *err)
{
    static const char *const places[] = {"../lib/cuvmm", "../lib"};
    char self[3800], path[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    const char *named = getenv("CUVMM_LIBRARIES");
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
    fprintf(err, "%s: %s is not beside this command (../lib, ../lib/cuvmm); name its folder in CUVMM_LIBRARIES\n", who, library);
    return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "check_log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Does the path name a separate file for each process? *good becomes false if a % is followed by something else. */
static bool is_pattern(const char *path, bool *good)
{
    bool pattern = false;
    *good = true;
    for (const char *at = path; (at = strchr(at, '%')); at += 2) {
        *good = *good && (at[1] == 'p' || at[1] == '%');
        pattern |= at[1] == 'p';
        if (!at[1])
            break;
    }
    return pattern;
}

bool check_log_path(const char *pattern, uint64_t pid, char *path, size_t size)
{
    size_t length = 0;
    for (const char *at = pattern; *at && length < size; at++) {
        if (at[0] == '%' && at[1] == 'p')
            length += (size_t)snprintf(path + length, size - length, "%llu", (unsigned long long)pid);
        else
            path[length++] = *at;
        at += at[0] == '%';
    }
    if (length >= size)
        return false;
    path[length] = '\0';
    return true;
}

/* The file is emptied. The files of processes have no names yet; their folder must be writable. */
static bool can_write(const char *path, bool by_process)
{
    if (by_process) {
        char folder[4096];
        snprintf(folder, sizeof folder, "%.4000s", strrchr(path, '/') ? path : "./");
        *(strrchr(folder, '/') + 1) = '\0';
        return access(folder, W_OK | X_OK) == 0;
    }
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* A folder's name must not be a pattern. */
static bool keep(struct check_options *options, const char *path)
{
    char here[4096] = "";
    if (path[0] != '/' && !getcwd(here, sizeof here))
        return false;
    size_t size = strlen(path) + 2 * strlen(here) + 2;
    free(options->log);
    char *to = options->log = malloc(size);
    if (!to)
        return false;
    for (const char *at = path[0] == '/' ? "" : here; *at; at++) {
        *to++ = *at;
        if (*at == '%' && options->log_by_process)
            *to++ = '%';
    }
    strcpy(to, path[0] == '/' ? "" : "/");
    strcat(to, path);
    return true;
}

bool check_log(struct check_options *options, const char *path, FILE *err)
{
    char plain[CHECK_PATH];
    bool good;
    options->log_by_process = is_pattern(path, &good);
    if (!good) {
        fprintf(err, "cuvmm check: --log-file \"%.200s\": %% must be followed by p, the number of the process, or by %%\n", path);
        return false;
    }
    if (!options->log_by_process && !check_log_path(path, 0, plain, sizeof plain))
        errno = ENAMETOOLONG;
    else if (can_write(options->log_by_process ? path : plain, options->log_by_process) &&
             keep(options, options->log_by_process ? path : plain))
        return true;
    fprintf(err, "cuvmm check: --log-file %.200s: %s\n", path, strerror(errno));
    return false;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The folder that confines inputs. */
#include "fuzz.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ROOM = 60 }; /* paths of sockets and machines below it stay within their bounds */

static char room[ROOM]; /* "" until it is made */

static const char *const settings[] = {"CUVMM_BACKEND", "CUVMM_LAYERS", "CUVMM_MACHINE", "CUVMM_LIBCUDA", "CUVMM_KERNELS"};

static void no_room(const char *what)
{
    perror(what);
    exit(255);
}

static void remove_all(const char *path)
{
    DIR *folder = opendir(path);
    const struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL) {
        char below[ROOM + 600];
        struct stat is;
        if (!strcmp(entry->d_name, ".") || !strcmp(entry->d_name, ".."))
            continue;
        if ((size_t)snprintf(below, sizeof below, "%s/%s", path, entry->d_name) >= sizeof below || lstat(below, &is))
            continue;
        if (S_ISDIR(is.st_mode)) {
            remove_all(below);
            rmdir(below);
        } else {
            unlink(below);
        }
    }
    if (folder)
        closedir(folder);
}

void fuzz_sweep(void)
{
    if (room[0])
        remove_all(room);
}

static void leave(void)
{
    fuzz_sweep();
    if (chdir("/") || rmdir(room))
        perror(room);
}

const char *fuzz_room(void)
{
    static const char name[] = "cuvmm-fuzz-XXXXXX";
    const char *folder = getenv("TMPDIR");
    if (room[0])
        return room;
    if (!folder || folder[0] != '/' || strlen(folder) + 1 + sizeof name > ROOM)
        folder = "/tmp";
    snprintf(room, sizeof room, "%s/%s", folder, name);
    if (!mkdtemp(room) || chdir(room))
        no_room(room);
    atexit(leave);
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        unsetenv(settings[i]);
    setenv("CUVMM_MACHINES", room, 1);
    return room;
}

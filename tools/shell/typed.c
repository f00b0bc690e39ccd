/* SPDX-License-Identifier: Apache-2.0 */
#include "typed.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"

/* Creates the folder and its parents. */
static bool make_folders(char *path)
{
    for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = 0;
        bool ok = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!ok)
            return false;
    }
    return true;
}

char *typed_path(void)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    struct text path = {0};
    errno = 0;
    if (state && state[0] == '/')
        text_add(&path, "%s/cuvmm/history", state);
    else if (home && home[0] == '/')
        text_add(&path, "%s/.local/state/cuvmm/history", home);
    else
        return NULL;
    if (make_folders(path.data))
        return path.data;
    int why = errno;
    text_free(&path);
    errno = why;
    return NULL;
}

/* Lines of a file, without their ends. */
static size_t read_lines(const char *path, char ***lines)
{
    char *line = NULL;
    size_t room = 0, count = 0;
    FILE *in = fopen(path, "r");
    *lines = NULL;
    for (ssize_t n; in && (n = getline(&line, &room, in)) > 0;) {
        line[n - (line[n - 1] == '\n')] = 0;
        *lines = text_grow(*lines, (count + 1) * sizeof **lines);
        (*lines)[count++] = strcpy(text_grow(NULL, strlen(line) + 1), line);
    }
    free(line);
    if (in)
        fclose(in);
    return count;
}

/* Keeps only the last lines of the file, and replaces it once the new one is complete. */
static void cut(const char *path, char **lines, size_t count)
{
    struct text aside = {0};
    text_add(&aside, "%s.%ld", path, (long)getpid());
    int fd = open(aside.data, O_WRONLY | O_CREAT | O_EXCL, 0600);
    FILE *out = fd >= 0 ? fdopen(fd, "w") : NULL;
    for (size_t i = count - TYPED_MAX; out && i < count; i++)
        fprintf(out, "%s\n", lines[i]);
    bool whole = out && !ferror(out);
    if (out)
        whole = fclose(out) == 0 && whole;
    else if (fd >= 0)
        close(fd);
    if (fd >= 0 && (!whole || rename(aside.data, path) != 0)) /* otherwise the name now belongs to another file */
        unlink(aside.data);
    text_free(&aside);
}

void typed_read(const char *path, void (*each)(void *user, const char *line), void *user)
{
    char **lines;
    size_t count = read_lines(path, &lines);
    if (count > 2 * TYPED_MAX)
        cut(path, lines, count);
    for (size_t i = 0; i < count; i++) {
        if (count - i <= TYPED_MAX)
            each(user, lines[i]);
        free(lines[i]);
    }
    free(lines);
}

bool typed_add(const char *path, const char *line)
{
    struct text text = {0};
    text_add(&text, "%s\n", line);
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    bool ok = fd >= 0 && write(fd, text.data, text.length) == (ssize_t)text.length;
    if (fd >= 0)
        close(fd);
    text_free(&text);
    return ok;
}

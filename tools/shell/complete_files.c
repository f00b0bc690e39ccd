/* SPDX-License-Identifier: Apache-2.0 */
#include "complete_files.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 4096, WORD = 512 };

/* The name after .entry in the line; NULL: the line has no .entry. */
static char *entry_of(char *line)
{
    char *at = strstr(line, ".entry");
    if (!at)
        return NULL;
    at += strlen(".entry");
    at += strspn(at, " \t");
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '$')
        length++;
    at[length] = '\0';
    return length ? at : NULL;
}

static void offer_entries(const char *file, void (*offer)(const void *user, const char *word), const void *user)
{
    char line[LINE], word[WORD];
    FILE *in = fopen(file, "rb");
    while (in && fgets(line, sizeof line, in)) {
        const char *name = entry_of(line);
        if (name && snprintf(word, sizeof word, "%s:%s", file, name) < WORD)
            offer(user, word);
    }
    if (in)
        fclose(in);
}

void complete_kernels(const char *begin, void (*offer)(const void *user, const char *word), const void *user)
{
    char folder[WORD], word[WORD];
    const char *slash = strrchr(begin, '/'), *colon = strrchr(begin, ':');
    if (snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash + 1 - begin) : 0, begin) >= WORD)
        return;
    if (colon) {
        snprintf(folder, sizeof folder, "%.*s", (int)(colon - begin), begin);
        offer_entries(folder, offer, user);
        return;
    }
    DIR *dir = opendir(folder[0] ? folder : ".");
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        const size_t length = strlen(entry->d_name);
        if (length > 4 && strcmp(entry->d_name + length - 4, ".ptx") == 0 &&
            snprintf(word, sizeof word, "%s%s:", folder, entry->d_name) < WORD)
            offer(user, word);
    }
    if (dir)
        closedir(dir);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep_source.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_A_TIME = 200, SECONDS = 10, ADDRESS = 24 };

/* What is to be added to an offset: programs that are not built to lie anywhere are looked up by their addresses. */
static uint64_t base_of(const char *path)
{
    Elf64_Ehdr head;
    Elf64_Phdr segment;
    uint64_t base = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    if (pread(fd, &head, sizeof head, 0) == (ssize_t)sizeof head && head.e_type == ET_EXEC)
        for (unsigned i = 0; !base && i < head.e_phnum; i++)
            if (pread(fd, &segment, sizeof segment, (off_t)(head.e_phoff + (uint64_t)i * sizeof segment)) == (ssize_t)sizeof segment &&
                segment.p_type == PT_LOAD)
                base = segment.p_vaddr;
    close(fd);
    return base;
}

void sweep_source_of(const char *line, char *source, size_t size)
{
    const char *slash = strrchr(line, '/'), *file = slash ? slash + 1 : line;
    size_t length = strcspn(file, " \n"); /* "pool.c:76 (discriminator 2)" */
    if (file[0] == '?' || !length || file[length - 1] == '?' || (length > 1 && strncmp(file + length - 2, ":0", 2) == 0))
        length = 0;
    snprintf(source, size, "%.*s", (int)length, file);
}

/* A stream of what addr2line prints, and its process. */
static FILE *ask(char **argv, pid_t *child)
{
    int ends[2];
    if (pipe(ends) != 0)
        return NULL;
    fflush(NULL);
    *child = fork();
    if (*child == 0) {
        sigset_t none;
        int null = open("/dev/null", O_WRONLY);
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        dup2(ends[1], STDOUT_FILENO);
        dup2(null, STDERR_FILENO);
        close(ends[0]);
        alarm(SECONDS); /* of a very large library's debug information */
        execvp(argv[0], argv);
        _exit(127);
    }
    close(ends[1]);
    FILE *from = *child > 0 ? fdopen(ends[0], "r") : NULL;
    if (!from)
        close(ends[0]);
    return from;
}

static void look_up(struct sweep_site **site, size_t count, const char *path)
{
    char text[AT_A_TIME][ADDRESS], *argv[AT_A_TIME + 4] = {(char *)(uintptr_t) "addr2line", (char *)(uintptr_t) "-e", (char *)(uintptr_t)path};
    char line[1024];
    pid_t child = 0;
    uint64_t base = base_of(path);
    for (size_t i = 0; i < count; i++) {
        snprintf(text[i], ADDRESS, "0x%" PRIx64, site[i]->call->record->offset + base);
        argv[i + 3] = text[i];
    }
    FILE *from = ask(argv, &child);
    for (size_t i = 0; from && i < count && fgets(line, sizeof line, from); i++)
        sweep_source_of(line, site[i]->source, sizeof site[i]->source);
    if (from)
        fclose(from);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

void sweep_sources(struct sweep_calls *calls)
{
    struct sweep_site *some[AT_A_TIME];
    for (unsigned module = 1; module < SITES_NAMES; module++) {
        size_t count = 0;
        for (size_t i = 0; i < calls->sites; i++) {
            if (calls->site[i].call->record->module == module)
                some[count++] = &calls->site[i];
            if (count && (count == AT_A_TIME || i + 1 == calls->sites)) {
                look_up(some, count, calls->file->name[module].text);
                count = 0;
            }
        }
    }
}

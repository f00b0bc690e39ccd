/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder_watch.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec_file.h"
#include "kernel_log.h"
#include "path_pattern.h"
#include "recorder_text.h"

struct recorder_watch {
    const char *who, *pattern;
    uint64_t address;         /* whose history is wanted; 0: the fault's, where it is known */
    char folder[300];
    FILE *to;
    long *written;            /* processes whose file was begun in this run */
    size_t count;
    bool crashes; /* the calls of these alone are wanted at the end */
};

/* ---- one process ---- */

/* Was a file begun for it? Then this is added to it. */
static bool begun(struct recorder_watch *watch, long process)
{
    for (size_t i = 0; i < watch->count; i++)
        if (watch->written[i] == process)
            return true;
    long *more = realloc(watch->written, (watch->count + 1) * sizeof *more);
    if (more) {
        watch->written = more;
        watch->written[watch->count++] = process;
    }
    return false;
}

static FILE *open_file(struct recorder_watch *watch, long process, char *path, size_t size)
{
    bool own = path_pattern_is_own(watch->pattern);
    bool again = begun(watch, own ? process : 0);
    return path_pattern(watch->pattern, process, path, size) ? fopen(path, again ? "ae" : "we") : NULL;
}

static void print_all(struct recorder_watch *watch, const struct recording *recording, unsigned most, FILE *out)
{
    uint64_t address = watch->address ? watch->address : recording->address;
    recording_print(recording, most, out);
    if (address || (recording->fault && kernel_log_find("/dev/kmsg", (long)recording->file->process, &address)))
        recording_print_history(recording, address, out);
}

static void dump(struct recorder_watch *watch, const struct recording *recording, const char *why)
{
    char path[4096];
    long process = (long)recording->file->process;
    FILE *file = watch->pattern ? open_file(watch, process, path, sizeof path) : NULL;
    if (file) {
        fprintf(file, "process %ld %s\n", process, why);
        print_all(watch, recording, RECORDER_CALLS, file);
    }
    bool good = file && !ferror(file);
    good = file && fclose(file) == 0 && good;
    flockfile(watch->to);
    if (good) {
        fprintf(watch->to, "%s: process %ld %s: its last %u calls are in %s\n", watch->who, process, why, recording->count, path);
    } else {
        if (watch->pattern)
            fprintf(watch->to, "%s: %s: %s\n", watch->who, path, strerror(errno));
        fprintf(watch->to, "%s: process %ld %s; ", watch->who, process, why);
        print_all(watch, recording, RECORDER_FEW, watch->to);
    }
    fflush(watch->to);
    funlockfile(watch->to);
}

/* ---- all of them ---- */

struct reason {
    bool now;          /* a signal asked for them */
    int signal_number; /* that ended the program */
};

static bool is_alive(long process)
{
    return kill((pid_t)process, 0) == 0 || errno == EPERM;
}

/* NULL: it ended in order, or that is unknown. */
static const char *reason_for(const struct recorder_watch *watch, const struct recording *recording, const struct reason *reason,
                              char *text, size_t size)
{
    const struct recorder_file *file = recording->file;
    bool closed = atomic_load(&((struct recorder_file *)(uintptr_t)file)->closed);
    if (reason->now)
        return closed || !is_alive((long)file->process) ? NULL : "was asked for them by SIGUSR1";
    if (recording->fault && !watch->crashes)
        return "got an ILLEGAL_ADDRESS";
    if (closed || !recording->count || is_alive((long)file->process))
        return NULL;
    if (file->parent == getpid() && reason->signal_number) {
        snprintf(text, size, "was ended by signal %d (%s)", reason->signal_number, strsignal(reason->signal_number));
        return text;
    }
    if (recording_is_inside(recording))
        return "ended inside of a call";
    return watch->pattern ? "did not exit in order" : NULL;
}

static void dump_one(struct recorder_watch *watch, const char *name, const struct reason *reason)
{
    char path[600], why[700], text[100];
    struct recording recording;
    snprintf(path, sizeof path, "%s/%s", watch->folder, name);
    if (!recording_open(&recording, path, reason->now, why, sizeof why))
        return; /* a process that has just begun, or one of another cuvmm */
    recording.named = !reason->now; /* the program goes on, and to look for names takes a while */
    const char *what = reason_for(watch, &recording, reason, text, sizeof text);
    if (what)
        dump(watch, &recording, what);
    recording_close(&recording);
}

static void dump_all(struct recorder_watch *watch, const struct reason *reason)
{
    struct dirent **names;
    int count = scandir(watch->folder, &names, NULL, alphasort);
    for (int i = 0; i < count; i++) {
        if (names[i]->d_name[0] != '.')
            dump_one(watch, names[i]->d_name, reason);
        free(names[i]);
    }
    if (count >= 0)
        free(names);
}

/* ---- signals ---- */

/* Does the program handle SIGUSR1? Otherwise it would end it. */
static bool handles_usr1(pid_t process)
{
    char path[64], line[256];
    unsigned long long caught = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)process);
    FILE *file = process > 0 ? fopen(path, "re") : NULL;
    while (file && fgets(line, sizeof line, file))
        if (sscanf(line, "SigCgt: %llx", &caught) == 1)
            break;
    if (file)
        fclose(file);
    return caught >> (SIGUSR1 - 1) & 1;
}

void recorder_watch_asked(void *watch, pid_t program)
{
    dump_all(watch, &(const struct reason){.now = true});
    if (handles_usr1(program))
        kill(program, SIGUSR1);
}

/* ---- begin and end ---- */

static bool make_folder(char *folder, size_t size)
{
    const char *place;
    for (unsigned i = 0; (place = exec_place(i)) != NULL; i++)
        if (snprintf(folder, size, "%s/cuvmm-calls-XXXXXX", place) < (int)size && mkdtemp(folder))
            return true;
    return false;
}

static void remove_folder(const char *folder)
{
    DIR *all = opendir(folder);
    for (const struct dirent *entry = all ? readdir(all) : NULL; entry; entry = readdir(all))
        unlinkat(dirfd(all), entry->d_name, 0);
    if (all)
        closedir(all);
    rmdir(folder);
}

struct recorder_watch *recorder_watch_begin(const char *who, const char *pattern, uint64_t address, FILE *to)
{
    struct recorder_watch *watch = calloc(1, sizeof *watch);
    if (watch) {
        watch->who = who;
        watch->pattern = pattern;
        watch->address = address;
        watch->to = to;
        if (make_folder(watch->folder, sizeof watch->folder))
            return watch;
    }
    fprintf(to, "%s: the last calls are not recorded: %s\n", who, strerror(errno));
    free(watch);
    return NULL;
}

const char *recorder_watch_folder(const struct recorder_watch *watch)
{
    return watch->folder;
}

void recorder_watch_crashes(struct recorder_watch *watch)
{
    if (watch)
        watch->crashes = true;
}

void recorder_watch_end(struct recorder_watch *watch, const struct exec_ending *end)
{
    if (!watch)
        return;
    const struct reason reason = {.signal_number = end->signal_number};
    dump_all(watch, &reason);
    remove_folder(watch->folder);
    free(watch->written);
    free(watch);
}

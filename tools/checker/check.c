/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm check: runs a program with the shadow beside its driver, or on the simulator where there is none. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "findings.h"
#include "os_write.h"
#include "vmm.h"

/* ---- a count that all processes share ---- */

static struct findings_tally *tally_make(char *path, size_t size)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%s/cuvmm-check-XXXXXX", folder && folder[0] ? folder : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0)
        return NULL;
    static const struct findings_tally zeros; /* written, because in a full file system a hole would be a SIGBUS for its users */
    void *made = MAP_FAILED;
    errno = ENOSPC; /* of a file that took a part */
    if (os_write_quietly(fd, &zeros, sizeof zeros) == (ssize_t)sizeof zeros)
        made = mmap(NULL, sizeof(struct findings_tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (made != MAP_FAILED)
        return made;
    unlink(path);
    return NULL;
}

/* ---- is there a driver, or such a machine? ---- */

/* Asked in a child: a process that initialised the driver is not one to fork from, and a machine is the program's to open. */
static bool in_child(bool (*question)(const char *spec, FILE *err), const char *spec, FILE *err)
{
    int status = 1;
    fflush(err);
    pid_t child = fork();
    if (child == 0) {
        bool yes = question(spec, err);
        fflush(err);
        _exit(yes ? 0 : 1);
    }
    if (child > 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool has_device(const char *spec, FILE *err)
{
    vmm_system *sys;
    int count = 0;
    (void)err;
    return vmm_open(spec, &sys) == VMM_SUCCESS && vmm_init(sys, 0) == VMM_SUCCESS &&
           vmm_device_get_count(sys, &count) == VMM_SUCCESS && count > 0;
}

static bool opens(const char *spec, FILE *err)
{
    vmm_system *sys;
    unsetenv("CUVMM_LAYERS"); /* a trace among them is the program's */
    if (vmm_open(spec, &sys) == VMM_SUCCESS) {
        vmm_close(sys);
        return true;
    }
    fprintf(err, "cuvmm check: nothing was checked: the machine %s cannot be had: %s\n", spec, vmm_last_detail()->note);
    return false;
}

/* ---- the child's environment ---- */

/* Puts first in front of what the variable holds. */
static bool prepend(const char *name, const char *first, char separator)
{
    const char *old = getenv(name);
    size_t size = strlen(first) + (old ? strlen(old) : 0) + 2;
    char *text = malloc(size);
    if (!text)
        return false;
    snprintf(text, size, "%s%.1s%s", first, old && old[0] ? &separator : "", old ? old : "");
    bool set = setenv(name, text, 1) == 0;
    free(text);
    return set;
}

static bool prepare(const struct check_options *options, const char *tally, const char *folder)
{
    char path[4096 + 32];
    bool ok = setenv("CUVMM_CHECK", options->driver ? "driver" : "simulator", 1) == 0 &&
              setenv("CUVMM_CHECK_TALLY", tally, 1) == 0 && setenv("CUVMM_CHECK_LEAKS", options->leaks ? "yes" : "no", 1) == 0 &&
              setenv("CUVMM_CHECK_QUIET", options->quiet ? "1" : "0", 1) == 0;
    if (options->log)
        ok = ok && setenv("CUVMM_CHECK_LOG", options->log, 1) == 0;
    else
        unsetenv("CUVMM_CHECK_LOG");
    if (!options->driver) {
        if (options->machine)
            ok = ok && setenv("CUVMM_SIM", options->machine, 1) == 0;
        return ok && prepend("LD_LIBRARY_PATH", folder, ':');
    }
    snprintf(path, sizeof path, "%s/libcuvmm-check.so", folder);
    return ok && prepend("LD_PRELOAD", path, ':');
}

/* ---- running ---- */

static pid_t running;

/* A signal to the command alone is meant for the program. */
static void pass_on(int signal)
{
    if (running > 0)
        kill(running, signal);
}

static void pass_signals(void)
{
    static const int passed[] = {SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
    struct sigaction action = {.sa_handler = pass_on};
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        sigaction(passed[i], &action, NULL);
    /* From the terminal the program gets these itself, and the sum is to be told behind it. */
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    sigaction(SIGINT, &ignore, NULL);
    sigaction(SIGQUIT, &ignore, NULL);
}

struct ending {
    int status;        /* as a shell gives it */
    int signal_number; /* 0: none ended the program */
};

/* False where no process can be started, which has been said. */
static bool run(char **command, const char *path, struct ending *end, FILE *err)
{
    int status = 0;
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* until the program's process is known, none is passed to nobody */
    running = fork();
    if (running == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        execv(path, command);
        fprintf(err, "cuvmm check: %s: %s\n", path, strerror(errno));
        fflush(err);
        _exit(127);
    }
    if (running > 0)
        pass_signals();
    sigprocmask(SIG_SETMASK, &before, NULL);
    if (running < 0) {
        fprintf(err, "cuvmm check: no process can be started: %s\n", strerror(errno));
        return false;
    }
    while (waitpid(running, &status, 0) < 0 && errno == EINTR)
        ;
    end->signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end->status = end->signal_number ? 128 + end->signal_number : WEXITSTATUS(status);
    return true;
}

/* How the processes ended, and which of them the sum does not cover. */
static void tell_of_processes(const char *program, const struct findings_tally *tally, int signal_number, FILE *to)
{
    const char *reason = findings_reason(tally);
    if (signal_number)
        fprintf(to, "cuvmm check: %s was ended by signal %d (%s)\n", program, signal_number, strsignal(signal_number));
    if (tally->begun > tally->ended)
        fprintf(to, "cuvmm check: %llu of %llu processes did not exit cleanly; their leaks are unknown\n",
                (unsigned long long)(tally->begun - tally->ended), (unsigned long long)tally->begun);
    if (reason)
        fprintf(to, "cuvmm check: some processes were not checked: %s\n", reason);
}

/* False where nothing was checked: that is said even to those who want to hear findings alone. */
static bool tell(const struct check_options *options, const struct findings_tally *tally, const struct ending *end, FILE *err)
{
    const char *side = options->driver ? "driver" : "simulator";
    char sum[FINDINGS_SUM];
    bool checked = findings_sum(tally, sum, sizeof sum);
    FILE *to = options->log ? fopen(options->log, "a") : err;
    if (!to)
        return checked;
    signal(SIGXFSZ, SIG_IGN); /* of a log that may not become longer: the exit status tells all the same */
    if (checked && !options->quiet)
        tell_of_processes(options->command[0], tally, end->signal_number, to);
    if (!checked)
        fprintf(to, "cuvmm check: %s (%s; the program's own exit status is %d)\n", sum, side, end->status);
    else if (!options->quiet)
        fprintf(to, "cuvmm check: %s (%s)\n", sum, side);
    /* analysers: file-leak is wrong: it is closed where it was opened here */
    /* analysers: malloc-leak is wrong, likewise */
    if (to != err)
        fclose(to);
    return checked;
}

/* 125: nothing was checked. 2: nothing was started. */
static int run_and_tell(const struct check_options *options, const char *path, const struct findings_tally *tally, FILE *err)
{
    struct ending end;
    if (!run(options->command, path, &end, err))
        return 2;
    if (!tell(options, tally, &end, err))
        return CHECK_NOTHING;
    bool found = tally->errors + tally->hazards + tally->leaks != 0;
    return found && options->error_exitcode >= 0 ? options->error_exitcode : end.status;
}

int check_run(struct check_options *options, FILE *err)
{
    char tally_path[4096], path[4096], folder[4096];
    if (!check_program(options->command[0], path, sizeof path, err))
        return 2;
    if (!options->chosen)
        options->driver = in_child(has_device, "cuda", err);
    if (!check_folder(options->driver ? "libcuvmm-check.so" : "libcuda.so.1", folder, sizeof folder, err))
        return 2;
    if (options->machine && !in_child(opens, options->machine, err))
        return CHECK_NOTHING;
    struct findings_tally *tally = tally_make(tally_path, sizeof tally_path);
    if (!tally) {
        fprintf(err, "cuvmm check: no file for the counts in TMPDIR or /tmp: %s\n", strerror(errno));
        return 2;
    }
    /* The variables are for the program; what this process has of them ends with it. */
    int status = 2;
    if (prepare(options, tally_path, folder))
        status = run_and_tell(options, path, tally, err);
    else
        fprintf(err, "cuvmm check: memory is exhausted\n");
    unlink(tally_path);
    munmap(tally, sizeof *tally);
    return status;
}

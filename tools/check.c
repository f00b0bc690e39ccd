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

#include "cuvmm.h"
#include "findings.h"
#include "vmm.h"

/* ---- a count that all processes share ---- */

static struct findings_tally *tally_make(char *path, size_t size)
{
    const char *folder = getenv("TMPDIR");
    snprintf(path, size, "%s/cuvmm-check-XXXXXX", folder && folder[0] ? folder : "/tmp");
    int fd = mkstemp(path);
    if (fd < 0)
        return NULL;
    void *made = MAP_FAILED;
    if (ftruncate(fd, (off_t)sizeof(struct findings_tally)) == 0)
        made = mmap(NULL, sizeof(struct findings_tally), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    if (made != MAP_FAILED)
        return made;
    unlink(path);
    return NULL;
}

/* ---- is there a driver? ---- */

/* Asked in a child: a process that initialised the driver is not one to fork from. */
static bool driver_here(void)
{
    pid_t child = fork();
    int status = 1;
    if (child == 0) {
        vmm_system *sys;
        int count = 0;
        bool there = vmm_open("cuda", &sys) == VMM_SUCCESS && vmm_init(sys, 0) == VMM_SUCCESS &&
                     vmm_device_get_count(sys, &count) == VMM_SUCCESS && count > 0;
        _exit(there ? 0 : 1);
    }
    if (child > 0)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR)
            ;
    return child > 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
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

/* The exit status as a shell gives it; where exec failed, why it did is in *failed. */
static int run(char **command, const char *path, FILE *err, int *signal_number)
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
        return 2;
    }
    while (waitpid(running, &status, 0) < 0 && errno == EINTR)
        ;
    *signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    return *signal_number ? 128 + *signal_number : WEXITSTATUS(status);
}

static void tell(const struct check_options *options, const struct findings_tally *tally, int signal_number, FILE *err)
{
    char sum[120];
    FILE *to = options->log ? fopen(options->log, "a") : err;
    if (!to)
        return;
    if (signal_number)
        fprintf(to, "cuvmm check: %s was ended by signal %d (%s)\n", options->command[0], signal_number,
                strsignal(signal_number));
    if (tally->begun > tally->ended)
        fprintf(to, "cuvmm check: %llu of %llu processes did not end in order: what they held is not told\n",
                (unsigned long long)(tally->begun - tally->ended), (unsigned long long)tally->begun);
    if (!tally->begun)
        fprintf(to, "cuvmm check: no call of the driver was seen\n");
    findings_sum(tally, sum, sizeof sum);
    fprintf(to, "cuvmm check: %s (%s)\n", sum, options->driver ? "driver" : "simulator");
    /* analysers: file-leak is wrong: it is closed where it was opened here */
    /* analysers: malloc-leak is wrong, likewise */
    if (to != err)
        fclose(to);
}

static int check(struct check_options *options, FILE *err)
{
    char tally_path[4096], path[4096], folder[4096];
    int signal_number = 0;
    if (!check_program(options->command[0], path, sizeof path, err))
        return 2;
    if (!options->chosen)
        options->driver = driver_here();
    if (!check_folder(options->driver ? "libcuvmm-check.so" : "libcuda.so.1", folder, sizeof folder, err))
        return 2;
    struct findings_tally *tally = tally_make(tally_path, sizeof tally_path);
    if (!tally) {
        fprintf(err, "cuvmm check: no file for the counts in TMPDIR or /tmp: %s\n", strerror(errno));
        return 2;
    }
    /* The variables are for the program; what this process has of them ends with it. */
    if (!prepare(options, tally_path, folder)) {
        fprintf(err, "cuvmm check: memory is exhausted\n");
        unlink(tally_path);
        return 2;
    }
    int status = run(options->command, path, err, &signal_number);
    unlink(tally_path);
    if (!options->quiet)
        tell(options, tally, signal_number, err);
    bool found = tally->errors + tally->hazards + tally->leaks != 0;
    munmap(tally, sizeof *tally);
    return found && options->error_exitcode >= 0 ? options->error_exitcode : status;
}

int cuvmm_check(int argc, char **argv, FILE *out, FILE *err)
{
    struct check_options options;
    fflush(out);
    fflush(err);
    if (!check_parse(argc, argv, &options, err))
        return cuvmm_usage(err, "check");
    int status = check(&options, err);
    free(options.log);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "exec_file.h"
#include "sweep_run.h"

double sweep_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- files ---- */

bool sweep_run_make(struct sweep_run *run, uint64_t room)
{
    *run = (struct sweep_run){.sites_size = sizeof(struct sites_file) + (size_t)room * sizeof(struct sites_call)};
    run->tally = exec_shared(run->tally_path, SWEEP_PATH, sizeof *run->tally);
    run->sites = exec_shared(run->sites_path, SWEEP_PATH, run->sites_size);
    bool made = run->tally && run->sites && exec_zeros(run->processes_path, SWEEP_PATH, sizeof(uint64_t)) &&
                exec_zeros(run->output_path, SWEEP_PATH, 1);
    if (made) {
        run->sites->magic = SITES_MAGIC;
        run->sites->room = room;
    }
    int error = errno;
    if (!made)
        sweep_run_free(run);
    errno = error;
    return made;
}

static void drop(const char *path)
{
    if (path[0])
        unlink(path);
}

void sweep_run_free(struct sweep_run *run)
{
    if (run->tally)
        munmap(run->tally, sizeof *run->tally);
    if (run->sites)
        munmap(run->sites, run->sites_size);
    drop(run->tally_path);
    drop(run->sites_path);
    drop(run->processes_path);
    drop(run->output_path);
    *run = (struct sweep_run){0};
}

/* What the run before wrote is gone. Of records that no process completes any more, it is the mark that counts. */
static bool reset(struct sweep_run *run, bool all)
{
    uint64_t used = run->sites->count < run->sites->room ? run->sites->count : run->sites->room, zero = 0;
    memset(run->tally, 0, sizeof *run->tally);
    memset(run->sites->call, 0, (size_t)used * sizeof run->sites->call[0]);
    memset(run->sites->name, 0, sizeof run->sites->name);
    run->sites->count = 0;
    run->sites->all = all;
    int fd = open(run->processes_path, O_WRONLY | O_CLOEXEC);
    bool good = fd >= 0 && write(fd, &zero, sizeof zero) == (ssize_t)sizeof zero;
    if (fd >= 0)
        close(fd);
    return good && exec_machine_name(run->machine);
}

/* ---- the child ---- */

static bool redirect(const char *output)
{
    int in = open("/dev/null", O_RDONLY), out = open(output, O_WRONLY | O_TRUNC | O_APPEND);
    bool good = in >= 0 && out >= 0 && dup2(in, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 && dup2(out, STDERR_FILENO) >= 0;
    if (in > STDERR_FILENO)
        close(in);
    if (out > STDERR_FILENO)
        close(out);
    return good;
}

static bool prepare(const struct sweep_run *run, const struct exec_environment *environment, const char *fault)
{
    struct exec_environment own = {.count = 0};
    char layers[SWEEP_PATH + 300];
    if (!exec_environment_apply(environment))
        return false;
    snprintf(layers, sizeof layers, "sites=%s%s%s", run->sites_path, fault ? "|fault=" : "", fault ? fault : "");
    exec_add_layers(&own, layers);
    exec_environment_set(&own, "CUVMM_MACHINE", run->machine);
    exec_environment_set(&own, "CUVMM_PROCESSES", run->processes_path);
    exec_environment_set(&own, "CUVMM_CHECK", "simulator");
    exec_environment_set(&own, "CUVMM_CHECK_TALLY", run->tally_path);
    exec_environment_set(&own, "CUVMM_CHECK_LOG", "/dev/null");
    exec_environment_set(&own, "CUVMM_CHECK_LEAKS", "yes");
    return exec_environment_apply(&own);
}

__attribute__((noreturn)) static void become(const struct sweep_run *run, char **command, const char *path,
                                             const struct exec_environment *environment, const char *fault)
{
    const struct rlimit no_core = {0, 0}; /* a crash is what is looked for */
    sigset_t none;
    sigemptyset(&none);
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* nothing else would end it */
    setrlimit(RLIMIT_CORE, &no_core);
    sigprocmask(SIG_SETMASK, &none, NULL);
    if (redirect(run->output_path) && prepare(run, environment, fault))
        execvp(path, command);
    _exit(127);
}

bool sweep_run_start(struct sweep_run *run, char **command, const char *path, const struct exec_environment *environment,
                     const char *fault, double seconds)
{
    if (!reset(run, !fault))
        return false;
    fflush(NULL);
    run->timed_out = false;
    run->began = sweep_now();
    run->ends = run->began + seconds;
    pid_t child = fork();
    if (child == 0)
        become(run, command, path, environment, fault);
    if (child > 0)
        setpgid(child, child); /* whichever of both is first */
    run->leader = child > 0 ? child : 0;
    return child > 0;
}

/* ---- waiting ---- */

static void of_interest(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGQUIT);
}

void sweep_signals_block(sigset_t *before)
{
    sigset_t set;
    of_interest(&set);
    sigprocmask(SIG_BLOCK, &set, before);
}

void sweep_signals_restore(const sigset_t *before)
{
    sigprocmask(SIG_SETMASK, before, NULL);
}

/* The leader's number is taken until it has been waited for, so the group is its own. What is left of the group has no use of
 * the machine any more. */
static void end(struct sweep_run *run)
{
    siginfo_t info;
    while (waitid(P_PID, (id_t)run->leader, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    kill(-run->leader, SIGKILL);
    while (waitpid(run->leader, &run->wait_status, 0) < 0 && errno == EINTR)
        ;
    run->leader = 0;
    exec_machine_remove(run->machine);
}

static void kill_run(const struct sweep_run *run)
{
    kill(-run->leader, SIGKILL);
    kill(run->leader, SIGKILL);
}

static bool has_ended(const struct sweep_run *run)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)run->leader, &info, WEXITED | WNOWAIT | WNOHANG) == 0 && info.si_pid == run->leader;
}

/* The first that has ended, or whose time is over. */
static struct sweep_run *ready(struct sweep_run *runs, size_t count, double now, double *next)
{
    *next = now + 3600;
    for (size_t i = 0; i < count; i++) {
        if (!runs[i].leader)
            continue;
        if (has_ended(&runs[i]))
            return &runs[i];
        if (runs[i].ends <= now) {
            runs[i].timed_out = true;
            kill_run(&runs[i]);
            return &runs[i];
        }
        *next = runs[i].ends < *next ? runs[i].ends : *next;
    }
    return NULL;
}

static void end_all(struct sweep_run *runs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (runs[i].leader) {
            kill_run(&runs[i]);
            end(&runs[i]);
        }
}

struct sweep_run *sweep_run_wait(struct sweep_run *runs, size_t count, int *number)
{
    sigset_t set;
    of_interest(&set);
    for (;;) {
        double now = sweep_now(), next;
        struct sweep_run *run = ready(runs, count, now, &next);
        if (run) {
            end(run);
            return run;
        }
        double wait = next - now;
        const struct timespec most = {(time_t)wait, (long)((wait - (double)(time_t)wait) * 1e9)};
        *number = sigtimedwait(&set, NULL, &most);
        if (*number > 0 && *number != SIGCHLD) {
            end_all(runs, count);
            return NULL;
        }
    }
}

/* ---- what it said ---- */

void sweep_run_said(const struct sweep_run *run, char *text, size_t size)
{
    char bytes[2048];
    int fd = open(run->output_path, O_RDONLY | O_CLOEXEC);
    off_t length = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    off_t from = length > (off_t)sizeof bytes ? length - (off_t)sizeof bytes : 0;
    ssize_t got = fd >= 0 ? pread(fd, bytes, sizeof bytes, from) : 0;
    if (fd >= 0)
        close(fd);
    size_t stop = got > 0 ? (size_t)got : 0, start, used = 0;
    while (stop && strchr("\n\r\t ", bytes[stop - 1]))
        stop--;
    for (start = stop; start && bytes[start - 1] != '\n'; start--)
        ;
    for (; start < stop && used < size - 1; start++)
        text[used++] = bytes[start] < ' ' || bytes[start] > '~' ? '?' : bytes[start];
    text[used] = '\0';
}

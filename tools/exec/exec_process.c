/* SPDX-License-Identifier: Apache-2.0 */
#include "exec_process.h"

#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- starting ---- */

/* A script without an interpreter line is run by the shell, as with execvp. */
static int spawn_script(pid_t *process, const posix_spawnattr_t *attributes, char **command, const char *path, char **environment)
{
    size_t count = 1;
    while (command[count - 1])
        count++;
    char **whole = malloc((count + 1) * sizeof *whole);
    if (!whole)
        return ENOMEM; /* LCOV_EXCL_LINE: memory for a few pointers */
    whole[0] = (char *)(uintptr_t)"sh";
    whole[1] = (char *)(uintptr_t)path;
    memcpy(whole + 2, command + 1, (count - 1) * sizeof *whole);
    const int error = posix_spawn(process, "/bin/sh", NULL, attributes, whole, environment);
    free(whole);
    return error;
}

/* 0 or an error number. Copies no page of this process, unlike fork. */
static int spawn(pid_t *process, const sigset_t *mask, char **command, const char *path, const struct exec_environment *environment)
{
    posix_spawnattr_t attributes;
    char **vector = exec_environment_vector(environment);
    if (!vector)
        return ENOMEM; /* LCOV_EXCL_LINE: memory for the environment */
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK);
    posix_spawnattr_setsigmask(&attributes, mask);
    int error = posix_spawn(process, path, NULL, &attributes, command, vector);
    if (error == ENOEXEC)
        error = spawn_script(process, &attributes, command, path, vector);
    posix_spawnattr_destroy(&attributes);
    free(vector);
    return error;
}

/* EAGAIN: the system has no room for a process; any other error concerns this program, and the status is that of a shell. */
static bool report_failure(const char *who, const char *path, int error, struct exec_ending *end, FILE *err)
{
    if (error == EAGAIN) {
        fprintf(err, "%s: no process can be started: %s\n", who, strerror(error)); /* LCOV_EXCL_LINE: a system without room for a process */
        return false;                                                              /* LCOV_EXCL_LINE: the same */
    }
    fprintf(err, "%s: %s: %s\n", who, path, error == ENOENT ? "the interpreter in its first line is not there" : strerror(error));
    *end = (struct exec_ending){.status = 127};
    return true;
}

/* ---- waiting ---- */

/* A signal to this process alone is meant for the program. A terminal's signal reaches the program by itself. */
static const int passed[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};

/* Signals that the program inherits as ignored stay ignored (nohup). */
static void fill(sigset_t *set)
{
    struct sigaction action;
    sigemptyset(set);
    sigaddset(set, SIGCHLD);
    for (size_t i = 0; i < sizeof passed / sizeof passed[0]; i++)
        if (sigaction(passed[i], NULL, &action) == 0 && action.sa_handler != SIG_IGN)
            sigaddset(set, passed[i]);
}

static void handle(const struct signalfd_siginfo *info, const struct exec_meanwhile *meanwhile, pid_t program)
{
    const int number = (int)info->ssi_signo;
    const bool sent = info->ssi_code <= 0;
    if (number == SIGUSR1 && sent && meanwhile && meanwhile->usr1)
        meanwhile->usr1(meanwhile->usr1_user, program);
    else if (number != SIGCHLD && (sent || (number != SIGINT && number != SIGQUIT)))
        kill(program, number);
}

static bool has_ended(pid_t program)
{
    siginfo_t info = {.si_pid = 0};
    return waitid(P_PID, (id_t)program, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid;
}

/* Until the program ends. Its process number may be reused once it has been waited for, so no signal is passed on after that. */
static void await(pid_t program, int signals, const struct exec_meanwhile *meanwhile, struct exec_ending *end)
{
    int status = 0;
    struct signalfd_siginfo info;
    while (!has_ended(program)) {
        if (meanwhile && meanwhile->work)
            meanwhile->work(meanwhile->work_user, signals);
        if (read(signals, &info, sizeof info) == (ssize_t)sizeof info)
            handle(&info, meanwhile, program);
    }
    waitpid(program, &status, 0);
    end->signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end->status = end->signal_number ? 128 + end->signal_number : WEXITSTATUS(status);
}

/* Pending signals that arrived after the program had ended would end this process. */
static void drop(const sigset_t *set)
{
    while (sigtimedwait(set, NULL, &(struct timespec){0}) > 0 || errno == EINTR)
        ;
}

bool exec_process(const char *who, char **command, const char *path, const struct exec_environment *environment,
                  const struct exec_meanwhile *meanwhile, struct exec_ending *end, FILE *err)
{
    sigset_t set, blocked, before;
    struct sigaction of_children;
    pid_t program = 0;
    fill(&set);
    blocked = set;
    sigaddset(&blocked, SIGXFSZ); /* writes may fail meanwhile, without ending the process */
    sigaddset(&blocked, SIGPIPE);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    sigaction(SIGCHLD, &(struct sigaction){.sa_handler = SIG_DFL}, &of_children); /* ignored, there would be none to wait for */
    fflush(NULL);
    const int signals = signalfd(-1, &set, SFD_CLOEXEC);
    const int error = signals < 0 ? errno : spawn(&program, &before, command, path, environment);
    if (!error)
        await(program, signals, meanwhile, end);
    if (signals >= 0)
        close(signals);
    drop(&blocked);
    sigaction(SIGCHLD, &of_children, NULL);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return !error || report_failure(who, path, error, end, err);
}

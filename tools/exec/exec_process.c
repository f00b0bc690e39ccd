/* SPDX-License-Identifier: Apache-2.0 */
#include "exec_process.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile pid_t running;
static volatile int usr1 = -1; /* who gets a byte for it instead */

void exec_process_usr1(int descriptor)
{
    usr1 = descriptor;
}

pid_t exec_process_program(void)
{
    return running;
}

/* A signal to this process alone is meant for the program. One of the terminal's the program gets by itself. */
static void pass_on(int number, siginfo_t *info, void *context)
{
    int before = errno;
    (void)context;
    if (number == SIGUSR1 && usr1 >= 0 && info->si_code <= 0)
        while (write(usr1, "u", 1) < 0 && errno == EINTR)
            ;
    else if (running > 0 && (info->si_code <= 0 || (number != SIGINT && number != SIGQUIT)))
        kill(running, number);
    errno = before;
}

static const int passed[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
enum { PASSED = sizeof passed / sizeof passed[0] };

/* What the program inherits as ignored stays so (nohup). */
static void pass_signals(struct sigaction before[PASSED])
{
    struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_SIGINFO | SA_RESTART};
    for (int i = 0; i < PASSED; i++) {
        sigaction(passed[i], &action, &before[i]);
        if (before[i].sa_handler == SIG_IGN && !(before[i].sa_flags & SA_SIGINFO))
            sigaction(passed[i], &before[i], NULL);
    }
}

static void pass_no_more(const struct sigaction before[PASSED])
{
    for (int i = 0; i < PASSED; i++)
        sigaction(passed[i], &before[i], NULL);
}

/* execvp takes a path as it is, and gives a script without a first line to the shell. */
__attribute__((noreturn)) static void become(const char *who, char **command, const char *path,
                                             const struct exec_environment *environment, FILE *err)
{
    if (exec_environment_apply(environment)) {
        execvp(path, command);
        fprintf(err, "%s: %s: %s\n", who, path, errno == ENOENT ? "the interpreter in its first line is not there" : strerror(errno));
    } else {
        fprintf(err, "%s: memory is exhausted\n", who);
    }
    fflush(err);
    _exit(127);
}

bool exec_process(const char *who, char **command, const char *path, const struct exec_environment *environment,
                  struct exec_ending *end, FILE *err)
{
    int status = 0;
    sigset_t all, before;
    struct sigaction handlers[PASSED];
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &before); /* until the program's process is known, there is none to pass a signal to */
    fflush(NULL);
    running = fork();
    if (running == 0) {
        sigprocmask(SIG_SETMASK, &before, NULL);
        become(who, command, path, environment, err);
    }
    if (running < 0) {
        fprintf(err, "%s: no process can be started: %s\n", who, strerror(errno));
        sigprocmask(SIG_SETMASK, &before, NULL);
        return false;
    }
    pass_signals(handlers);
    sigprocmask(SIG_SETMASK, &before, NULL);
    siginfo_t info;
    while (waitid(P_PID, (id_t)running, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
        ;
    pid_t ended = running;
    running = 0; /* its number may be another's once it has been waited for */
    waitpid(ended, &status, 0);
    pass_no_more(handlers);
    end->signal_number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end->status = end->signal_number ? 128 + end->signal_number : WEXITSTATUS(status);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the system reports about processes and their open files: of this process, of children, of files that no process has
 * open. */
#include "os_inspect.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __linux__
#include <sys/prctl.h>
#include <sys/ptrace.h>
#endif
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "passing.h"
#include "tap.h"

#define NAME "cuvmm-os-who-test-"

struct seen {
    uint64_t pid, number;
    unsigned count, strangers;
    unsigned others; /* files of this process that are not asked for */
    int file;
};

static void see(void *user, const struct os_opening *opening)
{
    struct seen *seen = user;
    if (opening->is.number != seen->number) {
        seen->others += opening->pid == seen->pid;
        return;
    }
    seen->strangers += opening->pid != seen->pid;
    seen->count += opening->pid == seen->pid;
    if (opening->pid == seen->pid)
        seen->file = opening->file;
}

static struct seen look(uint64_t pid, uint64_t number)
{
    struct seen seen = {.pid = pid, .number = number, .file = -1};
    os_openings_each(NAME, see, &seen);
    return seen;
}

/* A child that stays until the other end is closed. */
static pid_t child_of(int *socket, void (*work)(int file), int file)
{
    pid_t child = child_begin(socket, 30);
    if (child == 0) {
        work(file);
        passing_go_on(*socket);
        passing_wait(*socket);
        _exit(0);
    }
    passing_wait(*socket);
    return child;
}

static void keep_two(int file)
{
    if (dup(file) < 0)
        _exit(1);
}

static void keep_none(int file)
{
    close(file);
}

static void finish(pid_t child, int socket)
{
    close(socket);
    waitpid(child, NULL, 0);
}

static void openings(void)
{
    char path[] = "/tmp/" NAME "XXXXXX";
    struct os_file_is is;
    int file = mkstemp(path), socket, pair[2];
    if (file < 0 || !os_file_look(file, &is))
        tap_bail("no file");
    int after = open("/", O_RDONLY); /* a shorter name, looked at next */
    struct seen seen = look(os_pid(), is.number);
    tap_ok(seen.count == 1 && seen.file == file && !seen.strangers, "this process has it open, by that number");
    tap_ok(after > file && !seen.others, "and nothing else of that name");
    close(after);
    pid_t child = child_of(&socket, keep_two, file);
    seen = look((uint64_t)child, is.number);
    tap_ok(seen.count == 2 && seen.strangers == 1, "a forked child has it too, and once more by dup");
    finish(child, socket);
    child = child_of(&socket, keep_none, file);
    seen = look((uint64_t)child, is.number);
    tap_ok(!seen.count && seen.strangers == 1, "one that closed it has not, nor one that has ended");
    finish(child, socket);
    unlink(path);
    seen = look(os_pid(), is.number);
    tap_ok(seen.count == 1, "also when its name is gone");
    if (!passing_pair(pair) || !passing_send(pair[0], file))
        tap_bail("no message");
    close(file);
    seen = look(os_pid(), is.number);
    tap_ok(!seen.count && !seen.strangers, "in a message it is in no process");
    close(pair[0]);
    close(pair[1]);
}

static void names(void)
{
    char name[OS_PROGRAM], want[] = "a\x1b[1mname\x7fof any length";
    os_program(os_pid(), name);
    tap_ok(name[0] && strlen(name) < OS_PROGRAM, "this program is called %s", name);
#ifdef __linux__
    prctl(PR_SET_NAME, want);
    os_program(os_pid(), name);
    tap_ok(!strcmp(name, "a?[1mname?of an"), "and calls itself as it likes, which is harmless and cut: %s", name);
#endif
    memset(name, 'x', sizeof name);
    os_program(UINT64_MAX, name);
    tap_ok(!name[0], "a process that there cannot be has no name");
}

static void keep_going(int file)
{
    (void)file;
}

static void stopped(void)
{
    int socket, status = 0;
    pid_t child = child_of(&socket, keep_going, -1);
    tap_ok(!os_is_stopped((uint64_t)child) && !os_is_stopped(os_pid()) && !os_is_stopped(UINT64_MAX), "nobody is stopped");
    kill(child, SIGSTOP);
    waitpid(child, &status, WUNTRACED);
    tap_ok(WIFSTOPPED(status) && os_is_stopped((uint64_t)child), "a stopped process is seen");
    kill(child, SIGCONT);
    finish(child, socket);
    tap_ok(!os_is_stopped((uint64_t)child), "one that has ended is not stopped");
#ifdef __linux__
    fflush(NULL);
    child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGUSR1);
        _exit(0);
    }
    if (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) { /* else nobody may be a debugger here */
        tap_ok(os_is_stopped((uint64_t)child), "one that a debugger has stopped is");
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
#endif
}

int main(void)
{
    struct seen none = {0};
    tap_ok(os_pid() == (uint64_t)getpid(), "a process has the number that people know");
    if (!os_openings_each(NAME, see, &none)) {
        tap_skip("this system does not tell", "open files");
        return tap_done();
    }
    openings();
    names();
    stopped();
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the system reports about processes and their open files: this process, its children, and files that no process has
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
    unsigned others; /* files of this process with other names */
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

/* A child that runs until the other end of the socket is closed. */
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
    int after = open("/", O_RDONLY); /* a shorter name, visited next */
    struct seen seen = look(os_pid(), is.number);
    tap_ok(seen.count == 1 && seen.file == file && !seen.strangers, "this process has the file open, by that descriptor");
    tap_ok(after > file && !seen.others, "no other file has that name");
    close(after);
    pid_t child = child_of(&socket, keep_two, file);
    seen = look((uint64_t)child, is.number);
    tap_ok(seen.count == 2 && seen.strangers == 1, "a forked child has the file open too, and a second time by dup");
    finish(child, socket);
    child = child_of(&socket, keep_none, file);
    seen = look((uint64_t)child, is.number);
    tap_ok(!seen.count && seen.strangers == 1, "neither a child that closed the file nor one that has ended is reported");
    finish(child, socket);
    unlink(path);
    seen = look(os_pid(), is.number);
    tap_ok(seen.count == 1, "an open file is found after its name is removed");
    if (!passing_pair(pair) || !passing_send(pair[0], file))
        tap_bail("no message");
    close(file);
    seen = look(os_pid(), is.number);
    tap_ok(!seen.count && !seen.strangers, "a descriptor in a message belongs to no process");
    close(pair[0]);
    close(pair[1]);
}

static void names(void)
{
    char name[OS_PROGRAM], want[] = "a\x1b[1mname\x7fof any length";
    os_program(os_pid(), name);
    tap_ok(name[0] && strlen(name) < OS_PROGRAM, "the system reports this program's name: %s", name);
#ifdef __linux__
    prctl(PR_SET_NAME, want);
    os_program(os_pid(), name);
    tap_ok(!strcmp(name, "a?[1mname?of an"), "a name that the process chose is truncated and made safe to print: %s", name);
    prctl(PR_SET_NAME, "%s%d%n 100%");
    os_program(os_pid(), name);
    tap_text(name, "%s%d%n 100%", "a name that looks like a format stays as it is");
#endif
    memset(name, 'x', sizeof name);
    os_program(UINT64_MAX, name);
    tap_ok(!name[0], "a process number that cannot exist has no name");
}

#ifdef __linux__
/* cat, started by another name: it runs once it has echoed a byte, and ends with its input. */
static void commands(void)
{
    char command[OS_COMMAND], program[OS_PROGRAM], byte = 'x';
    siginfo_t ended;
    int in[2], out[2];
    if (pipe(in) || pipe(out))
        tap_bail("no pipes");
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        execl("/bin/cat", "/any folder/\x1b[1mcat\n", (char *)NULL);
        _exit(1);
    }
    if (write(in[1], &byte, 1) != 1 || read(out[0], &byte, 1) != 1)
        tap_bail("cat does not echo");
    os_command((uint64_t)child, command);
    tap_text(command, "/any folder/?[1mcat?", "a command has its folder and its whole name, safe to print");
    close(in[1]);
    waitid(P_PID, (id_t)child, &ended, WEXITED | WNOWAIT);
    os_program((uint64_t)child, program);
    os_command((uint64_t)child, command);
    tap_ok(program[0] && !strcmp(command, program), "only the program's name is left of an ended process: %s", command);
    waitpid(child, NULL, 0);
    os_command((uint64_t)child, command);
    tap_text(command, "", "and nothing once it was waited for");
    close(in[0]);
    close(out[0]);
    close(out[1]);
}
#else
static void commands(void)
{
}
#endif

static void keep_going(int file)
{
    (void)file;
}

static void stopped(void)
{
    int socket, status = 0;
    pid_t child = child_of(&socket, keep_going, -1);
    tap_ok(!os_is_stopped((uint64_t)child) && !os_is_stopped(os_pid()) && !os_is_stopped(UINT64_MAX),
           "neither a running nor an unknown process is stopped");
    kill(child, SIGSTOP);
    waitpid(child, &status, WUNTRACED);
    tap_ok(WIFSTOPPED(status) && os_is_stopped((uint64_t)child), "a process stopped by a signal is reported as stopped");
    kill(child, SIGCONT);
    finish(child, socket);
    tap_ok(!os_is_stopped((uint64_t)child), "an ended process is not reported as stopped");
#ifdef __linux__
    fflush(NULL);
    child = fork();
    if (child == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGUSR1);
        _exit(0);
    }
    if (waitpid(child, &status, 0) == child && WIFSTOPPED(status)) { /* otherwise no process may be a debugger here */
        tap_ok(os_is_stopped((uint64_t)child), "a process stopped by a debugger is reported as stopped");
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
#endif
}

int main(void)
{
    struct seen none = {0};
    tap_ok(os_pid() == (uint64_t)getpid(), "os_pid is the number that users see");
    if (!os_openings_each(NAME, see, &none)) {
        tap_skip("this system does not report open files", "open files");
        return tap_done();
    }
    openings();
    names();
    commands();
    stopped();
    return tap_done();
}

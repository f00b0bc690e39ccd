/* SPDX-License-Identifier: Apache-2.0 */
/* A program that has more rights than its caller ignores the caller's variables, because they name files and code. */
#include "os_environment.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif

#include "tap.h"
#include "vmm.h"

static const char *const names[] = {"CUVMM_BACKEND", "CUVMM_CHECK_LOG", "CUVMM_CHECK_TALLY", "CUVMM_KERNELS", "CUVMM_LAYERS",
                                    "CUVMM_LIBCUDA", "CUVMM_MACHINES", "CUVMM_SIM", "TMPDIR"};
enum { NAMES = sizeof names / sizeof names[0], HEEDED = 10, UNHEEDED, MIXED, NOT_SECURE };

static char folder[64], program[128], trace[128];

/* The second program (this one, run with an argument) opens a system and reports which variables it used. */
static int other(bool secure)
{
#ifdef __linux__
    if (secure && !getauxval(AT_SECURE))
        return NOT_SECURE;
#else
    if (secure && geteuid() == getuid())
        return NOT_SECURE;
#endif
    unsigned heeded = 0;
    vmm_system *sys;
    for (unsigned i = 0; i < NAMES; i++)
        heeded += getenv(names[i]) && os_environment(names[i]);
    if (os_environment("CUVMM_NO_SUCH") || vmm_open("sim:h100", &sys) != VMM_SUCCESS)
        return MIXED;
    vmm_close(sys);
    return heeded == NAMES ? HEEDED : heeded ? MIXED : UNHEEDED;
}

static int started(const char *how)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        if (!strcmp(how, "secure") && (setgid(65534) || setuid(65534)))
            _exit(NOT_SECURE);
        execl(program, program, how, (char *)NULL);
        _exit(NOT_SECURE);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void copy_self(void)
{
    char bytes[65536];
    int from = open("/proc/self/exe", O_RDONLY), to = open(program, O_WRONLY | O_CREAT | O_EXCL, 0700);
    ssize_t n = -1;
    while (from >= 0 && to >= 0 && (n = read(from, bytes, sizeof bytes)) > 0)
        if (write(to, bytes, (size_t)n) != n)
            tap_bail("no copy");
    if (n || close(to) || close(from) || chmod(program, 04755) || chmod(folder, 0755))
        tap_bail("no copy");
}

int main(int argc, char **argv)
{
    struct stat is;
    if (argc > 1)
        return other(!strcmp(argv[1], "secure"));
    tap_ok(!os_environment("CUVMM_NO_SUCH"), "an unset variable");
    setenv("CUVMM_NO_SUCH", "x", 1);
    const char *value = os_environment("CUVMM_NO_SUCH");
    tap_text(value ? value : "none", "x", "a variable that is set");
    unsetenv("CUVMM_NO_SUCH");
    if (access("/proc/self/exe", R_OK) || getenv("CUVMM_RUN")) {
        tap_skip("this program cannot be executed again", "programs with more rights");
        return tap_done();
    }
    snprintf(folder, sizeof folder, "/tmp/cuvmm-secure-XXXXXX");
    if (!mkdtemp(folder))
        tap_bail("no folder");
    snprintf(program, sizeof program, "%s/program", folder);
    snprintf(trace, sizeof trace, "%s/trace", folder);
    copy_self();
    for (unsigned i = 0; i < NAMES; i++)
        setenv(names[i], folder, 1);
    char layers[160];
    snprintf(layers, sizeof layers, "trace=%s", trace);
    setenv("CUVMM_LAYERS", layers, 1);
    tap_u64((uint64_t)started("plain"), HEEDED, "a program with the caller's rights uses the variables");
    tap_ok(!stat(trace, &is) && is.st_size > 0 && !unlink(trace), "and writes a trace");
    int answer = geteuid() ? NOT_SECURE : started("secure");
    if (answer == NOT_SECURE)
        tap_skip("this system cannot give a program more rights", "a program with more rights");
    else
        tap_ok(answer == UNHEEDED && stat(trace, &is), "a program with more rights ignores them, and writes no trace");
    unlink(program);
    unlink(trace);
    rmdir(folder);
    return tap_done();
}

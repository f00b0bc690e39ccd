/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm check: runs a program with the shadow beside its driver, or on the simulator where there is none. */
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "exec.h"
#include "exec_file.h"
#include "exec_process.h"
#include "findings.h"
#include "vmm.h"

#define WHO "cuvmm check"

/* ---- is there a driver? ---- */

/* Asked in a child: a process that initialised the driver is not one to fork from. */
static bool has_device(void *user, char why[EXEC_WHY], int *count)
{
    vmm_system *sys;
    (void)user, (void)why;
    *count = 0;
    return vmm_open("cuda", &sys) == VMM_SUCCESS && vmm_init(sys, 0) == VMM_SUCCESS &&
           vmm_device_get_count(sys, count) == VMM_SUCCESS && *count > 0;
}

static bool has_driver(void)
{
    char why[EXEC_WHY];
    int count;
    return exec_in_child(has_device, NULL, why, &count);
}

/* ---- the program's environment ---- */

static void report_to(const struct check_options *options, const char *tally, struct exec_environment *environment)
{
    exec_environment_set(environment, "CUVMM_CHECK", options->driver ? "driver" : "simulator");
    exec_environment_set(environment, "CUVMM_CHECK_TALLY", tally);
    exec_environment_set(environment, "CUVMM_CHECK_LEAKS", options->leaks ? "yes" : "no");
    exec_environment_set(environment, "CUVMM_CHECK_QUIET", options->quiet ? "1" : "0");
    if (options->log)
        exec_environment_set(environment, "CUVMM_CHECK_LOG", options->log);
    else
        exec_environment_unset(environment, "CUVMM_CHECK_LOG");
}

/* EXEC_FINE, or the exit status where a machine or a library is not there, which has been said. */
static int prepare(const struct check_options *options, struct exec_setting *setting, FILE *err)
{
    char folder[4096], path[4096 + 32];
    const struct exec_options simulated = {.who = WHO, .nothing = "nothing was checked", .machine = options->machine};
    const char *library = options->driver ? "libcuvmm-check.so" : "libcuda.so.1";
    *setting = (struct exec_setting){0};
    if (!exec_folder(WHO, library, folder, sizeof folder, err))
        return 2;
    if (!options->driver)
        return exec_setting_make(&simulated, setting, err) ? EXEC_FINE : CHECK_NOTHING;
    snprintf(path, sizeof path, "%s/%s", folder, library);
    exec_environment_prepend(&setting->environment, "LD_PRELOAD", path, ':');
    return EXEC_FINE;
}

/* ---- running ---- */

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
static bool tell(const struct check_options *options, const struct findings_tally *tally, const struct exec_ending *end, FILE *err)
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
static int run_and_tell(const struct check_options *options, const char *path, const struct exec_setting *setting,
                        const struct findings_tally *tally, FILE *err)
{
    struct exec_ending end;
    if (!exec_process(WHO, options->command, path, &setting->environment, &end, err))
        return 2;
    if (!tell(options, tally, &end, err))
        return CHECK_NOTHING;
    bool found = tally->errors + tally->hazards + tally->leaks != 0;
    return found && options->error_exitcode >= 0 ? options->error_exitcode : end.status;
}

static int with_tally(const struct check_options *options, const char *path, struct exec_setting *setting, FILE *err)
{
    char tally_path[4096];
    struct findings_tally *tally = exec_shared(tally_path, sizeof tally_path, sizeof *tally);
    if (!tally) {
        fprintf(err, WHO ": no file for the counts in TMPDIR or /tmp: %s\n", strerror(errno));
        return 2;
    }
    report_to(options, tally_path, &setting->environment);
    int status = run_and_tell(options, path, setting, tally, err);
    unlink(tally_path);
    munmap(tally, sizeof *tally);
    return status;
}

int check_run(struct check_options *options, FILE *err)
{
    char path[4096];
    struct exec_setting setting;
    if (exec_program(WHO, options->command[0], path, sizeof path, err) != EXEC_FINE)
        return 2;
    if (!options->chosen)
        options->driver = has_driver();
    int status = prepare(options, &setting, err);
    if (status == EXEC_FINE)
        status = with_tally(options, path, &setting, err);
    exec_setting_free(&setting);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm check: runs a program with the shadow beside its driver, or on the simulator if there is none. */
#include "check.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "collect.h"
#include "exec.h"
#include "exec_file.h"
#include "exec_process.h"
#include "report.h"
#include "stream.h"
#include "vmm.h"

#define WHO "cuvmm check"

/* ---- is there a driver? ---- */

/* Queried in a child: a process that initialised the driver must not fork. */
static bool has_device(void *user, char why[EXEC_WHY], int *count)
{
    vmm_system *sys;
    (void)user, (void)why;
    *count = 0;
    return vmm_open("cuda", &sys) == VMM_SUCCESS && vmm_init(sys, 0) == VMM_SUCCESS &&
           vmm_device_get_count(sys, count) == VMM_SUCCESS && *count > 0;
}

/* Loading the driver does not initialise it; if there is none to load, no process is started. */
static bool has_driver(void)
{
    char why[EXEC_WHY];
    int count;
    vmm_system *sys;
    if (vmm_open("cuda", &sys) != VMM_SUCCESS)
        return false;
    vmm_close(sys);
    return exec_in_child(has_device, NULL, why, &count);
}

/* ---- the program's environment ---- */

static void set_or_unset(struct exec_environment *environment, const char *name, const char *value)
{
    if (value)
        exec_environment_set(environment, name, value);
    else
        exec_environment_unset(environment, name);
}

/* A process that cannot send writes text: to the log, unless each process has its own. */
static void report_to(const struct check_options *options, const char *tally, const char *stream, struct exec_environment *environment)
{
    static const char *const stacks[] = {
        [CHECK_STACKS_SHORT] = "short", [CHECK_STACKS_NONE] = "none", [CHECK_STACKS_FULL] = "full"};
    exec_environment_set(environment, "CUVMM_CHECK", options->driver ? "driver" : "simulator");
    exec_environment_set(environment, "CUVMM_CHECK_TALLY", tally);
    exec_environment_set(environment, "CUVMM_CHECK_STREAM", stream);
    exec_environment_set(environment, "CUVMM_CHECK_STACKS", stacks[options->stacks]);
    exec_environment_set(environment, "CUVMM_CHECK_LEAKS", options->leaks ? "yes" : "no");
    exec_environment_set(environment, "CUVMM_CHECK_QUIET", options->quiet ? "1" : "0");
    exec_environment_set(environment, "CUVMM_CHECK_ORDER", options->order ? "yes" : "no");
    exec_environment_set(environment, "CUVMM_CHECK_UNWRITTEN", options->unwritten ? "yes" : "no");
    set_or_unset(environment, "CUVMM_CHECK_LOG", options->log_by_process ? NULL : options->log);
}

/* EXEC_FINE, or the exit status if a machine or a library is missing, which was already reported. */
static int prepare(const struct check_options *options, struct exec_setting *setting, FILE *err)
{
    char folder[4096], path[4096 + 32];
    const struct exec_options simulated = {.who = WHO, .nothing = "nothing was checked", .machine = options->machine, .fault = options->fault};
    const char *library = options->driver ? "libcuvmm-check.so" : "libcuda.so.1";
    *setting = (struct exec_setting){0};
    if (options->driver && options->fault) {
        fprintf(err, WHO ": --fault=%.60s: calls can be made to fail only on the simulator: --backend=sim\n", options->fault);
        return 2;
    }
    if (!exec_folder(WHO, library, folder, sizeof folder, err))
        return 2;
    if (!options->driver)
        return exec_setting_make(&simulated, setting, err) ? EXEC_FINE : CHECK_NOTHING;
    snprintf(path, sizeof path, "%s/%s", folder, library);
    exec_environment_prepend(&setting->environment, "LD_PRELOAD", path, ':');
    return EXEC_FINE;
}

/* ---- running ---- */

static void report_signal(struct run *run, const struct exec_ending *end)
{
    if (end->signal_number)
        texts_line(&run->texts, WHO ": %s was ended by signal %d (%s)", run->options->command[0], end->signal_number,
                   strsignal(end->signal_number));
}

/* Reports what the sum does not cover, and how the program ended. */
static void report_processes(struct run *run, const struct exec_ending *end)
{
    const char *reason = collect_reason(run);
    report_signal(run, end);
    if (run->begun > run->ended)
        texts_line(&run->texts, WHO ": %llu of %llu processes did not exit cleanly; their leaks are unknown",
                   (unsigned long long)(run->begun - run->ended), (unsigned long long)run->begun);
    if (reason)
        texts_line(&run->texts, WHO ": some processes were not checked: %s", reason);
    if (run->unread)
        texts_line(&run->texts, WHO ": %llu records could not be read; what they reported is unknown", (unsigned long long)run->unread);
}

static void report_suppressions(struct run *run)
{
    for (unsigned i = 0; i < run->suppressions.count; i++) {
        const struct suppression *item = &run->suppressions.item[i];
        if (!item->used)
            texts_line(&run->texts, WHO ": the suppression \"%s\" (%s:%u) matched nothing", item->name, item->file, item->line);
    }
}

/* If nothing was checked, that is reported even if only findings were requested. */
static void report_text(struct run *run, const struct exec_ending *end, bool checked, const char *sum)
{
    const char *side = run->options->driver ? "driver" : "simulator";
    if (run->live) {
        report_signal(run, end);
        return;
    }
    texts_finish(&run->texts, run);
    if (!checked) {
        texts_line(&run->texts, WHO ": %s (%s; the program's own exit status is %d)", sum, side, end->status);
    } else if (!run->options->quiet) {
        report_processes(run, end);
        report_suppressions(run);
        texts_line(&run->texts, WHO ": %s (%s)", sum, side);
    }
}

/* 125: nothing was checked. 2: nothing was started, or a report is incomplete. The reader of --live decides for itself what is
 * wrong. */
static int report(struct run *run, const struct exec_ending *end, struct report_files *files, FILE *err)
{
    char text[COLLECT_TEXT];
    collect_finish(run);
    struct sum sum = collect_sum(run, 0);
    bool checked = collect_text(run, &sum, text, sizeof text);
    report_text(run, end, checked, text);
    const struct report whole = {run, end, checked, text};
    if (!report_write(files, &whole, stdout, err))
        return 2;
    if (run->live)
        return end->status;
    if (!checked)
        return CHECK_NOTHING;
    bool found = sum.findings[FINDING_ERROR] + sum.findings[FINDING_HAZARD] + sum.findings[FINDING_LEAK] != 0;
    return found && run->options->error_exitcode >= 0 ? run->options->error_exitcode : end->status;
}

static void read_stream(void *stream, int until)
{
    stream_read(stream, until);
}

static int start_and_report(struct run *run, const char *path, const char *tally_path, struct exec_setting *setting, FILE *err)
{
    const struct check_options *options = run->options;
    struct report_files files;
    struct exec_ending end;
    if (!report_open(&files, options, err))
        return 2;
    struct stream *stream = stream_open(collect_record, run);
    if (!stream) {
        fprintf(err, WHO ": no socket for findings in TMPDIR, /dev/shm or /tmp: %s\n", strerror(errno));
        report_close(&files);
        return 2;
    }
    report_to(options, tally_path, stream_path(stream), &setting->environment);
    struct recorder_watch *watch = check_watch_begin(&options->watch, options->driver, &setting->environment, run->texts.common);
    const struct exec_meanwhile meanwhile = {read_stream, stream, watch ? recorder_watch_asked : NULL, watch};
    bool ran = exec_process(WHO, options->command, path, &setting->environment, &meanwhile, &end, err);
    signal(SIGXFSZ, SIG_IGN); /* for a log that may not grow any more: the exit status still counts */
    stream_close(stream);
    if (!ran)
        end = (struct exec_ending){0, 0};
    if (run->live)
        recorder_watch_crashes(watch);
    recorder_watch_end(watch, &end);
    int status = ran ? report(run, &end, &files, err) : 2;
    report_close(&files);
    return status;
}

/* The size of the counts: without the rows of repeats if the file-size limit is too low, because exceeding it would
 * end this process. */
static size_t tally_size(void)
{
    struct rlimit limit;
    bool short_files = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < sizeof(struct findings_tally);
    return short_files ? offsetof(struct findings_tally, again) : sizeof(struct findings_tally);
}

static int with_tally(const struct check_options *options, const char *path, struct exec_setting *setting, FILE *err)
{
    char tally_path[4096];
    struct run run;
    size_t size = tally_size();
    struct findings_tally *tally = exec_shared(tally_path, sizeof tally_path, size);
    if (!tally) {
        fprintf(err, WHO ": no file for the counts in TMPDIR, /dev/shm or /tmp: %s\n", strerror(errno));
        return 2;
    }
    int status = collect_begin(&run, options, tally, size == sizeof *tally ? FINDINGS_AGAIN : 0, err) ? start_and_report(&run, path, tally_path, setting, err) : 2;
    collect_free(&run);
    unlink(tally_path);
    munmap(tally, size);
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

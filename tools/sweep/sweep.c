/* SPDX-License-Identifier: Apache-2.0 */
#include "sweep.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "sweep_report.h"
#include "sweep_run.h"

#define WHO "cuvmm exec"

enum { ROOM_ALL = 1 << 18, ROOM_INJECTED = 16 };

/* What a run without a failure is like. */
struct plain {
    uint64_t errors, leaks;
    double seconds;
};

struct state {
    const struct sweep_options *options;
    const char *path;
    const struct exec_environment *environment;
    struct plain plain;
    double timeout;
    FILE *err;
};

/* ---- one run ---- */

static bool is_fine(const struct state *state, const struct sweep_run *run)
{
    return WIFEXITED(run->wait_status) && (WEXITSTATUS(run->wait_status) == 0 || WEXITSTATUS(run->wait_status) == state->options->accept);
}

/* Is the call that failed the one that was meant? */
static bool is_meant(const struct sweep_calls *calls, const struct sweep_call *call, const struct sweep_run *run)
{
    const struct sites_call *failed = &run->sites->call[0];
    return run->sites->count && failed->complete && failed->injected && failed->kind == call->record->kind &&
           failed->offset == call->record->offset &&
           strcmp(run->sites->name[failed->module].text, calls->file->name[call->record->module].text) == 0;
}

static uint64_t above(uint64_t value, uint64_t usual)
{
    return value > usual ? value - usual : 0;
}

static void judge(const struct state *state, const struct sweep_calls *calls, struct sweep_call *call, const struct sweep_run *run)
{
    struct sweep_outcome *outcome = &call->outcome;
    bool given_back = sweep_gives_back(call->record->kind); /* what it did not give back is held, and in the way */
    *outcome = (struct sweep_outcome){.leaks = given_back ? 0 : above(run->tally->leaks, state->plain.leaks),
                                      .misuses = given_back ? 0 : above(run->tally->errors, state->plain.errors)};
    sweep_run_said(run, outcome->said, sizeof outcome->said);
    if (WIFSIGNALED(run->wait_status))
        outcome->signal_number = WTERMSIG(run->wait_status);
    else
        outcome->status = WEXITSTATUS(run->wait_status);
    if (run->timed_out)
        outcome->class = SWEEP_HUNG;
    else if (outcome->signal_number)
        outcome->class = SWEEP_CRASHED;
    else if (!is_fine(state, run))
        outcome->class = SWEEP_WRONG_EXIT;
    else if (outcome->misuses)
        outcome->class = SWEEP_MISUSED;
    else if (outcome->leaks)
        outcome->class = SWEEP_LEAKED;
    else
        outcome->class = is_meant(calls, call, run) ? SWEEP_RECOVERED : SWEEP_VARIED;
}

static bool start(const struct state *state, struct sweep_run *run, const char *fault)
{
    bool started = sweep_run_start(run, state->options->exec.command, state->path, state->environment, fault, state->timeout);
    if (!started)
        fprintf(state->err, WHO ": no process can be started: %s\n", strerror(errno));
    return started;
}

/* ---- without a failure ---- */

/* A sweep needs a program that is well when nothing fails. */
static bool is_well(const struct state *state, const struct sweep_run *run)
{
    char said[SWEEP_SAID];
    sweep_run_said(run, said, sizeof said);
    const char *quote = said[0] ? ": " : "";
    if (run->timed_out)
        fprintf(state->err, WHO ": nothing was tried: without a failure the program takes more than %.3g s; --timeout gives it more\n",
                state->timeout);
    else if (WIFSIGNALED(run->wait_status))
        fprintf(state->err, WHO ": nothing was tried: signal %d ends the program also without a failure%s%s\n",
                WTERMSIG(run->wait_status), quote, said);
    else if (!is_fine(state, run))
        fprintf(state->err, WHO ": nothing was tried: the program's status is %d also without a failure%s%s; --accept=%d takes that for good\n",
                WEXITSTATUS(run->wait_status), quote, said, WEXITSTATUS(run->wait_status));
    else if (!run->sites->count)
        fprintf(state->err, WHO ": nothing was tried: %s\n",
                findings_reason(run->tally) ? findings_reason(run->tally) : "no call of the driver was seen");
    else
        return true;
    return false;
}

/* Returns 0, or the signal that asks the command to end; -1 where there is nothing to go on with, which has been said. */
static int run_plain(struct state *state, struct sweep_run runs[2])
{
    for (int i = 0; i < 2; i++) {
        int number = 0;
        if (!sweep_run_make(&runs[i], ROOM_ALL)) {
            fprintf(state->err, WHO ": no files for the counts in TMPDIR, /dev/shm or /tmp: %s\n", strerror(errno));
            return -1;
        }
        if (!start(state, &runs[i], NULL))
            return -1;
        struct sweep_run *run = sweep_run_wait(&runs[i], 1, &number);
        if (!run)
            return number;
        double took = sweep_now() - run->began;
        if (!is_well(state, run))
            return -1;
        state->plain.seconds = took > state->plain.seconds ? took : state->plain.seconds;
        state->plain.leaks = run->tally->leaks > state->plain.leaks ? run->tally->leaks : state->plain.leaks;
        state->plain.errors = run->tally->errors > state->plain.errors ? run->tally->errors : state->plain.errors;
    }
    return 0;
}

/* ---- with failures ---- */

/* The next call that is to fail, by sites; NULL past the last. */
static struct sweep_call *next(struct sweep_calls *calls, size_t *site, size_t *at)
{
    for (; *site < calls->sites; ++*site, *at = 0)
        while (*at < calls->site[*site].count) {
            struct sweep_call *call = &calls->site[*site].call[(*at)++];
            if (call->chosen)
                return call;
        }
    return NULL;
}

static int run_all(struct state *state, struct sweep_calls *calls, struct sweep_run *runs, size_t count)
{
    size_t site = 0, at = 0, going = 0;
    struct sweep_call *call = next(calls, &site, &at), **of = calloc(count, sizeof(struct sweep_call *));
    int number = of ? 0 : -1;
    char fault[200];
    while (number == 0 && (call || going)) {
        struct sweep_run *run = NULL;
        for (size_t i = 0; call && i < count && !run; i++)
            run = runs[i].leader ? NULL : &runs[i];
        if (run) {
            sweep_fault(calls, call, state->options->result, fault, sizeof fault);
            of[run - runs] = call;
            number = start(state, run, fault) ? 0 : -1;
            going += number == 0;
            call = next(calls, &site, &at);
            continue;
        }
        run = sweep_run_wait(runs, count, &number);
        if (!run)
            break;
        number = 0;
        going--;
        judge(state, calls, of[run - runs], run);
    }
    if (number < 0 && going) /* those that go on are not left behind */
        while (going && sweep_run_wait(runs, count, &number))
            going--;
    free(of);
    return number;
}

static int with_slots(struct state *state, struct sweep_calls *calls, size_t wanted)
{
    size_t count = state->options->jobs < wanted ? state->options->jobs : wanted;
    struct sweep_run *runs = calloc(count + 1, sizeof *runs);
    int number = runs ? 0 : -1;
    for (size_t i = 0; number == 0 && i < count; i++)
        if (!sweep_run_make(&runs[i], ROOM_INJECTED)) {
            fprintf(state->err, WHO ": no files for the counts in TMPDIR, /dev/shm or /tmp: %s\n", strerror(errno));
            number = -1;
        }
    if (number == 0)
        number = run_all(state, calls, runs, count);
    for (size_t i = 0; runs && i < count; i++)
        sweep_run_free(&runs[i]);
    free(runs);
    return number;
}

/* ---- the whole ---- */

static int report(const struct state *state, const struct sweep_calls *calls, size_t runs, bool differs, FILE *out)
{
    struct sweep_report report = {.options = state->options,
                                  .calls = calls,
                                  .runs = runs,
                                  .sampled = runs < calls->count,
                                  .differs = differs,
                                  .timeout = state->timeout,
                                  .leaks = state->plain.leaks,
                                  .lost = above(calls->file->count, calls->file->room)};
    size_t of_site, alike;
    for (size_t i = 0; i < calls->sites; i++) {
        const struct sweep_call *worst = sweep_worst(&calls->site[i], &of_site, &alike);
        report.sites[worst ? worst->outcome.class : SWEEP_NOT_RUN]++;
    }
    if (!state->options->json)
        sweep_print_text(&report, out);
    else if (!sweep_print_json(&report, out, state->err))
        return EXEC_NOTHING;
    return report.sites[SWEEP_RECOVERED] + report.sites[SWEEP_NOT_RUN] == calls->sites && !differs ? 0 : 1;
}

/* The exit status. */
static int fail_each(struct state *state, struct sweep_run plain[2], FILE *out)
{
    const struct sweep_options *options = state->options;
    struct sweep_calls calls;
    int status = EXEC_NOTHING, number = 0;
    if (!sweep_calls_read(&calls, plain[0].sites, options->call)) {
        fprintf(state->err, WHO ": memory is exhausted\n");
    } else if (!calls.count) {
        fprintf(state->err, WHO ": nothing was tried: the program makes no such call%s\n",
                calls.given_back ? ", but for those that give something back: --fault=each:mem_release, for example" : "");
    } else {
        size_t runs = sweep_calls_choose(&calls, options->most, options->seed);
        sweep_calls_name(&calls);
        number = with_slots(state, &calls, runs);
        if (number == 0)
            status = report(state, &calls, runs, !sweep_calls_equal(plain[0].sites, plain[1].sites), out);
    }
    sweep_calls_free(&calls);
    return number > 0 ? 128 + number : status;
}

static int with_setting(struct state *state, FILE *out)
{
    struct sweep_run plain[2] = {{.leader = 0}, {.leader = 0}};
    sigset_t before;
    double asked = state->options->timeout;
    sweep_signals_block(&before);
    state->timeout = asked > 0 ? asked : 60;
    int number = run_plain(state, plain), status = number > 0 ? 128 + number : EXEC_NOTHING;
    if (number == 0) {
        if (!(asked > 0))
            state->timeout = 5 + 10 * state->plain.seconds;
        status = fail_each(state, plain, out);
    }
    sweep_run_free(&plain[0]);
    sweep_run_free(&plain[1]);
    sweep_signals_restore(&before);
    return status;
}

int sweep(const struct sweep_options *options, FILE *out, FILE *err)
{
    char path[4096], fault[200];
    struct exec_setting setting;
    struct exec_options exec = options->exec;
    int found = exec_program(WHO, exec.command[0], path, sizeof path, err);
    if (found != EXEC_FINE)
        return found;
    if (options->jobs > 1 && strstr(exec.machine ? exec.machine : exec_machine_of_environment(), "machine=")) {
        fprintf(err, WHO ": nothing was tried: each of several jobs needs a machine of its own: leave machine= out of the spec\n");
        return EXEC_NOTHING;
    }
    snprintf(fault, sizeof fault, "%s:1%s%s", options->call ? options->call : "any", options->result ? ":" : "",
             options->result ? options->result : "");
    exec.fault = fault; /* looked at, and then of no use: each run has its own */
    if (!exec_setting_try(&exec, &setting, err))
        return EXEC_NOTHING;
    struct state state = {.options = options, .path = path, .environment = &setting.environment, .err = err};
    int status = with_setting(&state, out);
    exec_setting_free(&setting);
    return status;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <string.h>

#include "exec_environment.h"
#include "sweep_report.h"

const char *sweep_class_name(enum sweep_class class)
{
    static const char *const names[SWEEP_CLASSES] = {"not run", "recovered", "varied", "leaked", "misused", "wrong exit", "crashed", "hung"};
    return names[class];
}

/* A word of a shell: quoted where it has to be. */
static void print_word(const char *word, FILE *out)
{
    if (word[0] && !word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-+=:,./@%")]) {
        fputs(word, out);
    } else {
        exec_print_quoted(word, out);
    }
}

void sweep_print_command(const struct sweep_report *report, const struct sweep_call *call, FILE *out)
{
    const struct sweep_options *options = report->options;
    char fault[200];
    sweep_fault(report->calls, call, options->result, fault, sizeof fault);
    fputs("cuvmm exec", out);
    if (options->exec.machine) {
        fputs(" ", out);
        print_word("--machine=", out);
        print_word(options->exec.machine, out);
    }
    if (call->outcome.class == SWEEP_LEAKED || call->outcome.class == SWEEP_MISUSED)
        fputs(" --explain", out);
    fprintf(out, " --fault=%s --", fault);
    for (char **word = options->exec.command; *word; word++) {
        fputs(" ", out);
        print_word(*word, out);
    }
}

/* "1 leak", "2 leaks" */
static void print_count(uint64_t count, const char *what, FILE *out)
{
    fprintf(out, "%" PRIu64 " %s%s", count, what, count == 1 ? "" : "s");
}

static void print_detail(const struct sweep_report *report, const struct sweep_outcome *outcome, FILE *out)
{
    switch (outcome->class) {
    case SWEEP_LEAKED: print_count(outcome->leaks, "leak", out); break;
    case SWEEP_MISUSED: print_count(outcome->misuses, "broken rule", out); break;
    case SWEEP_WRONG_EXIT: fprintf(out, "status %d", outcome->status); break;
    case SWEEP_CRASHED: fprintf(out, "signal %d (%s)", outcome->signal_number, strsignal(outcome->signal_number)); break;
    case SWEEP_HUNG: fprintf(out, "killed after %.3g s", report->timeout); break;
    case SWEEP_VARIED: fputs("another call failed than was meant", out); break;
    default: break;
    }
    if ((outcome->class == SWEEP_WRONG_EXIT || outcome->class == SWEEP_MISUSED) && outcome->leaks) {
        fputs(", ", out);
        print_count(outcome->leaks, "leak", out);
    }
    if (outcome->class >= SWEEP_WRONG_EXIT && outcome->said[0])
        fprintf(out, ", \"%s\"", outcome->said);
}

static void print_site(const struct sweep_report *report, const struct sweep_site *site, FILE *out)
{
    const struct sites_file *file = report->calls->file;
    size_t runs, alike;
    const struct sweep_call *worst = sweep_worst(site, &runs, &alike);
    if (!worst)
        return;
    const struct sites_call *record = worst->record;
    const char *function = file->name[record->function].text;
    fprintf(out, "%-10s  %s by %s (%s+0x%" PRIx64 "%s%s)", sweep_class_name(worst->outcome.class), function,
            site->symbol[0] ? site->symbol : "?", sweep_module(file, record), record->offset, site->source[0] ? ", " : "", site->source);
    if (alike < runs)
        fprintf(out, ", %zu of %zu runs", alike, runs);
    else
        fprintf(out, ", %zu run%s", runs, runs == 1 ? "" : "s");
    if (worst->outcome.class != SWEEP_RECOVERED) {
        fputs(": ", out);
        print_detail(report, &worst->outcome, out);
        fputs("; again: ", out);
        sweep_print_command(report, worst, out);
    }
    fputs("\n", out);
}

static void print_remarks(const struct sweep_report *report, FILE *out)
{
    const struct sweep_calls *calls = report->calls;
    if (report->differs)
        fputs("cuvmm exec: the program behaves differently from run to run, also where nothing fails: its calls are not the same, so a "
              "command may show something else the next time\n", out);
    else if (report->sites[SWEEP_VARIED])
        fputs("cuvmm exec: the program behaves differently from run to run: in some, another call failed than was meant\n", out);
    if (report->leaks) {
        fputs("cuvmm exec: ", out);
        print_count(report->leaks, "leak", out);
        fputs(" without a failure, which are not counted; `cuvmm check` reports them\n", out);
    }
    if (report->sampled)
        fprintf(out, "cuvmm exec: %zu of %zu calls were tried, chosen with --seed=%" PRIu64 "; --most=%zu tries all\n", report->runs,
                calls->count, report->options->seed, calls->count);
    if (calls->given_back) {
        fputs("cuvmm exec: ", out);
        print_count(calls->given_back, "call", out);
        fputs(" that give something back were left out; --fault=each:mem_unmap, for example, tries those\n", out);
    }
    if (report->lost)
        fprintf(out, "cuvmm exec: the program makes %" PRIu64 " calls more, which were not counted\n", report->lost);
}

void sweep_print_text(const struct sweep_report *report, FILE *out)
{
    const struct sweep_calls *calls = report->calls;
    const char *before = "";
    for (size_t i = 0; i < calls->sites; i++)
        print_site(report, &calls->site[i], out);
    print_remarks(report, out);
    fprintf(out, "cuvmm exec: %zu call site%s, %zu call%s, %zu run%s: ", calls->sites, calls->sites == 1 ? "" : "s", calls->count,
            calls->count == 1 ? "" : "s", report->runs, report->runs == 1 ? "" : "s");
    for (int class = SWEEP_NOT_RUN; class < SWEEP_CLASSES; class++)
        if (report->sites[class]) {
            fprintf(out, "%s%zu %s", before, report->sites[class], sweep_class_name((enum sweep_class)class));
            before = ", ";
        }
    fputs("\n", out);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "session.h"

#include <stdlib.h>
#include <string.h>

#include "spec.h"

static void note_before(void *user, struct script *script)
{
    struct session *session = user;
    program_before(session->program, script);
}

static void note_after(void *user, struct script *script, const vmm_detail *detail)
{
    struct session *session = user;
    program_after(session->program, script, detail);
    session->detail = *detail;
    session->detail.fault = NULL; /* valid no longer than the call's own detail */
    session->now.called = session->now.step = true;
    session->now.result = detail->result;
    session->now.severity = detail->severity;
    session->now.rule = detail->rule;
    if (detail->severity != VMM_SEVERITY_NONE) {
        struct text why = {0};
        script_detail_text(script, detail, &why);
        free(session->now.why);
        session->now.why = why.data;
    }
}

static void begin_script(struct session *session)
{
    session->watch = (struct script_watch){session, note_before, note_after};
    session->options.watch = &session->watch;
    session->script = script_new(&session->options, "line");
    session->program = program_new();
}

void session_begin(struct session *session, const struct script_options *options)
{
    *session = (struct session){.options = *options};
    session->options.interactive = true;
    session->options.backend = NULL;
    begin_script(session);
}

static void free_line(struct session_line *line)
{
    free(line->text);
    free(line->output);
    free(line->why);
    *line = (struct session_line){0};
}

/* out may be NULL. */
static void end_script(struct script *script, FILE *out)
{
    FILE *nowhere = out ? NULL : fopen("/dev/null", "w");
    script->options.out = script->options.err = out ? out : nowhere ? nowhere : stderr;
    script->options.quiet = !out;
    script_finish(script);
    if (nowhere)
        fclose(nowhere);
}

void session_end(struct session *session, FILE *out)
{
    end_script(session->script, out);
    program_free(session->program);
    for (size_t i = 0; i < session->count; i++)
        free_line(&session->line[i]);
    free_line(&session->now);
    free(session->line);
}

static bool is_command(const struct session *session, const char *name)
{
    return session->script->command && strcmp(session->script->command->name, name) == 0;
}

/* Commands that make no call and yet change state. */
static bool changes_without_call(const struct session *session)
{
    return is_command(session, "backend") || is_command(session, "process") || is_command(session, "close") ||
           is_command(session, "host-write");
}

/* Invalid lines are not counted, so that "line 4" is the fourth line of the saved script. */
static void keep(struct session *session)
{
    if (session->now.status == SCRIPT_WRONG) {
        session->script->line--;
        return;
    }
    session->line = text_grow(session->line, (session->count + 1) * sizeof *session->line);
    session->line[session->count++] = session->now;
    session->now = (struct session_line){0};
}

const struct session_line *session_run(struct session *session, const char *text)
{
    struct script *script = session->script;
    char *memory = NULL;
    size_t size;
    FILE *out = open_memstream(&memory, &size);
    session->runs++;
    free_line(&session->now);
    if (!out) {
        session->now.status = SCRIPT_FAILED;
        return &session->now;
    }
    session->now.text = strcpy(text_grow(NULL, strlen(text) + 1), text);
    session->detail = (vmm_detail){0};
    script->command = NULL;
    script->options.out = script->options.err = out;
    program_begin(session->program, script->line + 1, text);
    session->now.status = script_line(script, text, strlen(text));
    session->now.expected = script->expect.kind != EXPECT_NOTHING;
    session->now.step |= changes_without_call(session);
    program_end(session->program, script, session->now.status);
    fclose(out);
    session->now.output = memory;
    size_t before = session->count;
    keep(session);
    return session->count > before ? &session->line[before] : &session->now;
}

/* ---- back */

size_t session_steps(const struct session *session)
{
    size_t steps = 0;
    for (size_t i = session->fixed; i < session->count; i++)
        steps += session->line[i].step;
    return steps;
}

const char *session_keeps(const struct session *session)
{
    const char *said = session->script->spec ? session->script->spec : getenv("CUVMM_BACKEND");
    struct spec spec;
    struct spec_error error;
    const char *why = NULL;
    if (!spec_parse(said && *said ? said : "sim:h100", &spec, &error))
        return NULL;
    const struct spec_part *backend = &spec.part[spec.count - 1];
    if (strcmp(backend->name, "sim") != 0)
        why = "the state of a driver cannot be restored, and its calls are not repeated";
    else if (strstr(backend->args, "machine=") || getenv("CUVMM_MACHINE"))
        why = "other processes use this machine, and a new one would not have them";
    spec_free(&spec);
    return why;
}

/* The number of lines that remain when the last steps are undone. */
static size_t lines_left(const struct session *session, size_t steps)
{
    size_t left = session->count;
    while (left > session->fixed && steps > 0)
        steps -= session->line[--left].step;
    return left;
}

/* Runs the first lines again. False if one of them is now invalid, for example because a profile's file has been deleted. */
static bool run_again(struct session *fresh, const struct session *old, size_t count, FILE *out)
{
    for (size_t i = 0; i < count; i++) {
        const struct session_line *line = session_run(fresh, old->line[i].text);
        if (line->status == SCRIPT_WRONG) {
            fprintf(out, "  line %zu cannot be run again, so nothing is undone: %s\n%s", i + 1, old->line[i].text,
                    line->output ? line->output : "");
            return false;
        }
        /* analysers: clang-analyzer-core.NonNullParamChecker is wrong: a line that ran has an output */
        if (strcmp(line->output, old->line[i].output) != 0)
            fprintf(out, "  line %zu answers otherwise than before: %s\n%s", i + 1, line->text, line->output);
    }
    return true;
}

bool session_undo(struct session *session, size_t steps, FILE *out)
{
    size_t left = lines_left(session, steps);
    struct session fresh;
    session_begin(&fresh, &session->options);
    if (!run_again(&fresh, session, left, out)) {
        session_end(&fresh, NULL);
        return false;
    }
    for (size_t i = left; i < session->count; i++)
        fprintf(out, "  undone: %s\n", session->line[i].text);
    fresh.fixed = session->fixed;
    fresh.runs = session->runs;
    session_end(session, NULL);
    *session = fresh;
    session->watch.user = session;
    session->script->options.watch = &session->watch;
    return true;
}

/* ---- a copy */

bool session_copies(const struct session *session)
{
    const char *layers = getenv("CUVMM_LAYERS");
    for (size_t i = 0; i < session->count; i++)
        if (strncmp(session->line[i].text, "backend", 7) == 0 && strchr(session->line[i].text, '|'))
            return false;
    return !session_keeps(session) && !(layers && *layers);
}

bool session_copy(const struct session *session, struct session *copy)
{
    if (session->count > SESSION_COPY_MOST || !session_copies(session))
        return false;
    session_begin(copy, &session->options);
    for (size_t i = 0; i < session->count; i++)
        if (session_run(copy, session->line[i].text)->status == SCRIPT_WRONG) {
            session_end(copy, NULL);
            return false;
        }
    return true;
}

/* ---- as a script */

/* The part after "expect ...:" of a line that begins with it. */
static const char *after_expect(const char *text)
{
    const char *colon = strchr(text, ':');
    return colon ? colon + 1 + strspn(colon + 1, " \t") : text;
}

static void save_line(const struct session_line *line, FILE *out)
{
    const char *name = vmm_result_name(line->result);
    bool refused = line->called && line->result != VMM_SUCCESS;
    if (line->status == SCRIPT_OK && (!refused || line->expected)) {
        fprintf(out, "%s\n", line->text);
    } else if (refused) {
        fprintf(out, "expect %s%s%s: %s\n", strncmp(name, "CUDA_ERROR_", 11) == 0 ? name + 11 : name, line->rule ? " " : "",
                line->rule ? line->rule : "", line->expected ? after_expect(line->text) : line->text);
    } else if (line->expected && line->called) {
        fprintf(out, "# not as it was expected in the session: %s\n%s\n", line->text, after_expect(line->text));
    } else {
        fprintf(out, "# did not hold in the session: %s\n", line->text);
    }
}

void session_save_script(const struct session *session, FILE *out)
{
    for (size_t i = 0; i < session->count; i++)
        save_line(&session->line[i], out);
}

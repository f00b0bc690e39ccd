/* SPDX-License-Identifier: Apache-2.0 */
/* The page's session: a shell whose lines come from function calls. */
#include <stdlib.h>
#include <string.h>

#include "complete.h"
#include "json.h"
#include "picture_svg.h"
#include "profile.h"
#include "rule_words.h"
#include "shell.h"
#include "web.h"

static struct shell shell;
static bool begun;
static char *printed;              /* by the last line */
static bool ran;                   /* the last line is one of the session */
static struct picture before, now; /* the objects shown last, and the time before; the labels of the earlier ones are unused */
static bool changed, compared;     /* lines have run since `now` was taken; `before` belongs to this session */

/* ---- lines ---- */

static void end(void)
{
    if (!begun)
        return;
    session_end(&shell.session, NULL);
    shell_forget(&shell);
    picture_free(&before);
    picture_free(&now);
    free(printed);
    printed = NULL;
    begun = ran = changed = compared = false;
}

/* NULL if the last line is not part of the session. */
static const struct session_line *last_line(void)
{
    const struct session *session = &shell.session;
    return !ran ? NULL : session->now.text ? &session->now : &session->line[session->count - 1];
}

/* Replaces the earlier state by the state after the last lines. */
static void look(void)
{
    struct picture fresh;
    if (!changed)
        return;
    picture_free(&before);
    before = now;
    now = script_picture(shell.session.script, &fresh) ? fresh : (struct picture){0};
    compared = before.count != 0;
    changed = false;
}

static const char *answer_line(void)
{
    struct json json = {0};
    const struct session_line *line = last_line();
    const char *spec = shell.session.script->spec;
    jsonw_open(&json, NULL, '{');
    jsonw_utf8(&json, "output", printed ? printed : "");
    jsonw_int(&json, "status", line ? (int64_t)line->status : shell.failed ? (int64_t)SCRIPT_WRONG : 0);
    jsonw_bool(&json, "called", line && line->called);
    jsonw_bool(&json, "why", line && line->why);
    jsonw_bool(&json, "refused", line && line->called && line->result != VMM_SUCCESS && !line->expected);
    jsonw_utf8(&json, "rule", line && line->rule ? line->rule : "");
    jsonw_int(&json, "lines", (int64_t)shell.session.count);
    jsonw_int(&json, "steps", (int64_t)session_steps(&shell.session));
    jsonw_utf8(&json, "spec", spec ? spec : "sim:h100");
    jsonw_bool(&json, "ended", shell.ended);
    jsonw_utf8(&json, "line", line && line != &shell.session.now ? line->text : "");
    jsonw_close(&json, '}');
    return web_answer(&json);
}

const char *web_open(const char *spec, unsigned columns)
{
    /* The explanation is shown beside the terminal (web_show); scripts can write only the module's files. */
    struct script_options options = {.colour = true, .brief = true, .trusted = true};
    size_t size;
    end();
    text_set_columns(columns);
    shell = (struct shell){.out = open_memstream(&printed, &size)};
    session_begin(&shell.session, &options);
    begun = true;
    if (spec[0]) {
        struct text line = {0};
        text_add(&line, "backend \"%s\"", spec);
        const struct session_line *opened = session_run(&shell.session, line.data);
        shell.failed = opened->status != SCRIPT_OK;
        fputs(shell.failed ? opened->output : "", shell.out);
        text_free(&line);
        shell.session.fixed = shell.session.count;
    }
    fclose(shell.out);
    return answer_line();
}

const char *web_line(const char *line)
{
    struct session *session = &shell.session;
    size_t size, count = session->count, runs = session->runs;
    if (!begun)
        return "null";
    free(printed);
    printed = NULL;
    shell.out = open_memstream(&printed, &size);
    if (!shell.out)
        return "null";
    shell.failed = shell.ended = false;
    shell_line(&shell, line, strlen(line));
    fclose(shell.out);
    changed |= session->count != count;
    ran = session->runs == runs + 1;
    return answer_line();
}

void web_number(int number)
{
    if (begun)
        shell.session.script->line = number - 1;
}

/* Words that mean the same number, or have the same letters. */
static bool same_word(const struct word *a, const struct word *b)
{
    struct value_env env = script_env(shell.session.script);
    struct words_error error;
    uint64_t left, right;
    if ((a->key || b->key) && !(a->key && b->key && strcmp(a->key, b->key) == 0))
        return false;
    if (a->quoted != b->quoted)
        return false;
    if (strcmp(a->text, b->text) == 0)
        return true;
    return !a->quoted && value_number(&env, a, &left, &error) && value_number(&env, b, &right, &error) && left == right;
}

bool web_same(const char *line, const char *other)
{
    struct words a, b;
    struct words_error error;
    if (!begun || !words_split(line, strlen(line), &a, &error) || !words_split(other, strlen(other), &b, &error) || a.count != b.count)
        return false;
    for (size_t i = 0; i < a.count; i++)
        if (!same_word(&a.word[i], &b.word[i]))
            return false;
    return true;
}

/* ---- state ---- */

static void put_escaped(struct text *html, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        switch (text[i]) {
        case '&': text_add(html, "&amp;"); break;
        case '<': text_add(html, "&lt;"); break;
        case '>': text_add(html, "&gt;"); break;
        default: text_add_bytes(html, text + i, 1);
        }
}

/* "  what      the words" as a term and its description; the line "more" is the page's own. */
static void put_row(struct text *html, const char *line, size_t length)
{
    enum { WORDS = 12 };
    size_t label;
    if (length <= WORDS || strncmp(line, "  more ", 7) == 0)
        return;
    for (label = WORDS - 2; label > 0 && line[1 + label] == ' ';)
        label--;
    text_add(html, "<dt>");
    put_escaped(html, line + 2, label);
    text_add(html, "</dt><dd>");
    put_escaped(html, line + WORDS, length - WORDS);
    text_add(html, "</dd>");
}

/* The text of a detail (script_detail_text). */
static void put_why(struct text *html, const struct session_line *line)
{
    const char *at = line->why;
    size_t length = strcspn(at, "\n");
    text_add(html, "<p class=\"head %s\">", line->severity == VMM_SEVERITY_ERROR ? "error" : "warning");
    put_escaped(html, at, length);
    text_add(html, "</p><dl>");
    for (at += length + (at[length] == '\n'); *at; at += length + (at[length] == '\n')) {
        length = strcspn(at, "\n");
        put_row(html, at, length);
    }
    text_add(html, "</dl>");
}

/* The call's output from its result on, with wrapped lines joined: "CUDA_SUCCESS, free = 81079MiB". Colours are left out. */
static void put_result(struct text *html, const char *output)
{
    static const char wrapped[] = "\n      "; /* text_wrap's second line of a call */
    const char *at = strstr(output, "->");
    if (!at)
        return;
    text_add(html, ":");
    for (at += strlen("->"); *at; at++) {
        if (*at == '\033') {
            at += strcspn(at, "m");
        } else if (*at != '\n') {
            put_escaped(html, at, 1);
        } else if (strncmp(at, wrapped, strlen(wrapped)) == 0) {
            text_add(html, " ");
            at += strlen(wrapped) - 1;
        } else {
            return;
        }
    }
}

/* The command's description, if nothing needs an explanation. */
static void put_command(struct text *html, const struct session_line *line)
{
    const struct script_command *command = shell.session.script->command;
    if (!command)
        return;
    text_add(html, "<p class=\"head good\">");
    put_escaped(html, command->name, strlen(command->name));
    if (line->called)
        put_result(html, line->output);
    text_add(html, "</p><p>");
    put_escaped(html, command->about, strlen(command->about));
    text_add(html, "</p>");
    if (command->driver[0])
        text_add(html, "<p class=\"driver\">%s</p>", command->driver);
}

/* The shell's output for a line that it could not run, and the advice. */
static void put_printed(struct text *html)
{
    text_add(html, "<p class=\"head warning\">not done</p><pre>");
    for (const char *at = printed; *at; at++)
        if (*at == '\033')
            at += strcspn(at, "m");
        else
            put_escaped(html, at, 1);
    text_add(html, "</pre>");
}

static void put_last(struct text *html)
{
    const struct session_line *line = last_line();
    if (line && line->why)
        put_why(html, line);
    else if (printed && (line ? line->status != SCRIPT_OK : shell.failed))
        put_printed(html);
    else if (line && line->output)
        put_command(html, line);
    text_add_bytes(html, "", 0);
}

/* The object that explains a refusal or a warning. */
static const vmm_object *culprit(void)
{
    const struct session_line *line = last_line();
    return line && line->why && shell.session.detail.nearest.kind != VMM_OBJECT_NONE ? &shell.session.detail.nearest : NULL;
}

const char *web_show(unsigned width)
{
    struct json json = {0};
    struct text why = {0};
    char *svg = NULL, *letters = NULL;
    size_t size;
    const struct session_line *line = last_line();
    look();
    const struct picture_svg how = {.width = width, .before = compared ? &before : NULL, .culprit = culprit()};
    FILE *out = open_memstream(&svg, &size), *text = open_memstream(&letters, &size);
    if (out && text && now.count) {
        now.colour = false;
        picture_svg(out, &now, &how);
        picture_print(text, &now);
    }
    if (out)
        fclose(out);
    if (text)
        fclose(text);
    put_last(&why);
    jsonw_open(&json, NULL, '{');
    jsonw_utf8(&json, "svg", svg ? svg : "");
    jsonw_utf8(&json, "why", why.data);
    jsonw_utf8(&json, "text", letters ? letters : "");
    jsonw_utf8(&json, "rule", line && line->rule ? line->rule : "");
    jsonw_close(&json, '}');
    free(svg);
    free(letters);
    text_free(&why);
    return web_answer(&json);
}

const char *web_complete(const char *line)
{
    struct json json = {0};
    struct lines_words words = {0};
    size_t length = strlen(line), from = length;
    complete_line(shell.session.script, line, length, &words);
    while (from > 0 && line[from - 1] != ' ' && line[from - 1] != '\t')
        from--;
    jsonw_open(&json, NULL, '{');
    jsonw_int(&json, "from", (int64_t)from);
    jsonw_open(&json, "words", '[');
    for (size_t i = 0; i < words.count; i++)
        jsonw_utf8(&json, NULL, words.word[i]);
    jsonw_close(&json, ']');
    jsonw_close(&json, '}');
    lines_free_words(&words);
    return web_answer(&json);
}

/* ---- as a text ---- */

static void put_typed(FILE *out, const struct session *session)
{
    for (size_t i = 0; i < session->count; i++)
        fprintf(out, "%s\n", session->line[i].text);
}

static void put_program(FILE *out, struct session *session, enum program_api api)
{
    const char *refusal = program_refusal(session->program, api);
    if (refusal)
        fprintf(out, "!%s", refusal);
    else
        program_write(out, session->program, api, session->script->spec);
}

const char *web_text(int form)
{
    struct session *session = &shell.session;
    struct text text = {0};
    char *memory = NULL;
    size_t size;
    FILE *out = open_memstream(&memory, &size);
    if (out && form == WEB_TYPED)
        put_typed(out, session);
    else if (out && form == WEB_SCRIPT)
        session_save_script(session, out);
    else if (out)
        put_program(out, session, form == WEB_DRIVER ? PROGRAM_DRIVER : PROGRAM_VMM);
    if (out)
        fclose(out);
    text_add(&text, "%s", memory ? memory : "");
    free(memory);
    return web_answer_text(&text);
}

const char *web_machines(void)
{
    struct json json = {0};
    struct sim_profile profile;
    const char *name;
    jsonw_open(&json, NULL, '[');
    for (size_t i = 0; (name = sim_profile_builtin_name(i)); i++) {
        if (!sim_profile_builtin(name, &profile))
            continue;
        jsonw_open(&json, NULL, '{');
        jsonw_utf8(&json, "name", name);
        jsonw_utf8(&json, "about", profile.source);
        jsonw_int(&json, "devices", profile.devices);
        jsonw_close(&json, '}');
    }
    jsonw_close(&json, ']');
    return web_answer(&json);
}

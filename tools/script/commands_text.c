/* SPDX-License-Identifier: Apache-2.0 */
/* Commands for the reader: texts, pictures, explanations. They make no driver call. */
#include <string.h>

#include "explain.h"
#include "script_state.h"

static bool run_echo(struct script *script)
{
    size_t length = script->length - script->next;
    fprintf(script->options.out, "%.*s\n", (int)length, script->text + script->next);
    return true;
}

static bool run_note(struct script *script)
{
    struct text text = {0};
    text_add_bytes(&text, script->text + script->next, script->length - script->next);
    script_colour(script, "36");
    fputs("  -- ", script->options.out);
    text_wrap(script->options.out, text.data, 5, 5, text_columns());
    script_plain(script);
    fputs("\n", script->options.out);
    text_free(&text);
    return true;
}

static bool run_title(struct script *script)
{
    size_t length = script->length - script->next;
    script_colour(script, "1;36");
    fprintf(script->options.out, "\n%.*s\n", (int)length, script->text + script->next);
    for (size_t i = 0; i < length; i++)
        fputc('=', script->options.out);
    script_plain(script);
    fputs("\n", script->options.out);
    return true;
}

/* draw now, or from now on after every step. */
static bool run_draw(struct script *script)
{
    const struct word *word = args_more(script) ? args_next(script, "on or off") : NULL;
    bool on = word && strcmp(word->text, "on") == 0;
    if (word && !on && strcmp(word->text, "off") != 0)
        return script_wrong(script, word->column, "\"%.40s\" after draw; it takes on, off or nothing", word->text);
    if (word && args_done(script)) {
        script->options.draw = on;
        return true;
    }
    if (!args_done(script) || !script_system(script))
        return false;
    script_draw(script, true);
    return true;
}

static void print_leak(void *user, const vmm_detail *detail)
{
    script_print_detail(user, detail);
}

static bool run_leaks(struct script *script)
{
    if (!args_done(script) || !script_system(script))
        return false;
    if (vmm_leaks(script->sys, print_leak, script) == 0)
        fputs("  nothing is held\n", script->options.out);
    return true;
}

static bool run_explain(struct script *script)
{
    const struct word *word = args_next(script, "RULE-ID or RESULT");
    if (!word || !args_done(script))
        return false;
    fflush(script->options.out);
    return explain(script->options.out, script->options.err, word->text) ||
           script_wrong(script, word->column, "\"%.60s\" is neither a rule nor a result", word->text);
}

static bool run_help(struct script *script)
{
    const struct script_command *command, *near;
    const struct word *word = args_more(script) ? args_next(script, "COMMAND") : NULL;
    if (!args_done(script))
        return false;
    for (size_t i = 0; !word && (command = script_command(i)); i++)
        script_print_command(script->options.out, 2, command->name, command->about);
    if (!word)
        return true;
    command = script_command_find(word->text, &near);
    if (!command)
        return script_wrong(script, word->column, "unknown command \"%.40s\"%s%s%s", word->text,
                            near ? "; is \"" : "; help alone lists them", near ? near->name : "",
                            near ? "\" meant?" : "");
    script_print_usage(script->options.out, command);
    for (size_t i = 0; strcmp(command->name, "check") == 0 && (near = script_check(i)); i++)
        script_print_usage(script->options.out, near);
    return true;
}

const struct script_command script_text_commands[] = {
    {"echo", "TEXT", "prints the text", "", run_echo, true},
    {"note", "TEXT", "prints the text as a note beside the steps", "", run_note, true},
    {"title", "TEXT", "prints the text as a heading", "", run_title, true},
    {"draw", "[on|off]", "draws addresses, memory and handles now; on: after every step that changes them", "",
     run_draw, false},
    {"leaks", "", "lists everything that has not been released", "", run_leaks, false},
    {"explain", "RULE-ID|RESULT", "explains a rule or a result", "", run_explain, false},
    {"help", "[COMMAND]", "lists the commands, or shows one", "", run_help, false},
    {0},
};

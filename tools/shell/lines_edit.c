/* SPDX-License-Identifier: Apache-2.0 */
/* Line editing on a terminal with libedit: history, completion with the Tab key, Ctrl-C to clear the line. */
#include "lines.h"

#ifdef CUVMM_HAVE_LIBEDIT

#include <errno.h>
#include <histedit.h>
#include <stdlib.h>
#include <string.h>

#include "optional.h"
#include "text.h"
#include "typed.h"

#ifdef __APPLE__
#define LIBEDIT "libedit.3.dylib"
#else
#define LIBEDIT "libedit.so.2"
#endif

#define EDIT_FUNCTIONS(X)                                                                                                      \
    X(el_cursor) X(el_deletestr) X(el_end) X(el_get) X(el_gets) X(el_init) X(el_insertstr) X(el_line) X(el_resize) X(el_set) \
    X(el_source) X(history) X(history_end) X(history_init)

static struct {
    EDIT_FUNCTIONS(OPTIONAL_MEMBER)
} lib;

static bool load(void)
{
    static const char *const names[] = {EDIT_FUNCTIONS(OPTIONAL_NAME)};
    return lib.el_init || optional_load(LIBEDIT, names, sizeof names / sizeof names[0], &lib);
}

struct edited {
    struct lines lines;
    EditLine *el;
    History *history;
    char *line;
    bool reported; /* warned that the history cannot be saved */
};

static char *prompt(EditLine *el)
{
    struct edited *edited;
    lib.el_get(el, EL_CLIENTDATA, &edited);
    return (char *)(uintptr_t)edited->lines.options.prompt;
}

/* The length of the words' common prefix. */
static size_t common(const struct lines_words *words)
{
    size_t length = strlen(words->word[0]);
    for (size_t i = 1; i < words->count; i++) {
        size_t same = 0;
        while (same < length && words->word[0][same] == words->word[i][same])
            same++;
        length = same;
    }
    return length;
}

static void list(FILE *out, const struct lines_words *words)
{
    enum { WIDTH = 100 };
    size_t widest = 0, column = 0;
    for (size_t i = 0; i < words->count; i++)
        widest = strlen(words->word[i]) > widest ? strlen(words->word[i]) : widest;
    fputs("\n", out);
    for (size_t i = 0; i < words->count; i++) {
        bool last = (column += widest + 2) + widest > WIDTH || i + 1 == words->count;
        fprintf(out, "%-*s%s", last ? 0 : (int)widest + 2, words->word[i], last ? "\n" : "");
        column = last ? 0 : column;
    }
    fflush(out);
}

static unsigned char complete(EditLine *el, int key)
{
    struct edited *edited;
    const LineInfo *line = lib.el_line(el);
    struct lines_words words = {0};
    size_t length = (size_t)(line->cursor - line->buffer), typed = 0;
    unsigned char answer = CC_REFRESH_BEEP;
    (void)key;
    lib.el_get(el, EL_CLIENTDATA, &edited);
    edited->lines.options.complete(edited->lines.options.user, line->buffer, length, &words);
    while (typed < length && line->cursor[-1 - (ptrdiff_t)typed] != ' ')
        typed++;
    if (words.count) {
        size_t same = common(&words);
        struct text rest = {0};
        text_add_bytes(&rest, words.word[0] + typed, same > typed ? same - typed : 0);
        char end = same ? words.word[0][same - 1] : 0;
        if (words.count == 1 && end != '=' && end != ':')
            text_add(&rest, " ");
        answer = CC_REFRESH;
        if (rest.length)
            lib.el_insertstr(el, rest.data);
        if (!rest.length && words.count > 1) {
            list(edited->lines.options.out, &words);
            answer = CC_REDISPLAY;
        }
        text_free(&rest);
    }
    lines_free_words(&words);
    return answer;
}

/* Ctrl-C: discards the line; the shell continues. */
static unsigned char drop(EditLine *el, int key)
{
    struct edited *edited;
    const LineInfo *line = lib.el_line(el);
    (void)key;
    lib.el_get(el, EL_CLIENTDATA, &edited);
    fputs("^C\n", edited->lines.options.out);
    fflush(edited->lines.options.out);
    lib.el_cursor(el, (int)(line->lastchar - line->cursor));
    line = lib.el_line(el);
    lib.el_deletestr(el, (int)(line->lastchar - line->buffer));
    return CC_REDISPLAY;
}

static void remember(void *user, const char *line)
{
    struct edited *edited = user;
    HistEvent event;
    lib.history(edited->history, &event, H_ENTER, line);
}

static void keep(struct edited *edited, const char *line)
{
    const char *path = edited->lines.options.history;
    if (!line[strspn(line, " \t")])
        return;
    remember(edited, line);
    if (path && !typed_add(path, line) && !edited->reported) {
        fprintf(edited->lines.options.out, "(what is typed is not kept for another time: %s: %s)\n", path, strerror(errno));
        edited->reported = true;
    }
}

static char *edited_next(struct lines *lines, size_t *length)
{
    struct edited *edited = (struct edited *)lines;
    int count;
    lib.el_resize(edited->el); /* the window may have been resized since the last line */
    const char *line = lib.el_gets(edited->el, &count);
    if (!line || count <= 0) {
        fputs("\n", lines->options.out);
        return NULL;
    }
    *length = strcspn(line, "\r\n");
    edited->line = text_grow(edited->line, *length + 1);
    memcpy(edited->line, line, *length);
    edited->line[*length] = 0;
    keep(edited, edited->line);
    return edited->line;
}

static void edited_close(struct lines *lines)
{
    struct edited *edited = (struct edited *)lines;
    lib.el_end(edited->el);
    lib.history_end(edited->history);
    free(edited->line);
    free(edited);
}

struct lines *lines_edited(const struct lines_options *options)
{
    HistEvent event;
    const char *term = getenv("TERM");
    if (!term || !*term || strcmp(term, "dumb") == 0 || !load())
        return NULL;
    struct edited *edited = text_grow(NULL, sizeof *edited);
    *edited = (struct edited){.lines = {edited_next, edited_close, *options}};
    edited->history = lib.history_init();
    edited->el = edited->history ? lib.el_init("cuvmm", options->in, options->out, stderr) : NULL;
    if (!edited->el) {
        if (edited->history)
            lib.history_end(edited->history);
        free(edited);
        return NULL;
    }
    lib.history(edited->history, &event, H_SETSIZE, TYPED_MAX);
    lib.history(edited->history, &event, H_SETUNIQUE, 1);
    lib.el_set(edited->el, EL_CLIENTDATA, edited);
    lib.el_set(edited->el, EL_PROMPT, prompt);
    lib.el_set(edited->el, EL_EDITOR, "emacs");
    lib.el_set(edited->el, EL_HIST, lib.history, edited->history);
    lib.el_set(edited->el, EL_ADDFN, "cuvmm-complete", "completes the word before the cursor", complete);
    lib.el_set(edited->el, EL_ADDFN, "cuvmm-drop", "discards the line", drop);
    lib.el_source(edited->el, NULL);
    lib.el_set(edited->el, EL_BIND, "^I", "cuvmm-complete", NULL);
    lib.el_set(edited->el, EL_SETTY, "-d", "-isig", NULL);
    lib.el_set(edited->el, EL_BIND, "^C", "cuvmm-drop", NULL);
    if (options->history)
        typed_read(options->history, remember, edited);
    return &edited->lines;
}

#else

struct lines *lines_edited(const struct lines_options *options)
{
    (void)options;
    return NULL;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "trial.h"

#include <string.h>

static bool went(const struct session_line *ran)
{
    return ran->status == SCRIPT_OK && (ran->expected || !ran->called || ran->result == VMM_SUCCESS);
}

static struct advice advised(struct session *session, const struct session_line *ran, const char *line)
{
    if (ran->status == SCRIPT_WRONG)
        return advice_mistake(session->script, line);
    if (ran->called && ran->result != VMM_SUCCESS && !ran->expected)
        return advice_refusal(session->script, &session->detail, line);
    return (struct advice){{0}, false};
}

/* Runs the lines of an advice up to the first that fails, which is then in *line; the successful ones are appended to done. */
static const struct session_line *run_lines(struct session *copy, const char *lines, struct text *done, struct text *line)
{
    const struct session_line *ran = NULL;
    for (size_t length; *lines; lines += length + 1) {
        length = strcspn(lines, "\n");
        text_free(line);
        text_add(line, "%.*s", (int)length, lines);
        ran = session_run(copy, line->data);
        if (!went(ran))
            return lines[length + 1] ? NULL : ran; /* NULL: more lines were to follow, which its advice does not cover */
        text_add(done, "%s\n", line->data);
    }
    return ran;
}

/* Replacements for a line; those that are refused are replaced again, a few times. */
static bool try_instead(struct session *copy, struct advice *advice)
{
    enum { TIMES = 3 };
    struct text done = {0}, line = {0};
    bool good = false;
    for (int i = 0; i < TIMES && !good; i++) {
        const struct session_line *ran = run_lines(copy, advice->lines.data, &done, &line);
        good = ran && went(ran);
        if (!ran || good)
            break;
        struct advice next = advised(copy, ran, line.data);
        text_free(&advice->lines);
        advice->lines = next.lines;
        if (!next.lines.data || next.first)
            break;
    }
    text_free(&advice->lines);
    text_free(&line);
    advice->lines = done;
    return good;
}

static bool try_first(struct session *copy, const struct advice *advice, const char *line)
{
    struct text done = {0}, last = {0};
    const struct session_line *ran = run_lines(copy, advice->lines.data, &done, &last);
    bool good = ran && went(ran) && went(session_run(copy, line));
    text_free(&done);
    text_free(&last);
    return good;
}

static struct advice tried(struct session *session, struct advice advice, const char *line)
{
    struct session copy;
    bool good = false;
    if (!advice.lines.data || !session_copies(session))
        return advice;
    if (session_copy(session, &copy)) {
        good = advice.first ? try_first(&copy, &advice, line) : try_instead(&copy, &advice);
        session_end(&copy, NULL);
    }
    if (!good)
        advice_free(&advice);
    return advice;
}

struct advice trial_advice(struct session *session, const struct session_line *ran, const char *line)
{
    return tried(session, advised(session, ran, line), line);
}

struct advice trial_of(struct session *session, const char *wanted)
{
    struct advice advice = {{0}, false};
    text_add(&advice.lines, "%s\n", wanted);
    return tried(session, advice, wanted);
}

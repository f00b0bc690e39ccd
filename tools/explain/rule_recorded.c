/* SPDX-License-Identifier: Apache-2.0 */
#include "rule_recorded.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "rulebook_data.h"

struct line {
    const char *at;
    size_t length;
};

static bool next_line(size_t *at, struct line *line)
{
    if (*at >= rule_recorded_size)
        return false;
    line->at = (const char *)rule_recorded_text + *at;
    const char *end = memchr(line->at, '\n', rule_recorded_size - *at);
    line->length = end ? (size_t)(end - line->at) : rule_recorded_size - *at;
    *at += line->length + 1;
    return true;
}

/* Where `what` begins in the line; NULL if it does not occur. */
static const char *find(struct line line, const char *what)
{
    size_t n = strlen(what);
    for (size_t i = 0; i + n <= line.length; i++)
        if (memcmp(line.at + i, what, n) == 0)
            return line.at + i;
    return NULL;
}

static void copy(char *to, size_t room, const char *from, const char *end)
{
    size_t n = (size_t)(end - from) < room - 1 ? (size_t)(end - from) : room - 1;
    memcpy(to, from, n);
    to[n] = 0;
}

/* A waiver says the most, an answer more than a skipped test; of skipped tests the first is reported. */
static void take(struct recorded *answer, struct line line)
{
    const char *end = line.at + line.length, *todo = find(line, " # TODO "), *skip = find(line, " # SKIP ");
    if (todo) {
        answer->verdict = RECORDED_WAIVED;
        copy(answer->text, sizeof answer->text, todo + 8, end);
    } else if (!skip) {
        answer->tests++;
        if (answer->verdict == RECORDED_NOT_ASKED) {
            answer->verdict = RECORDED_AS_TOLD;
            answer->text[0] = 0;
        }
    } else if (answer->verdict == RECORDED_NOT_ASKED && !answer->text[0]) {
        copy(answer->text, sizeof answer->text, skip + 8, end);
    }
}

size_t rule_recorded(const char *rule, struct recorded *answers, size_t room)
{
    char wanted[96];
    struct line line, machine = {"", 0};
    struct recorded none, *answer = NULL;
    size_t at = 0, count = 0;
    snprintf(wanted, sizeof wanted, "- breaks %s: ", rule);
    while (next_line(&at, &line)) {
        if (line.length > 2 && memcmp(line.at, "= ", 2) == 0) {
            machine = (struct line){line.at + 2, line.length - 2};
            answer = NULL;
        } else if (find(line, wanted)) {
            if (!answer) {
                answer = count < room ? &answers[count] : &none; /* analysers: uninitvar is wrong: the next line writes it */
                *answer = (struct recorded){.verdict = RECORDED_NOT_ASKED};
                copy(answer->machine, sizeof answer->machine, machine.at, machine.at + machine.length);
                count++;
            }
            take(answer, line);
        }
    }
    return count;
}

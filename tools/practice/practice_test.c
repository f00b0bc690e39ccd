/* SPDX-License-Identifier: Apache-2.0 */
/* Exercises in the form of scripts: each is well formed, its solution gets every point on every machine, what it begins with does not,
 * and the grader names what is wrong with each of its mistakes. */
#include "practice.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "text.h"

/* The lines of a part as a student types them. */
static char *lines_of(const struct practice *practice, const struct practice_part *part)
{
    struct text text = {0};
    text_add_bytes(&text, "", 0);
    for (size_t i = 0; i < part->count; i++)
        text_add(&text, "%s\n", practice->source->lines[part->first + i]);
    return text.data;
}

static struct practice_result grade(const struct practice *practice, const char *lines, char **said)
{
    size_t size;
    *said = NULL;
    FILE *out = open_memstream(said, &size);
    if (!out)
        tap_bail("no memory");
    struct practice_result result = practice_grade(practice, lines, out, false);
    fclose(out);
    return result;
}

/* Is it in a line of a reason, which begins with '#'? */
static bool names(const char *said, const char *words, size_t length)
{
    for (const char *line = said; line && *line; line = strchr(line, '\n'), line += line != NULL) {
        size_t n = strcspn(line, "\n");
        for (size_t i = 0; line[0] == '#' && i + length <= n; i++)
            if (memcmp(line + i, words, length) == 0)
                return true;
    }
    return false;
}

static void test_solution(const struct practice *practice)
{
    char *lines = lines_of(practice, &practice->solution), *said;
    struct practice_result result = grade(practice, lines, &said);
    if (!tap_ok(result.of > 0 && result.points == result.of, "%s: the solution gets all of %zu points", practice->source->name, result.of))
        tap_note("%s", said);
    free(lines);
    free(said);
}

/* No point may be there for nothing. */
static void test_beginning(const struct practice *practice)
{
    char *lines = lines_of(practice, &practice->start), *said;
    struct practice_result result = grade(practice, lines, &said);
    tap_ok(result.points < result.of, "%s: what it begins with gets %zu of %zu points", practice->source->name, result.points, result.of);
    free(lines);
    free(said);
}

static void test_mistakes(const struct practice *practice)
{
    for (size_t i = 0; i < practice->mistakes; i++) {
        const struct practice_part *mistake = &practice->mistake[i];
        const char *bar = strstr(mistake->text, " | ");
        char *lines = lines_of(practice, mistake), *said;
        struct practice_result result = grade(practice, lines, &said);
        bool good = bar && result.points < result.of && names(said, mistake->text, (size_t)(bar - mistake->text));
        if (!tap_ok(good, "%s: the grader names it: %s", practice->source->name, mistake->text))
            tap_note("%s", said);
        free(lines);
        free(said);
    }
}

/* Every point is lost by some mistake, or by what the exercise begins with; otherwise it checks nothing. */
static void test_points(const struct practice *practice)
{
    for (size_t i = 0; i < practice->points; i++) {
        char wanted[300], *said;
        bool lost = false;
        snprintf(wanted, sizeof wanted, ": %s\n", practice->point[i].text);
        for (size_t m = 0; m <= practice->mistakes && !lost; m++) {
            char *lines = lines_of(practice, m < practice->mistakes ? &practice->mistake[m] : &practice->start);
            grade(practice, lines, &said);
            for (const char *at = said; !lost && (at = strstr(at, "not ok ")); at++) {
                const char *end = strchr(at, '\n') + 1;
                lost = (size_t)(end - at) > strlen(wanted) && memcmp(end - strlen(wanted), wanted, strlen(wanted)) == 0;
            }
            free(lines);
            free(said);
        }
        tap_ok(lost, "%s: \"%s\" can be lost", practice->source->name, practice->point[i].text);
    }
}

static void refuses(const char *what, const char *said, const char *const *lines)
{
    struct practice practice;
    const struct practice_source source = {"x", lines};
    char *memory = NULL;
    size_t size;
    FILE *err = open_memstream(&memory, &size);
    if (!err)
        tap_bail("no memory");
    bool parsed = practice_parse(&practice, &source, err);
    fclose(err);
    tap_ok(!parsed && strstr(memory, said), "%s is refused: %s", what, memory);
    free(memory);
}

static void test_form(void)
{
    refuses("an unknown mark", "x.txt:2: \"#points\" is not a mark", (const char *const[]){"#@ title: X", "#points", NULL});
    refuses("an unknown head", "is not title, machines or forbid", (const char *const[]){"#@ tittle: X", NULL});
    refuses("a line before its part", "x.txt:2: a line before #given", (const char *const[]){"#@ title: X", "init", NULL});
    refuses("a repeated part", "#given stands twice", (const char *const[]){"#@ title: X", "#given", "init", "#given", NULL});
    refuses("an exercise without points", "#point is missing",
            (const char *const[]){"#@ title: X", "#@ machines: sim:h100", "## do it", "#given", "init", NULL});
    refuses("an exercise without a title", "#@ title is missing", (const char *const[]){"## do it", NULL});
}

/* What a student may get wrong that no exercise has to name. */
static void test_lines(const struct practice *practice)
{
    char *said;
    struct practice_result result = grade(practice, "backend sim:max\n", &said);
    tap_ok(result.points == 0 && names(said, "leave the line with backend out", 31), "the machine is the grader's");
    free(said);
    result = grade(practice, "x = alloc 1gran\n", &said);
    tap_ok(result.points == 0 && names(said, "do without that command", 23), "a forbidden command is found behind NAME =");
    free(said);
    result = grade(practice, "expect INVALID_VALUE: y = alloc 0\n", &said);
    tap_ok(result.points == 0 && names(said, "do without that command", 23), "and behind expect");
    free(said);
    result = grade(practice, "\r\n# a remark\r\nmpa v\r\n", &said);
    tap_ok(result.points == 0 && names(said, "your line 3: mpa v", 18) && names(said, "unknown command", 15), "a mistake of the text is shown with its line");
    free(said);
}

/* ---- the command ---- */

struct told {
    int status;
    char *out, *err;
};

static struct told tell(const char *exercise, const char *file, const char *typed)
{
    struct told told = {0};
    size_t size;
    FILE *in = fmemopen((void *)(uintptr_t)typed, strlen(typed), "r"), *out = open_memstream(&told.out, &size);
    FILE *err = open_memstream(&told.err, &size);
    if (!in || !out || !err)
        tap_bail("no memory");
    const struct practice_request request = {exercise, file, false};
    told.status = practice_tell(&request, in, out, err);
    fclose(in);
    fclose(out);
    fclose(err);
    return told;
}

static void free_told(struct told *told)
{
    free(told->out);
    free(told->err);
}

static void test_find(void)
{
    const struct practice_source *second = practice_find("2");
    tap_ok(second && second == practice_find("2-suballoc") && second == practice_find("suballoc"), "an exercise has a number and a name");
    tap_ok(!practice_find("") && !practice_find("7") && !practice_find("2-") && !practice_find("sub"), "and no other");
}

/* What is printed is a script; with the solution behind it, it gets all points, and alone it does not. */
static void test_begin(const struct practice *practice)
{
    struct told told = tell(practice->source->name, NULL, "-");
    char *lines = lines_of(practice, &practice->solution);
    struct text whole = {0};
    tap_ok(told.status == 0 && !told.err[0] && strstr(told.out, practice->title), "%s: what one begins with is printed",
           practice->source->name);
    text_add(&whole, "%s%s", practice->start.count ? "" : told.out, lines);
    struct told graded = tell(practice->source->name, "-", whole.data);
    tap_ok(graded.status == 0 && !graded.err[0] && strstr(graded.out, " points\n"), "%s: with the solution it gets all points",
           practice->source->name);
    struct told alone = tell(practice->source->name, "-", told.out);
    tap_ok(alone.status == 1 && strstr(alone.out, "\nnot ok "), "%s: alone it does not", practice->source->name);
    free_told(&told);
    free_told(&graded);
    free_told(&alone);
    free(lines);
    text_free(&whole);
}

static void test_command(void)
{
    struct told told = tell(NULL, NULL, "-");
    tap_ok(told.status == 0 && strstr(told.out, "  6  fix: ") && strstr(told.out, "cuvmm exercise script N mine.vmm"), "they are listed");
    free_told(&told);
    told = tell("seven", NULL, "-");
    tap_ok(told.status == 2 && !told.out[0] && strstr(told.err, "there is no exercise \"seven\""), "there is no other: %s", told.err);
    free_told(&told);
    told = tell("1", "/nowhere/mine.vmm", "-");
    tap_ok(told.status == 2 && !told.out[0] && strstr(told.err, "\"/nowhere/mine.vmm\": No such file"), "no file: %s", told.err);
    free_told(&told);
    told = tell("1", "/", "-");
    tap_ok(told.status == 2 && !told.out[0] && strstr(told.err, "\"/\": Is a directory"), "a folder is not a file: %s", told.err);
    free_told(&told);
}

int main(void)
{
    struct practice practice;
    size_t count = 0;
    test_form();
    test_find();
    test_command();
    for (const struct practice_source *source = practices; source->name; source++, count++) {
        if (!tap_ok(practice_parse(&practice, source, stdout), "%s is well formed", source->name))
            continue;
        test_solution(&practice);
        test_beginning(&practice);
        test_mistakes(&practice);
        test_points(&practice);
        test_begin(&practice);
        if (count == 0)
            test_lines(&practice);
        practice_free(&practice);
    }
    tap_u64(count, 6, "there is one for each of the six exercises");
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Lessons: what is taken apart and what is refused, with file and line; how one runs without a listener and with one. */
#include "lesson.h"

#include <stdlib.h>
#include <string.h>

#include "lessons.h"
#include "tap.h"

#define LINES 16

static const struct {
    const char *lines[LINES], *reported;
} refused[] = {
    {{NULL}, "x.vmm:1: the line #@ title: TEXT is missing"},
    {{"init"}, "x.vmm:1: a lesson begins with #@ title: TEXT"},
    {{"#@ title: A", "init"}, "x.vmm:1: the line #@ driver: yes, or: no, REASON is missing"},
    {{"#@ title:  ", "init"}, "x.vmm:1: an empty title"},
    {{"#@ title: A", "#@ title: B"}, "x.vmm:2: a second title"},
    {{"#@ title: A", "#@ driver: yes", "#@ driver: yes"}, "x.vmm:3: a second driver line"},
    {{"#@ title: A", "#@ driver: no"}, "x.vmm:2: \"no\" after driver:; write yes, or no, and the reason"},
    {{"#@ title: A", "#@ driver: no, "}, "x.vmm:2: \"no, \" after driver:; write yes, or no, and the reason"},
    {{"#@ title: A", "#@ author: B"}, "x.vmm:2: \"author: B\" after #@; title: and driver: are known"},
    {{"#@ title: A", "#@ driver: yes", "## text"},
     "x.vmm:3: a lesson without a command; the machine is to show what the text says"},
    {{"#@ title: A", "#@ driver: yes", "", "#!draw"}, "x.vmm:4: \"#!draw\" is not a mark of a lesson"},
    {{"#@ title: A", "#@ driver: yes", "", "#drawn"}, "x.vmm:4: \"#drawn\" is not a mark of a lesson"},
    {{"#@ title: A", "#@ driver: yes", "#- a | b"}, "x.vmm:3: a choice without a question; #? comes before #- and #+"},
    {{"#@ title: A", "#@ driver: yes", "#?  "}, "x.vmm:3: an empty question"},
    {{"#@ title: A", "#@ driver: yes", "#? q", "init", "#+ a | b"}, "x.vmm:5: a choice without a question"},
    {{"#@ title: A", "#@ driver: yes", "#? q", "#+ a"}, "x.vmm:4: a choice is \"the choice | what to say to who picks it\""},
    {{"#@ title: A", "#@ driver: yes", "#? q", "#+ | b"}, "x.vmm:4: a choice is"},
    {{"#@ title: A", "#@ driver: yes", "#? q", "#+ a | "}, "x.vmm:4: a choice is"},
    {{"#@ title: A", "#@ driver: yes", "#? q", "#+ a | b", "init"},
     "x.vmm:3: a question has two choices (#- #+) or more and one is right; here are 1, 1 right"},
    {{"#@ title: A", "#@ driver: yes", "init", "#? q", "#- a | b", "#- c | d"},
     "x.vmm:4: a question has two choices (#- #+) or more and one is right; here are 2, 0 right"},
    {{"#@ title: A", "#@ driver: yes", "init", "#? q", "#+ a | b", "#+ c | d"}, "here are 2, 2 right"},
    {{"#@ title: A", "#@ driver: yes", "init", "#? q", "#+ a | b", "#- c | d", "#- e | f", "#- g | h", "#- i | j", "#- k | l",
      "#- m | n"},
     "x.vmm:11: more than 6 choices"},
};

static void test_refused(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        struct lesson lesson;
        char *reported = NULL;
        size_t size;
        FILE *err = open_memstream(&reported, &size);
        bool taken = lesson_parse(&lesson, "x.vmm", refused[i].lines, err);
        fclose(err);
        bool fine = !taken && strncmp(reported, "x.vmm:", 6) == 0 && strstr(reported, refused[i].reported) && !lesson.part &&
                    !lesson.title;
        if (!tap_ok(fine, "refused: %s", refused[i].reported))
            tap_note("%s", taken ? "taken" : reported);
        free(reported);
    }
}

static const char *const good[] = {
    "#@ title: Two halves",
    "#@ driver: no, it needs two devices",
    "# a comment of the script",
    "## One paragraph",
    "## in two lines.",
    "##",
    "## Another:",
    "##   kept   as it is",
    "##   too",
    "## and prose.",
    "init",
    "#? How",
    "#? many?",
    "#- one | No, one.",
    "#+ two | Yes,  two.",
    "devices",
    "#draw",
    "",
    "expect INVALID_VALUE VMM-RESERVE-SIZE-ZERO: reserve 0",
    "r = reserve 1gran",
    "free r",
    NULL,
};

static void test_parts(void)
{
    struct lesson lesson;
    if (!lesson_parse(&lesson, "x.vmm", good, stderr))
        tap_bail("a good lesson is refused");
    tap_text(lesson.title, "Two halves", "the title");
    tap_ok(!lesson.driver, "not on a driver");
    tap_text(lesson.reason, "it needs two devices", "with its reason");
    tap_u64(lesson.parts, 9, "all parts are there");
    tap_u64(lesson.questions, 1, "questions are counted");
    static const struct {
        enum lesson_kind kind;
        int line;
    } want[] = {{LESSON_TEXT, 4}, {LESSON_TEXT, 7}, {LESSON_COMMAND, 11}, {LESSON_QUESTION, 12}, {LESSON_COMMAND, 16},
                {LESSON_DRAW, 17}, {LESSON_COMMAND, 19}, {LESSON_COMMAND, 20}, {LESSON_COMMAND, 21}};
    for (size_t i = 0; i < lesson.parts && i < sizeof want / sizeof want[0]; i++)
        tap_ok(lesson.part[i].kind == want[i].kind && lesson.part[i].line == want[i].line, "part %zu is of line %d", i,
               want[i].line);
    tap_text(lesson.part[0].text, "One paragraph in two lines.", "lines of a paragraph are joined");
    tap_text(lesson.part[1].text, "Another:\n  kept   as it is\n  too\nand prose.", "indented lines stay as they are");
    tap_text(lesson.part[3].text, "How many?", "a question may take two lines");
    tap_u64(lesson.part[3].choices, 2, "choices");
    tap_text(lesson.part[3].choice[1].text, "two", "a choice");
    tap_text(lesson.part[3].choice[1].answer, "Yes,  two.", "and what is said to it");
    tap_ok(lesson.part[3].choice[1].right && !lesson.part[3].choice[0].right, "one is right");
    lesson_free(&lesson);
    tap_ok(!lesson.part && !lesson.title, "an empty lesson holds nothing");
}

struct reported {
    int status;
    char *out, *err;
};

/* The lesson for a listener who types that; without a listener where typed is NULL. */
static struct reported tell(const char *const *lines, const char *typed)
{
    struct reported reported = {0};
    struct lesson lesson;
    size_t out_size, err_size;
    struct lesson_talk talk = {.out = open_memstream(&reported.out, &out_size), .err = open_memstream(&reported.err, &err_size),
                               .title = "7. Two halves", .next = "and the next one"};
    if (typed && typed[0])
        talk.in = fmemopen((char *)(uintptr_t)typed, strlen(typed), "r");
    else if (typed)
        talk.in = fopen("/dev/null", "r");
    if (!talk.out || !talk.err || (typed && !talk.in) || !lesson_parse(&lesson, "x.vmm", lines, stderr))
        tap_bail("no lesson to run");
    reported.status = lesson_run(&lesson, &talk);
    fclose(talk.out);
    fclose(talk.err);
    if (talk.in)
        fclose(talk.in);
    lesson_free(&lesson);
    return reported;
}

static void told_free(struct reported *reported)
{
    free(reported->out);
    free(reported->err);
}

/* What is said until the machine's first refusal, whose words are the rule table's. */
static const char beginning[] =
    "7. Two halves\n"
    "=============\n"
    "\n"
    "One paragraph in two lines.\n"
    "\n"
    "Another:\n"
    "  kept   as it is\n"
    "  too\n"
    "and prose.\n"
    "\n"
    "> init\n"
    "  cuInit(0) -> CUDA_SUCCESS\n"
    "\n"
    "Question 1 of 1: How many?\n"
    "    a) one\n"
    "    b) two\n"
    "\n"
    "  - a) No, one.\n"
    "  + b) Yes,  two.\n"
    "\n"
    "> devices\n"
    "  cuDeviceGetCount(&count) -> CUDA_SUCCESS, count = 1\n"
    "\n"
    "    addresses ";

static void test_told_to_nobody(void)
{
    struct reported reported = tell(good, NULL);
    tap_u64((uint64_t)reported.status, 0, "it ends well");
    char *start = strndup(reported.out, strlen(beginning));
    tap_text(start, beginning, "text, calls, questions with all answers, a picture");
    free(start);
    tap_ok(strstr(reported.out, "cuMemAddressReserve (line 19)"), "lines are those of the file");
    tap_ok(!strstr(reported.out, "Enter"), "no question is asked");
    tap_ok(!strstr(reported.out, "first try"), "nor praised");
    tap_text(reported.err, "", "nothing is wrong");
    told_free(&reported);
}

/* What is typed, what is to be seen for it, what is not. */
static const struct {
    const char *what, *typed, *seen, *unseen;
} listeners[] = {
    {"right at once", "\nb\n\n\n", "You answered 1 of 1 questions at the first try.\nand the next one\n", "No, one."},
    {"a capital letter will do", "\n B \n\n", "1 of 1 questions", "No, one."},
    {"wrong, then right", "\na\nb\n\n", "  - a) No, one.\n", "1 of 1 questions"},
    {"wrong, then right is not the first try", "\na\nb\n\n", "0 of 1 questions", "1 of 1 questions"},
    {"Enter shows the answer", "\n\n\n", "  + b) Yes,  two.\n\n> devices", "No, one."},
    {"shown is not answered", "\n\n\n", "0 of 1 questions", "1 of 1 questions"},
    {"no such choice", "\nc\nb\n\n", "One letter, a to b, is an answer.", "1 of 1 questions"},
    {"no letter", "\n7\nb\n\n", "One letter, a to b, is an answer.", "1 of 1 questions"},
    {"two letters", "\nab\nb\n\n", "One letter, a to b, is an answer.", "1 of 1 questions"},
    {"a long line is one answer",
     "\nbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb\nb\n\n",
     "an answer.\n[a to b answers, Enter shows the answer, q leaves]   + b)", "1 of 1 questions"},
    {"q leaves before the first call", "q\n", "q leaves] \n", "cuInit"},
    {"q leaves at a question", "\nq\n", "Question 1 of 1", "Yes,"},
    {"and the rest is not printed", "\nq\n", "Question 1 of 1", "next one"},
    {"the end of what is typed leaves", "\n", "Question 1 of 1", "Yes,"},
    {"and so does an end at once", "", "Another:", "cuInit"},
    {"quit leaves, too", "quit\n", "Another:", "cuInit"},
};

static void test_told_to_somebody(void)
{
    for (size_t i = 0; i < sizeof listeners / sizeof listeners[0]; i++) {
        struct reported reported = tell(good, listeners[i].typed);
        bool fine = reported.status == 0 && strstr(reported.out, listeners[i].seen) &&
                    !strstr(reported.out, listeners[i].unseen) && !reported.err[0];
        if (!tap_ok(fine, "listener: %s", listeners[i].what))
            tap_note("status %d: %s%s", reported.status, reported.out, reported.err);
        told_free(&reported);
    }
}

/* What is still held is reported to a listener who stays to the end. */
static void test_held(void)
{
    static const char *const lines[] = {"#@ title: A", "#@ driver: yes", "init", "r = reserve 1gran", "## Now?", "devices", NULL};
    struct reported left = tell(lines, "q\n"), stayed = tell(lines, "\n");
    tap_ok(!strstr(left.out, "VMM-LEAK"), "leaving a lesson reports no leaks");
    tap_ok(strstr(stayed.out, "VMM-LEAK-RESERVATION"), "finishing it does");
    tap_u64((uint64_t)stayed.status, 0, "a lesson may leave things behind");
    told_free(&left);
    told_free(&stayed);
}

static void test_failing(void)
{
    static const char *const lines[] = {"#@ title: A", "#@ driver: yes", "init", "r = reserve 0", "#? Still here?",
                                        "#+ yes | Yes.", "#- no | No.", "devices", NULL};
    static const char *const nonsense[] = {"#@ title: A", "#@ driver: yes", "frobnicate", "init", NULL};
    struct reported reported = tell(lines, NULL);
    tap_u64((uint64_t)reported.status, 1, "a refusal that was not expected ends the lesson");
    tap_ok(strstr(reported.err, "x.vmm:4:"), "with file and line");
    tap_ok(!strstr(reported.out, "Still here?"), "and nothing is printed after it");
    told_free(&reported);
    reported = tell(nonsense, NULL);
    tap_u64((uint64_t)reported.status, 2, "a line that is not a script is an error");
    tap_ok(strstr(reported.err, "x.vmm:3:1: unknown command"), "with file, line and column");
    told_free(&reported);
}

static void test_embedded(void)
{
    size_t count = 0;
    for (const struct lesson_source *source = lessons; source->name; source++) {
        struct lesson lesson;
        count++;
        if (tap_ok(lesson_parse(&lesson, source->file, source->script, stderr), "%s is a lesson", source->file))
            lesson_free(&lesson);
        tap_u64((uint64_t)lessons_number(source), count, "%s has the next number", source->name);
        tap_ok(source->page[0] && strncmp(source->page[0], "# ", 2) == 0, "%s has a page", source->name);
    }
    tap_ok(count >= 1, "there are lessons");
    tap_ok(lessons_find("1") == lessons && lessons_find("01") == lessons, "found by number");
    tap_ok(lessons_find(lessons->name) == lessons && lessons_find(lessons->name + 3) == lessons, "found by name");
    tap_ok(!lessons_find("0") && !lessons_find("99") && !lessons_find("") && !lessons_find("1x") && !lessons_find("nonsense"),
           "and nothing else is");
}

int main(void)
{
    unsetenv("CUVMM_BACKEND");
    unsetenv("CUVMM_LAYERS");
    test_refused();
    test_parts();
    test_told_to_nobody();
    test_told_to_somebody();
    test_held();
    test_failing();
    test_embedded();
    return tap_done();
}

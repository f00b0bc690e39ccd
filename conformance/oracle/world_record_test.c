/* SPDX-License-Identifier: Apache-2.0 */
/* world_record_test.c - a recording reads back unchanged, and a malformed one is reported. */
#include "world_record.h"

#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "tap.h"

enum { CALLS = 40, STATES = 60 };

static const char *const words[] = {"SUCCESS", "SUCCESS ptr=w+0 moved", "INVALID_VALUE", "-", "not made", "!NOT_FOUND"};

/* A table of answers, most of them equal to the previous state's. */
static void make_up(uint64_t *seed, const char *answer[STATES][CALLS])
{
    for (size_t s = 0; s < STATES; s++)
        for (size_t c = 0; c < CALLS; c++)
            answer[s][c] = s && random_below(seed, 4) ? answer[s - 1][c] : words[random_below(seed, 6)];
}

static void reads_back(void)
{
    static const char *answer[STATES][CALLS];
    uint64_t seed = random_seed(4);
    struct record record;
    char *text;
    size_t length, wrong = 0, s = 0;
    const char *error;
    FILE *file = open_memstream(&text, &length);
    if (!file)
        tap_bail("open_memstream failed");
    make_up(&seed, answer);
    fputs("# a word to readers\n", file);
    world_record_begin(&record, file, CALLS);
    for (; s < STATES; s++) {
        for (size_t c = 0; c < CALLS; c++)
            world_record_put(&record, c, answer[s][c]);
        world_record_state(&record, s * 2);
    }
    world_record_close(&record);
    fclose(file);
    file = fmemopen(text, length, "r");
    tap_ok(world_record_open(&record, file, CALLS), "the head is read, after a comment");
    for (s = 0; world_record_next(&record, &error); s++) {
        wrong += record.state != s * 2;
        for (size_t c = 0; c < CALLS; c++)
            wrong += strcmp(world_record_answer(&record, c), answer[s][c]) != 0;
    }
    tap_ok(!error, "to the end%s%s", error ? ": " : "", error ? error : "");
    tap_u64(s, STATES, "all states");
    tap_u64(wrong, 0, "and all answers are unchanged");
    tap_u64(record.count, sizeof words / sizeof words[0], "the file has each answer once");
    world_record_close(&record);
    fclose(file);
    free(text);
}

static void says_what_is_wrong(void)
{
    static const struct {
        const char *text, *error;
    } bad[] = {{"calls 3\nk 0 A\ns 0 0x4\n", "a run that does not fit"},
               {"calls 3\nk 0 A\ns 0 0 0\n", "too few answers"},
               {"calls 3\nk 0 A\ns 0 0 1x2\n", "a run that does not fit"},
               {"calls 3\nk 0 A\ns 0 0 x\n", "expected a number"},
               {"calls 3\nk 1 A\n", "neither an answer nor a state"},
               {"calls 3\nnonsense\n", "neither an answer nor a state"},
               {"calls 3\ncalls 4\n", "neither an answer nor a state"},
               {"calls 3\nk 0 A\ncalls 3\ns 0 0x3\n", "a run that does not fit"}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[100];
        struct record record;
        const char *error = NULL;
        snprintf(text, sizeof text, "%s", bad[i].text);
        FILE *file = fmemopen(text, strlen(text), "r");
        bool open = world_record_open(&record, file, 3), more = world_record_next(&record, &error);
        tap_ok(open && !more, "\"%s\" has no state", bad[i].text + 8);
        tap_text(error ? error : "", bad[i].error, "and the reason is reported");
        world_record_close(&record);
        fclose(file);
    }
    struct record record;
    char text[] = "calls 4\n";
    FILE *file = fmemopen(text, strlen(text), "r");
    tap_ok(!world_record_open(&record, file, 3), "a recording of another alphabet is not opened");
    world_record_close(&record);
    fclose(file);
}

/* The second part does not know the answers of the first. */
static void parts_follow_one_another(void)
{
    char text[] = "# one\ncalls 3\nk 0 A\ns 0 0x3\n# two\ncalls 3\nk 0 B\ns 1 0x3\ns 2 =3\n";
    FILE *file = fmemopen(text, strlen(text), "r");
    struct record record;
    const char *error;
    tap_ok(world_record_open(&record, file, 3) && world_record_next(&record, &error) && record.state == 0,
           "a state of the first part");
    tap_text(world_record_answer(&record, 2), "A", "with its answer");
    for (size_t s = 1; s < 3; s++) {
        tap_ok(world_record_next(&record, &error) && record.state == s, "state %zu, of the second part", s);
        tap_text(world_record_answer(&record, 2), "B", "with the answers of its own part");
    }
    tap_ok(!world_record_next(&record, &error) && !error, "and no more");
    world_record_close(&record);
    fclose(file);
}

int main(void)
{
    reads_back();
    parts_follow_one_another();
    says_what_is_wrong();
    return tap_done();
}

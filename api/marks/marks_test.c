/* SPDX-License-Identifier: Apache-2.0 */
#include "marks.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static void *set_many(void *argument)
{
    char text[40];
    bool *good = argument;
    *good = true;
    for (int i = 0; i < 2000; i++) {
        snprintf(text, sizeof text, "mark %d", i % 50);
        const char *kept = marks_set(text);
        *good = *good && kept && strcmp(kept, text) == 0 && marks_now();
    }
    return NULL;
}

static void test_threads(void)
{
    enum { THREADS = 100 };
    pthread_t thread[THREADS];
    bool good[THREADS], all = true;
    const char *before = marks_set("mark 7");
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, set_many, &good[i]))
            tap_bail("no thread");
    for (int i = 0; i < THREADS; i++) {
        pthread_join(thread[i], NULL);
        all = all && good[i];
    }
    tap_ok(all, "a hundred threads set marks at a time");
    tap_ok(marks_set("mark 7") == before, "each text is kept once");
}

static void test_long(void)
{
    char text[MARKS_TEXT + 40];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    tap_u64(strlen(marks_set(text)), MARKS_TEXT, "a long text is cut");
    memcpy(text + MARKS_TEXT - 1, "\xC3\xA9", 2); /* its second byte would be one byte too many */
    tap_u64(strlen(marks_set(text)), MARKS_TEXT - 1, "at a character's end");
    memset(text, 0x80, sizeof text - 1);
    tap_u64(strlen(marks_set(text)), MARKS_TEXT - 4, "text that is not UTF-8 is still cut");
    memset(text, 'a', sizeof text - 1);
    text[MARKS_TEXT] = '\0';
    text[MARKS_TEXT - 1] = 'b';
    tap_text(marks_set(text), text, "one that just fits is whole");
}

static void test_many(void)
{
    char text[40];
    const char *last = NULL, *first = marks_set("the first");
    for (int i = 0; i < MARKS_MOST + 10; i++) {
        snprintf(text, sizeof text, "different %d", i);
        last = marks_set(text);
    }
    tap_ok(last && strstr(last, "after 4096 different"), "too many different marks share one text");
    tap_ok(marks_set("the first") == first, "earlier ones stay what they are");
}

int main(void)
{
    tap_ok(!marks_now(), "there is no mark at first");
    tap_text(marks_set("load"), "load", "a mark");
    tap_text(marks_now(), "load", "is the current one");
    tap_ok(!marks_set(NULL) && !marks_now(), "NULL ends it");
    tap_ok(marks_set("x") && !marks_set("") && !marks_now(), "so does an empty text");
    tap_u64(marks_phases(), 0, "no phase has begun");
    tap_text(marks_begin_phase("test_one"), "test_one", "a phase sets the mark");
    tap_ok(marks_begin_phase("test_one") == marks_now() && marks_phases() == 2, "the same name again is another phase");
    test_threads();
    test_long();
    test_many();
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - a line of a script cut into words.
 *
 *     access r0 +2gran 4gran dev0:rw   # both        ->  access | r0+2gran | 4gran | dev0:rw
 *     write r0 "two words"                           ->  write | r0 | two words (quoted)
 *     call cuMemSetAccess r0 {dev0:rw dev1:r} 2      ->  ... | r0 | {dev0:rw dev1:r} | 2
 *
 * Blanks separate words; '#' at the start of a word begins a comment; a word that starts with '+' belongs to the one
 * before it; braces and quotes hold blanks together. A word of the form key=value is an option.
 */
#ifndef CUVMM_TOOLS_WORDS_H
#define CUVMM_TOOLS_WORDS_H

#include <stdbool.h>
#include <stddef.h>

#define WORDS_LINE_MAX 4000 /* bytes of a line; longer ones are refused */
#define WORDS_MAX 64        /* words of a line */

struct word {
    char *text;    /* 0-terminated; the value part of an option */
    char *key;     /* of an option, else NULL */
    int column;    /* of text, from 1 */
    bool quoted;
    bool used;     /* for callers that take words one after the other */
};

struct words {
    struct word word[WORDS_MAX];
    size_t count;
    int tail;                        /* column of the second word, where free text after a command begins; 0: none */
    char store[2 * WORDS_LINE_MAX + 2 * WORDS_MAX];
};

/* What is wrong with a line and where. */
struct words_error {
    int column;
    char text[240];
};

/* Cuts a line of length bytes, which may hold anything. False: *error says why. */
bool words_split(const char *line, size_t length, struct words *words, struct words_error *error);

#endif

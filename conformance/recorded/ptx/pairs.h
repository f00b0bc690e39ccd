/* SPDX-License-Identifier: Apache-2.0 */
/* pairs.h - an instruction with its types, and operands for it.
 *
 *     pair    "fma.rz.ftz.f32"  f32 <- f32 f32 f32
 *     text    a kernel whose thread i reads operands from in[4 i], in[4 i + 1] ... and writes the result to out[2 i]
 *     rows    the first 32 tuples of operands have their results written down, of the next 4 times 1024 there is a hash
 *
 * Operands are the same on every machine: special values first, each beside each other one, then random ones of many sizes.
 */
#ifndef PTX_PAIRS_H
#define PTX_PAIRS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PAIR_SHOWN = 32, PAIR_HASHES = 4, PAIR_HASHED = 1024, PAIR_TUPLES = PAIR_SHOWN + PAIR_HASHES * PAIR_HASHED, PAIR_TEXT = 4096 };

/* How near the answer is to be: EXACT to the bit (a NaN is a NaN), or what the documentation allows: so many units in the last place, or
 * ABSOLUTE up to 1 and relative beyond. */
enum pair_near { PAIR_EXACT, PAIR_ULP, PAIR_ABSOLUTE };

struct pair {
    char name[72];          /* of the instruction; of several ones what they do together */
    char body[160];         /* with %d, %a, %b, %c, %e */
    char type[5][8];        /* of d, a, b, c, e; "" for none; "mem": of an atomic, what was in memory */
    enum pair_near near;
    double most;            /* of ULP and ABSOLUTE */
    bool divides;           /* its b is never 0 */
    bool second;            /* what is in memory afterwards is a result, too */
};

/* How many there are; writes up to most of them. */
unsigned pairs_all(struct pair *pairs, unsigned most);

/* The kernel "k" (in, out); memory of an atomic is out[2 i + 1]. */
void pair_text(const struct pair *pair, char text[PAIR_TEXT]);

/* Operand i (0 is a) of a tuple, its bits. */
uint64_t pair_operand(const struct pair *pair, unsigned tuple, unsigned i);

/* The result in recorded form: all NaNs are the same. */
uint64_t pair_plain(const struct pair *pair, uint64_t bits);

/* One line of the table; results has two words for each tuple. */
size_t pair_row(const struct pair *pair, const uint64_t *results, char *line, size_t size);

#endif

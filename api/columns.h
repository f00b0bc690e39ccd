/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h - how wide a line may be where it goes, and messages in such lines.
 *
 *   "  why       Each address can show one piece of memory. The driver does not replace ..."
 *
 *     why       Each address can show one piece of memory. The driver
 *               does not replace ...
 */
#ifndef CUVMM_COLUMNS_H
#define CUVMM_COLUMNS_H

#include <stddef.h>

enum { COLUMNS_LEAST = 60, COLUMNS_USUAL = 100, COLUMNS_MOST = 1000 };

/* What the variable COLUMNS says, else the width of the terminal that file is, else COLUMNS_USUAL; never less than
 * COLUMNS_LEAST. file may be -1. */
unsigned columns_of(int file);

/* Breaks the lines of a message (vmm_detail_text) at blanks, so that none is wider than width where that can be; what is broken
 * off stands under the first line's words. In place, for stacks of signal handlers are small: what has no room in size bytes, the
 * final 0 among them, stays unbroken. Returns the new length. */
size_t columns_fold(char *text, size_t size, unsigned width);

#endif

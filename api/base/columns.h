/* SPDX-License-Identifier: Apache-2.0 */
/* columns.h - the width of the output, and messages wrapped to it.
 *
 *   "  why       Each address can show one piece of memory. The driver does not replace ..."
 *
 *     why       Each address can show one piece of memory. The driver
 *               does not replace ...
 */
#ifndef CUVMM_COLUMNS_H
#define CUVMM_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

enum { COLUMNS_LEAST = 60, COLUMNS_USUAL = 100, COLUMNS_MOST = 1000 };

/* The value of the variable COLUMNS, else the width of the terminal that file is, else COLUMNS_USUAL; at least COLUMNS_LEAST.
 * file may be -1. */
unsigned columns_of(int file);
/* Does anything limit the width: the variable, or the file being a terminal? Without a limit lines stay whole, for programs to
 * read. */
bool columns_are_limited(int file);

/* Is the file a terminal, and is NO_COLOR unset or empty? */
bool columns_coloured(int file);

/* Wraps the lines of a message (vmm_detail_text) at blanks, so that none is wider than width if possible; continuation lines are
 * aligned with the first line's text. Works in place, because stacks of signal handlers are small: a line stays unwrapped when
 * the result would exceed size bytes, including the terminating 0. Returns the new length. */
size_t columns_fold(char *text, size_t size, unsigned width);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* table.h - the tables of docs/mistakes.md: a heading for each theme, a row for each program. */
#ifndef CUVMM_BUGGY_TABLE_H
#define CUVMM_BUGGY_TABLE_H

#include <stdbool.h>
#include <stdio.h>

void table_write(FILE *out);

/* Does the file, from its first theme heading on, equal the tables as generated? */
bool table_agrees(const char *path);

#endif

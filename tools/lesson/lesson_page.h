/* SPDX-License-Identifier: Apache-2.0 */
/* lesson_page.h - the Markdown of a lesson's page in lines that fit a terminal.
 *
 *     a paragraph of several lines        one paragraph, wrapped
 *     - an item, and                      - an item, wrapped, its later lines
 *       its second line                     indented by two
 *     | a row | of a table |              | a row, its later lines indented by four
 *         a block, a heading, ```         as it is, however wide
 */
#ifndef CUVMM_TOOLS_LESSON_PAGE_H
#define CUVMM_TOOLS_LESSON_PAGE_H

#include <stddef.h>
#include <stdio.h>

/* lines ends with NULL. columns is SIZE_MAX where nothing limits the width: then the lines are printed as they are. */
void lesson_page(FILE *out, const char *const *lines, size_t columns);

#endif

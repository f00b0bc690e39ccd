/* SPDX-License-Identifier: Apache-2.0 */
/* units.h - sizes as people read them: 4 MiB, 2097153 bytes. */
#ifndef CUVMM_UNITS_H
#define CUVMM_UNITS_H

#include <stdint.h>

enum { UNITS_TEXT = 32 };

/* The size in the largest unit that it is a whole number of. Returns text. */
const char *units_text(uint64_t size, char text[UNITS_TEXT]);

#endif

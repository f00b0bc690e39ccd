/* SPDX-License-Identifier: Apache-2.0 */
/* units.h - human-readable sizes: 4 MiB, 2097153 bytes. */
#ifndef CUVMM_UNITS_H
#define CUVMM_UNITS_H

#include <stdint.h>

enum { UNITS_TEXT = 32 };

/* Writes the size in the largest unit of which it is a whole multiple. Returns text. */
const char *units_text(uint64_t size, char text[UNITS_TEXT]);

#endif

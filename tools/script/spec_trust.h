/* SPDX-License-Identifier: Apache-2.0 */
/* spec_trust.h - effects of a spec besides opening a machine. A script may come from anywhere.
 *
 *   fault=mem_create:3 | sim:h100          nothing
 *   trace=/home/me/thesis.tex | sim:h100   writes over that file
 *   cuda:./driver.so                       runs what is in that file
 */
#ifndef CUVMM_TOOLS_SPEC_TRUST_H
#define CUVMM_TOOLS_SPEC_TRUST_H

#include <stdbool.h>

#include "text.h"

/* Does it write a file, or load a library that the user did not choose? If so, its effect is added to *does. */
bool spec_needs_trust(const char *spec, struct text *does);

#endif

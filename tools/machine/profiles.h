/* SPDX-License-Identifier: Apache-2.0 */
/* profiles.h - the machines that the simulator knows by name. */
#ifndef CUVMM_TOOLS_PROFILES_H
#define CUVMM_TOOLS_PROFILES_H

#include <stdbool.h>
#include <stdio.h>

/* The built-in profiles, or the text of one. False when there is none of that name. */
void profiles_list(FILE *out);
bool profiles_show(FILE *out, FILE *err, const char *name);

#endif

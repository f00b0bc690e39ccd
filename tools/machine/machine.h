/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - `cuvmm machine`: the machines that processes share. */
#ifndef CUVMM_TOOLS_MACHINE_H
#define CUVMM_TOOLS_MACHINE_H

#include <stdbool.h>
#include <stdio.h>

/* One machine, or (NULL) all, as text or JSON. Returns the exit status. */
int machine_show(const char *name, bool json, FILE *out, FILE *err);

#endif

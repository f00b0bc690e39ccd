/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - the recording of facts.c. */
#ifndef PTX_DEVICE_FACTS_H
#define PTX_DEVICE_FACTS_H

#include <stdio.h>

/* No context may be there yet: its children make their own. */
void facts_record(FILE *file);

#endif

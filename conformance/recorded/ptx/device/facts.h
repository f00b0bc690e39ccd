/* SPDX-License-Identifier: Apache-2.0 */
/* facts.h - the facts of facts.c as jobs of a crew (crew.h). */
#ifndef PTX_DEVICE_FACTS_H
#define PTX_DEVICE_FACTS_H

unsigned facts_count(void);

/* The process that calls these has no context: each fact makes its own, in a child. */
void facts_begin(void);
void facts_record(unsigned fact);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* pickle.h - writes values as Python's pickle does, protocol 2: numbers, texts, lists and dictionaries, nothing that runs.
 *
 *     pickle_start(out);
 *     pickle_dict(out);                                {"size": 7, "names": ["a"]}
 *     pickle_key(out, "size"),  pickle_number(out, 7);
 *     pickle_key(out, "names"), pickle_list(out), pickle_text(out, "a"), pickle_list_end(out);
 *     pickle_dict_end(out);
 *     pickle_end(out);
 *
 * The opcodes are those that Python's module pickletools documents, and of them few: MemoryViz.js reads them too.
 */
#ifndef CUVMM_TOOLS_PICKLE_H
#define CUVMM_TOOLS_PICKLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

void pickle_start(FILE *out);
void pickle_end(FILE *out);

void pickle_number(FILE *out, uint64_t value);
void pickle_bool(FILE *out, bool value);

/* ASCII, up to UINT32_MAX bytes. */
void pickle_text(FILE *out, const char *text);

/* Values between the two are the list's. A reader holds them on a stack until the list ends, or until pickle_list_more, which
 * a long list needs every thousand values or so. */
void pickle_list(FILE *out);
void pickle_list_more(FILE *out);
void pickle_list_end(FILE *out);

/* Makes a tuple of the two values written last. */
void pickle_pair(FILE *out);

/* Keys and values in turn between the two. */
void pickle_dict(FILE *out);
void pickle_dict_end(FILE *out);
void pickle_key(FILE *out, const char *key);

#endif

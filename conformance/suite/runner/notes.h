/* SPDX-License-Identifier: Apache-2.0 */
/* notes.h - what refusals and warnings say beside their rule, compared with what they said before.
 *
 *     test              rule            nearest object   compared with   note
 *     export_anything   VMM-SHARE-...   4:1              0x200000        the text specific to the call
 *
 * A file of such rows, separated by tabs: one for each refusal and warning that a test expects, in the order of the tests. The
 * object is its kind and number. Addresses and paths, which differ from run to run, are left out. The rule book has one example
 * of each rule; here are the notes of all its cases. */
#ifndef CUVMM_SUITE_NOTES_H
#define CUVMM_SUITE_NOTES_H

#include "test.h"

/* False: the file cannot be read, or with `write` not be written. */
bool notes_open(const char *path, bool write);
void notes_close(void);

/* Around a test whose notes count; notes_end fails it where they differ. */
void notes_begin(const char *test);
void notes_add(const vmm_detail *detail);
void notes_end(struct fix *f, const char *test);

#endif

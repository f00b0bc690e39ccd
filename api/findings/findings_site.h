/* SPDX-License-Identifier: Apache-2.0 */
/* findings_site.h - the place of a call: the program's functions below the reporting library.
 *
 *     stack   cuMemMap (ours) | grow | main | libc
 *     text    "  called by grow (pool.so+0x11f5)\n            main (a.out+0x1302)\n"
 *
 * Names come from the loader if they are exported, else from the file's symbol table; file+offset is an argument for addr2line.
 * Costs nothing until it is used.
 */
#ifndef CUVMM_FINDINGS_SITE_H
#define CUVMM_FINDINGS_SITE_H

#include <stddef.h>

enum { SITE_DEPTH = 32 };

/* The calling thread's return addresses outside this library, innermost first. Returns how many. */
int site_here(void *frames[SITE_DEPTH]);

/* Appends lines to text, a string of length bytes in size. Returns the new length. */
size_t site_text(void *const *frames, int count, char *text, size_t length, size_t size);

/* The name of the function at that offset of a loaded file; "" if it is unknown. */
void site_symbol(const char *path, size_t offset, char *name, size_t size);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* findings_site.h - who called: the program's functions below the library that reports.
 *
 *     stack   cuMemMap (ours) | grow | main | libc        text   "  called by grow (pool.so+0x11f5)\n            main (a.out+0x1302)\n"
 *
 * Names come from the loader where they are exported, else from the file's symbol table; file+offset is what addr2line
 * takes. Costs nothing until it is asked.
 */
#ifndef CUVMM_FINDINGS_SITE_H
#define CUVMM_FINDINGS_SITE_H

#include <stddef.h>

enum { SITE_DEPTH = 32 };

/* The calling thread's return addresses outside this library, nearest first. Returns how many. */
int site_here(void *frames[SITE_DEPTH]);

/* Appends lines to text, which holds length bytes of size and stays a string. Returns the new length. */
size_t site_text(void *const *frames, int count, char *text, size_t length, size_t size);

/* The name of the function at offset bytes of the loaded file; "" where it is not told. */
void site_symbol(const char *path, size_t offset, char *name, size_t size);

#endif

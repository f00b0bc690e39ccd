/* SPDX-License-Identifier: Apache-2.0 */
/* complete_files.h - what `launch` may be followed by: files of PTX, and the kernels in one.
 *
 *     launch ke<TAB>             ->  kernels.ptx:
 *     launch kernels.ptx:s<TAB>  ->  kernels.ptx:scale  kernels.ptx:sum
 */
#ifndef CUVMM_TOOLS_COMPLETE_FILES_H
#define CUVMM_TOOLS_COMPLETE_FILES_H

/* Calls offer with each of them that may follow begin, whole: with the folder that begin has. */
void complete_kernels(const char *begin, void (*offer)(const void *user, const char *word), const void *user);

#endif

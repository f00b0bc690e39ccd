/* SPDX-License-Identifier: Apache-2.0 */
/* complete_files.h - completions for `launch`: PTX files, and the kernels in one.
 *
 *     launch ke<TAB>             ->  kernels.ptx:
 *     launch kernels.ptx:s<TAB>  ->  kernels.ptx:scale  kernels.ptx:sum
 */
#ifndef CUVMM_TOOLS_COMPLETE_FILES_H
#define CUVMM_TOOLS_COMPLETE_FILES_H

/* Calls offer for each completion of begin, including the folder that begin contains. */
void complete_kernels(const char *begin, void (*offer)(const void *user, const char *word), const void *user);

#endif

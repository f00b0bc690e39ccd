/* SPDX-License-Identifier: Apache-2.0 */
/* alone.h - whether the program has a single thread and needs no locks
 *
 *   main()  VMM_ALONE  ...  a second thread  !VMM_ALONE, whatever comes
 *
 * Where the C library does not tell, it is never so.
 */
#ifndef CUVMM_ALONE_H
#define CUVMM_ALONE_H

#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define VMM_ALONE (__libc_single_threaded != 0)
#endif
#endif
#ifndef VMM_ALONE
#define VMM_ALONE 0
#endif

#endif

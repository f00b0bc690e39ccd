/* SPDX-License-Identifier: Apache-2.0 */
/* single_thread.h - does the program have a single thread, so that it needs no locks?
 *
 *   main()  VMM_SINGLE_THREAD  ...  a second thread  !VMM_SINGLE_THREAD from then on
 *
 * Always false if the C library does not report it.
 */
#ifndef CUVMM_SINGLE_THREAD_H
#define CUVMM_SINGLE_THREAD_H

#if defined(__has_include)
#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#define VMM_SINGLE_THREAD (__libc_single_threaded != 0)
#endif
#endif
#ifndef VMM_SINGLE_THREAD
#define VMM_SINGLE_THREAD 0
#endif

#endif

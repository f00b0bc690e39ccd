/* SPDX-License-Identifier: Apache-2.0 */
/* forks.h - for tests that fork while other threads run: may what the child does be judged?
 *
 *   FORKS_JUDGED      0: the child only ends
 *   FORKS_UNJUDGED    why
 *
 * ThreadSanitizer's own locks and those of older AddressSanitizers may be held by a thread that the child does not have.
 */
#ifndef CUVMM_FORKS_H
#define CUVMM_FORKS_H

#ifdef __clang__
#if __has_feature(thread_sanitizer)
#define FORKS_THREADS
#elif __has_feature(address_sanitizer) && __clang_major__ < 18
#define FORKS_OLD
#endif
#elif defined(__SANITIZE_THREAD__)
#define FORKS_THREADS
#elif defined(__SANITIZE_ADDRESS__) && __GNUC__ < 15
#define FORKS_OLD
#endif

#ifdef FORKS_THREADS
#define FORKS_UNJUDGED "ThreadSanitizer follows no child of a program with threads"
#elif defined(FORKS_OLD)
#define FORKS_UNJUDGED "this compiler's AddressSanitizer does not hold its locks over a fork"
#endif

#include <stdlib.h>

/* Under valgrind a child of a program with threads loses what the threads had, which ends it with a status of the tool's. */
#ifdef FORKS_UNJUDGED
#define FORKS_JUDGED 0
#else
#define FORKS_JUDGED (!getenv("CUVMM_RUN"))
#define FORKS_UNJUDGED "a tool looks for what the parent's threads had"
#endif

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* forks.h - for tests that fork while other threads run: many forks, what each child found, and whether a tool makes
 * that unreliable.
 *
 *     forks_often(forks, seed, child)  ------ fork ----->  child(start): forks_wrong(__LINE__) where an answer is wrong
 *     "fork 7: line 153, status 1"     <----- pipe ------
 *
 *   FORKS_JUDGED      0: the child only ends
 *   FORKS_UNJUDGED    why
 *
 * A thread that the child does not have may hold ThreadSanitizer's own locks, or those of older AddressSanitizers.
 * Valgrind searches for leaks where a child ends: it reports memory whose only pointer was in a register of a thread
 * that the child does not have, and replaces the child's status with its own. A child that calls forks_begin is not
 * searched for leaks; other errors still count.
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
#define FORKS_UNJUDGED "ThreadSanitizer does not support forked children of programs with threads"
#elif defined(FORKS_OLD)
#define FORKS_UNJUDGED "this compiler's AddressSanitizer does not hold its locks across a fork"
#endif

#include <stdbool.h>

/* False under valgrind if the build lacked its header, so that the program cannot announce a child to it. */
bool forks_tool_allows(void);

#ifdef FORKS_UNJUDGED
#define FORKS_JUDGED 0
#else
#define FORKS_JUDGED forks_tool_allows()
#define FORKS_UNJUDGED "without valgrind/valgrind.h the tool searches the child for memory of the parent's threads"
#endif

/* The child's first call. */
void forks_begin(void);

/* In a child of forks_often: reports the line of the first wrong answer to the parent. */
void forks_wrong(int line);

struct forks_sum {
    unsigned hung, slow, torn, wrong;
};

/* CUVMM_TEST_SCALE percent of them, at least one. */
unsigned forks_scaled(unsigned forks);

/* Forks this many times, one after the other. child gets seed, seed + 1 and so on, and returns its exit status; it
 * may also call exit itself. FORKS_TORN is counted separately. Notes report the first failure: line, exit status or
 * signal. Where a child cannot be judged it is not called, and its status is ignored. */
enum { FORKS_SLOW_MS = 2000, FORKS_TORN = 2 };
struct forks_sum forks_often(unsigned forks, unsigned seed, int (*child)(unsigned start));

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* forks.h - for tests that fork while other threads run: many forks, what each child found, and whether that may be judged.
 *
 *     forks_often(forks, seed, child)  ------ fork ----->  child(start): forks_wrong(__LINE__) where an answer is wrong
 *     "fork 7: line 153, status 1"     <----- pipe ------
 *
 *   FORKS_JUDGED      0: the child only ends
 *   FORKS_UNJUDGED    why
 *
 * ThreadSanitizer's own locks and those of older AddressSanitizers may be held by a thread that the child does not have.
 * Valgrind looks for leaks where a child ends: memory whose only pointer was in a register of a thread that the child does not
 * have is one, and the child's status then the tool's own. A child that begins with forks_begin is not searched for leaks;
 * other errors count as ever.
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

#include <stdbool.h>

/* False under valgrind where its header was missing when this was built, so that it cannot be told of a child. */
bool forks_tool_allows(void);

#ifdef FORKS_UNJUDGED
#define FORKS_JUDGED 0
#else
#define FORKS_JUDGED forks_tool_allows()
#define FORKS_UNJUDGED "without valgrind/valgrind.h the tool searches the child for what the parent's threads had"
#endif

/* The first thing that a child does. */
void forks_begin(void);

/* In a child of forks_often: its parent is told the line of the first wrong answer. */
void forks_wrong(int line);

struct forks_sum {
    unsigned hung, slow, torn, wrong;
};

/* The percentage CUVMM_TEST_SCALE of them, and one at least. */
unsigned forks_scaled(unsigned forks);

/* So many forks, one after the other. child is given seed, seed + 1 and so on, and returns the status to end with; it may end by
 * itself. FORKS_TORN is counted for itself. Notes tell of the first that went wrong: line, exit status or signal. Where a child
 * cannot be judged it is not called, and its status counts for nothing. */
enum { FORKS_SLOW_MS = 2000, FORKS_TORN = 2 };
struct forks_sum forks_often(unsigned forks, unsigned seed, int (*child)(unsigned start));

#endif

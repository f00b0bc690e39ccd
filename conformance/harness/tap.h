/* SPDX-License-Identifier: Apache-2.0 */
/* tap.h - the test harness: Test Anything Protocol on standard output, read by prove.
 *
 *   tap_ok(cond, "name %d", i)      ok 1 - name 3            not ok 1 - name 3
 *   tap_skip("name", "reason")      ok 2 - name # SKIP reason
 *   tap_todo("waiver", cond, ...)   not ok 3 - name # TODO waiver       (a passing one is a stale waiver: red)
 *   return tap_done();              1..3
 *
 * Verdicts: pass, fail, skip (with its reason), waived, stale waiver (counted as a failure), broken set-up (bail out).
 * Safe to call from several threads.
 */
#ifndef CUVMM_TAP_H
#define CUVMM_TAP_H

#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>

#include "vmm.h"

/* One point. Returns cond. file and line are shown when it fails. */
bool tap_check(const char *file, int line, bool cond, const char *format, ...) __attribute__((format(printf, 4, 5)));

#define tap_ok(cond, ...) tap_check(__FILE__, __LINE__, (cond), __VA_ARGS__)

/* Points that show both values when they differ. */
bool tap_equal_u64(const char *file, int line, uint64_t got, uint64_t want, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool tap_equal_text(const char *file, int line, const char *got, const char *want, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
bool tap_equal_result(const char *file, int line, vmm_result got, vmm_result want, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

#define tap_u64(got, want, ...) tap_equal_u64(__FILE__, __LINE__, (got), (want), __VA_ARGS__)
#define tap_text(got, want, ...) tap_equal_text(__FILE__, __LINE__, (got), (want), __VA_ARGS__)
#define tap_result(got, want, ...) tap_equal_result(__FILE__, __LINE__, (got), (want), __VA_ARGS__)

void tap_skip(const char *reason, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A documented rule that a named driver breaks. Passing means that the waiver is stale, which is a failure. */
void tap_todo(const char *waiver, bool cond, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Prints a note for the reader, "# ..." in the output. */
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The set-up is broken, so no further result is valid. Ends the process with status 255. */
void tap_bail(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Prints the plan; returns the process's exit status: 0 when nothing failed and at least one point was made. */
int tap_done(void);

#endif

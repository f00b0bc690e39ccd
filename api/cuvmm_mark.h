/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm_mark.h - names phases of a program for `cuvmm check`; without the checker a mark does nothing. Nothing has to be linked
 * or installed: copy this file.
 *
 *     for (int step = 0; step < steps; step++) {
 *         train(step);
 *         cuvmm_mark("step");            the same text at the same point of each round
 *     }
 *
 * Findings name the mark that was set last. `cuvmm check` compares what the program holds at marks with the same text, so it
 * finds a growing leak even in a program that never frees everything (VMM-LEAK-GROWS). NULL ends the last phase.
 *
 * Returns 1 where a checker listens, else 0. Any thread. C libraries that are older than glibc 2.34 need -ldl. From Python:
 *
 *     import ctypes; mark = getattr(ctypes.CDLL("libcuda.so.1"), "cuvmm_mark", lambda text: 0)
 *     mark(b"step")
 *
 * For runners of tests the checker has two functions more, which are looked up like cuvmm_mark (docs/check.md, "Tests"):
 *
 *     unsigned long long cuvmm_phase(const char *text);                a test begins: sets the mark, compares nothing, and what was
 *                                                                      found before is reported again; returns the number of the
 *                                                                      latest call of the process. NULL: that number alone
 *     long long cuvmm_held(unsigned long long after,                   reports as leaks what calls with numbers in (after,
 *     upto] made and is still held;
 *                          unsigned long long upto);                   made and is still held; returns how many, -1: no checker
 */
#ifndef CUVMM_MARK_H
#define CUVMM_MARK_H

#include <dlfcn.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The checker's library comes first, or the simulator's libcuda.so.1, which may have been loaded with RTLD_LOCAL. */
static inline int cuvmm_mark(const char *text)
{
    int (*mark)(const char *) = 0;
    void *driver = 0, *program = dlopen(0, RTLD_LAZY);
    void *found = program ? dlsym(program, "cuvmm_mark") : 0;
    if (!found && (driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD)) != 0)
        found = dlsym(driver, "cuvmm_mark");
    memcpy(&mark, &found, sizeof mark);
    int heard = mark ? mark(text) : 0;
    if (driver)
        dlclose(driver);
    if (program)
        dlclose(program);
    return heard;
}

#ifdef __cplusplus
}
#endif

#endif

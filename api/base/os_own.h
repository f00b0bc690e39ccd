/* SPDX-License-Identifier: Apache-2.0 */
/* os_own.h - descriptors and shared mappings that belong to one process: a forked child loses them (lifecycle.h says when).
 *
 *   parent   file 7, mapping [state]
 *   child    file -1, mapping [zeros]: not part of the parent's open file, so the parent's locks end with the parent
 *
 * A lock of an open file (os_mark_alive, os_mutex.h) lasts until every descriptor and mapping of that opening is gone, so one
 * that a child kept would make a dead parent look alive. Programs that the child executes do not inherit them either, because all
 * are close-on-exec. Only a child made by a bare clone(), which calls no handlers, keeps them until its first call.
 *
 * os_own_add comes before the file is opened, so that a fork in another thread finds it. No lock is involved: a fork may happen
 * while any thread is anywhere in here.
 */
#ifndef CUVMM_OS_OWN_H
#define CUVMM_OS_OWN_H

#include <stdbool.h>
#include <stdint.h>

struct os_own {
    int *file;    /* the variable with its number; -1: no file */
    void *memory; /* whole pages; NULL: no memory */
    uint64_t size;
};

/* Adds the structure, which must not move until it is removed. False when memory is out. */
bool os_own_add(struct os_own *own);
void os_own_remove(const struct os_own *own);

/* Called in a child by lifecycle.c: drops everything that was added. Takes no lock. */
void os_own_lose(void);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* os_system.h - functions beyond POSIX that the X_posix.c files here need; each system implements them: os_linux.c,
 * os_darwin.c.
 *
 * These files also implement the functions of os.h and os_share.h that POSIX does not cover: unnamed files, holes in
 * files, tags of an opening, and whether the process has one thread.
 */
#ifndef SIM_OS_SYSTEM_H
#define SIM_OS_SYSTEM_H

#include <stdint.h>

#include "os.h"

/* Renames an entry of a folder, and never replaces one. 0; or -1 with the system's error, which is EINVAL or ENOSYS
 * if the system or the file system cannot do both at once. */
int os_rename_exclusive(int folder, const char *from, const char *to);

/* What kind of access raised the signal; context is its handler's third argument. */
enum os_touch os_touch_of(const void *context);

/* The bytes of memory that this process occupies now; 0 if the system does not report it. */
uint64_t os_resident(void);

/* Sleeps until the word, which processes share, is no longer that value and someone has called os_wake_waiter, or for that many
 * milliseconds. May return early. If the system has no such wait, it sleeps for a part of that time. */
void os_wait_for_change(const void *word, uint32_t value, unsigned milliseconds);
/* Wakes one that waits for this word, in any process. */
void os_wake_waiter(const void *word);

#endif

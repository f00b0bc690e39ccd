/* SPDX-License-Identifier: Apache-2.0 */
/* os.h - what the simulator asks of the operating system beyond the C library. The whole port of another system.
 *
 * Sizes and addresses are multiples of os_page_size(). A function that returns false or NULL has changed nothing.
 */
#ifndef SIM_OS_H
#define SIM_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lifecycle.h"

/* How many forks lie between this process and the first: 0, then 1 in its child, and so on. Makes no system call. */
static inline uint64_t os_fork_depth(void)
{
    return life_stamp() - 1;
}

uint64_t os_page_size(void);

/* ---- addresses of the host ---- */

/* Takes [start, start + size) so that nobody else is given them, and touching them is a SIGSEGV. False when they are not
 * all free, or more than this process may have. */
bool os_reserve(uint64_t start, uint64_t size);
/* The same wherever there is room, at a multiple of alignment (a power of two). */
bool os_reserve_anywhere(uint64_t size, uint64_t alignment, uint64_t *start);
void os_unreserve(uint64_t start, uint64_t size);

/* ---- memory that can be seen at several addresses ---- */

/* A file without a name that takes room only where it was written; -1 when there is none to be had. It is not inherited
 * by programs that are executed. */
int os_file_new(void);
void os_file_close(int file);
/* Makes the file at least size bytes long, the new ones zero. */
bool os_file_grow(int file, uint64_t size);
/* Puts bytes at offset, where the file is long enough; any offset and length. False when they find no room: some of them
 * may be there then. */
bool os_file_write(int file, uint64_t offset, const void *bytes, uint64_t length);
/* The bytes [offset, offset + size) are zero again, and their room is given back where the system can do that. False when it
 * refuses: some of them may be zero then. */
bool os_file_clear(int file, uint64_t offset, uint64_t size);

/* Part of the file, or with file -1 memory of its own, anywhere in this process, to read and write. */
void *os_map(int file, uint64_t offset, uint64_t size);
void os_unmap(void *memory, uint64_t size);

/* Part of the file at reserved addresses, in place of what is there; os_map_noaccess makes them reserved again, and os_protect gives
 * those that show it other rights. When that fails for want of memory they stay as they were. The last two need none where the
 * system has a mapping for just these addresses. */
bool os_map_fixed(uint64_t start, uint64_t size, int file, uint64_t offset, bool writable);
bool os_protect(uint64_t start, uint64_t size, bool writable);
bool os_map_noaccess(uint64_t start, uint64_t size);

/* ---- touching what may not be touched ---- */

enum os_touch { OS_TOUCHED, OS_TOUCH_READ, OS_TOUCH_WRITE }; /* the first where the machine does not tell */

/* Called in the handler of the signal, on the thread that touched the address. */
typedef void (*os_fault_fn)(uint64_t address, enum os_touch touch);

/* From now on explain is called first, then whatever the program had in place for the signal happens. False when the
 * system refuses. os_unwatch_faults puts back what was there, unless the program has set something else since. */
bool os_watch_faults(os_fault_fn explain);
void os_unwatch_faults(void);

/* Text to standard error, also from the handler of a signal. */
void os_print(const char *text, size_t length);

#endif

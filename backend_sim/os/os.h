/* SPDX-License-Identifier: Apache-2.0 */
/* os.h - the services that the simulator needs from the operating system beyond the C library. A port to another
 * system implements this interface.
 *
 * Sizes and addresses are multiples of os_page_size(). A function that returns false or NULL has changed nothing.
 */
#ifndef SIM_OS_H
#define SIM_OS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lifecycle.h"

/* The number of forks between the first process and this one: 0, then 1 in its child, and so on. Makes no system call. */
static inline uint64_t os_fork_depth(void)
{
    return life_stamp() - 1;
}

uint64_t os_page_size(void);

/* ---- addresses of the host ---- */

/* Reserves [start, start + size): no other mapping gets these addresses, and an access to them is a SIGSEGV. False when some of
 * these addresses are taken, or when the process would exceed its limit. */
bool os_reserve(uint64_t start, uint64_t size);
/* Does this process have any mapping in [start, start + size)? False if the system does not report it. */
bool os_is_taken(uint64_t start, uint64_t size);
/* As os_reserve, at any free address that is a multiple of alignment (a power of two). */
bool os_reserve_anywhere(uint64_t size, uint64_t alignment, uint64_t *start);
void os_unreserve(uint64_t start, uint64_t size);

/* ---- memory that can be mapped at several addresses ---- */

/* Creates an unnamed file that takes space only where it is written; -1 when the system refuses. Executed programs do not inherit
 * it. */
int os_file_new(void);
void os_file_close(int file);
/* Makes the file at least size bytes long; the new bytes are zero. */
bool os_file_grow(int file, uint64_t size);
/* Writes bytes at any offset and of any length within the file. False when there is no space: some of the bytes may have been
 * written. */
bool os_file_write(int file, uint64_t offset, const void *bytes, uint64_t length);
/* Does the file have space at offset? *length: the maximum number of bytes to examine; on return the number of bytes with the
 * same answer. A hole reads as zero, and reading it through a mapping would take space. True if the system cannot tell. */
bool os_file_has_data(int file, uint64_t offset, uint64_t *length);
/* Zeroes the bytes [offset, offset + size), and frees their space if the system can do that. False when the system refuses:
 * some of the bytes may be zero then. */
bool os_file_clear(int file, uint64_t offset, uint64_t size);

/* Maps part of the file, or private memory if file is -1, at any address of this process, for reading and writing. */
void *os_map(int file, uint64_t offset, uint64_t size);
void os_unmap(void *memory, uint64_t size);

/* os_map_fixed maps part of the file at reserved addresses, in place of what is there; os_map_noaccess makes the addresses
 * reserved again, and os_protect changes the rights of a mapping. When one of them fails for lack of memory, the addresses stay
 * as they were. The last two need no memory if there is a mapping of exactly these addresses. */
bool os_map_fixed(uint64_t start, uint64_t size, int file, uint64_t offset, bool writable);
bool os_protect(uint64_t start, uint64_t size, bool writable);
bool os_map_noaccess(uint64_t start, uint64_t size);

/* ---- threads ---- */

/* Is the calling thread the only one of this process? False where the system does not report it. */
bool os_is_single_thread(void);

/* ---- accesses without the right to them ---- */

/* OS_TOUCHED where the processor does not report the kind of access */
enum os_touch { OS_TOUCHED, OS_TOUCH_READ, OS_TOUCH_WRITE };

/* Called in the signal handler, on the thread that accessed the address. */
typedef void (*os_fault_fn)(uint64_t address, enum os_touch touch);

/* Installs a handler that calls explain first, then does what the program had set for the signal. False when the system refuses.
 * os_unwatch_faults restores the previous handler, unless the program has replaced ours since. */
bool os_watch_faults(os_fault_fn explain);
void os_unwatch_faults(void);

/* Writes text to standard error; safe in a signal handler. */
void os_print(const char *text, size_t length);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* kernel_log.h - the address of a fault that the driver's kernel module wrote into the kernel's log.
 *
 *     NVRM: Xid (PCI:0000:01:00): 31, pid=4711, name=step, ... faulted @ 0x7f3a_c4000000. ...      process 4711: 0x7f3ac4000000
 */
#ifndef CUVMM_TOOLS_KERNEL_LOG_H
#define CUVMM_TOOLS_KERNEL_LOG_H

#include <stdbool.h>
#include <stdint.h>

/* An address as users have it: alone, of a line of the kernel's log, or of one of compute-sanitizer's ("Address 0x7f3ac4000000 is out
 * of bounds"). */
bool kernel_log_address(const char *text, uint64_t *address);

/* Is the line about a fault of that process, and where was it? */
bool kernel_log_fault(const char *line, long process, uint64_t *address);

/* The last one in a log that may be read without waiting; false: there is none, or the log may not be read (/dev/kmsg is root's). */
bool kernel_log_find(const char *path, long process, uint64_t *address);

#endif

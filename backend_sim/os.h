/* os.h - what the simulator asks of the operating system beyond the C library. The whole port of another system. */
#ifndef SIM_OS_H
#define SIM_OS_H

#include <stdint.h>

/* How many forks lie between this process and the one that first called this: 0, then 1 in its child, and so on.
 * Makes no system call after the first. */
uint64_t os_fork_depth(void);

#endif

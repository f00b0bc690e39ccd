/* SPDX-License-Identifier: Apache-2.0 */
/* touch.h - reads and writes by the program itself, without any call, and the signal that such an access may raise.
 *
 *     touch_begin()          [handlers of ours]
 *     touch_write(p, 7) ---> SIGSEGV or SIGBUS ---> false
 *     touch_end()            [the handlers of before]
 */
#ifndef CUVMM_TOUCH_H
#define CUVMM_TOUCH_H

#include <stdbool.h>
#include <stdint.h>

void touch_begin(void);
void touch_end(void);

/* Was the byte at address readable, or writable? Call between touch_begin and touch_end, from one thread at a time. */
bool touch_read(uint64_t address, unsigned char *value);
bool touch_write(uint64_t address, unsigned char value);

/* Does the text say that the host wrote, or read? "host access" will do where the system does not report which: an emulator. */
bool touch_is_named(const char *text, bool write);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* breaks.h - for tests of checks (checks.h): breaks an invariant by hand, expects its message, and repairs the object.
 *
 *     BREAKS(map.count, 3, addrmap_check(&map, start_of), "3 things are counted")
 *
 * stores 3, looks for the words in the check's message, stores the old value again and expects no message. If the old
 * value is 2, it then stores 1, which is equally far off on the other side and must also be reported: this detects a
 * two-sided check that has lost a side. BREAKS_TO omits that, if the other side is valid or not representable.
 */
#ifndef SIM_BREAKS_H
#define SIM_BREAKS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tap.h"

static inline void check_holds(const char *said, const char *what)
{
    tap_ok(!said, "%s: %s", what, said ? said : "no invariant is broken");
}

static inline void check_breaks(const char *said, const char *words)
{
    tap_ok(said && strstr(said, words), "reported: %s (%s)", words, said ? said : "nothing is broken");
}

/* Replaces a value, an integer of that many bytes, by the one equally far from the old value on its other side. */
static inline void breaks_mirror(void *value, const void *old, size_t bytes)
{
    uint64_t is = 0, was = 0;
    for (size_t i = bytes; i--;) {
        is = is << 8 | ((const unsigned char *)value)[i];
        was = was << 8 | ((const unsigned char *)old)[i];
    }
    is = was - (is - was);
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)value)[i] = (unsigned char)(is >> 8 * i);
}

#define BREAKS_INTEGER(place)                                                                            \
    _Generic((place), signed char: true, unsigned char: true, short: true, unsigned short: true, int: true, \
             unsigned: true, long: true, unsigned long: true, long long: true, unsigned long long: true, default: false)

/* Both values have the object's type. */
#define BREAKS_TO(place, value, check, words)    \
    do {                                         \
        __typeof__(place) breaks_old = (place);  \
        (place) = (value);                       \
        check_breaks((check), (words));          \
        (place) = breaks_old;                    \
    } while (0)

#define BREAKS(place, value, check, words)                                          \
    do {                                                                            \
        __typeof__(place) breaks_was = (place), breaks_other = (value);             \
        BREAKS_TO(place, value, check, words);                                      \
        if (BREAKS_INTEGER(place)) {                                                \
            breaks_mirror(&breaks_other, &breaks_was, sizeof breaks_other);         \
            (place) = breaks_other;                                                 \
            tap_ok((check) != NULL, "reported: the other side of %s", #place);      \
            (place) = breaks_was;                                                   \
        }                                                                           \
    } while (0)

#endif

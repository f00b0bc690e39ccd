/* SPDX-License-Identifier: Apache-2.0 */
/* breaks.h - for tests of checks (checks.h): an invariant broken by hand, the sentence that it has, and the same object mended.
 *
 *     BREAKS(map.count, 3, addrmap_check(&map, start_of), "3 things are counted")
 *
 * stores 3, looks for the words in what the check says, stores the old value and expects that nothing is broken.
 */
#ifndef SIM_BREAKS_H
#define SIM_BREAKS_H

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

/* Both values have the place's type, whatever that is. */
#define BREAKS(place, value, check, words)       \
    do {                                         \
        __typeof__(place) breaks_old = (place);  \
        (place) = (value);                       \
        check_breaks((check), (words));          \
        (place) = breaks_old;                    \
    } while (0)

#endif

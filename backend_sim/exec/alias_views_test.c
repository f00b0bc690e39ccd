/* SPDX-License-Identifier: Apache-2.0 */
#include "alias_views.h"

#include <string.h>

#include "random.h"
#include "tap.h"

enum { BLOCKS = 3, UNITS = 40, MAPPINGS = 3, KEYS = BLOCKS * UNITS * MAPPINGS };

static struct view_key key_of(unsigned n)
{
    return (struct view_key){1 + n % BLOCKS, n / BLOCKS % UNITS, n / BLOCKS / UNITS};
}

/* Random operations compared with a plain array of the views that exist. */
static void against_a_list(uint64_t seed)
{
    struct alias_views views = {0};
    struct view *at[KEYS] = {NULL};
    unsigned wrong = 0, found = 0;
    for (int step = 0; step < 20000; step++) {
        unsigned n = (unsigned)random_below(&seed, KEYS);
        struct view *view = alias_views_find(&views, key_of(n));
        wrong += view != at[n] || (view && view->bytes[VIEW_UNIT - 1] != (unsigned char)n);
        found += view != NULL;
        if (random_below(&seed, 3000) == 0) {
            alias_views_forget(&views);
            memset(at, 0, sizeof at);
        } else if (!view) {
            view = alias_views_add(&views, key_of(n));
            if (!view)
                tap_bail("no memory");
            memset(view->bytes, (int)(n & 0xff), VIEW_UNIT);
            at[n] = view;
        }
    }
    tap_u64(wrong, 0, "an added view is found at its address until it is forgotten, and no other view is found");
    tap_ok(found > 10000 && views.count <= KEYS,
           "%u views found; storage of forgotten views is reused: %zu views allocated", found, views.count);
    alias_views_clear(&views);
    tap_ok(!views.room && !alias_views_find(&views, key_of(0)), "clearing removes every view");
}

int main(void)
{
    for (uint64_t seed = 1; seed <= 3; seed++)
        against_a_list(seed);
    return tap_done();
}

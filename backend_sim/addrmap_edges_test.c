/* addrmap at its edges: a map of one level, the last addresses, and levels that there is no memory for. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "scarce_rig.h"

#include "addrmap.h"
#include "tap.h"

enum { SHIFT = 12 };
#define PAGE (UINT64_C(1) << SHIFT)

static int things[2];

static void one_level(void)
{
    struct addrmap map;
    addrmap_init(&map, SHIFT);
    tap_ok(addrmap_insert(&map, 63 * PAGE, things) && map.levels == 1, "the last place of one level");
    tap_ok(!addrmap_ceil(&map, 63 * PAGE + 5) && addrmap_ceil(&map, 62 * PAGE + 5) == things, "nothing comes after it");
    tap_ok(addrmap_remove(&map, 63 * PAGE) == things && !map.count && !addrmap_floor(&map, UINT64_MAX), "it is taken out");
    tap_ok(addrmap_insert(&map, PAGE, things) && addrmap_ceil(&map, 0) == things && map.count == 1, "and another put in");
    addrmap_clear(&map);
}

static void last_addresses(void)
{
    struct addrmap map;
    uint64_t last = UINT64_MAX - (PAGE - 1);
    addrmap_init(&map, SHIFT);
    tap_ok(addrmap_insert(&map, last, things), "the last page of all");
    tap_ok(!addrmap_ceil(&map, UINT64_MAX - 5) && addrmap_ceil(&map, last - 5) == things, "after it there is no address");
    tap_ok(addrmap_floor(&map, UINT64_MAX) == things, "and before the end it is");
    addrmap_clear(&map);
}

#if CAN_FAIL
static void no_levels(void)
{
    struct addrmap map;
    addrmap_init(&map, SHIFT);
    addrmap_insert(&map, 0, things);
    unsigned refused = 0;
    for (unsigned long nth = 1; nth < 20; nth++) {
        scarce_arm(nth);
        bool there = addrmap_insert(&map, PAGE << 30, things + 1), failed = scarce_disarm() != NULL;
        if (there)
            break;
        refused += failed && map.count == 1 && addrmap_floor(&map, UINT64_MAX) == things && !addrmap_ceil(&map, 1);
        tap_ok(refused == nth, "without memory for levels nothing changes, request %lu", nth);
    }
    tap_ok(refused > 0 && map.count == 2 && addrmap_ceil(&map, 1) == things + 1 && addrmap_floor(&map, PAGE) == things,
           "with it both are there");
    addrmap_clear(&map);
}
#endif

int main(void)
{
    one_level();
    last_addresses();
#if CAN_FAIL
    if (!getenv("CUVMM_RUN"))
        no_levels();
#endif
    return tap_done();
}

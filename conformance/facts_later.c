#include "factcheck.h"

#include <fnmatch.h>

/* What the public calls of today cannot ask. A row goes when its capability comes. */
static const struct later {
    const char *name, *value; /* patterns */
    const char *capability;
} later[] = {
#ifdef __SANITIZE_ADDRESS__ /* its shadow lies at the recorded addresses */
    {"H.host_located.*", "*", FACTS_HOST_ADDRESSES},
    {"H.host_fresh*", "*", FACTS_HOST_ADDRESSES},
    {"S.*", "*", FACTS_HOST_ADDRESSES},
#endif
};

#define ROWS (sizeof later / sizeof later[0])
_Static_assert(ROWS <= 64, "one bit each");

const char *fact_later(const char *name, const char *value, uint64_t *used)
{
    for (size_t i = 0; i < ROWS; i++)
        if (fnmatch(later[i].name, name, 0) == 0 && fnmatch(later[i].value, value, 0) == 0) {
            *used |= (uint64_t)1 << i;
            return later[i].capability;
        }
    return NULL;
}

const char *fact_later_stale(uint64_t used, size_t nth)
{
    for (size_t i = 0; i < ROWS; i++)
        if (!(used >> i & 1) && nth-- == 0)
            return later[i].name;
    return NULL;
}

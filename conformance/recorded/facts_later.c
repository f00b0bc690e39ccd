/* SPDX-License-Identifier: Apache-2.0 */
#include "factcheck.h"

#include <fnmatch.h>

const struct fact_later_row facts_later_rows[] = {
#ifdef __SANITIZE_ADDRESS__ /* its shadow lies at the recorded addresses */
    {"H.host_located.*", "*", FACTS_HOST_ADDRESSES},
    {"H.host_fresh*", "*", FACTS_HOST_ADDRESSES},
    {"S.*", "*", FACTS_HOST_ADDRESSES},
    {"V.numa*", "*", FACTS_HOST_ADDRESSES},
#endif
    {NULL, NULL, NULL},
};

const char *fact_later(const struct fact_later_row *rows, const char *name, const char *value, uint64_t *used)
{
    for (size_t i = 0; rows && rows[i].name; i++)
        if (fnmatch(rows[i].name, name, 0) == 0 && fnmatch(rows[i].value, value, 0) == 0) {
            *used |= (uint64_t)1 << i;
            return rows[i].capability;
        }
    return NULL;
}

const char *fact_later_stale(const struct fact_later_row *rows, uint64_t used, size_t nth)
{
    for (size_t i = 0; rows && rows[i].name; i++)
        if (!(used >> i & 1) && nth-- == 0)
            return rows[i].name;
    return NULL;
}

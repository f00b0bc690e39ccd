/* SPDX-License-Identifier: Apache-2.0 */
/* Whether a refusal has the reason that the driver itself gave, where its error log gave one. */
#include "factcheck.h"
#include "tap.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

/* Patterns of the driver's words and of the rules that say the same; words may stand in several rows. */
static const struct {
    const char *words, *rule;
} same[] = {
    {"granularity return pointer cannot be NULL", "VMM-GRANULARITY-NULL"},
    {"CUmemAllocationProp prop cannot be NULL", "VMM-GRANULARITY-NULL-PROP"},
    {"Invalid CUmemAllocationGranularity_flags option", "VMM-GRANULARITY-OPTION"},
    {"Parameter ptr cannot be 0*", "VMM-*-PTR-ZERO"},
    {"Parameter ptr cannot be NULL", "VMM-*-PTR-ZERO"},
    {"Parameter ptr cannot be NULL", "VMM-RESERVE-NULL-PTR"},
    {"Parameter addr cannot be NULL", "VMM-RETAIN-ADDRESS-ZERO"},
    {"Parameter size cannot be 0", "VMM-*-SIZE-ZERO"},
    {"Parameter count cannot be 0", "VMM-ACCESS-COUNT-ZERO"},
    {"Parameter flags must be 0", "VMM-*-FLAGS"},
    {"Parameter flags cannot be NULL", "VMM-GETACCESS-NULL-FLAGS"},
    {"Parameter location cannot be NULL", "VMM-GETACCESS-NULL-LOCATION"},
    {"Parameter prop cannot be NULL", "VMM-*-NULL-PROP"},
    {"Parameter handle cannot be NULL", "VMM-CREATE-NULL-HANDLE"},
    {"Parameter handle is not a valid CUmemGenericAllocationHandle", "VMM-*-HANDLE-ZERO"},
    {"Parameter handle is not a valid CUmemGenericAllocationHandle", "VMM-RETAIN-NULL-HANDLE"},
    {"Parameter map(Access descriptor array) cannot be NULL", "VMM-ACCESS-NULL-DESC"},
    {"Parameter alignment must be a power of two", "VMM-RESERVE-ALIGNMENT-POWER"},
    {"Requested address, addr, not aligned to requested alignment*", "VMM-RESERVE-HINT-ALIGNMENT"},
    {"Requested address, addr, not aligned to minimum granularity*", "VMM-RESERVE-HINT-GRANULARITY"},
    {"* size not aligned to minimum granularity*", "VMM-*-SIZE-GRANULARITY"},
    {"Size not aligned to minimum granularity*", "VMM-*-SIZE-GRANULARITY"},
    {"Pointer not aligned to minimum granularity*", "VMM-MAP-PTR-GRANULARITY"},
    {"Specifying an offset is not supported", "VMM-MAP-OFFSET"},
    {"Requested mapping * than handle*", "VMM-MAP-SIZE-WHOLE"},
    {"Specified range overlaps with another allocation", "VMM-MAP-OVERLAP"},
    {"Address range specified must belong to a range reserved*", "VMM-MAP-NOT-RESERVED"},
    {"Address range requested to free must belong to a range reserved*", "VMM-FREE-NOT-RESERVED"},
    {"Address range contains existing mapping", "VMM-FREE-MAPPED"},
    {"Specified ptr must belong to a previous*", "VMM-UNMAP-NOT-RESERVED"},
    {"Partially unmapping a previous cuMemMap mapping*", "VMM-UNMAP-PARTIAL"},
    {"Address specified(addr: *", "VMM-RETAIN-NOT-MAPPED"},
    {"Value of prop->location.type is not valid*", "VMM-CREATE-LOCATION-TYPE"},
    {"Value of prop->location.type is not valid*", "VMM-CREATE-NUMA-CURRENT"},
    {"Value of requestedHandleTypes for HOST memory must be 0", "VMM-CREATE-HOST-SHARED"},
    {"Failed to allocate physical memory", "VMM-CREATE-FABRIC-IMEX"},
    {"Index *: Invalid flag specified*", "VMM-ACCESS-FLAGS"},
    {"Index *: Invalid location type*", "VMM-ACCESS-LOCATION-TYPE"},
    {"Address range not fully mapped*", "VMM-ACCESS-NOT-MAPPED"},
    {"Unable to access operand*", "VMM-COPY-NO-READ"},
    {"Unable to access operand*", "VMM-COPY-NO-WRITE"},
    {"Requested write on read-only memory*", "VMM-COPY-NO-WRITE"},
    {"memset of a read-only allocation*", "VMM-COPY-NO-WRITE"},
    {"invalid memset range - no allocation found*", "VMM-COPY-NOT-MAPPED"},
    {"invalid memset range - no allocation found*", "VMM-COPY-NO-WRITE"},
    {"Allocation not found", "VMM-COPY-NOT-MAPPED"},
    {"Copy range not fully allocated", "VMM-COPY-RUNS-PAST"},
    {"Memset extends beyond allocation range", "VMM-COPY-RUNS-PAST"},
    {"Sticky error detected", "VMM-FAULT-STICKY"},
    {"Allocation not configured for sharing*", "VMM-EXPORT-NOT-REQUESTED"},
    {"Allocation not configured for sharing*", "VMM-EXPORT-IMPORTED"},
    {"Invalid export handleType", "VMM-EXPORT-TYPE"},
    {"Parameter shareableHandle cannot be NULL", "VMM-EXPORT-NULL-HANDLE"},
    {"Parameter shareableHandle cannot be NULL", "VMM-IMPORT-FABRIC-NULL"},
    {"Parameter handle cannot be NULL", "VMM-IMPORT-NULL-HANDLE"},
    {"Parameter shHandleType is not valid", "VMM-IMPORT-TYPE"},
    {"Fabric handle to import must originate*", "VMM-IMPORT-FABRIC"},
};

bool fact_same_reason(const char *words, const char *rule)
{
    for (size_t i = 0; i < sizeof same / sizeof same[0]; i++)
        if (fnmatch(same[i].words, words, 0) == 0 && fnmatch(same[i].rule, rule, 0) == 0)
            return true;
    return false;
}

/* A name's words; the first refusal of that name is the one that was logged. */
static struct fact *words_of(struct facts *f, const char *name)
{
    for (size_t i = 0; f->words && i < f->words->count; i++)
        if (f->words->facts[i].verdict == FACT_OPEN && strcmp(f->words->facts[i].name, name) == 0)
            return &f->words->facts[i];
    return NULL;
}

void facts_reason(struct facts *f, const char *rule, const char *name)
{
    char key[128];
    struct fact *words = words_of(f, name);
    if (!words)
        return;
    bool agrees = fact_same_reason(words->value, rule);
    snprintf(key, sizeof key, "%s (reason)", name);
    struct fact_exception *exception = fact_exceptions_find(f->exceptions, f->profile, key);
    words->verdict = agrees ? FACT_REPRODUCED : FACT_DIFFERS;
    f->count->reasons++;
    f->count->same_reasons += agrees;
    if (!exception || agrees) {
        tap_ok(agrees, "%s: %s is refused for the driver's reason: %s by %s", f->profile, name, words->value, rule);
        return;
    }
    exception->used = true;
    tap_todo(exception->reason, false, "%s: %s is refused for the driver's reason", f->profile, name);
}

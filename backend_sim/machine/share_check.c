/* SPDX-License-Identifier: Apache-2.0 */
/* The invariant of share.h: the use that a process publishes equals its actual use. */
#include <inttypes.h>

#include "checks.h"
#include "machine.h"
#include "share_parts.h"

static const char *compare(const char *what, int place, uint64_t shown, uint64_t used)
{
    if (shown == used)
        return NULL;
    return check_say("0x%" PRIx64 " bytes of %s %d are in use here, 0x%" PRIx64 " in this process's slot", used, what, place,
                     shown);
}

const char *share_check(const struct share *share)
{
    const struct sim_machine *machine = share->machine;
    if (!machine || !share_joined(share))
        return NULL;
    const struct share_use *use = &share->folder.state->slot[share->slot].use;
    const char *said = NULL;
    for (int i = 0; i < machine->visible.all && !said; i++) {
        int place = machine->visible.place[i];
        said = compare("device", place, atomic_load(&use->device[place]), machine->device_used[i]);
        if (!said)
            said = compare("compressible memory of device", place, atomic_load(&use->compressed[place]),
                           machine->device_compressed[i]);
    }
    for (int i = 0; i < SIM_MAX_NODES && !said; i++)
        said = compare("node", i, atomic_load(&use->node[i]), machine->node_used[i]);
    return said;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* state_rig.h - for tests: inspects and forges the state that processes share. */
#ifndef SIM_STATE_RIG_H
#define SIM_STATE_RIG_H

#include <fcntl.h>
#include <sys/mman.h>

#include "checks.h"
#include "share_rig.h"
#include "share_state.h"

/* The state of an existing named machine; the caller unmaps it. From then on its invariants may be broken and are not checked. */
static inline struct share_state *rig_state(const char *machine)
{
    checks_spare_shared();
    int file = open(rig_path(machine, "state"), O_RDWR | O_CLOEXEC);
    void *at = mmap(NULL, sizeof(struct share_state), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED)
        tap_bail("the state cannot be mapped");
    return at;
}

#endif

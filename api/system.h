/* SPDX-License-Identifier: Apache-2.0 */
/* system.h - an opened system: the outermost backend, and state of the API that belongs to no backend. */
#ifndef CUVMM_SYSTEM_H
#define CUVMM_SYSTEM_H

#include "backend.h"
#include "lifecycle.h"
#include "ordinal.h"

struct vmm_system {
    struct vmm_backend *top;
    struct ordinals calls;    /* the numbers of its calls */
    struct life_lock lock;    /* guards report and user */
    vmm_report_fn report;
    void *user;
};

/* Creates a system around an opened backend, which it then owns. On failure it closes the backend. */
vmm_result vmm_system_wrap(struct vmm_backend *top, vmm_system **sys);

#endif

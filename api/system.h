/* SPDX-License-Identifier: Apache-2.0 */
/* system.h - an opened system: the outermost backend and what belongs to the API rather than to a backend. */
#ifndef CUVMM_SYSTEM_H
#define CUVMM_SYSTEM_H

#include "backend.h"
#include "lifecycle.h"
#include "ordinal.h"

struct vmm_system {
    struct vmm_backend *top;
    struct ordinals calls;    /* their numbers */
    struct life_lock lock;    /* guards report and user */
    vmm_report_fn report;
    void *user;
};

/* Makes a system around an opened backend, which it then owns. On failure the backend is closed. */
vmm_result vmm_system_wrap(struct vmm_backend *top, vmm_system **sys);

#endif

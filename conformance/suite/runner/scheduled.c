/* SPDX-License-Identifier: Apache-2.0 */
#include "scheduled.h"

#include <stdio.h>
#include <string.h>

const char *const schedules[SCHEDULES] = {"late", "eager", "random:1", "random:0x5eed"};

void scheduled_open(struct fix *f, struct fix *own, const char *schedule)
{
    char spec[sizeof f->spec + 64];
    const char *bar = strrchr(f->spec, '|'), *backend = bar ? bar + 1 : f->spec;
    fix_need_simulator(f, "a fault may end the whole process; and a driver has no schedules");
    snprintf(spec, sizeof spec, "%s%s,schedule=%s", f->spec, strchr(backend, ':') ? "" : ":", schedule);
    *own = (struct fix){.root = f->root, .out = f->out};
    fix_need(f, fix_open(own, spec, 0));
}

vmm_stream blocking_stream(struct fix *f)
{
    vmm_stream stream = NULL;
    fix_need(f, vmm_stream_create(f->sys, &stream, VMM_STREAM_DEFAULT));
    fix_note(f, FIX_STREAM, (uintptr_t)stream, 0);
    return stream;
}

uint64_t glance(struct fix *f, vmm_stream aside, vmm_deviceptr p)
{
    uint64_t word = 0;
    f->races = true;
    fix_need(f, vmm_memcpy_dtoh_async(f->sys, &word, p, 8, aside));
    fix_need(f, vmm_stream_synchronize(f->sys, aside));
    return word;
}

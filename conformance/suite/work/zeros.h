/* SPDX-License-Identifier: Apache-2.0 */
/* zeros.h - memory of the device that holds zeros, for tests that look for what work wrote there.
 *
 *     p = zeros(f)      [0 0 0 ...]  one unit, mapped
 *     work on p         [5 0 0 ...]
 *     word_at(f, p)     5
 */
#ifndef CUVMM_SUITE_ZEROS_H
#define CUVMM_SUITE_ZEROS_H

#include "test.h"

static inline vmm_deviceptr zeros(struct fix *f)
{
    vmm_deviceptr p = fix_reserve(f, f->g);
    fix_map(f, p, f->g, fix_create(f, f->g));
    fix_access(f, p, f->g, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    ACCEPTED(vmm_memset_d8(S, p, 0, f->g));
    return p;
}

static inline uint64_t word_at(struct fix *f, vmm_deviceptr p)
{
    uint64_t word = UINT64_MAX;
    ACCEPTED(vmm_memcpy_dtoh(S, &word, p, sizeof word));
    return word;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Growth between marks: of a simulator of its own, so these tests do not depend on the system under test. */
#include <string.h>

#include "growth.h"
#include "test.h"

static void count_growth(void *user, const vmm_detail *detail)
{
    *(unsigned *)user += detail->rule && strcmp(detail->rule, "VMM-LEAK-GROWS") == 0;
}

/* Five steps, at each of which `more` handles stay that were not there before. */
static unsigned marked_steps(struct fix *f, unsigned more)
{
    vmm_system *sys = NULL;
    vmm_mem_allocation_prop prop = fix_prop(0);
    vmm_mem_generic_allocation_handle handle[8];
    struct growth *growth = growth_new(GROWTH_STEPS);
    unsigned found = 0;
    CHECK(growth && vmm_open("sim:h100", &sys) == VMM_SUCCESS && vmm_init(sys, 0) == VMM_SUCCESS, "no machine");
    for (int step = 0; growth && sys && step < 5; step++) {
        for (unsigned i = 0; i < 2 + more; i++)
            vmm_mem_create(sys, &handle[i], 2 << 20, &prop, 0);
        for (unsigned i = 0; i < 2; i++)
            vmm_mem_release(sys, handle[i]);
        growth_mark(growth, sys, "step", count_growth, &found);
    }
    growth_free(growth);
    vmm_close(sys);
    return found;
}

TEST_BREAKS_ON(LEAK_GROWS, a_step_that_keeps_a_handle, NULL, TEST_AS_GIVEN, FIX_RAW)
{
    CHECK_U64(marked_steps(f, 1), 1);
}

TEST_NEAR_MISS_ON(LEAK_GROWS, a_step_that_keeps_nothing, NULL, TEST_AS_GIVEN, FIX_RAW)
{
    CHECK_U64(marked_steps(f, 0), 0);
}

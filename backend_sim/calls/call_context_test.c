/* SPDX-License-Identifier: Apache-2.0 */
/* call_context: the addresses that the first context takes, as measured: all but the last 2 MiB of a chunk, and the first 8 MiB of the
 * next one. */
#include "process.h"
#include "system.h"
#include "tap.h"

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s", vmm_result_name(result), vmm_last_detail()->note);
}

/* The program has a reservation in the chunk `taken` already, counted from the one where the first context begins; -1: in none. The parts
 * lie in the chunks `lower` and `upper` then. */
static void first_context(const char *spec, int taken, unsigned lower, unsigned upper)
{
    vmm_system *sys = NULL;
    vmm_context context = NULL;
    vmm_deviceptr own = 0;
    need(vmm_open(spec, &sys));
    need(vmm_init(sys, 0));
    const struct sim_process *process = (struct sim_process *)sys->top;
    const struct sim_reservation *part = process->context_taken;
    const uint64_t chunk = process->machine->profile.va_chunk, unit = process->machine->profile.va_granularity, from = process->window.context;
    if (!from) {
        tap_skip("the machine has other addresses than a driver", "the first context's addresses");
        vmm_close(sys);
        return;
    }
    if (taken >= 0)
        need(vmm_mem_address_reserve(sys, &own, unit, 0, from + (unsigned)taken * chunk, 0));
    tap_ok(taken < 0 || own == from + (unsigned)taken * chunk, "%s: the program's reservation is in chunk %d", spec, taken);
    need(vmm_ctx_create(sys, &context, 0, 0));
    tap_u64(part[0].start, from + lower * chunk, "the lower part begins chunk %u", lower);
    tap_u64(part[0].size, chunk - unit, "and leaves its last unit");
    tap_u64(part[1].start, from + upper * chunk, "the upper part begins chunk %u", upper);
    tap_u64(part[1].size, 4 * unit, "with four units");
    const struct sim_reservation before[] = {part[0], part[1]};
    need(vmm_ctx_create(sys, &context, 0, 0));
    tap_ok(part[0].start == before[0].start && part[1].start == before[1].start && part[1].size == before[1].size,
           "a second context takes no more");
    vmm_close(sys);
}

int main(void)
{
    static const char *const specs[] = {"sim:h100", "sim:h200x2"};
    for (unsigned i = 0; i < 2; i++) {
        first_context(specs[i], -1, 0, 1);
        first_context(specs[i], 0, 1, 2);
        first_context(specs[i], 1, 0, 2);
    }
    return tap_done();
}

/* reach.h - what a device reaches at a range of addresses: the simulated translation with its rights.
 *
 *   range     [------------------ size ------------------)
 *   runs      [ M1 of H1, offset ..)[ M2 of H2 )[ A1 ..    )    one run per mapping or allocation
 *
 * A range is checked as a whole before any byte is moved.
 */
#ifndef SIM_REACH_H
#define SIM_REACH_H

#include "sim.h"

struct reach_run {
    struct sim_block *block;
    uint64_t offset, length;
};

/* The run that starts at address, at most size bytes; false when nothing is mapped there. */
bool reach_run(const struct sim_process *process, uint64_t address, uint64_t size, struct reach_run *run);

/* May device read (or write) every byte of [address, address + size)? size > 0. On refusal the detail names argument.
 * A range that is refused in part is refused whole. */
vmm_result reach_check(const struct sim_process *process, int device, uint64_t address, uint64_t size, bool write,
                       const char *argument);

#endif

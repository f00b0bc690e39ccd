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

/* What a device may do at an address: VMM_MEM_ACCESS_FLAGS_PROT_. */
unsigned reach_rights(const struct sim_process *process, int device, uint64_t address);

/* What is to be done with the bytes. The driver moves bytes of host memory that the device has no access to by the
 * host's own instructions, and in one case of a copy from the host although the device has; a fill never. */
enum reach_use {
    REACH_READ,      /* source of a copy */
    REACH_WRITE,     /* destination of a copy between device addresses */
    REACH_FROM_HOST, /* destination of a copy from the host */
    REACH_FILL
};

/* May device do that with every byte of [address, address + size)? size > 0. On refusal the detail names argument.
 * A range that is refused in part is refused whole. */
vmm_result reach_check(const struct sim_process *process, int device, uint64_t address, uint64_t size,
                       enum reach_use use, const char *argument);

#endif

/* call_fabric.h - export and import of fabric handles: what of those calls differs from descriptors.
 *
 *   export   H1 -> its block's name in this node's state, the domain, the channel -> 64 bytes
 *   import   64 bytes -> domain and channel: may this process? -> the node -> its block
 */
#ifndef SIM_CALL_FABRIC_H
#define SIM_CALL_FABRIC_H

#include "sim.h"

/* Is the channel of the memory still this process's to use? */
vmm_result sim_fabric_check_export(const struct sim_process *process, const struct sim_handle *handle);
/* Writes the handle of a block that was created for a fabric to place. */
vmm_result sim_fabric_export(struct sim_machine *machine, struct sim_block *block, void *place);

/* The block that the bytes stand for, with one holder more. */
vmm_result sim_fabric_find(struct sim_process *process, const void *bytes, struct sim_block **block);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* graph_pins.h - when graph memory is idle again: when the work issued during its use is done. Under the machine's lock. */
#ifndef SIM_GRAPH_PINS_H
#define SIM_GRAPH_PINS_H

#include "graph_memory.h"

/* The pin waits for the work issued at the place so far. */
void graph_pin_await(const struct sim_process *process, struct sim_graph_pin *pin, const struct queue_place *place);
/* Ends the pins whose work is done. */
void graph_pins_settle(struct sim_process *process, struct sim_graph_memory *memory);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_pins.h"

#include "in_flight.h"

void graph_pin_await(const struct sim_process *process, struct sim_graph_pin *pin, const struct queue_place *place)
{
    pin->place = *place;
    pin->until = process->in_flight->queue.issued;
    pin->held = false;
}

static bool is_done(void *user, const struct sim_graph_pin *pin)
{
    const struct sim_process *process = user;
    const struct queue_item *item = process->in_flight->queue.undone;
    while (item && item->number <= pin->until && (item->state == QUEUE_DONE || !queue_same_lane(queue_place_of(item), &pin->place)))
        item = item->after;
    return !item || item->number > pin->until;
}

void graph_pins_settle(struct sim_process *process, struct sim_graph_memory *memory)
{
    sim_graph_pins_settle(memory, is_done, process);
}

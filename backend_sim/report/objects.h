/* SPDX-License-Identifier: Apache-2.0 */
/* objects.h - converts the simulator's objects to vmm_object records, for messages, vmm_visit and the leak report. */
#ifndef SIM_OBJECTS_H
#define SIM_OBJECTS_H

#include "arrays.h"
#include "process.h"
#include "team.h"

vmm_object sim_object_device(const struct sim_process *process, int device);
vmm_object sim_object_reservation(const struct sim_reservation *reservation);
vmm_object sim_object_mapping(const struct sim_mapping *mapping);
vmm_object sim_object_handle(const struct sim_handle *handle);
vmm_object sim_object_bind(const struct sim_handle *handle, const struct team_bind *bind);
vmm_object sim_object_allocation(const struct sim_allocation *allocation);
vmm_object sim_object_pool(const struct sim_pool *pool);
vmm_object sim_object_array(const struct sim_array *array);
vmm_object sim_object_context(const struct sim_context *context);
vmm_object sim_object_stream(const struct sim_stream *stream);
vmm_object sim_object_event(const struct sim_event *event);
vmm_object sim_object_retired(const struct retired_range *retired);

/* The most helpful object for a message about an unexpected address: the one that holds the address, else the one that held it
 * last, else the nearest reservation; kind NONE when there is none of these. */
vmm_object sim_object_nearest(const struct sim_process *process, uint64_t address);

#endif

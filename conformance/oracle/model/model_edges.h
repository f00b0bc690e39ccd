/* SPDX-License-Identifier: Apache-2.0 */
/* model_edges.h - decisions that neither a measurement nor the contract makes, each in one place.
 *
 * "Ours": not measured on a driver; the model takes the simulator's choice, and another would be as good.
 */
#ifndef CUVMM_MODEL_EDGES_H
#define CUVMM_MODEL_EDGES_H

#include "model.h"
#include "model_parts.h"

/* Two rules broken at once: 1 is the simulator's order. Ours. */
enum {
    MODEL_EDGE_SET_FIRST = 1,           /* VMM-SET-ALIGNMENT, -COUNT-WRAPS before VMM-COPY-OVERFLOW .. -HOST-RIGHTS */
    MODEL_EDGE_SPACE_END_FIRST = 1,     /* VMM-MAP-SPACE-END before VMM-MAP-OVERLAP */
    MODEL_EDGE_HOLE_FIRST = 1,          /* in strict mode VMM-ACCESS-HOLE before -HOST-ON-DEVICE and -PEER */
};

/* A copy's ranges are checked from the front, the destination before the source: the first inaccessible byte decides
 * the rule. Ours; see reachable(). */

/* The granularity of an unmap's address and size. Ours: the devices'. */
static inline uint64_t model_edge_unmap_unit(const struct model *model)
{
    return model->profile->device_granularity[0];
}

/* The granularity of the size in a call that sets access; on the recorded machines all are 2 MiB. Ours. */
static inline uint64_t model_edge_access_unit(const struct model *model)
{
    return model->profile->va_granularity;
}

/* Does the granularity query also warn about what this machine lacks? No: it warns about properties that create would refuse
 * on any machine, and of an id that no device has. Ours. */
static inline bool model_edge_unchecked_lacks(void)
{
    return false;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_script.h"

#include "facts_calls.h"

#include <inttypes.h>

static vmm_result get(struct facts *f, struct facts_world *world, const struct facts_step *step, vmm_deviceptr ptr)
{
    vmm_mem_location device = {VMM_MEM_LOCATION_TYPE_DEVICE, 0};
    const vmm_mem_location *location = step->op == FACTS_PEEK ? &device : &step->desc[0].location;
    world->flags = 99;
    return fc_get_access(f, step->no_flags ? NULL : &world->flags, step->no_desc ? NULL : location, ptr);
}

static vmm_result perform(struct facts *f, struct facts_world *world, const struct facts_step *step)
{
    vmm_deviceptr ptr = step->nowhere ? 0 : world->p + step->at;
    switch (step->op) {
    case FACTS_MAP:
        return fc_map(f, ptr, step->size, step->offset, world->handle[step->handle], step->flags);
    case FACTS_UNMAP:
        return fc_unmap(f, ptr, step->size);
    case FACTS_SET:
        return fc_set_access(f, ptr, step->size, step->no_desc ? NULL : step->desc, step->count);
    case FACTS_FILL:
        return fc_fill(f, ptr, 1, step->size);
    case FACTS_FREE:
        return fc_free(f, ptr, step->size);
    case FACTS_GET:
    case FACTS_PEEK:
        return get(f, world, step, ptr);
    case FACTS_SHOW:
        break;
    }
    return VMM_SUCCESS;
}

void facts_script(struct facts *f, struct facts_world *world, const struct facts_step *steps, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        vmm_result result = perform(f, world, &steps[i]);
        bool shows = steps[i].op == FACTS_SHOW || steps[i].op == FACTS_PEEK;
        if (shows)
            facts_value(f, steps[i].name, "%" PRIu64, world->flags);
        else if (steps[i].name)
            facts_result(f, result, steps[i].name);
        else
            facts_setup(f, result, "a step of a script");
    }
}

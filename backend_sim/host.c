#include "host.h"

#include "os.h"

static bool can_show(const struct sim_process *process, const struct sim_mapping *mapping)
{
    return process->machine->bytes && mapping->handle->prop.location.type != VMM_MEM_LOCATION_TYPE_DEVICE &&
           (mapping->start | mapping->size | mapping->offset) % os_page_size() == 0 &&
           arena_holds(&process->arena, mapping->start, mapping->size);
}

void sim_host_hide(struct sim_mapping *mapping)
{
    os_conceal(mapping->start, mapping->size);
    mapping->host_shown = 0;
}

bool sim_host_show(struct sim_process *process, struct sim_mapping *mapping, unsigned rights)
{
    struct bytes *bytes = &mapping->handle->block->bytes;
    if (rights == mapping->host_shown || !can_show(process, mapping))
        return true;
    if (!rights) {
        sim_host_hide(mapping);
        return true;
    }
    if (!bytes_open(bytes) || !os_show(mapping->start, mapping->size, bytes->frames->file,
                                       bytes->place + mapping->offset, rights == VMM_MEM_ACCESS_FLAGS_PROT_READWRITE))
        return false;
    mapping->host_shown = (uint8_t)rights;
    return true;
}

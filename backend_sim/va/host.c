/* SPDX-License-Identifier: Apache-2.0 */
#include "host.h"

#include "os.h"
#include "rights.h"

static bool can_show(const struct sim_process *process, const struct sim_mapping *mapping)
{
    return (mapping->start | mapping->size | mapping->offset) % os_page_size() == 0 &&
           host_window_holds(&process->window, mapping->start, mapping->size);
}

static void note_shown(struct sim_process *process, struct sim_mapping *mapping, unsigned rights)
{
    process->host_sees += (rights != 0) - (uint64_t)(mapping->host_shown != 0);
    mapping->host_shown = (uint8_t)rights;
}

static bool hide(struct sim_process *process, struct sim_mapping *mapping)
{
    if (mapping->host_shown && !os_map_noaccess(mapping->start, mapping->size))
        return false;
    note_shown(process, mapping, 0);
    return true;
}

bool sim_host_show(struct sim_process *process, struct sim_mapping *mapping, unsigned rights)
{
    assert_locked(process->machine);
    struct block_data *bytes = &mapping->handle->block->bytes;
    bool writable = rights == VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (rights == mapping->host_shown || !can_show(process, mapping))
        return true;
    if (!rights)
        return hide(process, mapping);
    bool shown = mapping->host_shown ? os_protect(mapping->start, mapping->size, writable)
                                     : block_data_open(bytes) && os_map_fixed(mapping->start, mapping->size, bytes->backing->file,
                                                                              bytes->place + mapping->offset, writable);
    if (shown)
        note_shown(process, mapping, rights);
    return shown;
}

static struct sim_mapping *next_before(const struct sim_process *process, const struct sim_mapping *mapping, uint64_t end)
{
    return sim_mapping_after(process, mapping->start + mapping->size, end);
}

bool sim_host_hide_shown(struct sim_process *process, struct sim_mapping *first, uint64_t end)
{
    assert_locked(process->machine);
    struct sim_mapping *m = first;
    while (m && hide(process, m))
        m = next_before(process, m, end);
    if (!m)
        return true;
    for (struct sim_mapping *again = first; again != m; again = next_before(process, again, end))
        sim_host_show(process, again, sim_access_of(again->access, SIM_HOST_SLOT));
    return false;
}

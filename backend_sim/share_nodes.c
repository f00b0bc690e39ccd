/* SPDX-License-Identifier: Apache-2.0 */
#include "share_nodes.h"

#include <stdio.h>

#include "machine.h"

static bool is(const struct share *share, uint64_t id)
{
    return share && share_folder_sound(&share->folder) && share->folder.state->id == id;
}

struct share *share_node(struct sim_machine *machine, uint64_t id, char why[SHARE_WHY])
{
    if (is(machine->share, id))
        return machine->share;
    for (struct share *node = machine->nodes; node; node = node->next)
        if (is(node, id))
            return node;
    struct share *node = share_open_other(id, &machine->profile, why);
    const char *wrong = node ? share_join(node) : NULL;
    if (!node)
        return NULL;
    node->next = machine->nodes;
    machine->nodes = node;
    if (!wrong)
        return node;
    snprintf(why, SHARE_WHY, "%s", wrong);
    share_nodes_tidy(machine);
    return NULL;
}

void share_nodes_tidy(struct sim_machine *machine)
{
    for (struct share **at = &machine->nodes; *at;) {
        struct share *node = *at;
        if (node->blocks) {
            at = &node->next;
            continue;
        }
        *at = node->next;
        share_close(node);
    }
}

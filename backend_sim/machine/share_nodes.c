/* SPDX-License-Identifier: Apache-2.0 */
#include "share_nodes.h"

#include <stdio.h>

#include "machine.h"

static bool is(const struct share *share, uint64_t id)
{
    return share && share_folder_sound(&share->folder) && share->folder.state->id == id;
}

static struct share *find(const struct sim_machine *machine, uint64_t id)
{
    struct share *node = machine->nodes;
    while (node && !is(node, id))
        node = node->next;
    return node;
}

static struct share *open_node(struct sim_machine *machine, uint64_t id, char why[SHARE_WHY])
{
    struct share *node = share_open_other(id, &machine->hardware, why);
    if (!node)
        return NULL;
    node->busy = &machine->busy;
    node->next = machine->nodes;
    return machine->nodes = node;
}

struct share *share_node(struct sim_machine *machine, uint64_t id, bool *held_up, char why[SHARE_WHY])
{
    *held_up = false;
    if (is(machine->share, id))
        return machine->share;
    struct share *node = find(machine, id);
    if (!node)
        node = open_node(machine, id, why);
    const char *wrong = node ? share_join(node) : NULL;
    if (!wrong)
        return node;
    *held_up = share_held_up(node);
    snprintf(why, SHARE_WHY, "%s", wrong);
    share_nodes_tidy(machine);
    return NULL;
}

/* A node whose mutex another process keeps stays open, so that this remains known; closing the node would have to wait as
 * well. */
static bool is_wanted(const struct sim_machine *machine, struct share *node)
{
    if (node->blocks || node->awaited || machine->busy == node)
        return true;
    bool quiet = share_lock_within(node, 0);
    if (quiet)
        share_unlock(node);
    return !quiet && share_held_up(node);
}

static void tidy(struct sim_machine *machine, bool all)
{
    for (struct share **at = &machine->nodes; *at;) {
        struct share *node = *at;
        if (!all && is_wanted(machine, node)) {
            at = &node->next;
            continue;
        }
        *at = node->next;
        share_close(node);
    }
}

void share_nodes_tidy(struct sim_machine *machine)
{
    tidy(machine, false);
}

void share_nodes_close(struct sim_machine *machine)
{
    tidy(machine, true);
}

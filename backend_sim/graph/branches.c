/* SPDX-License-Identifier: Apache-2.0 */
#include "branches.h"

/* The branch that the node continues; count if none. */
static size_t goes_on(const struct graph_node *node, uint64_t key, const size_t *branch, const struct graph_branch *branches, size_t count)
{
    for (size_t i = 0; i < node->in.count; i++) {
        size_t at = branch[node->in.edge[i].node->index];
        if (branches[at].key == key && branches[at].last == node->in.edge[i].node)
            return at;
    }
    return count;
}

/* A branch with that key: the first one from some index on, cyclically; count if none. */
static size_t any_of(uint64_t key, size_t from, const struct graph_branch *branches, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (branches[(from + i) % count].key == key)
            return (from + i) % count;
    return count;
}

size_t graph_branches(struct graph_node *const *order, size_t count, uint64_t own,
                      uint64_t (*key)(void *user, const struct graph_node *node), void *user, size_t *branch,
                      struct graph_branch *branches)
{
    size_t known = 1;
    branches[0] = (struct graph_branch){own, NULL};
    for (size_t i = 0; i < count; i++) {
        struct graph_node *node = order[i];
        const uint64_t wanted = key(user, node);
        size_t at = wanted ? goes_on(node, wanted, branch, branches, known) : 0;
        if (at == known && wanted == own && !branches[0].last)
            at = 0;
        if (at == known && known >= GRAPH_BRANCHES)
            at = any_of(wanted, i, branches, known);
        if (at == known)
            branches[known++].key = wanted;
        branches[at].last = node;
        branch[i] = at;
        node->index = i;
    }
    return known;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy of clusters, as recorded. A cluster of blocks runs within one group of multiprocessors (device.clusters of the
 * profile), and only in a group with at least as many of these as it has blocks:
 *
 *     groups of 18, 18 and 2 multiprocessors with 8 blocks each, clusters of 16:   144/16 + 144/16 + 0 = 18
 */
#include <stdlib.h>

#include "abi_occupancy.h"

enum { PORTABLE = 8, LARGEST = 16, BLOCKS = 8, POLICY_MOST = 2 };

/* The subject of a query: a function, and a configuration in which it might be launched. */
struct asked {
    struct CUfunc_st f;
    struct cluster {
        unsigned x, y, z;
    } cluster;
    bool given; /* the cluster's dimensions, by the configuration or the function */
    int block_size;
    size_t shared;
};

static uint64_t blocks_of(const struct asked *asked)
{
    return (uint64_t)asked->cluster.x * asked->cluster.y * asked->cluster.z;
}

static CUresult check_dimensions(const char *function, const CUlaunchConfig *c)
{
    bool grid = c->gridDimX && c->gridDimX <= 0x7fffffff && c->gridDimY && c->gridDimY <= 65535 && c->gridDimZ &&
                c->gridDimZ <= 65535;
    if (grid && c->blockDimX && c->blockDimY && c->blockDimZ)
        return CUDA_SUCCESS;
    return abi_refuse(VMM_RULE_CALL_VALUE, function, "grid (%u, %u, %u) of blocks (%u, %u, %u): none of them is 0, and a grid has at "
                      "most 2^31-1, 65535 and 65535 blocks", c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX, c->blockDimY,
                      c->blockDimZ);
}

/* Of several attributes of a kind the last counts. */
static CUresult read_attributes(const char *function, const CUlaunchConfig *c, struct asked *asked)
{
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const CUlaunchAttributeValue *value = &c->attrs[i].value;
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION) {
            asked->cluster = (struct cluster){value->clusterDim.x, value->clusterDim.y, value->clusterDim.z};
            asked->given = true;
        }
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE && (unsigned)value->priority > POLICY_MOST)
            return abi_refuse(VMM_RULE_CALL_VALUE, function, "scheduling policy %d is unknown", value->priority);
    }
    return CUDA_SUCCESS;
}

static CUresult refuse_cluster(const char *function, const struct asked *asked, const char *why)
{
    return abi_refuse(VMM_RULE_LAUNCH_CLUSTER, function, "a cluster of (%u, %u, %u) blocks %s", asked->cluster.x, asked->cluster.y,
                      asked->cluster.z, why);
}

/* A function that requires a cluster can be launched only with that cluster. */
static CUresult check_required(const char *function, struct asked *asked)
{
    const int *required = &asked->f.attribute[CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH];
    if (!required[0] && !required[1] && !required[2])
        return CUDA_SUCCESS;
    const struct cluster want = {(unsigned)required[0], (unsigned)required[1], (unsigned)required[2]};
    if (!asked->given)
        asked->cluster = want;
    asked->given = true;
    bool same = want.x == asked->cluster.x && (want.y == asked->cluster.y || !want.y) && (want.z == asked->cluster.z || !want.z);
    return same ? CUDA_SUCCESS : refuse_cluster(function, asked, "is not the one that the function requires");
}

static CUresult check_cluster(const char *function, const CUlaunchConfig *c, struct asked *asked)
{
    CUresult result = check_required(function, asked);
    if (result != CUDA_SUCCESS || !asked->given)
        return result;
    if (!blocks_of(asked))
        return refuse_cluster(function, asked, "has none");
    if (c->gridDimX % asked->cluster.x || c->gridDimY % asked->cluster.y || c->gridDimZ % asked->cluster.z)
        return refuse_cluster(function, asked, "does not divide the grid");
    if (blocks_of(asked) > PORTABLE && !asked->f.attribute[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED])
        return refuse_cluster(function, asked, "has more than 8, which the function does not allow "
                              "(CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED)");
    return CUDA_SUCCESS;
}

CUresult abi_cluster_check(const char *name, const struct CUfunc_st *f, vmm_dim grid)
{
    struct asked asked = {.f = *f};
    const CUlaunchConfig config = {.gridDimX = grid.x, .gridDimY = grid.y, .gridDimZ = grid.z};
    return check_cluster(name, &config, &asked);
}

CUresult abi_cluster_config(const char *name, const struct CUfunc_st *f, const CUlaunchConfig *config)
{
    struct asked asked = {.f = *f};
    CUresult result = check_dimensions(name, config);
    if (result == CUDA_SUCCESS)
        result = read_attributes(name, config, &asked);
    return result == CUDA_SUCCESS ? check_cluster(name, config, &asked) : result;
}

static CUresult read_config(const char *function, const void *handle, const CUlaunchConfig *c, struct asked *asked)
{
    CUresult result = abi_function_find(function, handle, &asked->f);
    if (result == CUDA_SUCCESS)
        result = check_dimensions(function, c);
    if (result == CUDA_SUCCESS)
        result = read_attributes(function, c, asked);
    if (result == CUDA_SUCCESS)
        result = check_cluster(function, c, asked);
    uint64_t threads = (uint64_t)c->blockDimX * c->blockDimY;
    threads = threads < INT32_MAX ? threads * c->blockDimZ : threads;
    asked->block_size = threads < INT32_MAX ? (int)threads : INT32_MAX;
    asked->shared = c->sharedMemBytes;
    return result;
}

/* The blocks of clusters that one multiprocessor holds. */
static int each_holds(const struct asked *asked)
{
    int blocks = abi_occupancy_blocks(&asked->f, asked->block_size, asked->shared);
    return blocks < BLOCKS ? blocks : BLOCKS;
}

/* The clusters that all groups hold. */
static uint64_t all_hold(const struct sim_profile *profile, const struct asked *asked)
{
    uint64_t clusters = 0, size = blocks_of(asked), each = (uint64_t)each_holds(asked);
    const char *at = profile->clusters;
    for (char *end; *at; at = end) {
        uint64_t group = strtoull(at, &end, 10);
        clusters += group >= size ? group * each / size : 0;
    }
    return clusters;
}

static CUresult active(const vmm_system *sys, int *clusters, const void *handle, const CUlaunchConfig *config)
{
    struct asked asked = {.given = false};
    CUresult result = read_config("cuOccupancyMaxActiveClusters", handle, config, &asked);
    if (result == CUDA_SUCCESS)
        *clusters = asked.given ? (int)all_hold(abi_query_profile(sys), &asked) : 0;
    return result;
}

CUresult cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func, const CUlaunchConfig *config)
{
    if (!numClusters || !func || !config)
        return abi_null(__func__, !numClusters ? "numClusters" : func ? "config" : "func");
    ABI_INITIALISED(active(sys, numClusters, func, config));
}

static CUresult largest(int *size, const void *handle, const CUlaunchConfig *config)
{
    struct asked asked = {.given = false};
    CUresult result = read_config("cuOccupancyMaxPotentialClusterSize", handle, config, &asked);
    if (result != CUDA_SUCCESS)
        return result;
    bool more = asked.f.attribute[CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED];
    *size = !each_holds(&asked) ? 0 : more ? LARGEST : PORTABLE;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func, const CUlaunchConfig *config)
{
    if (!clusterSize || !func || !config)
        return abi_null(__func__, !clusterSize ? "clusterSize" : func ? "config" : "func");
    ABI_INITIALISED(((void)sys, largest(clusterSize, func, config)));
}

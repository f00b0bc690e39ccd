/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of code and launches (rule_tests.h). */
#include <sys/resource.h>

#include "testing/rule_tests.h"

TEST_BREAKS(CODE_HANDLE, code_handle_broken)
{
    CUmodule module = NULL;
    CUfunction found = NULL;
    OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleUnload(module));
    REFUSED(cuModuleUnload(module), ERROR_INVALID_HANDLE);
    REFUSED(cuModuleGetFunction(&found, module, "vectorAdd"), ERROR_INVALID_HANDLE);
}

TEST_NEAR_MISS(CODE_HANDLE, code_handle_kept)
{
    CUmodule module = NULL;
    OK(cuModuleLoadData(&module, "image"));
    ACCEPTED(cuModuleUnload(module));
}

TEST_BREAKS(CODE_FILE, code_file_broken)
{
    CUmodule module = NULL;
    REFUSED(cuModuleLoad(&module, "/nonexistent"), ERROR_FILE_NOT_FOUND);
    REFUSED(cuModuleLoad(&module, "/"), ERROR_FILE_NOT_FOUND);
    tap_ok(!module, "and nothing is loaded");
}

TEST_NEAR_MISS(CODE_FILE, code_file_kept)
{
    CUmodule module = NULL;
    ACCEPTED(cuModuleLoad(&module, "/proc/self/exe"));
    OK(cuModuleUnload(module));
}

TEST_BREAKS(CODE_SYSTEM, code_system_broken)
{
    CUmodule module = NULL;
    struct rlimit before, none;
    if (getrlimit(RLIMIT_NOFILE, &before))
        abort();
    none = before;
    none.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &none);
    lines = 0;
    CUresult result = cuModuleLoad(&module, "/proc/self/exe");
    setrlimit(RLIMIT_NOFILE, &before);
    IS(result, ERROR_OPERATING_SYSTEM);
    tap_ok(refused_by_rule(), "by %s", rule);
}

TEST_NEAR_MISS(CODE_SYSTEM, code_system_kept)
{
    CUlibrary library = NULL;
    ACCEPTED(cuLibraryLoadFromFile(&library, "/proc/self/exe", NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryUnload(library));
}

TEST_BREAKS(CODE_NAME, code_name_broken)
{
    CUmodule module = NULL;
    CUfunction found = NULL;
    CUdeviceptr at = 1;
    size_t size = 1;
    OK(cuModuleLoadData(&module, "image"));
    REFUSED(cuModuleGetFunction(&found, module, "absent"), ERROR_NOT_FOUND);
    REFUSED(cuModuleGetGlobal(&at, &size, module, "variable"), ERROR_NOT_FOUND);
    tap_ok(!at && !size, "and the outputs are 0");
    OK(cuModuleUnload(module));
}

TEST_NEAR_MISS(CODE_NAME, code_name_kept)
{
    CUmodule module = NULL;
    CUfunction found = NULL;
    OK(cuModuleLoadData(&module, "image"));
    ACCEPTED(cuModuleGetFunction(&found, module, "vectorAdd"));
    OK(cuModuleUnload(module));
}

TEST_BREAKS(CODE_KIND, code_kind_broken)
{
    CUmodule module = NULL;
    CUlibrary library = NULL;
    CUdeviceptr at = 1;
    void *function = &at;
    size_t size = 1;
    OK(cuModuleLoadData(&module, "image"));
    OK(cuLibraryLoadData(&library, "image", NULL, NULL, 0, NULL, NULL, 0));
    REFUSED(cuModuleGetGlobal(&at, &size, module, "vectorAdd"), ERROR_INVALID_VALUE);
    REFUSED(cuModuleGetGlobal(&at, &size, module, ""), ERROR_INVALID_VALUE);
    tap_ok(!at && !size, "and the outputs are 0");
    at = size = 1;
    REFUSED(cuLibraryGetGlobal(&at, &size, library, "vectorAdd"), ERROR_INVALID_VALUE);
    REFUSED(cuLibraryGetManaged(&at, &size, library, ""), ERROR_INVALID_VALUE);
    REFUSED(cuLibraryGetUnifiedFunction(&function, library, "vectorAdd"), ERROR_INVALID_VALUE);
    tap_ok(at == 1 && size == 1 && function == &at, "and the outputs are as they were");
    OK(cuLibraryUnload(library));
    OK(cuModuleUnload(module));
}

TEST_NEAR_MISS(CODE_KIND, code_kind_kept)
{
    CUmodule module = NULL;
    CUlibrary library = NULL;
    CUdeviceptr at = 0;
    size_t size = 0;
    OK(cuModuleLoadData(&module, "image"));
    OK(cuLibraryLoadData(&library, "image", NULL, NULL, 0, NULL, NULL, 0));
    ACCEPTED(cuModuleGetGlobal(&at, &size, module, "counter"));
    EQUAL(size, 4);
    ACCEPTED(cuLibraryGetGlobal(&at, &size, library, "counter"));
    OK(cuLibraryUnload(library));
    OK(cuModuleUnload(module));
}

TEST_BREAKS(CODE_OWNER, code_owner_broken)
{
    CUlibrary library = NULL;
    CUmodule module = NULL;
    CUfunction found = NULL;
    OK(cuLibraryLoadData(&library, "image", NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetModule(&module, library));
    REFUSED(cuModuleUnload(module), ERROR_NOT_PERMITTED);
    OK(cuModuleGetFunction(&found, module, "vectorAdd"));
    OK(cuLibraryUnload(library));
}

TEST_NEAR_MISS(CODE_OWNER, code_owner_kept)
{
    CUmodule module = NULL;
    OK(cuModuleLoadData(&module, "image"));
    ACCEPTED(cuModuleUnload(module));
}

/* The only kernel of an image. */
static CUfunction kernel_of(CUmodule *module, const char *image, const char *name)
{
    CUfunction f = NULL;
    OK(cuModuleLoadData(module, image));
    OK(cuModuleGetFunction(&f, *module, name));
    return f;
}

TEST_BREAKS(LAUNCH_MISSING, launch_missing_broken)
{
    CUmodule module = NULL;
    static const char image[] = ".version 8.0\n.target sm_90\n.address_size 64\n.shared .b64 bar;\n"
                                ".entry lonely(.param .u64 a) { mbarrier.inval.shared.b64 [bar]; ret; }\n";
    CUfunction f = kernel_of(&module, image, "lonely");
    uint64_t a = 0;
    void *params[] = {&a};
    CUlaunchConfig config = {.gridDimX = 1, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 1, .blockDimY = 1, .blockDimZ = 1};
    REFUSED(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, params, NULL), ERROR_NOT_SUPPORTED);
    REFUSED(cuLaunchKernelEx(&config, f, params, NULL), ERROR_NOT_SUPPORTED);
    REFUSED(cuLaunchCooperativeKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, params), ERROR_NOT_SUPPORTED);
    OK(cuModuleUnload(module));
}

TEST_NEAR_MISS(LAUNCH_MISSING, launch_missing_kept)
{
    CUmodule module = NULL;
    static const char *const images[] = {"image", ".version 8.0\n.target sm_90\n.address_size 64\n.entry nothing { ret; }\n"};
    static const char *const names[] = {"nothing", "nothing"}; /* which a plugin has */
    for (int i = 0; i < 2; i++) {
        CUfunction f = kernel_of(&module, images[i], names[i]);
        ACCEPTED(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL));
        OK(cuModuleUnload(module));
    }
    CUfunction f = kernel_of(&module, ".version 8.0\n.target sm_90\n.address_size 64\n.entry alone { ret; }\n", "alone");
    ACCEPTED(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, stream, NULL, NULL)); /* which runs here */
    OK(cuModuleUnload(module));
}

static CUmodule cluster_module;

/* A function of a module of its own, and a launch of 16 blocks in clusters of x, or without clusters. */
static CUfunction of_clusters(CUlaunchConfig *config, CUlaunchAttribute *cluster, unsigned x)
{
    CUfunction f = NULL;
    OK(cuModuleLoadData(&cluster_module, "image"));
    OK(cuModuleGetFunction(&f, cluster_module, "nothing"));
    *cluster = (CUlaunchAttribute){.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, .value.clusterDim = {x, 1, 1}};
    *config = (CUlaunchConfig){.gridDimX = 16, .gridDimY = 1, .gridDimZ = 1, .blockDimX = 32, .blockDimY = 1, .blockDimZ = 1,
                               .attrs = cluster, .numAttrs = x != 0};
    return f;
}

TEST_BREAKS(LAUNCH_CLUSTER, launch_cluster_broken)
{
    static const unsigned tried[] = {3, 16, 32};
    CUlaunchAttribute cluster;
    CUlaunchConfig config;
    int clusters = 77;
    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++) {
        CUfunction f = of_clusters(&config, &cluster, tried[i]);
        REFUSED(cuOccupancyMaxActiveClusters(&clusters, f, &config), ERROR_INVALID_CLUSTER_SIZE);
        REFUSED(cuOccupancyMaxPotentialClusterSize(&clusters, f, &config), ERROR_INVALID_CLUSTER_SIZE);
        OK(cuModuleUnload(cluster_module));
    }
    CUfunction f = of_clusters(&config, &cluster, 2);
    cluster.value.clusterDim.y = 0;
    REFUSED(cuOccupancyMaxActiveClusters(&clusters, f, &config), ERROR_INVALID_CLUSTER_SIZE);
    for (unsigned z = 0; z < 2; z++) { /* neither divides a grid of (16, 1, 1) blocks */
        cluster.value.clusterDim.y = z ? 1 : 3;
        cluster.value.clusterDim.z = z ? 3 : 1;
        REFUSED(cuOccupancyMaxActiveClusters(&clusters, f, &config), ERROR_INVALID_CLUSTER_SIZE);
    }
    cluster.value.clusterDim.z = 1;
    for (int i = 3; i-- > 0;) { /* the depth, the height or the width differs */
        OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, i ? 2 : 3));
        OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, i == 1 ? 2 : 1));
        OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, i == 2 ? 2 : 1));
        REFUSED(cuOccupancyMaxActiveClusters(&clusters, f, &config), ERROR_INVALID_CLUSTER_SIZE);
    }
    REFUSED(cuLaunchKernel(f, 16, 1, 1, 32, 1, 1, 0, stream, NULL, NULL), ERROR_INVALID_CLUSTER_SIZE);
    EQUAL(clusters, 77);
    OK(cuModuleUnload(cluster_module));
}

TEST_NEAR_MISS(LAUNCH_CLUSTER, launch_cluster_kept)
{
    CUlaunchAttribute cluster;
    CUlaunchConfig config;
    int clusters = 0;
    CUfunction f = of_clusters(&config, &cluster, 8);
    ACCEPTED(cuOccupancyMaxActiveClusters(&clusters, f, &config));
    tap_ok(clusters > 0, "clusters of 8 run");
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 8));
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, 1));
    OK(cuFuncSetAttribute(f, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, 1));
    config.numAttrs = 0;
    ACCEPTED(cuOccupancyMaxActiveClusters(&clusters, f, &config));
    ACCEPTED(cuOccupancyMaxPotentialClusterSize(&clusters, f, &config));
    EQUAL(clusters, 8);
    ACCEPTED(cuLaunchKernel(f, 16, 1, 1, 32, 1, 1, 0, stream, NULL, NULL));
    OK(cuModuleUnload(cluster_module));
}

int main(void)
{
    return rule_tests();
}

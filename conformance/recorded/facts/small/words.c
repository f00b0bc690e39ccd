/* SPDX-License-Identifier: Apache-2.0 */
/* The words of ../small.c beside those of ../script/ask.c. Part of ../small.c, which includes it.
 *
 *     cfg:64:256:1K:c4            the address of a CUlaunchConfig: grid, block (x or x.y.z), shared memory, attributes:
 *                                 cX cluster (x or x.y.z), pN its scheduling policy, - none
 *     two                         a function of the block size: twice as many bytes of shared memory
 *
 * "launch F D" launches one thread of the kernel F with the address D.
 */

static CUlaunchConfig config;
static CUlaunchAttribute attribute[2];

static const char *dimensions(const char *text, unsigned d[3])
{
    char *end;
    d[1] = d[2] = 1;
    d[0] = (unsigned)strtoul(text, &end, 10);
    for (int i = 1; i < 3 && *end == '.'; i++)
        d[i] = (unsigned)strtoul(end + 1, &end, 10);
    return end;
}

static u64 new_config(const char *word)
{
    CUlaunchConfig *c = &config;
    unsigned grid[3], block[3], cluster[3];
    memset(c, 0, sizeof *c);
    memset(attribute, 0, sizeof attribute);
    word = dimensions(word, grid);
    word = dimensions(word + 1, block);
    char shared[16];
    size_t length = strcspn(++word, ":");
    bool is;
    snprintf(shared, sizeof shared, "%.*s", (int)length, word);
    *c = (CUlaunchConfig){.gridDimX = grid[0], .gridDimY = grid[1], .gridDimZ = grid[2],
                          .blockDimX = block[0], .blockDimY = block[1], .blockDimZ = block[2],
                          .sharedMemBytes = (unsigned)number(shared, &is), .hStream = (CUstream)(uintptr_t)value_of("s")};
    for (word += length + 1; *word == 'c' || *word == 'p';) {
        CUlaunchAttribute *a = &attribute[c->numAttrs++];
        a->id = (CUlaunchAttributeID)(*word == 'c' ? 4 : 5);
        bool is_cluster = *word == 'c';
        word = dimensions(word + 1, cluster);
        memcpy(&a->value, cluster, is_cluster ? sizeof cluster : sizeof cluster[0]);
    }
    c->attrs = c->numAttrs ? attribute : NULL;
    return (u64)(uintptr_t)c;
}

static size_t two_per_thread(int block)
{
    return 2 * (size_t)block;
}

static bool own_word(const char *word, u64 *value)
{
    if (strncmp(word, "cfg:", 4) == 0)
        *value = new_config(word + 4);
    else if (strcmp(word, "two") == 0)
        *value = (u64)(uintptr_t)two_per_thread;
    else
        return false;
    return true;
}

static void show_own(char *text, size_t room, const struct output *o)
{
    (void)text, (void)room, (void)o;
}

static const struct {
    const char *name, *symbol;
} shorts[] = {{"begin", "cuStreamBeginCapture_v2"},
              {"end", "cuStreamEndCapture"},
              {"status", "cuStreamIsCapturing"},
              {"exchange", "cuThreadExchangeStreamCaptureMode"},
              {"info", "cuStreamGetCaptureInfo_v2"},
              {"infos", "cuStreamGetCaptureInfo_v3"},
              {"global", "cuModuleGetGlobal_v2"},
              {"clusters", "cuOccupancyMaxActiveClusters"},
              {"largest", "cuOccupancyMaxPotentialClusterSize"},
              {"blocks", "cuOccupancyMaxActiveBlocksPerMultiprocessor"},
              {"block", "cuOccupancyMaxPotentialBlockSize"},
              {"room", "cuOccupancyAvailableDynamicSMemPerBlock"},
              {"get", "cuFuncGetAttribute"},
              {"set", "cuFuncSetAttribute"},
              {"kget", "cuKernelGetAttribute"},
              {"kset", "cuKernelSetAttribute"},
              {"dtoh", "cuMemcpyDtoH_v2"},
              {"htod", "cuMemcpyHtoD_v2"},
              {"about", "cuPointerGetAttribute"},
              {"range", "cuMemGetAddressRange_v2"}};

static const char *symbol_of_short(const char *name)
{
    for (size_t i = 0; i < COUNT(shorts); i++)
        if (strcmp(shorts[i].name, name) == 0)
            return shorts[i].symbol;
    return NULL;
}

static bool own_call(const char *name, const u64 *a, size_t count, CUresult *r, char *more, size_t room)
{
    u64 value = count > 1 ? a[1] : 0;
    void *params[] = {&value};
    (void)more, (void)room;
    if (strcmp(name, "launch") != 0)
        return false;
    *r = cuLaunchKernel((CUfunction)(uintptr_t)a[0], 1, 1, 1, 1, 1, 1, 0, (CUstream)(uintptr_t)value_of("s"), params, NULL);
    return true;
}

static void called(const char *symbol, const u64 *a, CUresult r)
{
    (void)symbol, (void)a, (void)r;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* What the groups share. Part of ../nvml.c, which includes it.
 *
 *     static void wrong(struct turn *turn)
 *     {
 *         N("W", nvmlDeviceGetIndex(NULL, &out.u));                      one case: it runs when it is its turn
 *         NV("V", nvmlDeviceGetBrand(one, &out.brand), "%d", out.brand); and with what it wrote
 *     }
 */

static union {
    unsigned char bytes[4096];
    unsigned u, two[2];
    int i, pair[2];
    unsigned long set[64];
    unsigned long long ull;
    char text[128];
    nvmlDevice_t device, list[8];
    nvmlBrandType_t brand;
    nvmlEnableState_t state, states[2];
    nvmlComputeMode_t mode;
    nvmlPciInfo_t pci;
    nvmlPciInfoExt_t ext;
    nvmlMemory_t memory;
    nvmlMemory_v2_t memory2;
    nvmlProcessInfo_v1_t first[16];
    nvmlProcessInfo_v2_t second[16];
    nvmlGpuP2PStatus_t p2p;
    nvmlIntNvLinkDeviceType_t remote;
    nvmlGpuTopologyLevel_t level;
    nvmlGpuFabricInfo_t fabric;
    nvmlGpuFabricInfoV_t fabric3;
    nvmlConfComputeSystemState_t cc;
    nvmlSystemConfComputeSettings_t settings;
    nvmlFieldValue_t fields[4];
} out;

static nvmlDevice_t one;
static unsigned count, devices;

/* Which case of a group is to run, or to be named: the at-th. */
struct turn {
    size_t at, place;
    char *id;
    int run;
};

static const char *code(nvmlReturn_t r)
{
    static const char *const names[] = {
        "SUCCESS", "UNINITIALIZED", "INVALID_ARGUMENT", "NOT_SUPPORTED", "NO_PERMISSION", "ALREADY_INITIALIZED", "NOT_FOUND",
        "INSUFFICIENT_SIZE", "INSUFFICIENT_POWER", "DRIVER_NOT_LOADED", "TIMEOUT", "IRQ_ISSUE", "LIBRARY_NOT_FOUND",
        "FUNCTION_NOT_FOUND", "CORRUPTED_INFOROM", "GPU_IS_LOST", "RESET_REQUIRED", "OPERATING_SYSTEM",
        "LIB_RM_VERSION_MISMATCH", "IN_USE", "MEMORY", "NO_DATA", "VGPU_ECC_NOT_SUPPORTED", "INSUFFICIENT_RESOURCES",
        "FREQ_NOT_SUPPORTED", "ARGUMENT_VERSION_MISMATCH", "DEPRECATED", "NOT_READY", "GPU_NOT_FOUND", "INVALID_STATE",
        "RESET_TYPE_NOT_SUPPORTED",
    };
    static char number[16];
    if ((size_t)r < COUNT(names))
        return names[r];
    snprintf(number, sizeof number, "code%d", (int)r);
    return (int)r == 999 ? "UNKNOWN" : number;
}

static bool is_turn(struct turn *turn, const char *letter, const char *call)
{
    if (turn->place++ != turn->at)
        return false;
    snprintf(turn->id, CASE_ID, "%s.%s", letter, call);
    memset(&out, 0xee, sizeof out);
    return turn->run != 0;
}

/* Whether a call wrote outputs; the versions of structs are the callers'. */
static bool written(const unsigned char *before)
{
    return memcmp(before, out.bytes, sizeof out) != 0;
}

static unsigned char preset[sizeof out];

/* N: only the answer. NA: with outputs that are set before. NV: with values of outputs, where it succeeded. */
#define NA(letter, set, call)                                                                   \
    do {                                                                                        \
        if (is_turn(turn, letter, #call)) {                                                     \
            set;                                                                                \
            memcpy(preset, &out, sizeof out);                                                   \
            nvmlReturn_t r_ = (call);                                                           \
            say(turn->id, "%s%s", code(r_), r_ && written(preset) ? " written" : "");           \
        }                                                                                       \
    } while (0)
#define N(letter, call) NA(letter, (void)0, call)
#define NVA(letter, set, call, format, ...)                                                     \
    do {                                                                                        \
        if (is_turn(turn, letter, #call)) {                                                     \
            set;                                                                                \
            memcpy(preset, &out, sizeof out);                                                   \
            nvmlReturn_t r_ = (call);                                                           \
            if (r_)                                                                             \
                say(turn->id, "%s%s", code(r_), written(preset) ? " written" : "");             \
            else                                                                                \
                say(turn->id, "SUCCESS " format, __VA_ARGS__);                                  \
        }                                                                                       \
    } while (0)
#define NV(letter, call, format, ...) NVA(letter, (void)0, call, format, __VA_ARGS__)

static void nothing(void) {}

static void begin(void)
{
    nvmlReturn_t r = nvmlInit_v2();
    if (!r)
        r = nvmlDeviceGetHandleByIndex_v2(0, &one);
    if (!r)
        r = nvmlDeviceGetCount_v2(&devices);
    if (r) {
        say("begin!", "%s", code(r));
        _exit(9);
    }
}

static void (*group_cases)(struct turn *turn);

static void one_of_group(size_t i, char *id, int run)
{
    struct turn turn = {.at = i, .id = id, .run = run};
    group_cases(&turn);
}

static void group(const char *letter, void (*start)(void), void (*cases)(struct turn *turn))
{
    char id[CASE_ID];
    struct turn all = {.at = (size_t)-1, .id = id};
    if (!is_wanted(letter))
        return;
    group_cases = cases;
    cases(&all);
    run_cases(start, all.place, one_of_group);
}

/* The first lines, by a process of its own, so that the cases begin without a driver that is initialised. */
static void about(void)
{
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        char name[96] = "", driver[80] = "";
        begin();
        nvmlDeviceGetName(one, name, sizeof name);
        nvmlSystemGetDriverVersion(driver, sizeof driver);
        printf("# device: %u x %s\n# driver: %s\n# made by conformance/recorded/facts/nvml.c\n", devices, name, driver);
        fflush(stdout);
        _exit(0);
    }
    report("about!", pid);
}

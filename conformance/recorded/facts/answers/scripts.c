/* SPDX-License-Identifier: Apache-2.0 */
/* Groups of calls without an address: lines of consecutive calls. Part of ../answers.c.
 *
 *     C.cuCtxSetLimit 0 4096; cuCtxGetLimit o8 0 <TAB> SUCCESS; SUCCESS 4096
 */

static const char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                          ".visible .entry reads(.param .u64 p)\n{\n .reg .u64 %a;\n .reg .u32 %v;\n .reg .pred %q;\n"
                          " ld.param.u64 %a, [p];\n cvta.to.global.u64 %a, %a;\n ld.volatile.global.u32 %v, [%a];\n"
                          " setp.eq.u32 %q, %v, 123456789;\n @%q st.volatile.global.u32 [%a], 0;\n ret;\n}\n"
                          ".visible .entry writes(.param .u64 p)\n{\n .reg .u64 %a;\n"
                          " ld.param.u64 %a, [p];\n cvta.to.global.u64 %a, %a;\n"
                          " st.volatile.global.u32 [%a], 0x33333333;\n ret;\n}\n";

static void load_kernels(void)
{
    CUresult r = cuModuleLoadData(&now.module, ptx);
    if (!r)
        r = cuModuleGetFunction(&now.reads, now.module, "reads");
    if (!r)
        r = cuModuleGetFunction(&now.writes, now.module, "writes");
    now.function = now.reads;
    if (!r)
        r = cuLibraryLoadData(&now.library, ptx, NULL, NULL, 0, NULL, NULL, 0);
    if (!r)
        r = cuLibraryGetKernel(&now.kernel, now.library, "reads");
    if (r)
        say("kernels!", "%s", name_of(r));
}

static void start_scripts(void)
{
    int devices = 0;
    init();
    cuDeviceGetCount(&devices);
    if (devices > 1)
        cuDevicePrimaryCtxRetain(&primary[1], 1);
    now.own = primary[0];
    now.other = primary[1] ? primary[1] : primary[0];
    cuMemAlloc(&now.device, SCRATCH);
    cuStreamCreate(&now.stream, CU_STREAM_NON_BLOCKING);
    cuEventCreate(&now.event, 0);
    cuEventRecord(now.event, now.stream);
    CUmemAllocationProp p = prop_at(L_DEVICE, 0);
    cuMemCreate(&now.handle, G, &p, 0);
    load_kernels();
    cuCtxSynchronize();
}

static char scripts[4096][160];
static size_t script_count;

static void script(const char *text)
{
    row_count = 0;
    add(ASKS, text);
    for (size_t i = 0; i < row_count && script_count < COUNT(scripts); i++)
        snprintf(scripts[script_count++], sizeof scripts[0], "%s", rows[i].text);
}

/* Makes the call during a capture in each mode. */
static void captured(const char *text)
{
    char line[160];
    for (int mode = 0; mode < 3; mode++) {
        snprintf(line, sizeof line, "cuStreamBeginCapture_v2 s %d; %s; cuStreamIsCapturing s o4; cuStreamEndCapture s o8",
                 mode, text);
        script(line);
    }
}

static void script_one(size_t i, char *id, int run)
{
    char text[sizeof scripts[0]], answers[1024] = "", one[512], *next = NULL;
    snprintf(id, CASE_ID, "%s.%s", group, scripts[i]);
    if (!run)
        return;
    snprintf(text, sizeof text, "%s", scripts[i]);
    keeps = true;
    memset(now.last, 0, sizeof now.last);
    for (char *call = strtok_r(text, ";", &next); call; call = strtok_r(NULL, ";", &next)) {
        ask(call + strspn(call, " "), strstr(call, "GetId") != NULL, one, sizeof one);
        snprintf(answers + strlen(answers), sizeof answers - strlen(answers), "%s%s", answers[0] ? "; " : "", one);
    }
    keeps = false;
    cuCtxSetCurrent(now.own);
    say(id, "%s", answers);
}

static void run_scripts(const char *name, void (*start)(void))
{
    if (!is_wanted(name) || !name[0])
        return;
    snprintf(group, sizeof group, "%s", name);
    run_cases(start, script_count, script_one);
}

/* Calls every entry point with zero arguments, before cuInit and after; cuMulticastCreate is never called on a driver. */
static void before_init(void)
{
}

static void zeros(void)
{
    script_count = 0;
#define ZEROS_ABSENT(text)
#define ZEROS_DONE(text) \
    if (strcmp(text, "cuMulticastCreate") && strcmp(text, "cuInit")) \
        script(text);
#define VMM_ENTRY(symbol, name, version, streams, here, checked, call) ZEROS_##here(#symbol)
#include "../../../../api/entries.def"
    run_scripts("B", before_init);
    run_scripts("Z", start_scripts);
}

static void no_context(void)
{
    start_scripts();
    cuCtxSetCurrent(NULL);
    now.own = NULL; /* each line leaves no current context */
}

static void calls_without_addresses(void)
{
#define SCRIPT(text) script(text);
#define CAPTURED(text) captured(text);
#define GROUP(name)                      \
    run_scripts(current, start_scripts); \
    script_count = 0;                    \
    current = name;
    const char *current = "";
    script_count = 0;
#include "scripts.def"
    GROUP("")
#undef SCRIPT
#undef CAPTURED
    script_count = 0;
#define SCRIPT(text) script(text);
#define CAPTURED(text)
#undef GROUP
#define GROUP(name)
#include "scripts.def"
#undef SCRIPT
#undef CAPTURED
#undef GROUP
    run_scripts("N", no_context);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* All functions of nvml_entries.def can be looked up; those that are not simulated are reported once, by name;
 * CUVMM_EXPLAIN=1 prints the reason for other refusals. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/nvml.h"

#include "tap.h"

static const struct {
    const char *name;
    bool here;
} entries[] = {
#define ENTRY_DONE true
#define ENTRY_ABSENT false
#define NVML_ENTRY(symbol, here) {#symbol, ENTRY_##here},
#include "nvml_entries.def"
};

enum { ENTRIES = sizeof entries / sizeof entries[0] };

/* ---- output on standard error ---- */

static FILE *said;
static int before;

static void hear(void)
{
    said = tmpfile();
    before = dup(STDERR_FILENO);
    if (!said || before < 0 || dup2(fileno(said), STDERR_FILENO) < 0)
        tap_bail("standard error cannot be heard");
}

static const char *heard(void)
{
    static char text[1 << 16];
    dup2(before, STDERR_FILENO);
    close(before);
    rewind(said);
    text[fread(text, 1, sizeof text - 1, said)] = '\0';
    fclose(said);
    return text;
}

static unsigned lines(const char *text)
{
    unsigned count = 0;
    for (; *text; text++)
        count += *text == '\n';
    return count;
}

/* ---- the functions ---- */

static void *library;

/* Calls each absent function; returns the number of those that return the code. */
static unsigned ask_each(nvmlReturn_t code, unsigned *absent)
{
    unsigned right = 0;
    *absent = 0;
    for (unsigned i = 0; i < ENTRIES; i++) {
        int (*function)(void) = NULL;
        *(void **)&function = dlsym(library, entries[i].name);
        if (entries[i].here)
            continue;
        ++*absent;
        right += function && function() == (int)code;
    }
    return right;
}

static void found(void)
{
    unsigned missing = 0;
    for (unsigned i = 0; i < ENTRIES; i++)
        if (!dlsym(library, entries[i].name)) {
            tap_note("%s is missing", entries[i].name);
            missing++;
        }
    tap_u64(missing, 0, "%d names, each of which can be found", ENTRIES);
    tap_ok(!dlsym(library, "nvml_enter") && !dlsym(library, "vmm_open"), "and nothing of this project's own");
}

static void absent(void)
{
    unsigned all, right;
    char line[160];
    hear();
    right = ask_each(NVML_ERROR_UNINITIALIZED, &all);
    tap_u64(right, all, "before nvmlInit_v2 they are uninitialised, too");
    tap_text(heard(), "", "of which nothing is said");
    nvmlInit();
    hear();
    right = ask_each(NVML_ERROR_NOT_SUPPORTED, &all);
    tap_u64(right, all, "%u functions are not supported", all);
    const char *text = heard();
    tap_u64(lines(text), all, "each is reported");
    unsigned unnamed = 0;
    for (unsigned i = 0; i < ENTRIES; i++) {
        snprintf(line, sizeof line, "cuvmm: libnvidia-ml.so.1: %s is not simulated. It answers NVML_ERROR_NOT_SUPPORTED (docs/nvml.md)\n",
                 entries[i].name);
        unnamed += !entries[i].here != (strstr(text, line) != NULL);
    }
    tap_u64(unnamed, 0, "with its name");
    hear();
    ask_each(NVML_ERROR_NOT_SUPPORTED, &all);
    tap_text(heard(), "", "once");
    nvmlShutdown();
}

static void explained(void)
{
    nvmlDevice_t device = NULL;
    hear();
    nvmlDeviceGetHandleByIndex(0, &device);
    setenv("CUVMM_EXPLAIN", "0", 1);
    nvmlDeviceGetHandleByIndex(0, &device);
    setenv("CUVMM_EXPLAIN", "", 1);
    nvmlDeviceGetHandleByIndex(0, &device);
    tap_text(heard(), "", "a refusal is quiet");
    setenv("CUVMM_EXPLAIN", "1", 1);
    hear();
    nvmlDeviceGetHandleByIndex(0, &device);
    nvmlInit();
    nvmlDeviceGetHandleByIndex(3, &device);
    tap_text(heard(),
             "cuvmm: libnvidia-ml.so.1: nvmlDeviceGetHandleByIndex_v2: nvmlInit_v2 has not been called, or was undone by "
             "nvmlShutdown\n"
             "cuvmm: libnvidia-ml.so.1: nvmlDeviceGetHandleByIndex_v2: index is 3, but the machine has 1 devices, numbered "
             "from 0\n",
             "with CUVMM_EXPLAIN=1 it prints what was wrong");
    nvmlShutdown();
    unsetenv("CUVMM_EXPLAIN");
}

static void no_machine(void)
{
    setenv("CUVMM_SIM", "sim:nowhere", 1);
    hear();
    nvmlReturn_t result = nvmlInit();
    tap_text(heard(), "cuvmm: libnvidia-ml.so.1: nvmlInit_v2: there is no machine: no built-in profile and no file \"nowhere\"; cuvmm "
                      "profiles lists them\n", "a machine that does not exist is named");
    tap_u64(result, NVML_ERROR_DRIVER_NOT_LOADED, "as without a driver");
    setenv("CUVMM_SIM", "sim:h100", 1);
    tap_u64(nvmlInit(), NVML_SUCCESS, "another attempt may do better");
    nvmlShutdown();
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100", 1);
    unsetenv("CUVMM_MACHINE");
    unsetenv("CUVMM_EXPLAIN");
    library = dlopen("libnvidia-ml.so.1", RTLD_NOW);
    if (!library)
        tap_bail("%s", dlerror());
    found();
    absent();
    explained();
    no_machine();
    dlclose(library);
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "exec.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exec_file.h"
#include "exec_process.h"
#include "profile.h"


/* Adds "NAME=part" for each part of a text that '|' divides. */
static void add_layers(char *layers, size_t size, const char *name, const char *parts)
{
    while (parts && *parts) {
        size_t length = strcspn(parts, "|"), at = strlen(layers);
        snprintf(layers + at, size - at, "%s%s=%.*s", at ? "|" : "", name, (int)length, parts);
        parts += length + (parts[length] == '|');
    }
}

void exec_add_layers(struct exec_environment *environment, const char *layers)
{
    const char *spec = exec_environment_get(environment, "CUVMM_SIM");
    if (!spec || !spec[0])
        spec = exec_machine_of_environment();
    if (!strchr(spec, '|')) {
        exec_environment_prepend(environment, "CUVMM_LAYERS", layers, '|');
        return;
    }
    char *whole = strdup(spec);
    environment->incomplete |= !whole;
    exec_environment_set(environment, "CUVMM_SIM", whole ? whole : "");
    exec_environment_prepend(environment, "CUVMM_SIM", layers, '|');
    free(whole);
}

/* A trace is outermost: it records what the program gets. */
static void set_machine(const struct exec_options *options, bool fails, struct exec_environment *environment)
{
    char layers[4096] = "";
    if (options->machine)
        exec_environment_set(environment, "CUVMM_SIM", options->machine);
    add_layers(layers, sizeof layers, "fault", fails ? options->fault : NULL);
    if (layers[0])
        exec_add_layers(environment, layers);
    snprintf(layers, sizeof layers, "trace=%s", options->trace ? options->trace : "");
    if (options->trace)
        exec_add_layers(environment, layers);
}

/* AddressSanitizer insists on being the first library of a program, though it does not need to be. */
static void preload(struct exec_environment *environment, const char *folder, const char *library)
{
    char text[4096 + 64];
    snprintf(text, sizeof text, "%s/%s", folder, library);
    exec_environment_prepend(environment, "LD_PRELOAD", text, ':');
    if (!strstr(exec_environment_get(environment, "ASAN_OPTIONS") ? exec_environment_get(environment, "ASAN_OPTIONS") : "",
                "verify_asan_link_order=0"))
        exec_environment_prepend(environment, "ASAN_OPTIONS", "verify_asan_link_order=0", ':');
}

/* A preloaded CUDA runtime library is the one that a program linked with its name gets, whatever DT_RPATH, DT_RUNPATH and
 * LD_LIBRARY_PATH say; two versions do not clash, because their symbols are versioned. */
static void preload_runtime(struct exec_environment *environment, const char *folder)
{
    preload(environment, folder, "libcudart.so.12");
    preload(environment, folder, "libcudart.so.13");
    exec_environment_set(environment, "CUVMM_RUNTIME_FOLDER", folder);
}

/* Triton compiles to machine code with an assembler that it ships; ours keeps the PTX, which runs here. */
static void replace_assembler(struct exec_environment *environment, const char *folder)
{
    static const char *const names[] = {"TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH"};
    char path[4096 + 16];
    snprintf(path, sizeof path, "%s/ptxas", folder);
    for (size_t i = 0; access(path, X_OK) == 0 && i < sizeof names / sizeof names[0]; i++)
        if (!exec_environment_get(environment, names[i]))
            exec_environment_set(environment, names[i], path);
}

static void preload_files(struct exec_environment *environment, const char *folder, int devices)
{
    char text[64];
    preload(environment, folder, "libcuvmm-device-files.so");
    snprintf(text, sizeof text, "%d:" SIM_DRIVER, devices);
    exec_environment_set(environment, "CUVMM_DEVICE_FILES", text);
}

static bool ask(const struct exec_options *options, int *devices, FILE *err)
{
    char why[EXEC_WHY], faults[1024] = "";
    bool whole = options->machine && strchr(options->machine, '|');
    add_layers(faults, sizeof faults, "fault", options->fault);
    if (whole && faults[0]) { /* its own layers are checked with it; these separately */
        *devices = exec_machine_ask("sim:h100", faults, why);
        if (*devices < 0)
            fprintf(err, "%s: %s: the fault cannot be had: %s\n", options->who, options->nothing, why);
    }
    if (!whole || !faults[0] || *devices >= 0) {
        *devices = exec_machine_ask(options->machine, !whole && faults[0] ? faults : NULL, why);
        if (*devices < 0)
            fprintf(err, "%s: %s: the machine %s%scannot be had: %s\n", options->who, options->nothing,
                    options->machine ? options->machine : "", options->machine ? " " : "", why);
    }
    return *devices >= 0;
}

static bool make(const struct exec_options *options, bool fails, struct exec_setting *setting, FILE *err)
{
    char folder[4096], files[4096], runtime[4096];
    struct exec_environment *environment = &setting->environment;
    int devices;
    *setting = (struct exec_setting){0};
    if (!exec_folder(options->who, "libcuda.so.1", folder, sizeof folder, err) ||
        !exec_folder(options->who, "libcuvmm-device-files.so", files, sizeof files, err) ||
        !exec_folder(options->who, "libcudart.so.13", runtime, sizeof runtime, err) || !ask(options, &devices, err))
        return false;
    exec_environment_prepend(environment, "LD_LIBRARY_PATH", folder, ':');
    exec_environment_set(environment, "CUVMM_DRIVER_FOLDER", folder);
    if (options->own_runtime)
        exec_environment_unset(environment, "CUVMM_RUNTIME_FOLDER");
    else
        preload_runtime(environment, runtime);
    if (devices)
        preload_files(environment, files, devices);
    replace_assembler(environment, folder);
    set_machine(options, fails, environment);
    if (options->explain)
        exec_environment_set(environment, "CUVMM_EXPLAIN", "1");
    if (!exec_machine_is_named(options->machine) && exec_machine_name(setting->machine))
        exec_environment_set(environment, "CUVMM_MACHINE", setting->machine);
    return true;
}

bool exec_setting_make(const struct exec_options *options, struct exec_setting *setting, FILE *err)
{
    return make(options, true, setting, err);
}

bool exec_setting_try(const struct exec_options *options, struct exec_setting *setting, FILE *err)
{
    return make(options, false, setting, err);
}

void exec_setting_free(struct exec_setting *setting)
{
    if (setting->machine[0])
        exec_machine_remove(setting->machine);
    exec_environment_free(&setting->environment);
}

/* A fault of one process among several: they are counted in a file. Returns false, after reporting it, if none can be created. */
static bool count_processes(const struct exec_options *options, struct exec_environment *environment, char path[4096], FILE *err)
{
    path[0] = '\0';
    if (!options->fault || !strstr(options->fault, "process="))
        return true;
    if (exec_zeros(path, 4096, sizeof(uint64_t))) {
        exec_environment_set(environment, "CUVMM_PROCESSES", path);
        return true;
    }
    fprintf(err, "%s: no file to count processes in TMPDIR, /dev/shm or /tmp: %s\n", options->who, strerror(errno));
    return false;
}

int exec_run(const struct exec_options *options, FILE *err)
{
    char path[4096];
    struct exec_setting setting;
    struct exec_ending end = {EXEC_NOTHING, 0};
    int found = exec_program(options->who, options->command[0], path, sizeof path, err);
    if (found != EXEC_FINE)
        return found;
    if (!exec_setting_make(options, &setting, err))
        return EXEC_NOTHING;
    char processes[4096];
    if (count_processes(options, &setting.environment, processes, err))
        exec_process(options->who, options->command, path, &setting.environment, NULL, &end, err);
    if (processes[0])
        unlink(processes);
    exec_setting_free(&setting);
    return end.status;
}

int exec_print_environment(const struct exec_options *options, FILE *out, FILE *err)
{
    struct exec_setting setting;
    if (!exec_setting_make(options, &setting, err))
        return EXEC_NOTHING;
    exec_environment_print(&setting.environment, out);
    exec_environment_free(&setting.environment);
    return 0;
}

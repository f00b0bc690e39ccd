/* SPDX-License-Identifier: Apache-2.0 */
#include "exec.h"

#include <stdlib.h>
#include <string.h>

#include "exec_process.h"

#define DRIVER "580.159.04" /* the recorded driver, whose answers these are */

/* Adds "NAME=part" for each part of a text that '|' divides. */
static void add_layers(char *layers, size_t size, const char *name, const char *parts)
{
    while (parts && *parts) {
        size_t length = strcspn(parts, "|"), at = strlen(layers);
        snprintf(layers + at, size - at, "%s%s=%.*s", at ? "|" : "", name, (int)length, parts);
        parts += length + (parts[length] == '|');
    }
}

static void add_text(char *layers, size_t size, const char *text)
{
    size_t at = strlen(layers);
    if (text && text[0])
        snprintf(layers + at, size - at, "%s%s", at ? "|" : "", text);
}

/* A spec with layers of its own takes none from the environment: they go in front of it. */
static void set_machine(const struct exec_options *options, struct exec_environment *environment)
{
    char layers[4096 + 1024] = "";
    const char *spec = options->machine ? options->machine : exec_environment_get(environment, "CUVMM_SIM");
    bool whole = spec && strchr(spec, '|');
    if (options->trace)
        snprintf(layers, sizeof layers, "trace=%s", options->trace);
    add_layers(layers, sizeof layers, "fault", options->fault);
    if (!whole)
        add_text(layers, sizeof layers, exec_environment_get(environment, "CUVMM_LAYERS"));
    if (layers[0] && !whole)
        exec_environment_set(environment, "CUVMM_LAYERS", layers);
    if (whole && layers[0]) {
        add_text(layers, sizeof layers, spec);
        exec_environment_set(environment, "CUVMM_SIM", layers);
    } else if (options->machine) {
        exec_environment_set(environment, "CUVMM_SIM", options->machine);
    }
}

/* AddressSanitizer insists on being the first library of a program, though it does not need to be. */
static void preload(struct exec_environment *environment, const char *folder, int devices)
{
    char text[4096 + 64];
    snprintf(text, sizeof text, "%s/libcuvmm-device-files.so", folder);
    exec_environment_prepend(environment, "LD_PRELOAD", text, ':');
    snprintf(text, sizeof text, "%d:" DRIVER, devices);
    exec_environment_set(environment, "CUVMM_DEVICE_FILES", text);
    exec_environment_prepend(environment, "ASAN_OPTIONS", "verify_asan_link_order=0", ':');
}

static bool ask(const struct exec_options *options, int *devices, FILE *err)
{
    char why[EXEC_WHY], faults[1024] = "";
    bool whole = options->machine && strchr(options->machine, '|');
    add_layers(faults, sizeof faults, "fault", options->fault);
    if (whole && faults[0]) { /* its own layers are looked at with it; these by themselves */
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

bool exec_setting_make(const struct exec_options *options, struct exec_setting *setting, FILE *err)
{
    char folder[4096], files[4096];
    struct exec_environment *environment = &setting->environment;
    int devices;
    *setting = (struct exec_setting){0};
    if (!exec_folder(options->who, "libcuda.so.1", folder, sizeof folder, err) ||
        !exec_folder(options->who, "libcuvmm-device-files.so", files, sizeof files, err) || !ask(options, &devices, err))
        return false;
    exec_environment_prepend(environment, "LD_LIBRARY_PATH", folder, ':');
    if (devices)
        preload(environment, files, devices);
    set_machine(options, environment);
    if (options->explain)
        exec_environment_set(environment, "CUVMM_EXPLAIN", "1");
    if (!exec_machine_is_named(options->machine) && exec_machine_name(setting->machine))
        exec_environment_set(environment, "CUVMM_MACHINE", setting->machine);
    return true;
}

void exec_setting_free(struct exec_setting *setting)
{
    if (setting->machine[0])
        exec_machine_remove(setting->machine);
    exec_environment_free(&setting->environment);
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
    exec_process(options->who, options->command, path, &setting.environment, &end, err);
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

/* SPDX-License-Identifier: Apache-2.0 */
#include "check_watch.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "exec.h"
#include "path_pattern.h"

static bool wrong(FILE *err, const char *option, const char *name, const char *why)
{
    fprintf(err, "cuvmm check: %s=%.200s: %s\n", option, name, why);
    return false;
}

bool check_watch_file(const char *option, const char *name, char path[CHECK_WATCH_PATH], FILE *err)
{
    char here[CHECK_WATCH_PATH] = "", folder[CHECK_WATCH_PATH], why[200];
    if (!name[0])
        return wrong(err, option, name, "give a file");
    if (strchr(name, '|'))
        return wrong(err, option, name, "a name may have no '|', which divides layers");
    if (path_pattern_wrong(name, why, sizeof why))
        return wrong(err, option, name, why);
    if (name[0] != '/' && !getcwd(here, sizeof here))
        return wrong(err, option, name, strerror(errno));
    if (snprintf(path, CHECK_WATCH_PATH, "%s%s%s", here, here[0] ? "/" : "", name) >= CHECK_WATCH_PATH)
        return wrong(err, option, name, "the name is too long");
    snprintf(folder, sizeof folder, "%s", path);
    strrchr(folder, '/')[1] = '\0';
    return access(folder, W_OK | X_OK) == 0 || wrong(err, option, name, strerror(errno));
}

/* Inside the trace layer, because system calls for the trace's file are not calls of the program. */
static void watch_simulator(const struct check_watch *watch, const char *folder, struct exec_environment *environment)
{
    char layer[CHECK_WATCH_PATH + 20];
    if (folder) {
        snprintf(layer, sizeof layer, "recorder=%s", folder);
        exec_add_layers(environment, layer);
    }
    if (watch->trace[0]) {
        snprintf(layer, sizeof layer, "trace=%s", watch->trace);
        exec_add_layers(environment, layer);
    }
}

static void set(struct exec_environment *environment, const char *name, const char *value)
{
    if (value && value[0])
        exec_environment_set(environment, name, value);
    else
        exec_environment_unset(environment, name);
}

struct recorder_watch *check_watch_begin(const struct check_watch *watch, bool driver, struct exec_environment *environment,
                                         FILE *to)
{
    struct recorder_watch *recorder =
        recorder_watch_begin("cuvmm check", watch->recorder[0] ? watch->recorder : NULL, watch->history, to);
    const char *folder = recorder ? recorder_watch_folder(recorder) : NULL;
    set(environment, "CUVMM_CHECK_GROWTH", watch->growth);
    set(environment, "CUVMM_CHECK_TRACE", driver ? watch->trace : NULL);
    set(environment, "CUVMM_CHECK_RECORDER", driver ? folder : NULL);
    if (!driver)
        watch_simulator(watch, folder, environment);
    return recorder;
}

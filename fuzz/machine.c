/* SPDX-License-Identifier: Apache-2.0 */
/* Machines with little memory: a profile in the room for each built-in one. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "profile.h"

static const char usual[] = "h200x2";

/* Writes the profile as a file NAME.small unless it exists. Machines without host memory get none here. */
static void make_small(const char *name)
{
    char path[64];
    struct sim_profile profile;
    snprintf(path, sizeof path, "%s.small", name);
    FILE *file = fopen(path, "r");
    if (!file && (file = fopen(path, "w")) != NULL && sim_profile_builtin(name, &profile)) {
        uint64_t memory = profile.device_reserved + (UINT64_C(64) << 20);
        fprintf(file, "base = %s\n", name);
        if (memory < profile.device_memory)
            fprintf(file, "device.memory = %llu\n", (unsigned long long)memory);
        if (profile.compression_memory > UINT64_C(32) << 20)
            fprintf(file, "compression.memory = 32MiB\n");
        if (profile.host_memory > UINT64_C(64) << 20)
            fprintf(file, "host.memory = 64MiB\n");
    }
    if (!file || fclose(file)) {
        perror(path);
        exit(255);
    }
}

/* The first SPEC of a line "backend SPEC", as long as its first word; NULL if there is none. */
static const char *wanted_by(const char *text, size_t *length)
{
    static const char command[] = "backend sim:";
    for (const char *at = text; (at = strstr(at, command)) != NULL; at++)
        if (at == text || at[-1] == '\n') {
            at += sizeof command - 1;
            *length = strcspn(at, " \t\r\n#\"");
            return at;
        }
    return NULL;
}

/* Options that open no file and wait for no other process. */
static bool harmless(const char *options, size_t length)
{
    static const char *const harmful[] = {"machine", "imex", "team_wait", "schedule=device", "|", "/"};
    char copy[FUZZ_SPEC / 2];
    if (length >= sizeof copy)
        return false;
    memcpy(copy, options, length);
    copy[length] = '\0';
    for (size_t i = 0; i < sizeof harmful / sizeof harmful[0]; i++)
        if (strstr(copy, harmful[i]))
            return false;
    return true;
}

void fuzz_machine(const char *text, char spec[FUZZ_SPEC])
{
    size_t length = 0, name_length;
    const char *wanted = wanted_by(text, &length), *name;
    fuzz_room();
    for (size_t i = 0; wanted && (name = sim_profile_builtin_name(i)) != NULL; i++) {
        name_length = strlen(name);
        if (length >= name_length && !strncmp(wanted, name, name_length) &&
            (length == name_length || wanted[name_length] == ',') &&
            harmless(wanted + name_length, length - name_length)) {
            make_small(name);
            snprintf(spec, FUZZ_SPEC, "sim:%s.small%.*s", name, (int)(length - name_length), wanted + name_length);
            return;
        }
    }
    make_small(usual);
    snprintf(spec, FUZZ_SPEC, "sim:%s.small", usual);
}

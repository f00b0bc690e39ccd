/* SPDX-License-Identifier: Apache-2.0 */
/* The command line of cuvmm check. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

/* "--name=value" or "--name" "value"; *at moves over the second. NULL when it is not this option, "" when the value lacks. */
static const char *value_of(const char *name, int argc, char **argv, int *at)
{
    size_t length = strlen(name);
    if (strncmp(argv[*at], name, length) != 0)
        return NULL;
    if (argv[*at][length] == '=')
        return argv[*at] + length + 1;
    if (argv[*at][length])
        return NULL;
    return *at + 1 < argc ? argv[++*at] : "";
}

static bool wrong(FILE *err, const char *option, const char *wants, const char *value)
{
    fprintf(err, "cuvmm check: %s wants %s, not \"%.60s\"\n", option, wants, value);
    return false;
}

static bool take_exitcode(struct check_options *options, const char *value, FILE *err)
{
    char *end;
    errno = 0;
    long number = strtol(value, &end, 10);
    if (errno || end == value || *end || number < 0 || number > 255)
        return wrong(err, "--error-exitcode", "a number from 0 to 255", value);
    options->error_exitcode = (int)number;
    return true;
}

static bool take_leaks(struct check_options *options, const char *value, FILE *err)
{
    if (strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
        return wrong(err, "--leaks", "yes or no", value);
    options->leaks = strcmp(value, "yes") == 0;
    return true;
}

static bool take_backend(struct check_options *options, const char *value, FILE *err)
{
    bool simulator = strcmp(value, "sim") == 0 || strncmp(value, "sim:", 4) == 0;
    if (!simulator && strcmp(value, "driver") != 0)
        return wrong(err, "--backend", "driver, sim or sim:MACHINE", value);
    options->chosen = true;
    options->driver = !simulator;
    options->machine = value[0] == 's' && value[3] == ':' ? value : NULL;
    return true;
}

/* Absolute, for programs that go to other folders; emptied, for one run is one report. */
static bool take_log(struct check_options *options, const char *value, FILE *err)
{
    char here[4096];
    if (!value[0])
        return wrong(err, "--log", "a file", value);
    int fd = open(value, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || (value[0] != '/' && !getcwd(here, sizeof here))) {
        fprintf(err, "cuvmm check: --log %.200s: %s\n", value, strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    close(fd);
    size_t size = strlen(value) + sizeof here + 2;
    free(options->log);
    options->log = malloc(size);
    if (options->log)
        snprintf(options->log, size, "%s%s%s", value[0] == '/' ? "" : here, value[0] == '/' ? "" : "/", value);
    return options->log != NULL;
}

static bool take(int argc, char **argv, int *at, struct check_options *options, FILE *err)
{
    const char *value;
    if (strcmp(argv[*at], "--quiet") == 0 || strcmp(argv[*at], "-q") == 0)
        return options->quiet = true;
    if ((value = value_of("--error-exitcode", argc, argv, at)))
        return take_exitcode(options, value, err);
    if ((value = value_of("--leaks", argc, argv, at)))
        return take_leaks(options, value, err);
    if ((value = value_of("--backend", argc, argv, at)))
        return take_backend(options, value, err);
    if ((value = value_of("--log", argc, argv, at)))
        return take_log(options, value, err);
    fprintf(err, "cuvmm check: unknown option \"%.60s\"; what is meant for the program comes behind its name\n", argv[*at]);
    return false;
}

bool check_parse(int argc, char **argv, struct check_options *options, FILE *err)
{
    *options = (struct check_options){.error_exitcode = -1, .leaks = true};
    int at = 1;
    for (; at < argc && argv[at][0] == '-' && strcmp(argv[at], "--") != 0; at++)
        if (!take(argc, argv, &at, options, err)) {
            free(options->log);
            return false;
        }
    at += at < argc && strcmp(argv[at], "--") == 0;
    if (at >= argc) {
        fprintf(err, "cuvmm check: which program?\n");
        free(options->log);
        return false;
    }
    options->command = argv + at;
    return true;
}

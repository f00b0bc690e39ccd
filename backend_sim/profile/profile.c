/* SPDX-License-Identifier: Apache-2.0 */
#include "profile.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "heap.h"
#include "posix.h"
#include "profile_keys.h"
#include "profile_value.h"

/* Far more than any machine needs: a larger file is not a profile. */
#define FILE_MAX (UINT32_C(1) << 20)

static void show_line(const char *text, size_t length, struct sim_profile_error *error)
{
    char quote[SIM_QUOTE_MAX];
    error->source[0] = '\0';
    if (error->line > 0)
        snprintf(error->source, sizeof error->source, "%s", sim_span_quote(sim_span_line(text, length, error->line), quote));
}

bool sim_profile_parse(const char *text, size_t length, struct sim_profile *profile, struct sim_profile_error *error)
{
    struct sim_draft draft;
    struct sim_profile_error unasked;
    if (!error)
        error = &unasked;
    if (!sim_profile_draft(text, length, &draft, error) || !sim_profile_check(&draft, error)) {
        show_line(text, length, error);
        return false;
    }
    *profile = draft.profile;
    return true;
}

static vmm_result fail(struct sim_profile_error *error, vmm_result result, const char *what, const char *why)
{
    if (error) {
        error->line = error->column = 0;
        error->source[0] = '\0';
        snprintf(error->text, sizeof error->text, "%s: %s", what, why);
    }
    return result;
}

/* Reads up to the end of the file, at most size bytes; returns the length, or -1. */
static ssize_t read_all(int fd, char *buffer, size_t size)
{
    size_t length = 0;
    while (length < size) {
        ssize_t got = posix.read(fd, buffer + length, size - length);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return -1;
        if (!got)
            break;
        length += (size_t)got;
    }
    return (ssize_t)length;
}

static vmm_result parse_file(int fd, struct sim_profile *profile, struct sim_profile_error *error)
{
    struct stat status;
    vmm_result result = VMM_SUCCESS;
    /* A pipe or a device might never end. */
    if (posix.fstat(fd, &status) || !S_ISREG(status.st_mode))
        return fail(error, VMM_ERROR_OPERATING_SYSTEM, "cannot be read", "not a regular file");
    char *buffer = heap.malloc(FILE_MAX + 1);
    if (!buffer)
        return fail(error, VMM_ERROR_OUT_OF_MEMORY, "cannot be read", "no memory for its text");
    ssize_t length = read_all(fd, buffer, FILE_MAX + 1);
    if (length < 0)
        result = fail(error, VMM_ERROR_OPERATING_SYSTEM, "cannot be read", strerror(errno));
    else if ((size_t)length > FILE_MAX)
        result = fail(error, VMM_ERROR_INVALID_VALUE, "not a profile", "larger than 1 MiB");
    else if (!sim_profile_parse(buffer, (size_t)length, profile, error))
        result = VMM_ERROR_INVALID_VALUE;
    heap.free(buffer);
    return result;
}

vmm_result sim_profile_read(const char *path, struct sim_profile *profile, struct sim_profile_error *error)
{
    /* O_NONBLOCK: opening a pipe without a writer must not hang. */
    int fd = posix.open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return fail(error, VMM_ERROR_NOT_FOUND, "cannot be opened", strerror(errno));
    if (fd < 0)
        return fail(error, VMM_ERROR_OPERATING_SYSTEM, "cannot be opened", strerror(errno));
    vmm_result result = parse_file(fd, profile, error);
    close(fd);
    return result;
}

bool sim_profile_builtin(const char *name, struct sim_profile *profile)
{
    for (size_t i = 0; sim_profile_builtin_name(i); i++)
        if (strcmp(name, sim_profile_builtin_name(i)) == 0) {
            const char *text = sim_profile_builtin_text(i);
            return sim_profile_parse(text, strlen(text), profile, NULL);
        }
    return false;
}

bool sim_profile_attribute(const struct sim_profile *profile, int attribute, int *value)
{
    for (int i = 0; i < profile->attributes; i++)
        if (profile->attribute[i].attribute == attribute) {
            *value = profile->attribute[i].value;
            return true;
        }
    return false;
}

bool sim_profile_has(const struct sim_profile *profile, int attribute)
{
    int value;
    return sim_profile_attribute(profile, attribute, &value) && value != 0;
}

uint64_t sim_profile_multicast(const struct sim_profile *profile, int option)
{
    uint64_t own = profile->multicast_granularity[option];
    return own ? own : profile->device_granularity[option];
}

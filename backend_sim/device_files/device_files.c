/* SPDX-License-Identifier: Apache-2.0 */
#include "device_files.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct device_files device_files_read(const char *text)
{
    struct device_files files = {0, ""};
    char *end = NULL;
    long count = text ? strtol(text, &end, 10) : 0;
    if (count < 1 || count > 64 || *end != ':' || !end[1] || strlen(end + 1) > 60)
        return files;
    files.devices = (int)count;
    snprintf(files.version, sizeof files.version, "NVRM version: NVIDIA UNIX x86_64 Kernel Module  %s  cuvmm, simulated\n", end + 1);
    return files;
}

/* The number after "nvidia", without leading zeros; -1 if there is none. */
static int device_number(const char *name)
{
    char *end;
    if (strncmp(name, "nvidia", 6) != 0 || name[6] < '0' || name[6] > '9' || (name[6] == '0' && name[7]) || strlen(name) > 9)
        return -1;
    long number = strtol(name + 6, &end, 10);
    return *end ? -1 : (int)number;
}

bool device_file_may_be(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    return strncmp(name, "nvidia", 6) == 0 || strcmp(name, "version") == 0 || strcmp(name, "dev") == 0 || strcmp(name, "driver") == 0;
}

/* "/dev/" and "/dev/." are "/dev". */
static const char *without_end(const char *path, char text[DEVICE_FILE_PATH])
{
    size_t length = strlen(path);
    while (length > 1 && length < DEVICE_FILE_PATH && (path[length - 1] == '/' || (path[length - 1] == '.' && path[length - 2] == '/')))
        length--;
    if (length >= DEVICE_FILE_PATH)
        return NULL;
    snprintf(text, DEVICE_FILE_PATH, "%.*s", (int)length, path);
    return text;
}

static enum device_file of_whole(const struct device_files *files, const char *path, int *number)
{
    if (strcmp(path, "/dev") == 0)
        return DEVICE_FILE_DEV;
    if (strcmp(path, "/proc/driver") == 0)
        return DEVICE_FILE_DRIVER;
    if (strcmp(path, "/proc/driver/nvidia") == 0)
        return DEVICE_FILE_FOLDER;
    if (strcmp(path, "/proc/driver/nvidia/version") == 0)
        return DEVICE_FILE_VERSION;
    if (strncmp(path, "/dev/", 5) != 0)
        return DEVICE_FILE_OTHER;
    *number = device_number(path + 5);
    if (*number >= 0)
        return *number < files->devices ? DEVICE_FILE_DEVICE : DEVICE_FILE_ABSENT;
    return strcmp(path, "/dev/nvidiactl") == 0 ? DEVICE_FILE_CONTROL : DEVICE_FILE_OTHER;
}

enum device_file device_file_of(const struct device_files *files, const char *folder, const char *path, int *number)
{
    char joined[DEVICE_FILE_PATH], text[DEVICE_FILE_PATH];
    if (!files->devices || !path || (path[0] != '/' && !folder))
        return DEVICE_FILE_OTHER;
    if (path[0] != '/') {
        int length = snprintf(joined, sizeof joined, "%s/%s", folder, path);
        if (length >= (int)sizeof joined)
            return DEVICE_FILE_OTHER;
        path = joined;
    }
    path = without_end(path, text);
    return path ? of_whole(files, path, number) : DEVICE_FILE_OTHER;
}

bool device_file_hides(const struct device_files *files, enum device_file folder, const char *name)
{
    if (!files->devices)
        return false;
    if (folder == DEVICE_FILE_DEV)
        return device_number(name) >= 0 || strcmp(name, "nvidiactl") == 0;
    return folder == DEVICE_FILE_DRIVER && strcmp(name, "nvidia") == 0;
}

bool device_file_entry(const struct device_files *files, enum device_file folder, size_t index, char name[DEVICE_FILE_PATH])
{
    static const char *const in_folder[] = {".", "..", "version"};
    size_t devices = (size_t)files->devices;
    switch (folder) {
    case DEVICE_FILE_DEV:
        if (index < devices)
            snprintf(name, DEVICE_FILE_PATH, "nvidia%zu", index);
        else
            snprintf(name, DEVICE_FILE_PATH, "nvidiactl");
        return devices && index <= devices;
    case DEVICE_FILE_DRIVER:
        snprintf(name, DEVICE_FILE_PATH, "nvidia");
        return devices && index == 0;
    case DEVICE_FILE_FOLDER:
        snprintf(name, DEVICE_FILE_PATH, "%s", index < 3 ? in_folder[index] : "");
        return devices && index < 3;
    default: return false;
    }
}

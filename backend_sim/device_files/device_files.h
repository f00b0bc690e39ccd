/* SPDX-License-Identifier: Apache-2.0 */
/* device_files.h - which files a driver of the simulated machine would have, and how a program sees them.
 *
 *     CUVMM_DEVICE_FILES=2:580.159.04      two devices, and the version
 *
 *     /dev                        real entries, without nvidiaN and nvidiactl of a real driver
 *       nvidia0 nvidia1           character devices 195:0 and 195:1; /dev/nvidia2 is not there
 *       nvidiactl                 195:255
 *     /proc/driver/nvidia         a folder
 *       version                   one line, in the words of the driver's documentation
 *
 * Numbers and names are those of the kernel's list of devices (admin-guide/devices.txt) and of the driver's README. An
 * open device is /dev/null, because only the driver's own library knows what to do with it. Other paths are not affected.
 */
#ifndef CUVMM_DEVICE_FILES_H
#define CUVMM_DEVICE_FILES_H

#include <stdbool.h>
#include <stddef.h>

enum device_file {
    DEVICE_FILE_OTHER,   /* not one of these paths */
    DEVICE_FILE_ABSENT,  /* a device that the machine does not have */
    DEVICE_FILE_DEVICE,  /* /dev/nvidiaN */
    DEVICE_FILE_CONTROL, /* /dev/nvidiactl */
    DEVICE_FILE_FOLDER,  /* /proc/driver/nvidia */
    DEVICE_FILE_VERSION, /* /proc/driver/nvidia/version */
    DEVICE_FILE_DEV,     /* /dev, whose entries have ours among them */
    DEVICE_FILE_DRIVER   /* /proc/driver, likewise */
};

enum { DEVICE_FILE_PATH = 64 };

struct device_files {
    int devices; /* 0: nothing is given */
    char version[120];
};

/* Reads "2:580.159.04". Anything else gives nothing. */
struct device_files device_files_read(const char *text);

/* What a path stands for; *number is the device's number. folder: where a relative path starts, or NULL if that is not known. */
enum device_file device_file_of(const struct device_files *files, const char *folder, const char *path, int *number);

/* Could a relative path be one of these in some folder? If not, it need not be looked up. */
bool device_file_may_be(const char *path);

/* The entries of a folder: is one that is really there hidden, and which are added? False past the last. */
bool device_file_hides(const struct device_files *files, enum device_file folder, const char *name);
bool device_file_entry(const struct device_files *files, enum device_file folder, size_t index, char name[DEVICE_FILE_PATH]);

/* The folder whose libraries replace NVIDIA's: CUVMM_DRIVER_FOLDER, CUVMM_RUNTIME_FOLDER. */
enum device_library { DEVICE_LIBRARY_DRIVER, DEVICE_LIBRARY_RUNTIME, DEVICE_LIBRARY_KINDS };

enum { DEVICE_LIBRARY_PATH = 4096 };

/* Writes the path of this project's library for that of one of NVIDIA's, whatever follows its version ("libcudart.so.13.0.96").
 * False for other paths, for names without a folder, and if the folder is NULL or empty. */
bool device_library_instead(const char *path, const char *const folders[DEVICE_LIBRARY_KINDS], char instead[DEVICE_LIBRARY_PATH]);

#endif

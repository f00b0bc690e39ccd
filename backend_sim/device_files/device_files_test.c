/* SPDX-License-Identifier: Apache-2.0 */
/* The driver's files, as programs access them: this program finds the functions of device_files_calls.c before the C
 * library's, as with a preload. */
#undef _FORTIFY_SOURCE
#define _GNU_SOURCE
#include "device_files.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "tap.h"

#define NVIDIA "/proc/driver/nvidia"
#define LINE "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  cuvmm, simulated\n"

int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int fd, const char *path, int flags);
int __openat64_2(int fd, const char *path, int flags);
int __xstat(int version, const char *path, void *status);
int __xstat64(int version, const char *path, void *status);
int __lxstat(int version, const char *path, void *status);
int __lxstat64(int version, const char *path, void *status);
int __fxstatat(int version, int fd, const char *path, void *status, int flags);
int __fxstatat64(int version, int fd, const char *path, void *status, int flags);

/* ---- which path is which ---- */

static void test_paths(void)
{
    static const struct {
        const char *folder, *path;
        enum device_file what;
        int number;
    } cases[] = {
        {NULL, "/dev/nvidia0", DEVICE_FILE_DEVICE, 0},      {NULL, "/dev/nvidia1", DEVICE_FILE_DEVICE, 1},
        {NULL, "/dev/nvidia2", DEVICE_FILE_ABSENT, 2},      {NULL, "/dev/nvidia00", DEVICE_FILE_OTHER, -1},
        {NULL, "/dev/nvidia10", DEVICE_FILE_ABSENT, 10},    {NULL, "/dev/nvidia1x", DEVICE_FILE_OTHER, -1},
        {NULL, "/dev/nvidia", DEVICE_FILE_OTHER, -1},       {NULL, "/dev/nvidiactl", DEVICE_FILE_CONTROL, -1},
        {NULL, "/dev/nvidiactl/", DEVICE_FILE_CONTROL, -1}, {NULL, "/dev/nvidia-uvm", DEVICE_FILE_OTHER, -1},
        {NULL, "/dev/nvidia9999", DEVICE_FILE_OTHER, -1},   {NULL, "/dev/null", DEVICE_FILE_OTHER, -1},
        {NULL, "/dev", DEVICE_FILE_DEV, 0},                 {NULL, "/dev/.", DEVICE_FILE_DEV, 0},
        {NULL, "/proc/driver/", DEVICE_FILE_DRIVER, 0},     {NULL, NVIDIA, DEVICE_FILE_FOLDER, 0},
        {NULL, NVIDIA "/version", DEVICE_FILE_VERSION, 0},  {NULL, NVIDIA "/gpus", DEVICE_FILE_OTHER, 0},
        {NULL, "/etc/nvidia0", DEVICE_FILE_OTHER, 0},       {"/dev", "nvidia0", DEVICE_FILE_DEVICE, 0},
        {NVIDIA, "version", DEVICE_FILE_VERSION, 0},        {NULL, "nvidia0", DEVICE_FILE_OTHER, 0},
        {"/tmp", "nvidia0", DEVICE_FILE_OTHER, 0},          {NULL, NULL, DEVICE_FILE_OTHER, 0},
        {NULL, "", DEVICE_FILE_OTHER, 0},
        {"/a/folder/whose/name/is/longer/than/any/of/the/files/that/a/driver/has", "nvidia0", DEVICE_FILE_OTHER, 0},
        {NULL, "/dev/a-name-that-is-longer-than-any-of-the-files-that-a-driver-may-have", DEVICE_FILE_OTHER, 0},
    };
    struct device_files two = device_files_read("2:580.159.04"), none = device_files_read(NULL);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int number = cases[i].number;
        enum device_file what = device_file_of(&two, cases[i].folder, cases[i].path, &number);
        tap_ok(what == cases[i].what && number == cases[i].number, "%s is %d", cases[i].path ? cases[i].path : "NULL", (int)what);
        tap_ok(device_file_of(&none, cases[i].folder, cases[i].path, &number) == DEVICE_FILE_OTHER, "and nothing where none is given");
    }
    static const struct {
        const char *path;
        bool may_be;
    } names[] = {{"dev", true}, {"../dev", true}, {"driver", true}, {"/proc/driver", true}, {"version", true}, {"nvidia", true},
                 {"a/nvidia0", true}, {"nvidiactl", true}, {"", false}, {"de", false}, {"deu", false}, {"dev0", false}, {"dew", false},
                 {"drive", false}, {"drivers", false}, {"versio", false}, {"versions", false}, {"nvidi", false}, {"nvidia/x", false},
                 {"a", false}, {"zero", false}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        tap_ok(device_file_may_be(names[i].path) == names[i].may_be, "\"%s\" may %sbe one of them", names[i].path,
               names[i].may_be ? "" : "not ");
}

static void test_setting(void)
{
    static const char *const bad[] = {"", "0:1", "-1:1", "65:1", "2", "2:", "x:1", "2 :1",
                                      "2:a version that is longer than any driver has ever had, by a long way indeed"};
    tap_text(device_files_read("2:580.159.04").version, LINE, "the version's line");
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        tap_u64((uint64_t)device_files_read(bad[i]).devices, 0, "\"%s\" gives no files", bad[i]);
}

static void test_entries(void)
{
    char name[DEVICE_FILE_PATH];
    struct device_files two = device_files_read("2:580.159.04"), none = device_files_read("");
    tap_ok(!device_file_entry(&two, DEVICE_FILE_OTHER, 0, name) && !device_file_entry(&none, DEVICE_FILE_DEV, 0, name) &&
               !device_file_entry(&two, DEVICE_FILE_DEV, 3, name) && !device_file_entry(&two, DEVICE_FILE_FOLDER, 3, name),
           "other folders have no entries of ours, nor has any without devices");
    tap_ok(device_file_hides(&two, DEVICE_FILE_DEV, "nvidia7") && device_file_hides(&two, DEVICE_FILE_DEV, "nvidiactl") &&
               !device_file_hides(&two, DEVICE_FILE_DEV, "nvidia-uvm") && !device_file_hides(&none, DEVICE_FILE_DEV, "nvidia7"),
           "a real driver's devices are hidden, and nothing else of it");
    tap_ok(device_file_hides(&two, DEVICE_FILE_DRIVER, "nvidia") && !device_file_hides(&two, DEVICE_FILE_DRIVER, "rtc"),
           "so is its folder");
}

/* ---- stat ---- */

static bool is_device(const struct stat *status, unsigned number)
{
    return S_ISCHR(status->st_mode) && major(status->st_rdev) == 195 && minor(status->st_rdev) == number;
}

static void test_stat(void)
{
    struct stat status, null;
    tap_ok(!stat("/dev/null", &null) && !stat("/dev/nvidia0", &status) && status.st_dev == null.st_dev && status.st_nlink == null.st_nlink,
           "a device lies on the file system of /dev");
    struct stat64 status64;
    tap_ok(stat("/dev/nvidia1", &status) == 0 && is_device(&status, 1), "stat of a device");
    tap_ok(lstat("/dev/nvidiactl", &status) == 0 && is_device(&status, 255), "lstat of the control device");
    tap_ok(stat64("/dev/nvidia0", &status64) == 0 && minor(status64.st_rdev) == 0 && lstat64("/dev/nvidia1", &status64) == 0 &&
               minor(status64.st_rdev) == 1,
           "their forms of 64 bits");
    tap_ok(stat("/dev/nvidia2", &status) == -1 && errno == ENOENT, "a device that the machine has not");
    tap_ok(stat(NVIDIA, &status) == 0 && S_ISDIR(status.st_mode), "the folder");
    tap_ok(stat(NVIDIA "/version", &status) == 0 && S_ISREG(status.st_mode) && (status.st_mode & 0777) == 0444, "the version");
    tap_ok(stat("/dev/null", &status) == 0 && major(status.st_rdev) == 1, "another file is unchanged");
    tap_ok(stat("/dev/nvidia-uvm-tools-no", &status) == -1 && errno == ENOENT, "and one that is not there is not");
    int dev = open("/dev", O_RDONLY | O_DIRECTORY);
    tap_ok(dev >= 0 && fstatat(dev, "nvidia1", &status, 0) == 0 && is_device(&status, 1) &&
               fstatat64(dev, "nvidia0", &status64, AT_SYMLINK_NOFOLLOW) == 0 && faccessat(dev, "nvidia0", R_OK, 0) == 0,
           "from an open folder");
    int fd = openat(dev, "nvidia0", O_RDWR), fd64 = openat64(dev, "nvidia5", O_RDWR);
    tap_ok(fd >= 0 && fd64 == -1 && errno == ENOENT, "open likewise");
    close(fd);
    close(dev);
}

#ifdef STATX_TYPE
static void test_statx(void)
{
    struct statx statx_status;
    tap_ok(statx(AT_FDCWD, "/dev/nvidia1", 0, STATX_BASIC_STATS, &statx_status) == 0 && S_ISCHR(statx_status.stx_mode) &&
               statx_status.stx_rdev_major == 195 && statx_status.stx_rdev_minor == 1 &&
               statx(AT_FDCWD, NVIDIA "/version", 0, STATX_BASIC_STATS, &statx_status) == 0 && S_ISREG(statx_status.stx_mode),
           "statx");
    tap_ok(statx(AT_FDCWD, "/dev/nvidia9", 0, STATX_BASIC_STATS, &statx_status) == -1 && errno == ENOENT &&
               statx(AT_FDCWD, "/dev/null", 0, STATX_BASIC_STATS, &statx_status) == 0 && statx_status.stx_rdev_major == 1,
           "statx of what is not there, and of others");
}

static bool agrees(const char *path, const struct stat *status)
{
    struct statx x;
    return statx(AT_FDCWD, path, 0, STATX_BASIC_STATS, &x) == 0 && x.stx_ino == status->st_ino && x.stx_mode == status->st_mode;
}
#else
static void test_statx(void)
{
    tap_skip("this C library has no statx", "statx");
}

static bool agrees(const char *path, const struct stat *status)
{
    return path[0] && status->st_mode;
}
#endif

/* Programs distinguish files by their inode numbers: all calls return the same number for a file, and each file has a different
 * one. */
static void test_numbers(void)
{
    static const char *const path[] = {"/dev/nvidia0", "/dev/nvidia1", "/dev/nvidiactl", NVIDIA, NVIDIA "/version"};
    enum { PATHS = sizeof path / sizeof path[0] };
    struct stat status[PATHS];
    for (size_t i = 0; i < PATHS; i++) {
        bool other = stat(path[i], &status[i]) == 0;
        tap_ok(other && agrees(path[i], &status[i]), "stat and statx of %s agree", path[i]);
        for (size_t j = 0; j < i; j++)
            other = other && status[i].st_ino != status[j].st_ino;
        tap_ok(other, "no other file has its number");
    }
    tap_u64(status[0].st_ino, 0x6e760000, "the first device's");
    tap_u64(status[4].st_ino, 0x6e761005, "the version's");
}

static void test_old_stat(void)
{
#ifdef __GLIBC__
    struct stat status;
    bool good = __xstat(1, "/dev/nvidia1", &status) == 0 && is_device(&status, 1) && __xstat64(1, "/dev/nvidia0", &status) == 0 &&
                is_device(&status, 0) && __lxstat(1, "/dev/nvidiactl", &status) == 0 && is_device(&status, 255) &&
                __lxstat64(1, "/dev/nvidia1", &status) == 0 && is_device(&status, 1);
    tap_ok(good, "stat of programs that were linked long ago");
    tap_ok(__fxstatat(1, AT_FDCWD, "/dev/nvidia3", &status, 0) == -1 && errno == ENOENT &&
               __fxstatat64(1, AT_FDCWD, "/dev/null", &status, 0) == 0 && major(status.st_rdev) == 1,
           "likewise of what is not there, and of others");
#else
    tap_skip("glibc alone had these functions", "stat of programs that were linked long ago");
#endif
}

/* ---- open ---- */

static bool reads(int fd, const char *want)
{
    char text[200] = "";
    bool same = fd >= 0 && read(fd, text, sizeof text - 1) == (ssize_t)strlen(want) && strcmp(text, want) == 0;
    if (fd >= 0)
        close(fd);
    return same;
}

static bool no(int fd, int error)
{
    bool right = fd == -1 && errno == error;
    if (fd >= 0)
        close(fd);
    return right;
}

static void test_open(void)
{
    tap_ok(reads(open(NVIDIA "/version", O_RDONLY), LINE) && reads(open64(NVIDIA "/version", O_RDONLY | O_CLOEXEC), LINE) &&
               reads(__open_2(NVIDIA "/version", O_RDONLY), LINE) && reads(__open64_2(NVIDIA "/version", O_RDONLY), LINE) &&
               reads(__openat_2(AT_FDCWD, NVIDIA "/version", O_RDONLY), LINE) &&
               reads(__openat64_2(AT_FDCWD, NVIDIA "/version", O_RDONLY), LINE),
           "the version can be read by every form of open");
    int fd = open(NVIDIA "/version", O_RDONLY | O_CLOEXEC), plain = open(NVIDIA "/version", O_RDONLY);
    tap_ok((fcntl(fd, F_GETFD) & FD_CLOEXEC) && !(fcntl(plain, F_GETFD) & FD_CLOEXEC), "close-on-exec as asked");
    close(fd);
    close(plain);
    tap_ok(reads(open("/dev/nvidia0", O_RDWR), "") && reads(open("/dev/nvidiactl", O_RDWR | O_CREAT | O_TRUNC, 0600), ""),
           "devices open");
    tap_ok(no(open("/dev/nvidia7", O_RDWR), ENOENT) && no(open("/dev/nvidia7", O_RDWR | O_CREAT, 0600), ENOENT), "others do not");
    tap_ok(no(open(NVIDIA "/version", O_RDWR), EACCES) && no(open(NVIDIA "/version", O_RDONLY | O_TRUNC), EACCES),
           "the version cannot be written");
    tap_ok(no(open("/dev/nvidia0", O_RDONLY | O_DIRECTORY), ENOTDIR) && no(open(NVIDIA, O_RDONLY), EACCES) &&
               no(open(NVIDIA, O_RDWR), EISDIR) && no(open("/dev/nvidia0", O_RDWR | O_CREAT | O_EXCL, 0600), EEXIST),
           "a device is not a folder, a folder no file, and what is there cannot be made");
    char path[] = "/tmp/device_files_test.XXXXXX";
    struct stat status;
    fd = mkstemp(path);
    close(fd);
    unlink(path);
    mode_t mask = umask(0);
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL, 0640);
    tap_ok(no(open64(path, O_WRONLY | O_CREAT | O_EXCL, 0640), EEXIST) && no(openat(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, 0640), EEXIST) &&
               no(openat64(AT_FDCWD, path, O_WRONLY | O_CREAT | O_EXCL, 0640), EEXIST),
           "by every form of open, once");
    umask(mask);
    tap_ok(fd >= 0 && fstat(fd, &status) == 0 && (status.st_mode & 0777) == 0640, "another file is made with the mode that is asked for");
    close(fd);
    unlink(path);
}

static void test_fopen(void)
{
    char line[200] = "";
    FILE *file = fopen(NVIDIA "/version", "re");
    tap_ok(file && fgets(line, sizeof line, file) && strcmp(line, LINE) == 0, "the version as a stream");
    if (file)
        fclose(file);
    tap_ok(!fopen(NVIDIA "/version", "w") && errno == EACCES && !fopen64(NVIDIA "/version", "r+") && errno == EACCES &&
               !fopen("/dev/nvidia4", "r") && errno == ENOENT && !fopen("/dev/nvidia0", "wx") && errno == EEXIST,
           "but not to write it, or a missing file");
    errno = 0;
    file = fopen(NVIDIA "/version", "r,ccs=none-such");
    tap_ok(!file || fclose(file) == 0, "a mode that the C library may refuse");
    tap_ok(!fopen(NVIDIA "/version", "?") && errno, "one that is none");
    file = fopen64("/dev/nvidia0", "r+");
    tap_ok(file != NULL, "a device as a stream");
    if (file)
        fclose(file);
    file = fopen("/proc/version", "r");
    tap_ok(file && fgets(line, sizeof line, file) && strstr(line, "Linux"), "another file is unchanged");
    if (file)
        fclose(file);
}

static void test_access(void)
{
    tap_ok(access("/dev/nvidia0", F_OK) == 0 && access("/dev/nvidiactl", R_OK | W_OK) == 0 && access(NVIDIA, R_OK | X_OK) == 0 &&
               access(NVIDIA "/version", R_OK) == 0,
           "access as to a driver's files");
    tap_ok(access("/dev/nvidia0", X_OK) == -1 && errno == EACCES && access(NVIDIA "/version", W_OK) == -1 && errno == EACCES &&
               access(NVIDIA, W_OK) == -1 && access("/dev/nvidia2", F_OK) == -1 && errno == ENOENT,
           "and no more");
    tap_ok(euidaccess("/dev/nvidia0", R_OK) == 0 && eaccess("/dev/nvidia2", F_OK) == -1 && errno == ENOENT && eaccess("/dev/null", R_OK) == 0 &&
               access("/dev/null", W_OK) == 0 && access("/no/such/nvidia0", F_OK) == -1,
           "by the other names, and of other files");
    char value[10];
    tap_ok(getxattr("/dev/nvidia0", "user.x", value, sizeof value) == -1 && errno == ENOTSUP &&
               lgetxattr("/dev/nvidiactl", "user.x", value, sizeof value) == -1 && errno == ENOTSUP &&
               listxattr(NVIDIA, value, sizeof value) == -1 && errno == ENOTSUP && llistxattr(NVIDIA "/version", value, sizeof value) == -1 &&
               errno == ENOTSUP && listxattr("/no/such", value, sizeof value) == -1 && errno == ENOENT &&
               llistxattr("/no/such", value, sizeof value) == -1 && getxattr("/no/such", "user.x", value, sizeof value) == -1 &&
               lgetxattr("/no/such", "user.x", value, sizeof value) == -1 && errno == ENOENT,
           "they have no attributes");
}

/* ---- folders ---- */

static unsigned count_ours(DIR *stream, unsigned *all)
{
    struct dirent *entry;
    unsigned count = 0;
    *all = 0;
    while ((entry = readdir(stream))) {
        ++*all;
        count += (strcmp(entry->d_name, "nvidia0") == 0 || strcmp(entry->d_name, "nvidia1") == 0 ||
                  strcmp(entry->d_name, "nvidiactl") == 0) && entry->d_type == DT_CHR;
    }
    return count;
}

static void test_folders(void)
{
    unsigned all, again;
    DIR *dev = opendir("/dev/"), *tmp = opendir("/tmp");
    if (!dev || !tmp)
        tap_bail("no /dev or /tmp");
    tap_ok(count_ours(dev, &all) == 3 && all > 5, "/dev has the devices among its entries");
    tap_ok(!readdir(dev), "once");
    rewinddir(dev);
    tap_ok(count_ours(dev, &again) == 3 && again == all, "and from the start again");
    tap_ok(count_ours(tmp, &all) == 0, "no other folder has them");
    rewinddir(tmp);
    errno = ERANGE;
    tap_ok(count_ours(tmp, &all) == 0 && errno == ERANGE, "the end of a folder is not an error");
    rewinddir(dev);
    errno = ERANGE;
    tap_ok(count_ours(dev, &all) == 3 && errno == ERANGE, "nor is that of one with entries of ours");
    closedir(tmp);
    closedir(dev);
    dev = fdopendir(open("/dev", O_RDONLY | O_DIRECTORY));
    tap_ok(dev && count_ours(dev, &all) == 3, "a folder that was opened as a file");
    if (dev)
        closedir(dev);
    tap_ok(!fdopendir(-1) && errno == EBADF, "fdopendir of nothing");
    DIR *folder = opendir(NVIDIA);
    char names[1024] = "";
    for (struct dirent64 *entry; folder && (entry = readdir64(folder));)
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s/%d ", entry->d_name, entry->d_type);
    tap_text(names, "./4 ../4 version/8 ", "the driver's folder");
    if (folder)
        closedir(folder);
    tap_ok(!opendir("/dev/nvidia0") && errno == ENOTDIR && !opendir("/dev/nvidia7") && errno == ENOENT && !opendir("/no/such"),
           "a device is not a folder");
    DIR *driver = opendir("/proc/driver");
    unsigned found = 0;
    for (struct dirent *entry; driver && (entry = readdir(driver));)
        found += strcmp(entry->d_name, "nvidia") == 0;
    tap_ok(!driver || found == 1, "its parent, where there is one");
    if (driver)
        closedir(driver);
}

static void test_many_folders(void)
{
    DIR *streams[40];
    unsigned all, with = 0;
    for (int i = 0; i < 40; i++)
        streams[i] = opendir(NVIDIA "/..");
    for (int i = 0; i < 40; i++)
        if (streams[i])
            closedir(streams[i]);
    for (int i = 0; i < 40; i++)
        streams[i] = opendir("/dev");
    for (int i = 0; i < 40; i++)
        with += streams[i] && count_ours(streams[i], &all) == 3;
    tap_ok(with >= 32, "32 streams at a time have them");
    for (int i = 0; i < 40; i++)
        if (streams[i])
            closedir(streams[i]);
    DIR *dev = opendir("/dev");
    tap_ok(dev && count_ours(dev, &all) == 3, "closed streams make room");
    if (dev)
        closedir(dev);
}

static void test_relative(void)
{
    struct stat status;
    if (chdir("/dev") != 0)
        tap_bail("no /dev");
    tap_ok(stat("nvidia1", &status) == 0 && is_device(&status, 1) && access("null", F_OK) == 0, "from the working folder");
    tap_ok(stat("version", &status) == -1 && stat("driver", &status) == -1 && stat("dev", &status) == -1, "names that are none there");
    tap_ok(fstatat(9999, "nvidia1", &status, 0) == -1 && errno == EBADF, "from an invalid folder");
}

/* Runs before the constructors of device_files_calls.c, which read it. */
__attribute__((constructor(101))) static void set_up(void)
{
    setenv("CUVMM_DEVICE_FILES", "2:580.159.04", 1);
}

/* ---- libraries ---- */

static void test_libraries(void)
{
    static const struct {
        const char *path, *instead; /* NULL: the program's own */
    } cases[] = {{"/opt/nvidia/cu13/lib/libcudart.so.13", "/r/libcudart.so.13"}, {"lib/libcudart.so.12.9.79", "/r/libcudart.so.12"},
                 {"/usr/lib/libcuda.so.1", "/d/libcuda.so.1"}, {"./libnvidia-ml.so.1", "/d/libnvidia-ml.so.1"},
                 {"/usr/lib/libcuda.so.580.159.04", NULL}, {"libcudart.so.13", NULL}, {"/x/libcudart.so.11.0", NULL},
                 {"/x/libcudart.so.130", NULL}, {"/libcudart.so.13/x.so", NULL}, {"/x/mylibcuda.so.1", NULL}, {NULL, NULL}};
    const char *const folders[DEVICE_LIBRARY_KINDS] = {[DEVICE_LIBRARY_DRIVER] = "/d", [DEVICE_LIBRARY_RUNTIME] = "/r"};
    const char *const driver_only[DEVICE_LIBRARY_KINDS] = {[DEVICE_LIBRARY_DRIVER] = "/d", [DEVICE_LIBRARY_RUNTIME] = ""};
    char instead[DEVICE_LIBRARY_PATH], folder[DEVICE_LIBRARY_PATH];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        bool is_ours = device_library_instead(cases[i].path, folders, instead);
        tap_ok(is_ours == (cases[i].instead != NULL) && (!is_ours || strcmp(instead, cases[i].instead) == 0), "%s is opened as %s",
               cases[i].path ? cases[i].path : "the program itself", cases[i].instead ? cases[i].instead : "it is");
    }
    tap_ok(!device_library_instead("/x/libcudart.so.13", driver_only, instead), "a program keeps its own runtime where that is wanted");
    memset(folder, 'a', sizeof folder - 1);
    folder[sizeof folder - 1] = '\0';
    const char *const endless[DEVICE_LIBRARY_KINDS] = {folder, folder};
    tap_ok(!device_library_instead("/x/libcudart.so.13", endless, instead), "a folder that is too long replaces nothing");
    setenv("CUVMM_DRIVER_FOLDER", "/no/driver", 1);
    setenv("CUVMM_RUNTIME_FOLDER", "/no/runtime", 1);
    tap_ok(!dlopen("/x/libcudart.so.13", RTLD_NOW) && strstr(dlerror(), "/no/runtime/libcudart.so.13"), "dlopen opens ours");
    tap_ok(!dlopen("/x/libcuda.so.1", RTLD_NOW) && strstr(dlerror(), "/no/driver/libcuda.so.1"), "the driver, too");
    tap_ok(!dlopen("/x/libother.so", RTLD_NOW) && strstr(dlerror(), "/x/libother.so"), "and others as they are");
    unsetenv("CUVMM_RUNTIME_FOLDER");
    tap_ok(!dlopen("/x/libcudart.so.13", RTLD_NOW) && strstr(dlerror(), "/x/libcudart.so.13"), "a runtime of the program's own");
    void *self = dlopen(NULL, RTLD_NOW);
    tap_ok(self != NULL, "the program itself");
    dlclose(self);
}

/* ---- ibv_reg_dmabuf_mr ---- */

void *ibv_reg_dmabuf_mr(void *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access);

static bool is_unsupported(void)
{
    errno = 0;
    return !ibv_reg_dmabuf_mr(NULL, 0, 4096, 0, -1, 0) && errno == EOPNOTSUPP;
}

/* The build's library, next to this program's folder. NULL: it is not there. */
static void *load_cuda(void)
{
    static const char below[] = "/test/backend_sim/";
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 32);
    path[length > 0 ? length : 0] = 0;
    char *at = strstr(path, below);
    if (at)
        strcpy(at, "/lib/libcuda.so.1");
    return at ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
}

/* Without libibverbs there is no registration, whether libcuda.so.1 is present or not. */
static void test_registration(void)
{
    tap_ok(is_unsupported(), "without libibverbs a registration is not supported");
    unsetenv("CUVMM_DRIVER_FOLDER");
    void *cuda = load_cuda();
    if (!cuda) {
        tap_skip("libcuda.so.1 is not built", "a registration beside libcuda.so.1");
        return;
    }
    tap_ok(is_unsupported(), "nor is it beside libcuda.so.1");
    dlclose(cuda);
}

int main(void)
{
    test_libraries();
    test_paths();
    test_setting();
    test_entries();
    test_stat();
    test_statx();
    test_numbers();
    test_old_stat();
    test_open();
    test_fopen();
    test_access();
    test_folders();
    test_many_folders();
    test_relative();
    test_registration();
    return tap_done();
}

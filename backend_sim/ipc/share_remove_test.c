/* SPDX-License-Identifier: Apache-2.0 */
/* Removal of folders: only those that cuvmm created and that contain nothing else, and only as a whole. When the system reports
 * nothing, or another process is faster, no file is lost. */
#define _GNU_SOURCE /* memfd_create, fallocate, RTLD_NEXT */
#include "inject_rig.h"

#include <ftw.h>

#include "share_remove.h"
#include "share_rig.h"

enum { FILES = 5 };
static const char *const known[FILES] = {"state", "slot.0", "slot.12", "mem.3", "token.7"};

static int root, folder;
static char entry[SHARE_ENTRY_MAX];

/* Creates a folder as cuvmm leaves it, open, under a machine's name or a spare one. */
static void make(bool spare)
{
    strcpy(entry, "m-left");
    if (spare && !share_spare_name(root, entry))
        tap_bail("no name");
    if (!os_folder_new(root, entry) || (folder = os_folder_open(root, entry)) < 0 || (!spare && !share_mark_folder(folder)))
        tap_bail("no folder");
    for (int i = 0; i < FILES; i++)
        os_file_close(os_file_open_in(folder, known[i], OS_OPEN_NEW));
}

static void count(void *user, const char *name)
{
    (void)name;
    ++*(unsigned *)user;
}

static unsigned files_in(int of)
{
    unsigned files = 0;
    return os_folder_each_in(of, count, &files) ? files : 999;
}

static int drop(const char *path, const struct stat *is, int what, struct FTW *at)
{
    (void)is;
    (void)what;
    return at->level ? remove(path) : 0;
}

/* Removes everything, whatever its name. */
static void clean(void)
{
    os_file_close(folder);
    if (nftw(rig_root, drop, 8, FTW_DEPTH | FTW_PHYS))
        tap_bail("%s cannot be cleared", rig_root);
}

static bool in_place(void)
{
    return os_file_is_at(folder, root, entry);
}

static void removed(void)
{
    for (int spare = 0; spare < 2; spare++) {
        make(spare);
        share_remove(root, entry, folder);
        tap_u64(rig_machines(), 0, "%s is removed with its files", spare ? "a folder under a spare name" : "a machine's folder");
        clean();
    }
}

/* The folder contains one entry that is not cuvmm's. */
static void kept(void)
{
    static const char *const strange[] = {"slot.", "slot.1x", "slot.-1", "mem.", "token.1.2", "notes", "state.old", "slo"};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        make(false);
        os_file_close(os_file_open_in(folder, strange[i], OS_OPEN_NEW));
        share_remove(root, entry, folder);
        tap_ok(in_place() && files_in(folder) == FILES + 2, "a folder with \"%s\" in it stays whole", strange[i]);
        clean();
    }
    make(false);
    os_folder_new(folder, "mem.9");
    share_remove(root, entry, folder);
    tap_ok(in_place() && files_in(folder) == FILES + 2, "a subfolder with the name of a file keeps the folder");
    clean();
    if (geteuid()) {
        tap_skip("needs the superuser", "a file of another user");
        return;
    }
    make(false);
    if (fchownat(folder, "mem.3", 1, 1, 0)) {
        clean();
        tap_skip("the namespace has no other user", "a file of another user");
        return;
    }
    share_remove(root, entry, folder);
    tap_ok(in_place() && files_in(folder) == FILES + 1, "a file of another user keeps the folder");
    clean();
}

/* Only a file counts as the mark. */
static void marked(void)
{
    char mark[SHARE_ENTRY_MAX] = "";
    struct dirent *is;
    make(false);
    DIR *all = fdopendir(dup(folder));
    while ((is = readdir(all)) != NULL)
        if (!strncmp(is->d_name, "cuvmm-", 6))
            snprintf(mark, sizeof mark, "%.60s", is->d_name);
    closedir(all);
    os_file_remove(folder, mark);
    tap_ok(!share_is_ours(root, entry, folder), "a folder without the mark is not cuvmm's");
    os_folder_new(folder, mark);
    tap_ok(mark[0] && !share_is_ours(root, entry, folder), "a folder with a subfolder in place of the mark is not cuvmm's");
    share_remove(root, entry, folder);
    tap_ok(in_place() && files_in(folder) == FILES + 1, "the folder stays");
    clean();
    make(true);
    char other[SHARE_ENTRY_MAX];
    snprintf(other, sizeof other, "%s", entry);
    other[strlen(other) - 1] = other[strlen(other) - 1] == '0' ? '1' : '0';
    tap_ok(share_is_ours(root, entry, folder) && !share_is_ours(root, other, folder),
           "a spare name counts only if its check matches");
    clean();
}

static bool spare; /* what is removed has a spare name */
static unsigned whole, failures;

static void make_whole(void)
{
    make(spare);
    whole = files_in(folder);
}

static bool removed_all(void)
{
    share_remove(root, entry, folder);
    return !rig_machines();
}

/* In its place, or under a name that is known for ours, from which files may be gone that were to go. */
static bool is_whole_in_place(void)
{
    return !in_place() || files_in(folder) == whole;
}

/* The next try finds it and removes it all. */
static bool goes_then(void)
{
    failures += inject_what != NULL;
    if (rig_machines() && in_place())
        share_remove(root, entry, folder);
    bool gone = !in_place();
    clean();
    return gone;
}

static void each_fails(const char *function)
{
    const struct inject_case of = {.name = function,
                                   .function = function,
                                   .begin = make_whole,
                                   .call = removed_all,
                                   .reported = is_whole_in_place,
                                   .end = goes_then};
    failures = 0;
    for (int i = 0; i < 2; i++) {
        spare = i;
        inject_try(&of);
    }
    tap_ok(failures, "%s fails, %u times: no folder in its place is half removed, and a second attempt removes it", function,
           failures);
}

/* ---- another process is faster ---- */

static void swap(void)
{
    char moved[256], place[256];
    snprintf(place, sizeof place, "%s/m-left", rig_root);
    snprintf(moved, sizeof moved, "%s/moved", rig_root);
    if (rename(place, moved) || mkdir(place, 0700))
        tap_bail("no swap");
    int file = open(strcat(place, "/theirs"), O_CREAT | O_RDWR, 0600);
    if (file < 0 || write(file, "kept", 4) != 4)
        tap_bail("no file");
    close(file);
}

/* Just before the rename, another folder takes its place. */
static void swapped(void)
{
    char text[8] = "";
    make(false);
    unsigned before = files_in(folder);
    inject_meanwhile("rename", 1, swap);
    share_remove(root, entry, folder);
    tap_ok(inject_disarm() && files_in(folder) == before && os_file_is_at(folder, root, "moved"),
           "the folder that was moved away stays whole");
    int theirs = os_folder_open(root, entry), file = os_file_open_in(theirs, "theirs", OS_OPEN_READ);
    tap_ok(file >= 0 && read(file, text, sizeof text) == 4 && !strcmp(text, "kept"),
           "the folder that took its place is unchanged");
    tap_u64(rig_machines(), 2, "no other folder is left");
    os_file_close(file);
    os_file_close(theirs);
    clean();
}

static void arrive(void)
{
    os_file_close(os_file_open_in(folder, "theirs", OS_OPEN_NEW));
}

/* Just before the rename, a file that is not cuvmm's comes into the folder. */
static void joined(void)
{
    struct os_file_is is;
    make(false);
    inject_meanwhile("rename", 1, arrive);
    share_remove(root, entry, folder);
    tap_ok(inject_disarm() && files_in(folder) == 1 && os_file_look_in(folder, "theirs", &is), "of the folder that file is left");
    tap_u64(rig_machines(), 1, "and so is the folder, under a spare name");
    clean();
}

/* A folder that this process has just created is removed even if it cannot be queried; files with unknown names stay. */
static void unmade(void)
{
    for (int reported = 0; reported < 2; reported++) {
        strcpy(entry, "spare");
        if (!os_folder_new(root, entry) || (folder = os_folder_open(root, entry)) < 0 || !share_mark_folder(folder))
            tap_bail("no folder");
        os_file_close(os_file_open_in(folder, "state", OS_OPEN_NEW));
        inject_arm_at("fstat", reported ? 0 : 1);
        share_unmake(root, entry, folder);
        bool failed = inject_disarm() != NULL;
        tap_ok(failed == !reported && in_place() == !reported && (reported || files_in(folder) == 1), "%s",
               reported ? "the whole folder is removed" : "all but the mark is removed, because its name is unknown");
        clean();
    }
    strcpy(entry, "spare");
    os_folder_new(root, entry);
    share_unmake(root, entry, -1);
    tap_u64(rig_machines(), 0, "a folder that could not be opened is removed");
}

int main(void)
{
    rig_begin();
    root = os_folder_open(OS_NOWHERE, rig_root);
    removed();
    kept();
    marked();
    static const char *const functions[] = {"fstat", "lstat", "opendir", "open", "rename", "read"};
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
        each_fails(functions[i]);
    swapped();
    joined();
    unmade();
    os_file_close(root);
    rig_end();
    return tap_done();
}

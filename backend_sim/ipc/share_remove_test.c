/* SPDX-License-Identifier: Apache-2.0 */
/* Which folders are removed: those that cuvmm created and that contain nothing else, as a whole; where the system reports
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

/* A folder as cuvmm leaves it, open; under the name of a machine, or a spare one. */
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

/* Whatever is there goes, under whatever name. */
static void clean(void)
{
    os_file_close(folder);
    if (nftw(rig_root, drop, 8, FTW_DEPTH | FTW_PHYS))
        tap_bail("%s is not cleared", rig_root);
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
        tap_u64(rig_machines(), 0, "%s goes, with its files", spare ? "what was made aside" : "a machine's folder");
        clean();
    }
}

/* One thing in it is not cuvmm's. */
static void kept(void)
{
    static const char *const strange[] = {"slot.", "slot.1x", "slot.-1", "mem.", "token.1.2", "notes", "state.old", "slo"};
    for (size_t i = 0; i < sizeof strange / sizeof strange[0]; i++) {
        make(false);
        os_file_close(os_file_open_in(folder, strange[i], OS_OPEN_NEW));
        share_remove(root, entry, folder);
        tap_ok(in_place() && files_in(folder) == FILES + 2, "with \"%s\" in it it stays, whole", strange[i]);
        clean();
    }
    make(false);
    os_folder_new(folder, "mem.9");
    share_remove(root, entry, folder);
    tap_ok(in_place() && files_in(folder) == FILES + 2, "a folder by the name of a file is none of its files");
    clean();
    if (geteuid()) {
        tap_skip("not the superuser", "another user's file");
        return;
    }
    make(false);
    if (fchownat(folder, "mem.3", 1, 1, 0)) {
        clean();
        tap_skip("the namespace has no other user", "another user's file");
        return;
    }
    share_remove(root, entry, folder);
    tap_ok(in_place() && files_in(folder) == FILES + 1, "another user's file keeps it");
    clean();
}

/* What is marked is so by a file. */
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
    tap_ok(!share_is_ours(root, entry, folder), "without its mark a folder is somebody's");
    os_folder_new(folder, mark);
    tap_ok(mark[0] && !share_is_ours(root, entry, folder), "and with a folder in its place");
    share_remove(root, entry, folder);
    tap_ok(in_place() && files_in(folder) == FILES + 1, "which stays");
    clean();
    make(true);
    char other[SHARE_ENTRY_MAX];
    snprintf(other, sizeof other, "%s", entry);
    other[strlen(other) - 1] = other[strlen(other) - 1] == '0' ? '1' : '0';
    tap_ok(share_is_ours(root, entry, folder) && !share_is_ours(root, other, folder), "a spare name is one that fits its number");
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
    tap_ok(failures, "%s fails, %u times: nothing is half removed in its place, and it can be removed then", function, failures);
}

/* ---- somebody is faster ---- */

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

/* Just before it is moved aside, another folder is put in its place. */
static void swapped(void)
{
    char text[8] = "";
    make(false);
    unsigned before = files_in(folder);
    inject_meanwhile("rename", 1, swap);
    share_remove(root, entry, folder);
    tap_ok(inject_disarm() && files_in(folder) == before && os_file_is_at(folder, root, "moved"),
           "what was moved away meanwhile is whole");
    int theirs = os_folder_open(root, entry), file = os_file_open_in(theirs, "theirs", OS_OPEN_READ);
    tap_ok(file >= 0 && read(file, text, sizeof text) == 4 && !strcmp(text, "kept"),
           "what was put in its place is there, as it was");
    tap_u64(rig_machines(), 2, "and nothing else");
    os_file_close(file);
    os_file_close(theirs);
    clean();
}

/* What this process has just made goes also where it cannot be looked at; its files stay where their names are not known. */
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
               reported ? "all of it goes" : "but for the mark, whose name is not known");
        clean();
    }
    strcpy(entry, "spare");
    os_folder_new(root, entry);
    share_unmake(root, entry, -1);
    tap_u64(rig_machines(), 0, "one that could not be opened goes");
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
    unmade();
    os_file_close(root);
    rig_end();
    return tap_done();
}

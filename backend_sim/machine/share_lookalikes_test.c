/* SPDX-License-Identifier: Apache-2.0 */
/* The folder of machines can be any folder, even a user's home. After machines were created and removed, every entry that cuvmm
 * did not create has the same bytes, name, number and time as before; so have the targets of links there. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include "share_folder.h"
#include "share_rig.h"
#include "state_rig.h"

#define RIG_FABRIC VMM_MEM_HANDLE_TYPE_FABRIC

static char home[96];     /* another folder, with the targets of links */
static char channels[96]; /* of the fabric */

/* ---- a listing of everything ---- */

struct text {
    char *at;
    size_t length, room;
};

static void add(struct text *text, const char *line)
{
    size_t length = strlen(line);
    if (text->length + length + 1 > text->room) {
        text->room = 2 * (text->length + length + 1);
        text->at = realloc(text->at, text->room);
        if (!text->at)
            tap_bail("no memory");
    }
    memcpy(text->at + text->length, line, length + 1);
    text->length += length;
}

/* Compares by words, because there are tens of megabytes; length is in bytes, and the padding is 0. */
static uint64_t sum_on(uint64_t sum, const uint64_t *words, ssize_t length)
{
    for (ssize_t i = 0; 8 * i < length; i++) {
        sum = (sum ^ words[i]) * UINT64_C(0x100000001b3);
        sum ^= sum >> 32;
    }
    return sum ^ (uint64_t)length;
}

static uint64_t sum_of(const char *path, const struct stat *is)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325), words[8192] = {0};
    ssize_t n = 0;
    int file = S_ISREG(is->st_mode) ? open(path, O_RDONLY | O_NOFOLLOW) : -1;
    while (file >= 0 && (n = read(file, words, sizeof words)) > 0) {
        memset((char *)words + n, 0, sizeof words - (size_t)n);
        sum = sum_on(sum, words, n);
    }
    if (file >= 0)
        close(file);
    if (S_ISLNK(is->st_mode) && (n = readlink(path, (char *)words, sizeof words)) > 0)
        sum = sum_on(sum, words, n);
    return sum;
}

/* Adds a line for the entry and for everything in it, in the order of names. */
static void see(struct text *text, const char *path, bool itself)
{
    struct stat is;
    struct dirent **entry = NULL;
    char line[800];
    if (lstat(path, &is))
        tap_bail("%s: %s", path, strerror(errno));
    snprintf(line, sizeof line,
             "%.500s mode %o of %u, number %llu, %lld bytes, sum %llx, written %lld.%09ld, changed %lld.%09ld\n", path,
             (unsigned)is.st_mode, (unsigned)is.st_uid, (unsigned long long)is.st_ino,
             S_ISDIR(is.st_mode) ? 0 : (long long)is.st_size,
             (unsigned long long)sum_of(path, &is), (long long)is.st_mtim.tv_sec, (long)is.st_mtim.tv_nsec,
             (long long)is.st_ctim.tv_sec, (long)is.st_ctim.tv_nsec);
    if (itself)
        add(text, line);
    int count = S_ISDIR(is.st_mode) ? scandir(path, &entry, NULL, alphasort) : 0;
    for (int i = 0; i < count; i++) {
        snprintf(line, sizeof line, "%.500s/%.200s", path, entry[i]->d_name);
        if (strcmp(entry[i]->d_name, ".") != 0 && strcmp(entry[i]->d_name, "..") != 0)
            see(text, line, true);
        free(entry[i]);
    }
    free(entry);
}

static char *everything(void)
{
    struct text text = {0};
    see(&text, rig_root, false); /* in which machines are created and removed */
    see(&text, home, true);
    return text.at;
}

/* Compares the listings, and reports the first line that differs. */
static void same_as(const char *before, const char *what)
{
    char *now = everything(), *kept = now;
    const char *b = before;
    while (*b && strcspn(b, "\n") == strcspn(now, "\n") && strncmp(b, now, strcspn(b, "\n")) == 0) {
        b += strcspn(b, "\n") + 1;
        now += strcspn(now, "\n") + 1;
    }
    tap_ok(!*b && !*now, "everything is unchanged after %s", what);
    if (*b || *now)
        tap_note("before: %.*s\n# after:  %.*s", (int)strcspn(b, "\n"), b, (int)strcspn(now, "\n"), now);
    free(kept);
}

/* ---- foreign entries ---- */

static const char *in(const char *folder, const char *name)
{
    static char text[2][300];
    static int turn;
    turn ^= 1;
    snprintf(text[turn], sizeof text[turn], "%.130s/%.130s", folder, name);
    return text[turn];
}

static void file(const char *folder, const char *name, const void *bytes, size_t size)
{
    int made = open(in(folder, name), O_CREAT | O_EXCL | O_WRONLY, 0600);
    if (made < 0 || write(made, bytes, size) != (ssize_t)size || close(made))
        tap_bail("%s: %s", in(folder, name), strerror(errno));
}

static void words(const char *folder, const char *name)
{
    file(folder, name, "dear diary\n", 11);
}

static void folder(const char *name)
{
    if (mkdir(in(rig_root, name), 0700))
        tap_bail("%s: %s", name, strerror(errno));
}

static void link_to(const char *name, const char *target)
{
    if (symlink(target, in(rig_root, name)))
        tap_bail("%s: %s", name, strerror(errno));
}

/* A socket on which a program listens. */
static int ear(const char *name)
{
    struct sockaddr_un at = {.sun_family = AF_UNIX};
    int made = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    snprintf(at.sun_path, sizeof at.sun_path, "%.90s", in(rig_root, name));
    if (made < 0 || bind(made, (const struct sockaddr *)&at, sizeof at) || listen(made, 1))
        tap_bail("%s: %s", name, strerror(errno));
    return made;
}

/* The state of a machine as a killed process leaves it. */
static void whole_state(const char *name)
{
    static struct share_state state;
    struct sim_profile profile;
    sim_profile_builtin(RIG_PROFILE, &profile);
    share_state_init(&state, &profile, 77);
    file(rig_root, name, &state, offsetof(struct share_state, mark));
    if (truncate(in(rig_root, name), (off_t)((sizeof state + os_page_size() - 1) / os_page_size() * os_page_size())))
        tap_bail("no room");
}

static const char *const names[] = {"u-boot", "m-audio", "t-shirts", "m-x", "u-0123456789abcdef", "t-0123456789abcdef",
                                    "t-0123456789abcdef-0123456789abcdef"};
enum { NAMES = sizeof names / sizeof names[0] };

/* For each name a folder with files, one with a file called state; files; empty folders. */
static void folders_of_files(void)
{
    char name[200];
    for (unsigned i = 0; i < NAMES; i++) {
        folder(names[i]);
        words(in(rig_root, names[i]), "Makefile");
        words(in(rig_root, names[i]), "mem.1");
        snprintf(name, sizeof name, "%.*s-with", (int)(38 - (i == 6)), names[i]);
        folder(name);
        words(in(rig_root, name), "state");
        words(in(rig_root, name), "token.1");
        words(in(rig_root, name), "slot.0");
        snprintf(name, sizeof name, "%.2sempty%u", names[i], i);
        folder(name);
        snprintf(name, sizeof name, "%.2sfile%u", names[i], i);
        words(rig_root, name);
    }
}

/* Folders and files like cuvmm's, which a user copied or made by hand. */
static void copies(void)
{
    folder("m-copied");
    whole_state("m-copied/state");
    words(rig_root, "m-copied/mem.1");
    words(rig_root, "m-copied/cuvmm-0123456789abcdef");
    folder("m-before"); /* made by a version that did not mark its folders */
    whole_state("m-before/state");
    folder("t-nothing");
    file(rig_root, "t-nothing/state", "", 0);
}

static void links(void)
{
    folder("m-links");
    link_to("m-links/state", in(home, "state"));
    link_to("m-links/mem.1", in(home, "mem.1"));
    folder("u-links");
    link_to("u-links/token.1", in(home, "token.1"));
    link_to("m-home", home);
    link_to("u-home", home);
    link_to("t-home", home);
    link_to("m-loop", "m-loop");
    link_to("m-gone", "nothing");
    if (link(in(home, "mem.1"), in(rig_root, "u-links/mem.1")))
        tap_bail("no link");
}

static void pipes(void)
{
    static const char *const made[] = {"m-pipe", "u-pipe", "t-pipe", "m-pipes/state", "u-pipes/mem.1"};
    folder("m-pipes");
    folder("u-pipes");
    for (unsigned i = 0; i < sizeof made / sizeof made[0]; i++)
        if (mkfifo(in(rig_root, made[i]), 0600))
            tap_bail("%s: %s", made[i], strerror(errno));
}

static void of_others(void)
{
    if (geteuid())
        return;
    folder("m-other");
    words(rig_root, "m-other/mem.1");
    words(rig_root, "m-x/foreign");
    if (chown(in(rig_root, "m-other/mem.1"), 65534, 65534) || chown(in(rig_root, "m-other"), 65534, 65534) ||
        chown(in(rig_root, "m-x/foreign"), 65534, 65534))
        tap_note("the namespace has no user 65534: these are this user's own");
}

/* ---- machines at work ---- */

static void listed(void *user, const char *entry)
{
    char why[SHARE_WHY] = "";
    unsigned *odd = user;
    struct share_folder at;
    if (share_folder_open_there(&at, entry, why))
        share_folder_close(&at, false);
    else
        *odd += why[0] && !strstr(why, "not a machine of this version");
}

static void list(void)
{
    char why[SHARE_WHY] = "";
    unsigned odd = 0;
    tap_ok(share_folder_each(listed, &odd, why) && !odd, "inspection sees only machines among the entries: %s", why);
}

/* Exports on one machine, and imports on the other. */
static void hand_over(const char *from, const char *to)
{
    vmm_system *a = rig_open(from), *b = from ? rig_open(to) : a;
    vmm_mem_generic_allocation_handle memory = 0, copy = 0;
    tap_ok(a && b && rig_create(a, RIG_G, &memory) == VMM_SUCCESS, "%s opens", from ? from : "a machine without a name");
    int fd = rig_export(a, memory);
    tap_ok(fd >= 0 && rig_import(b, fd, &copy) == VMM_SUCCESS, "memory is passed on");
    list();
    close(fd);
    if (b != a)
        rig_close(b);
    rig_close(a);
}

static vmm_system *node(const char *machine)
{
    vmm_system *sys = NULL;
    vmm_context ctx;
    char spec[300];
    snprintf(spec, sizeof spec, "sim:max,machine=%s,imex=%s", machine, channels);
    if (vmm_open(spec, &sys) || vmm_init(sys, 0) || vmm_ctx_create(sys, &ctx, 0, 0))
        tap_bail("%s: %s", spec, vmm_last_detail()->note);
    return sys;
}

static void over_a_fabric(void)
{
    vmm_system *a = node("one"), *b = node("two");
    vmm_mem_generic_allocation_handle memory = 0, copy = 0;
    unsigned char bytes[VMM_FABRIC_HANDLE_SIZE];
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .requested_handle_types = RIG_FABRIC,
                                          .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    bool made = !vmm_mem_create(a, &memory, RIG_G, &prop, 0) &&
                !vmm_mem_export_to_shareable_handle(a, bytes, memory, RIG_FABRIC, 0);
    tap_ok(made && !vmm_mem_import_from_shareable_handle(b, &copy, bytes, RIG_FABRIC), "memory is passed on over a fabric");
    rig_close(a);
    rig_close(b);
}

/* A killed process leaves exported memory, and its folder is a leftover for the next one. */
static void killed(void)
{
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        vmm_mem_generic_allocation_handle memory = 0;
        vmm_system *sys = rig_open("killed");
        rig_create(sys, RIG_G, &memory);
        rig_export(sys, memory);
        raise(SIGKILL);
    }
    waitpid(child, NULL, 0);
    tap_ok(os_file_exists(rig_path("killed", "state")), "a killed process leaves its machine behind");
    hand_over("one", "one");
    tap_ok(!os_file_exists(rig_path("killed", "state")), "the leftover machine is removed");
}

/* Opens a machine under a name that a foreign entry has. */
static void refused(const char *name)
{
    char spec[100];
    vmm_system *sys = NULL;
    snprintf(spec, sizeof spec, "sim:" RIG_PROFILE ",machine=%s", name);
    tap_result(vmm_open(spec, &sys), VMM_ERROR_OPERATING_SYSTEM, "%s cannot be opened: %s", name, vmm_last_detail()->note);
    tap_ok(strstr(vmm_last_detail()->note, name) && (strstr(vmm_last_detail()->note, "not a machine") ||
           strstr(vmm_last_detail()->note, "not a machine of this version")), "the message says that it is not a machine");
}

static void taken_names(void)
{
    static const char *const taken[] = {"x", "audio", "audio-with", "empty1", "file1", "links", "home", "loop", "gone", "pipe",
                                        "pipes"};
    for (unsigned i = 0; i < sizeof taken / sizeof taken[0]; i++)
        refused(taken[i]);
}

/* ---- folders of cuvmm that were changed ---- */

/* A machine's folder with a user's file in it stays whole, as long as the file is there. */
static void with_a_guest(const char *name)
{
    struct sim_profile profile;
    struct share_folder at;
    char why[SHARE_WHY];
    sim_profile_builtin(RIG_PROFILE, &profile);
    if (!share_folder_open(&at, "guest", &profile, why))
        tap_bail("%s", why);
    close(os_file_open(rig_path("guest", "mem.1"), OS_OPEN_MAKE));
    words(in(rig_root, "m-guest"), name);
    share_folder_close(&at, true);
    char *before = everything();
    hand_over("one", "one");
    same_as(before, "a machine beside a folder with a user's file");
    free(before);
    unlink(in(in(rig_root, "m-guest"), name));
    hand_over("one", "one");
    tap_ok(!os_file_exists(rig_path("guest", "state")), "without that file the folder is removed");
}

/* While a machine is open, a user moves its folder and puts another one in its place: cuvmm does not write to, truncate or remove
 * anything there. */
static void replaced(bool by_a_link)
{
    vmm_system *a = rig_open("moved");
    vmm_mem_generic_allocation_handle memory = 0, other = 0;
    rig_create(a, RIG_G, &memory);
    rig_create(a, RIG_G, &other);
    int fd = rig_export(a, memory);
    char away[120];
    snprintf(away, sizeof away, "%s-away", rig_root);
    if (rename(in(rig_root, "m-moved"), away))
        tap_bail("the folder cannot be moved");
    if (by_a_link)
        link_to("m-moved", home);
    else {
        folder("m-moved");
        words(rig_root, "m-moved/state");
        words(rig_root, "m-moved/mem.1");
        words(rig_root, "m-moved/token.1");
        words(rig_root, "m-moved/slot.0");
    }
    char *before = everything();
    tap_ok(rig_export(a, other) < 0, "a machine whose folder was moved exports nothing");
    vmm_mem_release(a, memory);
    close(fd);
    rig_free(a);
    rig_close(a);
    same_as(before, by_a_link ? "a machine replaced by a link" : "a machine replaced by another folder");
    free(before);
    rig_remove(away);
    if (by_a_link)
        unlink(in(rig_root, "m-moved"));
    else
        rig_remove(in(rig_root, "m-moved"));
}

int main(void)
{
    rig_begin();
    snprintf(home, sizeof home, "%s-home", rig_root);
    snprintf(channels, sizeof channels, "%s-imex", rig_root);
    mkdir(home, 0700);
    mkdir(channels, 0700);
    words(channels, "channel0");
    words(home, "state");
    words(home, "mem.1");
    words(home, "token.1");
    words(home, "slot.0");
    words(home, ".profile");
    folders_of_files();
    copies();
    links();
    pipes();
    of_others();
    int heard = ear("m-ear");
    char *before = everything();
    hand_over("one", "one");
    same_as(before, "a machine with a name");
    hand_over(NULL, NULL);
    same_as(before, "one without");
    over_a_fabric();
    same_as(before, "two machines of a fabric");
    killed();
    same_as(before, "a machine of a killed process");
    taken_names();
    same_as(before, "names that foreign entries have");
    free(before);
    with_a_guest("notes.txt");
    with_a_guest("mem.1~");
    with_a_guest("state.old");
    replaced(false);
    replaced(true);
    close(heard);
    if (system("rm -r \"$CUVMM_MACHINES\" \"$CUVMM_MACHINES-home\" \"$CUVMM_MACHINES-imex\""))
        tap_bail("the test's files cannot be removed");
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* `cuvmm machine`: what it prints of machines that are there, are not, or cannot be had. */
#include "machine_seen.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "cuvmm.h"
#include "checks.h"
#include "child.h"
#include "passing.h"
#include "share_rig.h"

typedef vmm_mem_generic_allocation_handle handle_t;

struct run {
    int status;
    char *out, *err;
};

static struct run run(const char *first, const char *second)
{
    struct run r = {0};
    char *argv[] = {(char *)(uintptr_t) "cuvmm", (char *)(uintptr_t) "machine", (char *)(uintptr_t)first,
                    (char *)(uintptr_t)second, NULL};
    size_t out_size, err_size;
    FILE *out = open_memstream(&r.out, &out_size), *err = open_memstream(&r.err, &err_size);
    if (!out || !err)
        tap_bail("no memory");
    r.status = cuvmm_main(2 + !!first + !!second, argv, out, err);
    fclose(out);
    fclose(err);
    return r;
}

/* Both texts stand in what was printed; "" where nothing may. */
static void prints(const char *first, const char *second, int status, const char *out, const char *err, const char *what)
{
    struct run r = run(first, second);
    bool good = r.status == status && (out[0] ? strstr(r.out, out) != NULL : !r.out[0]) &&
                (err[0] ? strstr(r.err, err) != NULL : !r.err[0]);
    if (!tap_ok(good, "%s", what))
        tap_note("status %d, out \"%s\", err \"%s\"", r.status, r.out, r.err);
    free(r.out);
    free(r.err);
}

/* "process 4711 (machine_test)", as the system names it. */
static const char *named(pid_t pid)
{
    static char text[SHARE_HOLD_TEXT];
    char program[OS_PROGRAM];
    os_program(os_pid(), program);
    return share_inspect_named((uint64_t)pid, program, text);
}

static void wrong_use(void)
{
    prints("--frobnicate", NULL, 2, "", "unknown option", "an invalid option");
    prints("a", "b", 2, "", "one NAME", "two names");
    prints("..", NULL, 2, "", "is not a name of a machine", "an invalid name");
    prints("--help", NULL, 0, "cuvmm machine [NAME] [--json]", "", "the help");
    prints(NULL, NULL, 0, "no machine is shared\n", "", "there are no machines");
    prints("mine", NULL, 2, "", "no process uses a machine \"mine\"", "there is no machine of that name");
    setenv("CUVMM_MACHINES", "/dev/null", 1);
    prints(NULL, NULL, 2, "", "/dev/null", "the folder is missing");
    setenv("CUVMM_MACHINES", rig_root, 1);
}

static void whole(void)
{
    char want[1200];
    vmm_system *a = rig_open("mine"), *b = rig_open("yours");
    handle_t memory = 0, other = 0, copy = 0;
    rig_create(a, RIG_G, &memory);
    rig_create(a, 3 * RIG_G, &other);
    int fd = rig_export(a, memory);
    rig_import(a, fd, &copy);
    const char *self = named(getpid());
    snprintf(want, sizeof want,
             "machine mine (h100), 1 process, 1 exported\n"
             "  %s: 6MiB on device 0\n"
             "  exported 1, 2MiB on device 0, by %s: call 5 (cuMemExportToShareableHandle)\n"
             "    held by %s: call 3 (cuMemCreate), 2 handles\n"
             "    open in %s: descriptor %d\n"
             "  device 0: 8MiB of 79.1GiB in use\n",
             self, self, self, self, fd);
    prints("mine", NULL, 0, want, "", "a machine by its name");
    prints(NULL, NULL, 0, want, "", "one among all");
    prints(NULL, NULL, 0, "machine yours (h100), 1 process, 0 exported\n", "", "the other one");
    vmm_mem_release(a, memory);
    vmm_mem_release(a, copy);
    int pair[2];
    if (!passing_pair(pair) || !passing_send(pair[0], fd))
        tap_bail("no message");
    close(fd);
    prints("mine", NULL, 0, "    open in no process: in a message, or in a process of another user\n", "",
           "a descriptor in a message");
    close(pair[0]);
    close(pair[1]);
    prints("mine", NULL, 0, "machine mine (h100), 1 process, 0 exported\n", "", "after the message is closed the export is gone");
    rig_close(a);
    rig_close(b);
}

/* A system without a name has a machine from its first export on. */
static void without_a_name(void)
{
    vmm_system *a = rig_open(NULL);
    handle_t memory = 0;
    rig_create(a, RIG_G, &memory);
    int fd = rig_export(a, memory);
    prints(NULL, NULL, 0, "a machine without a name (h100), 1 process, 1 exported\n", "", "a machine without a name");
    close(fd);
    rig_close(a);
}

#ifdef CUVMM_HAVE_JANSSON
static void unseen_descriptor(void)
{
    struct share_inspect_block block = {.number = 1, .out = true};
    struct share_inspect who = {.block_count = 1, .block = &block};
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        tap_bail("no memory");
    bool written = machine_json(out, stderr, &(struct machine_seen){"mine", &who}, 1);
    fclose(out);
    tap_ok(written && strstr(text, "\"descriptor_seen\": null"), "null, where the system does not report who has a descriptor");
    free(text);
}
#endif

static void json(void)
{
    vmm_system *a = rig_open("mine");
    handle_t memory = 0;
    rig_create(a, RIG_G, &memory);
    int fd = rig_export(a, memory);
#ifdef CUVMM_HAVE_JANSSON
    char want[300];
    prints("mine", "--json", 0, "\"name\": \"mine\"", "", "as JSON");
    prints("--json", NULL, 0, "\"function\": \"cuMemExportToShareableHandle\"", "", "with the exporter's call");
    snprintf(want, sizeof want, "\",\n              \"descriptor\": %d\n            }", fd);
    prints("mine", "--json", 0, want, "", "and the descriptor");
    unseen_descriptor();
#else
    prints("mine", "--json", 2, "", "built without jansson", "JSON is not to be had");
#endif
    close(fd);
    rig_close(a);
}

/* A forged state does not crash the command, and does not reach the terminal. */
static void forged(void)
{
    vmm_system *a = rig_open("mine");
    handle_t memory = 0;
    rig_create(a, RIG_G, &memory);
    int fd = rig_export(a, memory), file = open(rig_path("mine", "state"), O_RDWR);
    struct share_state *state = mmap(NULL, sizeof *state, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (state == MAP_FAILED)
        tap_bail("the state cannot be mapped");
    struct share_block kept = state->block[0];
    memset(&state->slot[0].who, 0x1b, sizeof state->slot[0].who);
    memset(&state->slot[0].use, 0xff, sizeof state->slot[0].use);
    atomic_store(&state->block[0].exported, UINT64_MAX);
    checks_spare_shared();
    state->block[0].location_type = 77;
    state->block[0].size = UINT64_MAX;
    prints("mine", NULL, 0, "(\?\?\?\?\?\?\?\?\?\?\?\?\?\?\?)", "", "a name that would move the cursor");
    prints("mine", NULL, 0, "on location type 77, 0, by process", "", "an invalid place");
    prints("mine", NULL, 0, "an unknown call", "", "a forged call");
#ifdef CUVMM_HAVE_JANSSON
    prints("mine", "--json", 0, "location type 77", "", "in JSON as well");
#endif
    state->block[0] = kept;
    memset(&state->slot[0].use, 0, sizeof state->slot[0].use);
    munmap(state, sizeof *state);
    close(file);
    close(fd);
    rig_close(a);
}

static void damaged(void)
{
    vmm_system *a = rig_open("mine");
    if (truncate(rig_path("mine", "state"), 5))
        tap_bail("the state cannot be cut");
    prints("mine", NULL, 2, "", "not a machine of this version", "a state that was cut");
    rig_close(a);
    rig_close(rig_open("mine")); /* makes it anew, and takes it away */
}

static void stopped(void)
{
    int socket, status = 0;
    char want[160];
    pid_t child = child_begin(&socket, 60);
    if (child == 0) {
        char why[SHARE_WHY];
        vmm_system *sys = rig_open("mine");
        struct share *share = share_open_there("m-mine", why);
        if (!sys || !share || !share_lock(share))
            _exit(1);
        passing_go_on(socket);
        passing_wait(socket);
        _exit(0);
    }
    passing_wait(socket);
    kill(child, SIGSTOP);
    waitpid(child, &status, WUNTRACED);
    snprintf(want, sizeof want,
             "mine cannot be looked at: %s is stopped and has held the machine for 1 s: "
             "continue it (kill -CONT %ld) or end it\n",
             named(child), (long)child);
    prints("mine", NULL, 2, "", want, "a stopped process that holds the machine is named");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    close(socket);
    prints("mine", NULL, 2, "", "no process uses a machine", "once it is killed there is nothing left");
}

int main(void)
{
    rig_begin();
    wrong_use();
    if (access("/proc/self/fd", R_OK)) {
        tap_skip("this system does not report who has a file open", "machines");
        rig_end();
        return tap_done();
    }
    whole();
    without_a_name();
    json();
    forged();
    damaged();
    stopped();
    rig_end();
    return tap_done();
}

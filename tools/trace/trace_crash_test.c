/* SPDX-License-Identifier: Apache-2.0 */
/* The binary form of a trace: its program is killed, its file becomes full, is truncated or damaged, or is read while
 * it is written; with forks, threads, and two programs that use the same name. */
#define _DEFAULT_SOURCE
#include "trace_store.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fake_backend.h"
#include "random.h"
#include "tap.h"

static char folder[256];
static uint64_t dice;

static const char *path_of(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static struct vmm_backend *open_over(struct fake *fake, const char *path)
{
    struct vmm_backend *top = NULL;
    fake_init(fake);
    if (vmm_trace_open(path, &fake->base, &top) != VMM_SUCCESS)
        tap_bail("%s", vmm_last_detail()->note);
    return top;
}

static vmm_result release(struct vmm_backend *top, uint64_t number)
{
    struct vmm_call_mem_release call = {{VMM_CALL_mem_release, 0}, 0x1000 + number};
    return fake_dispatch(top, &call.head, number);
}

/* The contents of a file: consecutive calls from `first` on. */
struct contents {
    bool opened, whole, in_order;
    uint64_t calls, said;
    char complaint[200];
};

static struct contents read_trace(const char *path, uint64_t first)
{
    struct contents contents = {.in_order = true};
    struct trace_room *room = text_grow(NULL, sizeof *room);
    struct trace_store store;
    struct trace_at at = {0, 0}, found;
    FILE *in = fopen(path, "rb");
    if (!in)
        tap_bail("%s: %s", path, strerror(errno));
    contents.opened = trace_store_open(&store, in, "trace");
    fclose(in);
    for (; contents.opened && trace_store_next(&store, &at, room, &found); contents.calls++) {
        const uint64_t number = first + contents.calls;
        contents.in_order = contents.in_order && room->call.head.number == number && room->call.head.id == VMM_CALL_mem_release &&
                            room->call.mem_release.handle == 0x1000 + number;
    }
    contents.whole = store.whole;
    contents.said = store.said;
    snprintf(contents.complaint, sizeof contents.complaint, "%s", store.complaint.length ? store.complaint.data : "");
    trace_store_close(&store);
    free(room);
    return contents;
}

static off_t size_of(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_size : -1;
}

/* ---- the end of a process ---- */

/* An endless series of calls, counted in shared memory, until the process is killed. */
__attribute__((noreturn)) static void call_on(const char *path, _Atomic uint64_t *returned)
{
    struct fake fake;
    struct vmm_backend *top = open_over(&fake, path);
    for (uint64_t i = 1;; i++) {
        release(top, i);
        atomic_store(returned, i);
    }
}

/* Every call that has returned is in the trace of a killed process, and at most one more. */
static void test_killed(const char *name, const char *what)
{
    const unsigned rounds = random_rounds(20);
    unsigned good = 0, chunks = 0;
    _Atomic uint64_t *returned = mmap(NULL, sizeof *returned, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (returned == MAP_FAILED)
        tap_bail("no memory");
    for (unsigned i = 0; i < rounds; i++) {
        char own[300];
        const uint64_t until = random_below(&dice, i % 2 ? 100 : 20000);
        atomic_store(returned, 0);
        const pid_t child = fork();
        if (child == 0)
            call_on(path_of(name), returned);
        while (atomic_load(returned) < until)
            sched_yield();
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        snprintf(own, sizeof own, "%s/k.%ld.vtrace", folder, (long)child);
        const char *path = strchr(name, '%') ? own : path_of(name);
        struct contents c = {0};
        if (atomic_load(returned)) /* earlier, it may not have started */
            c = read_trace(path, 1);
        const bool fine = !atomic_load(returned) || (c.opened && !c.whole && c.in_order && !c.complaint[0] &&
                                                     (c.calls == atomic_load(returned) || c.calls == atomic_load(returned) + 1));
        if (!fine)
            tap_note("%" PRIu64 " calls of %" PRIu64 ": %s", c.calls, (uint64_t)atomic_load(returned), c.complaint);
        good += fine;
        chunks += c.calls > 5000;
        unlink(path);
    }
    munmap((void *)(uintptr_t)returned, sizeof *returned);
    tap_ok(good == rounds && chunks, "%s, killed: every call that returned is there, %u times", what, good);
}

/* ---- a full disk ---- */

static void test_full(void)
{
    char said[300], path[300], text[400] = "";
    unsigned good = 0, rounds = 0;
    snprintf(said, sizeof said, "%s", path_of("said"));
    snprintf(path, sizeof path, "%s", path_of("full.vtrace"));
    for (rlim_t most = 110000; most < 400000; most += 41001, rounds++) {
        const pid_t child = fork();
        if (child == 0) {
            struct fake fake;
            const struct rlimit limit = {most, most};
            if (!freopen(said, "w", stderr) || setrlimit(RLIMIT_FSIZE, &limit) != 0)
                _exit(9);
            struct vmm_backend *top = open_over(&fake, path);
            bool fine = true;
            for (uint64_t i = 1; i <= 20000; i++)
                fine = release(top, i) == VMM_SUCCESS && fine;
            top->ops->close(top);
            fflush(stderr);
            _exit(fine && fake.seen == 20000 ? 0 : 1);
        }
        int status = -1;
        waitpid(child, &status, 0);
        const struct contents c = read_trace(path, 1);
        FILE *in = fopen(said, "r");
        text[in ? fread(text, 1, sizeof text - 1, in) : 0] = '\0';
        if (in)
            fclose(in);
        const bool fine = status == 0 && c.opened && !c.whole && c.in_order && !c.complaint[0] && c.calls > 1000 && c.calls < 20000 &&
                          size_of(path) <= (off_t)most && strstr(text, "a record could not be written (File too large)");
        if (!fine)
            tap_note("status %d, %" PRIu64 " calls, %ld bytes of %ld: %s%s", status, c.calls, (long)size_of(path), (long)most, c.complaint,
                     text);
        good += fine;
    }
    tap_ok(good == rounds, "a file that may not become longer: the program runs on, and the trace has whole calls, %u times", good);
    unlink(said);
    unlink(path);
}

static void test_no_file(void)
{
    static const struct {
        const char *name, *says;
    } cases[] = {{"no/such/folder/t.vtrace", "No such file"}, {"pipe.vtrace", "must be a regular file"}, {"dir.vtrace", "must be a regular file"}};
    mkfifo(path_of("pipe.vtrace"), 0600);
    mkdir(path_of("dir.vtrace"), 0700);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct fake fake;
        struct vmm_backend *top = NULL;
        fake_init(&fake);
        const vmm_result result = vmm_trace_open(path_of(cases[i].name), &fake.base, &top);
        tap_ok(result == VMM_ERROR_OPERATING_SYSTEM && !top && strstr(vmm_last_detail()->note, cases[i].says), "%s: %s", cases[i].name,
               vmm_last_detail()->note);
    }
    unlink(path_of("pipe.vtrace"));
    rmdir(path_of("dir.vtrace"));
}

/* No room even for the head: nothing is left, and existing files stay. */
static void test_no_room(void)
{
    char path[300];
    struct fake fake;
    struct vmm_backend *top = NULL;
    struct rlimit limit;
    snprintf(path, sizeof path, "%s", path_of("small.vtrace"));
    FILE *old = fopen(path, "w");
    if (!old || fputs("older\n", old) < 0 || fclose(old) != 0)
        tap_bail("cannot write %s", path);
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        tap_bail("no limit");
    const struct rlimit less = {9000, limit.rlim_max};
    fake_init(&fake);
    setrlimit(RLIMIT_FSIZE, &less);
    const vmm_result result = vmm_trace_open(path, &fake.base, &top);
    setrlimit(RLIMIT_FSIZE, &limit);
    tap_result(result, VMM_ERROR_OPERATING_SYSTEM, "a file without room for the head");
    tap_ok(strstr(vmm_last_detail()->note, "File too large") != NULL, "is refused: %s", vmm_last_detail()->note);
    tap_ok(size_of(path) == 6, "and an older one stays");
    unlink(path);
}

/* A fork that cannot create its own file continues without a trace, and ends normally. */
static void test_fork_without_room(void)
{
    char path[300];
    int status = -1;
    struct fake fake;
    snprintf(path, sizeof path, "%s", path_of("f.%p.vtrace"));
    struct vmm_backend *top = open_over(&fake, path);
    const pid_t child = fork();
    if (child == 0) {
        struct rlimit limit;
        bool fine = freopen("/dev/null", "w", stderr) && getrlimit(RLIMIT_FSIZE, &limit) == 0;
        const struct rlimit less = {9000, limit.rlim_max};
        setrlimit(RLIMIT_FSIZE, &less);
        fine = release(top, 1) == VMM_SUCCESS && fine;
        top->ops->close(top);
        setrlimit(RLIMIT_FSIZE, &limit); /* coverage measurement writes files at exit */
        _exit(fine ? 0 : 1);
    }
    waitpid(child, &status, 0);
    tap_ok(status == 0, "a fork without room for a trace runs on: status %d", status);
    top->ops->close(top);
    snprintf(path, sizeof path, "%s/f.%ld.vtrace", folder, (long)getpid());
    tap_ok(unlink(path) == 0, "the trace of the parent is there");
}

static uint64_t used_of(const char *path)
{
    uint64_t commit = 0;
    FILE *in = fopen(path, "rb");
    const bool got = in && fseek(in, offsetof(struct trace_binary, commit), SEEK_SET) == 0 && fread(&commit, sizeof commit, 1, in) == 1;
    if (in)
        fclose(in);
    return got ? commit & UINT32_MAX : 0;
}

/* The frames of a new stack need more room than a call: in a nearly full window, only they do not fit. */
static void test_frames_without_room(void)
{
    char pattern[300], path[300], said[300];
    struct fake fake;
    struct rlimit limit;
    uint64_t calls = 0;
    snprintf(pattern, sizeof pattern, "%s", path_of("p.%p.vtrace"));
    snprintf(path, sizeof path, "%s/p.%ld.vtrace", folder, (long)getpid());
    snprintf(said, sizeof said, "%s", path_of("said"));
    struct vmm_backend *top = open_over(&fake, pattern);
    while (used_of(path) < TRACE_CHUNK - 3000 && calls < 20000)
        release(top, ++calls);
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        tap_bail("no limit");
    const struct rlimit less = {9000, limit.rlim_max};
    const int kept = dup(STDERR_FILENO);
    const bool quiet = freopen(said, "w", stderr) != NULL;
    setrlimit(RLIMIT_FSIZE, &less);
    const bool fine = release(top, ++calls) == VMM_SUCCESS && release(top, ++calls) == VMM_SUCCESS;
    setrlimit(RLIMIT_FSIZE, &limit);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    top->ops->close(top);
    const struct contents c = read_trace(path, 1);
    tap_ok(quiet && fine && c.opened && !c.whole && c.in_order && c.calls == calls - 2, "a place without room for its frames: %d of %d calls", (int)c.calls,
           (int)calls);
    unlink(path);
    unlink(said);
}

/* ---- files changed by others ---- */

static char *read_file(const char *path, size_t *length)
{
    FILE *in = fopen(path, "rb");
    char *bytes = text_grow(NULL, 1 << 20);
    if (!in)
        tap_bail("%s: %s", path, strerror(errno));
    *length = fread(bytes, 1, 1 << 20, in);
    fclose(in);
    return bytes;
}

static void write_file(const char *path, const char *bytes, size_t length)
{
    FILE *out = fopen(path, "wb");
    if (!out || fwrite(bytes, 1, length, out) != length || fclose(out) != 0)
        tap_bail("%s cannot be written", path);
}

static void record(const char *path, uint64_t calls)
{
    struct fake fake;
    struct vmm_backend *top = open_over(&fake, path);
    for (uint64_t i = 1; i <= calls; i++)
        release(top, i);
    top->ops->close(top);
}

/* Truncated anywhere, its first calls can be read. */
static void test_cut(uint64_t calls)
{
    char path[300];
    size_t length, refused = 0, shorter = 0;
    uint64_t last = 0;
    bool good = true;
    snprintf(path, sizeof path, "%s", path_of("cut.vtrace"));
    record(path, calls);
    char *bytes = read_file(path, &length);
    for (size_t cut = 0; cut < length && good; cut += 1 + random_below(&dice, length / 150)) {
        write_file(path, bytes, cut);
        const struct contents c = read_trace(path, 1);
        refused += !c.opened;
        shorter += c.opened && c.calls < calls;
        good = c.opened ? c.in_order && c.calls >= last && c.calls <= calls && (c.calls == calls || c.complaint[0]) : c.complaint[0] != 0;
        if (!good)
            tap_note("%zu bytes of %zu: %" PRIu64 " calls after %" PRIu64 ": %s", cut, length, c.calls, last, c.complaint);
        last = c.opened ? c.calls : last;
    }
    tap_ok(good && refused && (shorter || !calls), "%" PRIu64 " calls, cut off anywhere: %zu times refused, %zu times the first of them are read", calls,
           refused, shorter);
    free(bytes);
    unlink(path);
}

/* With any damage, reading terminates. */
static void test_damaged(void)
{
    char path[300];
    size_t length;
    unsigned complained = 0;
    const unsigned rounds = random_rounds(400);
    bool good = true;
    snprintf(path, sizeof path, "%s", path_of("damaged.vtrace"));
    record(path, 4000);
    char *bytes = read_file(path, &length), *copy = text_grow(NULL, length);
    for (unsigned i = 0; i < rounds && good; i++) {
        memcpy(copy, bytes, length);
        for (uint64_t n = 1 + random_below(&dice, 4); n > 0; n--) {
            const size_t near = random_below(&dice, 2) ? 200 : length, at = random_below(&dice, near);
            copy[at] = (char)random_below(&dice, 256);
        }
        write_file(path, copy, length);
        const struct contents c = read_trace(path, 1);
        good = c.calls <= 3 * 4000 && (c.opened || c.complaint[0]);
        complained += c.complaint[0] != 0;
    }
    tap_ok(good && complained, "damaged files are read to an end, %u of %u with a complaint", complained, rounds);
    free(bytes);
    free(copy);
    unlink(path);
}

static void test_live(void)
{
    struct fake fake;
    char path[300];
    bool good = true;
    snprintf(path, sizeof path, "%s", path_of("live.vtrace"));
    struct vmm_backend *top = open_over(&fake, path);
    for (uint64_t i = 1; i <= 5000; i++) {
        release(top, i);
        if (i > 3 && i % 97)
            continue;
        const struct contents c = read_trace(path, 1);
        good = good && c.opened && !c.whole && c.in_order && c.calls == i && !c.complaint[0];
    }
    top->ops->close(top);
    const struct contents c = read_trace(path, 1);
    tap_ok(good, "it can be read while it is written, with every call that has returned");
    tap_ok(c.whole && c.said == 5000 && c.calls == 5000, "and has its end when it is closed");
    unlink(path);
}

/* ---- processes and threads ---- */

static void test_two_programs(void)
{
    struct fake one, two;
    char path[300];
    snprintf(path, sizeof path, "%s", path_of("name.vtrace"));
    struct vmm_backend *first = open_over(&one, path);
    release(first, 1);
    struct vmm_backend *second = open_over(&two, path);
    for (uint64_t i = 1; i < 4000; i++) {
        release(first, 1 + i);
        release(second, i);
    }
    first->ops->close(first);
    second->ops->close(second);
    const struct contents c = read_trace(path, 1);
    tap_ok(c.whole && c.in_order && c.calls == 3999, "of two programs with one name the last that began has the file, undisturbed");
    char link[300];
    snprintf(link, sizeof link, "%s", path_of("link.vtrace"));
    tap_ok(symlink(path, link) == 0, "a link");
    record(link, 7);
    const struct contents linked = read_trace(path, 1);
    struct stat status;
    tap_ok(linked.calls == 7 && lstat(link, &status) == 0 && S_ISLNK(status.st_mode), "the target of a link is replaced, "
        "and the link stays");
    unlink(link);
    unlink(path);
}

static void test_fork(void)
{
    struct fake fake;
    char path[300];
    int status = -1;
    snprintf(path, sizeof path, "%s", path_of("fork.vtrace"));
    struct vmm_backend *top = open_over(&fake, path);
    release(top, 1);
    const pid_t child = fork();
    if (child == 0) {
        bool good = true;
        for (uint64_t i = 0; i < 10000; i++)
            good = release(top, 100 + i) == VMM_SUCCESS && good;
        top->ops->close(top);
        _exit(good ? 0 : 1);
    }
    for (uint64_t i = 2; i <= 6000; i++)
        release(top, i);
    waitpid(child, &status, 0);
    release(top, 6001);
    top->ops->close(top);
    const struct contents c = read_trace(path, 1);
    tap_ok(status == 0 && c.whole && c.in_order && c.calls == 6001, "a forked child's calls continue, and write nothing into its parent's trace");
    unlink(path);
}

/* With %p each process has its own file: parent, child and grandchild. */
static void test_own(void)
{
    struct fake fake;
    char path[300];
    int status = -1, ends[2];
    pid_t grandchild = 0;
    if (pipe(ends) != 0)
        tap_bail("no pipe");
    struct vmm_backend *top = open_over(&fake, path_of("own.%p.vtrace"));
    release(top, 1);
    const pid_t child = fork();
    if (child == 0) {
        bool good = release(top, 50) == VMM_SUCCESS;
        const pid_t next = fork();
        if (next == 0) {
            good = release(top, 60) == VMM_SUCCESS && release(top, 61) == VMM_SUCCESS;
            top->ops->close(top);
            _exit(good ? 0 : 1);
        }
        good = write(ends[1], &next, sizeof next) == sizeof next && waitpid(next, &status, 0) == next && status == 0 && good;
        top->ops->close(top);
        _exit(good ? 0 : 1);
    }
    tap_ok(read(ends[0], &grandchild, sizeof grandchild) == sizeof grandchild && waitpid(child, &status, 0) == child && status == 0,
           "calls of a fork and of its fork continue");
    release(top, 2);
    top->ops->close(top);
    const struct {
        pid_t process;
        uint64_t first, calls;
    } all[] = {{getpid(), 1, 2}, {child, 50, 1}, {grandchild, 60, 2}};
    for (size_t i = 0; i < 3; i++) {
        snprintf(path, sizeof path, "%s/own.%ld.vtrace", folder, (long)all[i].process);
        const struct contents c = read_trace(path, all[i].first);
        tap_ok(c.whole && c.in_order && c.calls == all[i].calls, "each in a file of its own: %" PRIu64 " calls", c.calls);
        unlink(path);
    }
    close(ends[0]);
    close(ends[1]);
}

enum { THREADS = 4, EACH = 3000 };

struct racer {
    struct vmm_backend *top;
    _Atomic uint64_t *next;
};

static void *race(void *user)
{
    struct racer *racer = user;
    for (int i = 0; i < EACH; i++)
        release(racer->top, atomic_fetch_add(racer->next, 1) + 1);
    return NULL;
}

/* A single thread, then several, then one again. */
static void test_threads(void)
{
    struct fake fake;
    static unsigned char seen[THREADS * EACH + 1001];
    char path[300];
    pthread_t thread[THREADS];
    _Atomic uint64_t next = 500;
    struct trace_room *room = text_grow(NULL, sizeof *room);
    struct trace_store store;
    struct trace_at at = {0, 0}, found;
    snprintf(path, sizeof path, "%s", path_of("threads.vtrace"));
    struct vmm_backend *top = open_over(&fake, path);
    struct racer racer = {top, &next};
    for (uint64_t i = 1; i <= 500; i++)
        release(top, i);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&thread[i], NULL, race, &racer))
            tap_bail("no thread");
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    for (uint64_t i = 1; i <= 500; i++)
        release(top, atomic_load(&next) + i);
    top->ops->close(top);
    FILE *in = fopen(path, "rb");
    bool good = in && trace_store_open(&store, in, "threads"), once = true;
    uint64_t of[8] = {0};
    while (good && trace_store_next(&store, &at, room, &found)) {
        const uint64_t n = room->call.head.number;
        once = once && n >= 1 && n < sizeof seen && !seen[n];
        if (once)
            seen[n] = 1;
        of[room->event.thread < 8 ? room->event.thread : 0]++;
    }
    tap_ok(good && once && store.whole && store.said == THREADS * EACH + 1000, "calls of %d threads: each once", THREADS);
    tap_ok(of[1] == 1000 && of[2] == EACH && of[3] == EACH && of[4] == EACH && of[5] == EACH, "with the number of its thread");
    if (in)
        fclose(in);
    trace_store_close(&store);
    free(room);
    unlink(path);
}

int main(void)
{
    const char *tmp = getenv("TMPDIR");
    dice = random_seed(51977);
    snprintf(folder, sizeof folder, "%.200s/cuvmm-trace-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        tap_bail("no folder");
    test_killed("k.vtrace", "a program");
    test_killed("k.%p.vtrace", "with time and place");
    test_full();
    test_no_file();
    test_no_room();
    test_fork_without_room();
    test_frames_without_room();
    test_cut(0);
    test_cut(10);
    test_cut(9000);
    test_damaged();
    test_live();
    test_two_programs();
    test_fork();
    test_own();
    test_threads();
    tap_ok(rmdir(folder) == 0, "no file is left");
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Reads scripts: starts the processes that they name, gives each its steps, and prints the answers. Part of ../ipc.c, which
 * includes it.
 *
 *     A alloc 0 2M | A get h0 0 | B open 0 h0 1 | B peek 0+4K      steps
 *     . same h0 h1     are two handles equal?
 *     . flip h1 h0 9   h1 is h0 with bit 9 of its bytes inverted      . zero h1     . ones h1
 *     B end            the process ends, and B is another from then on
 *
 * A process that dies or takes longer than its patience is an answer as well, and ends the case.
 */

enum { ACTORS = 4, HANDLES = 12, STEP_MS = 8000, OUT = 1 << 18, WORKERS = 6 };

struct script {
    const char *name, *steps;
    int devices; /* the least number of devices that it needs; 0: 1 */
};

static unsigned char handles[HANDLES][CU_IPC_HANDLE_SIZE];
static struct {
    pid_t pid;
    int socket;
} actors[ACTORS];
static char out[OUT];
static size_t out_used;
static bool one_at_a_time; /* RECORD_WORKERS=1: lines appear with their steps, so that other output stands where it belongs */

__attribute__((format(printf, 1, 2))) static void put_out(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(out + out_used, OUT - out_used, format, args);
    va_end(args);
    if (n > 0 && (size_t)n < OUT - out_used)
        out_used += (size_t)n;
}

/* All lines of a case at once, for others write at the same time. */
static void flush_out(void)
{
    for (size_t done = 0; done < out_used;) {
        ssize_t n = write(STDOUT_FILENO, out + done, out_used - done);
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    out_used = 0;
}

static bool start_actor(int a)
{
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return false;
    actors[a].pid = fork();
    if (actors[a].pid == 0) {
        char number_text[16];
        close(ends[0]);
        for (int other = 0; other < ACTORS; other++)
            if (other != a && actors[other].pid)
                close(actors[other].socket);
        snprintf(number_text, sizeof number_text, "%d", ends[1]);
        execl("/proc/self/exe", "ipc", "--actor", number_text, (char *)NULL);
        _exit(7);
    }
    close(ends[1]);
    actors[a].socket = ends[0];
    return actors[a].pid > 0;
}

/* What became of it, as text. */
static const char *end_actor(int a, bool kill_it)
{
    static char text[32];
    int status = 0;
    if (!actors[a].pid)
        return "-";
    if (kill_it)
        kill(actors[a].pid, SIGKILL);
    close(actors[a].socket);
    waitpid(actors[a].pid, &status, 0);
    actors[a].pid = 0;
    if (WIFSIGNALED(status))
        snprintf(text, sizeof text, "SIGNAL %d", WTERMSIG(status));
    else
        snprintf(text, sizeof text, "exit %d", WEXITSTATUS(status));
    return text;
}

static int handle_of(const char *word)
{
    return word[0] == 'h' && word[1] ? atoi(word + 1) % HANDLES : -1;
}

/* A step of a process; false if the process has ended. */
static bool give_step(int a, struct ask *ask, char *text)
{
    struct reply reply;
    int h = -1;
    for (int w = 1; w < WORDS && h < 0; w++)
        h = handle_of(ask->word[w]);
    if (h >= 0)
        memcpy(ask->handle, handles[h], sizeof ask->handle);
    if (!actors[a].pid && !start_actor(a)) {
        snprintf(text, TEXT, "no process");
        return false;
    }
    const bool last = !strcmp(ask->word[0], "end") || !strcmp(ask->word[0], "kill");
    if (send(actors[a].socket, ask, sizeof *ask, MSG_NOSIGNAL) != (ssize_t)sizeof *ask && !last) {
        snprintf(text, TEXT, "%s", end_actor(a, false));
        return false;
    }
    if (last) {
        snprintf(text, TEXT, "%s", end_actor(a, false));
        return true;
    }
    struct pollfd wait_for = {.fd = actors[a].socket, .events = POLLIN};
    if (poll(&wait_for, 1, STEP_MS) == 0) {
        end_actor(a, true);
        snprintf(text, TEXT, "TIMEOUT");
        return false;
    }
    if (recv(actors[a].socket, &reply, sizeof reply, MSG_WAITALL) != (ssize_t)sizeof reply) {
        snprintf(text, TEXT, "%s", end_actor(a, false));
        return false;
    }
    if (h >= 0)
        memcpy(handles[h], reply.handle, sizeof reply.handle);
    memcpy(text, reply.text, TEXT);
    return true;
}

static void own_step(struct ask *ask, char *text)
{
    const char *verb = ask->word[0];
    int one = handle_of(ask->word[1]), two = handle_of(ask->word[2]);
    snprintf(text, TEXT, "-");
    if (!strcmp(verb, "same"))
        snprintf(text, TEXT, "%s", memcmp(handles[one], handles[two], CU_IPC_HANDLE_SIZE) ? "other" : "same");
    else if (!strcmp(verb, "zero"))
        memset(handles[one], 0, CU_IPC_HANDLE_SIZE);
    else if (!strcmp(verb, "ones"))
        memset(handles[one], 0xff, CU_IPC_HANDLE_SIZE);
    else if (!strcmp(verb, "flip")) {
        u64 bit = number(ask->word[3]);
        memcpy(handles[one], handles[two], CU_IPC_HANDLE_SIZE);
        handles[one][bit / 8] ^= (unsigned char)(1 << bit % 8);
    } else if (!strcmp(verb, "bytes")) { /* for the person who reads standard error */
        char hex[2 * CU_IPC_HANDLE_SIZE + 1];
        for (int i = 0; i < CU_IPC_HANDLE_SIZE; i++)
            snprintf(hex + 2 * i, 3, "%02x", handles[one][i]);
        fprintf(stderr, "handle %s\n", hex);
    } else
        snprintf(text, TEXT, "no such step");
}

static void split(const char *step, size_t length, struct ask *ask)
{
    memset(ask, 0, sizeof *ask);
    for (size_t w = 0, i = 0; w < WORDS; w++) {
        while (i < length && step[i] == ' ')
            i++;
        for (size_t n = 0; i < length && step[i] != ' '; i++)
            if (n < WORD - 1)
                ask->word[w][n++] = step[i];
    }
}

static void run_script(char group, const struct script *script)
{
    unsigned number_of = 0;
    bool going = true;
    memset(handles, 0, sizeof handles);
    for (const char *step = script->steps; *step && going;) {
        size_t length = strcspn(step, "|"), trimmed = length;
        struct ask ask;
        char text[TEXT] = "";
        while (trimmed && step[trimmed - 1] == ' ')
            trimmed--;
        while (trimmed && *step == ' ')
            step++, length--, trimmed--;
        char who = step[0];
        split(step + 1, trimmed - 1, &ask);
        if (who == '.')
            own_step(&ask, text);
        else
            going = give_step(who - 'A', &ask, text);
        put_out("%c.%s.%02u.%.*s\t%s\n", group, script->name, number_of++, (int)trimmed, step, text);
        if (one_at_a_time)
            flush_out();
        step += length + (step[length] == '|');
    }
    for (int a = 0; a < ACTORS; a++)
        if (actors[a].pid) {
            struct ask end = {.word = {"end"}};
            char text[TEXT];
            give_step(a, &end, text);
            if (strcmp(text, "exit 0"))
                put_out("%c.%s.%c!\t%s\n", group, script->name, 'A' + a, text);
        }
    flush_out();
}

/* ---- all cases ---- */

enum { CASES = 1200 };

static struct {
    char group;
    struct script script;
} cases[CASES];
static size_t case_count;

static void add_case(char group, struct script script)
{
    if (is_wanted((char[]){group, 0}) && case_count < CASES)
        cases[case_count].group = group, cases[case_count++].script = script;
}

/* A case whose text is made here. */
__attribute__((format(printf, 4, 5))) static void add_made(char group, int needs, const char *name, const char *format, ...)
{
    char *text = malloc(4096);
    va_list args;
    va_start(args, format);
    vsnprintf(text, 4096, format, args);
    va_end(args);
    add_case(group, (struct script){strdup(name), text, needs});
}

static int how_many_devices(void)
{
    int ends[2], count = 0;
    if (pipe(ends))
        return 1;
    pid_t pid = fork();
    if (pid == 0) {
        cuInit(0);
        cuDeviceGetCount(&count);
        _exit(write(ends[1], &count, sizeof count) != sizeof count);
    }
    close(ends[1]);
    if (read(ends[0], &count, sizeof count) != sizeof count)
        count = 1;
    close(ends[0]);
    waitpid(pid, NULL, 0);
    return count;
}

static void memory_cases(void);
static void event_cases(void);

/* Cases of group F ask for free memory and run alone, first. The others run in parallel, because a driver starts slowly. */
static void all_scripts(void)
{
    const int devices = how_many_devices();
    const char *asked = getenv("RECORD_WORKERS");
    int workers = asked ? atoi(asked) : WORKERS;
    atomic_size_t *next = mmap(NULL, sizeof *next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t pid[64];
    if (next == MAP_FAILED)
        return;
    one_at_a_time = workers == 1;
    memory_cases();
    event_cases();
    fflush(stdout);
    for (size_t i = 0; i < case_count; i++)
        if (cases[i].group == 'F' && cases[i].script.devices <= devices)
            run_script('F', &cases[i].script);
    workers = workers < 1 ? 1 : workers > 64 ? 64 : workers;
    for (int w = 0; w < workers; w++) {
        pid[w] = fork();
        if (pid[w] == 0) {
            for (size_t i; (i = atomic_fetch_add(next, 1)) < case_count;)
                if (cases[i].group != 'F' && cases[i].script.devices <= devices)
                    run_script(cases[i].group, &cases[i].script);
            _exit(0);
        }
    }
    for (int w = 0; w < workers; w++)
        report("workers!", pid[w]);
}

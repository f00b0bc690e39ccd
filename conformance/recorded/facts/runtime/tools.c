/* SPDX-License-Identifier: Apache-2.0 */
/* What the groups share. Part of ../runtime.c, which includes it.
 *
 *     static void m_free(void)
 *     {
 *         void *p = NULL;
 *         AV("M.malloc(Success)", cudaMalloc(&p, 1), "p=%d", p != NULL);
 *         A("M.free.twice(InvalidValue)", (cudaFree(p), cudaFree(p)));
 *     }
 *
 *     static void group_m(void)
 *     {
 *         surviving("M.free", m_free);
 *     }
 *
 * A call that ends its process is a separate line, NAME!<TAB>SIGNAL n, and another process makes the remaining calls.
 */

/* The id of a case of many: "D.limit.%d". Valid until the eighth call after it. */
__attribute__((format(printf, 1, 2))) static inline const char *with(const char *format, ...)
{
    static char text[8][CASE_ID];
    static unsigned next;
    char *id = text[next++ % 8];
    va_list args;
    va_start(args, format);
    vsnprintf(id, CASE_ID, format, args);
    va_end(args);
    return id;
}

/* ---- calls that end their process ---- */

/* Of the process that runs a body: how many calls it has begun, and the last one's name. The parent looks at it when the child is gone. */
static volatile struct {
    size_t begun;
    char id[CASE_ID];
} *progress;
static size_t ended[8]; /* the calls that ended earlier processes of this body */
static unsigned ends;
static _Thread_local const char *begun; /* the name of the call that begins */

/* Whether the next call is to be made. */
static bool begin_call(const char *id)
{
    begun = id;
    if (!progress)
        return true;
    size_t call = ++progress->begun;
    snprintf((char *)progress->id, CASE_ID, "%s", id);
    muted = ends && call < ended[ends - 1];
    for (unsigned i = 0; i < ends; i++)
        if (call == ended[i])
            return false;
    return true;
}

static int in_a_child(void (*body)(void))
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        end_after(20);
        muted = ends > 0;
        body();
        fflush(stdout);
        _exit(0);
    }
    waitpid(pid, &status, 0);
    return status;
}

static void surviving(const char *id, void (*body)(void))
{
    if (!is_wanted(id))
        return;
    ends = 0;
    progress = mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED)
        return;
    for (;;) {
        progress->begun = 0;
        int status = in_a_child(body);
        bool later = !ends || progress->begun > ended[ends - 1];
        if (!WIFSIGNALED(status) || !later || !progress->begun || ends == COUNT(ended)) {
            if (WIFSIGNALED(status))
                say(with("%s!", id), "SIGNAL %d", WTERMSIG(status));
            else if (WEXITSTATUS(status))
                say(id, "exit %d", WEXITSTATUS(status));
            break;
        }
        say(with("%s!", (const char *)progress->id), "SIGNAL %d", WTERMSIG(status));
        ended[ends++] = progress->begun;
    }
    munmap((void *)(uintptr_t)progress, sizeof *progress);
    progress = NULL;
}

/* "InvalidValue" of cudaErrorInvalidValue, "Success". */
static const char *code(cudaError_t r)
{
    const char *name = cudaGetErrorName(r);
    if (strncmp(name, "cudaError", 9) == 0)
        return name + 9;
    return strncmp(name, "cuda", 4) == 0 ? name + 4 : name;
}

/* " last=X" where the last error is not the answer, and nothing else; then there is none. */
static const char *last_beside(cudaError_t r)
{
    static _Thread_local char text[64];
    cudaError_t last = cudaGetLastError();
    text[0] = 0;
    if (last != r)
        snprintf(text, sizeof text, " last=%s", code(last));
    return text;
}

static inline cudaError_t runtime_answer(const char *id, cudaError_t r)
{
    const char *last = last_beside(r);
    say(id, "%s%s", code(r), last);
    return r;
}

/* One line: the call's answer; AV: and outputs, which are read after the call. D, DV: a driver's call. */
#define A(id, call) (begin_call(id) ? runtime_answer(begun, call) : cudaErrorUnknown)
#define AV(id, call, format, ...)                                                          \
    do {                                                                                   \
        if (begin_call(id)) {                                                              \
            cudaError_t av_ = (call);                                                      \
            const char *last_ = last_beside(av_);                                          \
            say(begun, "%s%s " format, code(av_), last_, __VA_ARGS__);                     \
        }                                                                                  \
    } while (0)
#define D(id, call)                                                                        \
    do {                                                                                   \
        if (begin_call(id))                                                                \
            R(begun, call);                                                                \
    } while (0)
#define DV(id, call, format, ...)                                                          \
    do {                                                                                   \
        if (begin_call(id))                                                                \
            RV(begun, call, format, __VA_ARGS__);                                          \
    } while (0)

/* A call that must succeed for the case to mean anything. */
static inline void need(cudaError_t r)
{
    if (r == cudaSuccess)
        return;
    say("need!", "%s", code(r));
    fflush(stdout);
    _exit(9);
}

static inline int devices(void)
{
    int count = 0;
    need(cudaGetDeviceCount(&count));
    return count;
}

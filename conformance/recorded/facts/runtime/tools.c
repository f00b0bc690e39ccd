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
 *         child("M.free", m_free);
 *     }
 */

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

/* One line: the call's answer; AV: and outputs, which are read after the call. DV: a driver's call with outputs. */
#define A(id, call) runtime_answer(id, call)
#define AV(id, call, format, ...)                                                          \
    do {                                                                                   \
        cudaError_t av_ = (call);                                                          \
        const char *last_ = last_beside(av_);                                              \
        say(id, "%s%s " format, code(av_), last_, __VA_ARGS__);                            \
    } while (0)
#define D(id, call) R(id, call)
#define DV(id, call, format, ...) RV(id, call, format, __VA_ARGS__)

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

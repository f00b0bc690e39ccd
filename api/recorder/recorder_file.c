/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lifecycle.h"
#include "os_thread.h"
#include "posix.h"
#include "recorder_ticks.h"
#include "single_thread.h"
#include "stacks_call.h"

/* ---- which arguments are kept ---- */

static bool has_one_value(enum vmm_param_kind kind)
{
    return kind == VMM_PARAM_OUT_U64 || kind == VMM_PARAM_OUT_SIZE || kind == VMM_PARAM_OUT_ADDRESS ||
           kind == VMM_PARAM_OUT_HANDLE || kind == VMM_PARAM_OUT_CONTEXT || kind == VMM_PARAM_OUT_STREAM ||
           kind == VMM_PARAM_OUT_EVENT || kind == VMM_PARAM_OUT_POOL || kind == VMM_PARAM_OUT_ARRAY || kind == VMM_PARAM_OUT_GRAPH ||
           kind == VMM_PARAM_OUT_GRAPH_NODE || kind == VMM_PARAM_OUT_GRAPH_EXEC || kind == VMM_PARAM_OUT_USER_OBJECT;
}

enum { OUT_VALUE = 1, OUT_RIGHTS };

void recorder_plan_make(struct recorder_plan *plan)
{
    memset(plan, 0, sizeof *plan);
    for (int id = 0; id < VMM_CALL_COUNT; id++) {
        size_t count;
        const struct vmm_param *params = vmm_call_params((enum vmm_call_id)id, &count);
        for (size_t i = 0; i < count && i < RECORDER_ARGUMENTS; i++) { /* LCOV_EXCL_BR_LINE: no call has more arguments */
            plan->call[id].offset[i] = params[i].offset;
            plan->call[id].size[i] = (uint8_t)(params[i].size <= 8 ? params[i].size : 0);
            plan->call[id].out[i] = has_one_value(params[i].kind)       ? OUT_VALUE
                                    : params[i].kind == VMM_PARAM_DESCS ? OUT_RIGHTS
                                                                        : 0;
            plan->call[id].count++;
        }
    }
}

/* ---- the file ---- */

/* The process made one earlier, before it executed another program. */
static int create(const char *folder, char *path, size_t size)
{
    int fd = -1;
    errno = EEXIST;
    for (int i = 0; fd < 0 && errno == EEXIST && i < 10000; i++) {
        if (snprintf(path, size, "%s/%ld.%d", folder, (long)getpid(), i) >= (int)size) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = posix.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    }
    return fd;
}

#ifdef __linux__
static bool fill(int fd)
{
    return posix.fallocate(fd, 0, 0, sizeof(struct recorder_file)) == 0;
}
#else
static bool fill(int fd)
{
    static const char zeros[65536];
    for (size_t done = 0, n; done < sizeof(struct recorder_file); done += n) {
        n = sizeof(struct recorder_file) - done < sizeof zeros ? sizeof(struct recorder_file) - done : sizeof zeros;
        if (posix.pwrite(fd, zeros, n, (off_t)done) != (ssize_t)n)
            return false;
    }
    return true;
}
#endif

/* Every page is allocated before it is written to: on a full disk the program would otherwise get SIGBUS. */
static bool has_room(int fd)
{
    struct rlimit longest;
    if (posix.getrlimit(RLIMIT_FSIZE, &longest) == 0 && longest.rlim_cur != RLIM_INFINITY &&
        longest.rlim_cur < sizeof(struct recorder_file)) {
        errno = EFBIG; /* a longer file raises a signal, which would end the program */
        return false;
    }
    return posix.ftruncate(fd, sizeof(struct recorder_file)) == 0 && fill(fd);
}

struct recorder_file *recorder_file_make(const char *folder)
{
    char path[4096];
    int fd = create(folder, path, sizeof path);
    if (fd < 0)
        return NULL;
    void *memory =
        has_room(fd) ? posix.mmap(NULL, sizeof(struct recorder_file), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) : MAP_FAILED;
    int error = errno;
    close(fd);
    if (memory == MAP_FAILED)
        unlink(path);
    errno = error;
    if (memory == MAP_FAILED)
        return NULL;
    struct recorder_file *file = memory;
    ssize_t length = posix.readlink("/proc/self/exe", file->program, sizeof file->program - 1);
    file->program[length > 0 ? length : 0] = '\0';
    file->version = RECORDER_VERSION;
    file->calls = VMM_CALL_COUNT;
    file->process = getpid();
    file->parent = getppid();
    file->ticks = recorder_ticks();
    file->clock = recorder_clock();
    atomic_store_explicit(&file->magic, RECORDER_MAGIC, memory_order_release);
    return file;
}

void recorder_file_unmap(struct recorder_file *file)
{
    posix.munmap(file, sizeof *file);
}

/* ---- one call ---- */

/* The thread has a different number in a child. */
static uint32_t thread_here(void)
{
    static _Thread_local struct {
        uint64_t stamp;
        uint32_t number;
    } here;
    uint64_t stamp = life_stamp();
    if (here.stamp != stamp) {
        here.number = (uint32_t)os_thread_number();
        here.stamp = stamp;
    }
    return here.number;
}

/* "/opt/app/step+0x17bd 5f3a.." with the build id, or "pool.py:12 grow", a line each. */
static void write_stack(uint32_t stack, char *text, size_t size)
{
    struct stacks_frame frame[STACKS_SHORT_MOST];
    unsigned count = stacks_frames(stack, frame, STACKS_SHORT_MOST);
    size_t length = 0;
    for (unsigned i = 0; i < count && length < size - 1; i++) {
        int wrote = frame[i].python ? snprintf(text + length, size - length, "%s:%u %s\n", frame[i].python, frame[i].line,
                                               frame[i].function ? frame[i].function : "")
                                    : snprintf(text + length, size - length, "%s+0x%llx %s\n", frame[i].module,
                                               (unsigned long long)frame[i].offset, frame[i].build);
        length += wrote > 0 ? (size_t)wrote : 0;
    }
}

/* A slot for a new stack, either free or taken from an older stack; RECORDER_STACKS if another thread is writing it. */
static uint32_t slot_for(struct recorder_file *file, uint32_t stack, uint32_t from, uint32_t tries)
{
    for (uint32_t i = 0; i <= tries; i++) { /* LCOV_EXCL_BR_LINE: ends only if another thread took the last one first */
        uint32_t at = (from + i % tries) % RECORDER_STACKS, id = atomic_load_explicit(&file->stack[at].id, memory_order_relaxed);
        if (id == stack || (i == tries && id == RECORDER_BUSY))
            return RECORDER_STACKS;
        if ((!id || i == tries) && atomic_compare_exchange_strong(&file->stack[at].id, &id, RECORDER_BUSY)) /* LCOV_EXCL_BR_LINE: another thread was quicker */
            return at;
    }
    return RECORDER_STACKS; /* LCOV_EXCL_LINE: the same */
}

/* Keeps the frames of a stack. */
static void keep_stack(struct recorder_file *file, uint32_t stack)
{
    enum { TRIES = 4 };
    uint32_t from = stack * UINT32_C(2654435761) >> 12;
    for (uint32_t i = 0; i < TRIES; i++)
        if (atomic_load_explicit(&file->stack[(from + i) % RECORDER_STACKS].id, memory_order_relaxed) == stack)
            return;
    uint32_t at = slot_for(file, stack, from, TRIES);
    if (at == RECORDER_STACKS)
        return;
    write_stack(stack, file->stack[at].text, sizeof file->stack[at].text);
    atomic_store_explicit(&file->stack[at].id, stack, memory_order_release);
}

static uint64_t value_at(const void *at, unsigned size)
{
    uint64_t wide;
    uint32_t half;
    if (size == 8) {
        memcpy(&wide, at, sizeof wide);
        return wide;
    }
    if (size == 4) {
        memcpy(&half, at, sizeof half);
        return half;
    }
    wide = 0;
    memcpy(&wide, at, size);
    return size ? wide : (uint64_t)(uintptr_t)at;
}

/* A single thread needs no atomic read-modify-write. */
static inline uint64_t next_slot(struct recorder_file *file)
{
    if (!VMM_SINGLE_THREAD)
        return atomic_fetch_add_explicit(&file->head, 1, memory_order_relaxed);
    uint64_t slot = atomic_load_explicit(&file->head, memory_order_relaxed);
    atomic_store_explicit(&file->head, slot + 1, memory_order_relaxed);
    return slot;
}

/* Makes seq odd, if it still has the value `is`. The thread that made it odd is the only writer of the entry until it makes
 * seq even. */
static inline bool hold(struct recorder_words *words, uint64_t is, uint64_t slot)
{
    if (!VMM_SINGLE_THREAD)
        return atomic_compare_exchange_strong_explicit(&words->word[0], &is, 2 * slot + 1, memory_order_acquire, memory_order_relaxed);
    atomic_store_explicit(&words->word[0], 2 * slot + 1, memory_order_relaxed);
    return true;
}

/* Returns false, and the call is not kept, if 4,096 later calls have begun since this one took its slot, or if the stalled
 * thread of an earlier call is still writing. */
static inline bool take(struct recorder_words *words, uint64_t slot)
{
    uint64_t is = atomic_load_explicit(&words->word[0], memory_order_relaxed);
    if (is > 2 * slot || is % 2)
        return false;
    return hold(words, is, slot);
}

/* Returns false if the call was not kept, or the entry now belongs to a later one. */
static inline bool retake(struct recorder_words *words, uint64_t slot)
{
    uint64_t mine = 2 * slot + 2;
    if (atomic_load_explicit(&words->word[0], memory_order_relaxed) != mine)
        return false;
    return hold(words, mine, slot);
}

/* The words of an entry from..to, those of its arguments last. */
enum { NUMBER = 1, RESULT = 4, ARGUMENTS = 6 };
_Static_assert(offsetof(struct recorder_entry, result) == 8 * RESULT &&
                   offsetof(struct recorder_entry, argument) == 8 * ARGUMENTS,
               "as counted");

union copy {
    struct recorder_entry entry;
    uint64_t word[RECORDER_WORDS];
};

/* Releases the odd seq with each word: a reader of the word also sees that seq. One fence would do for all of them, but
 * ThreadSanitizer does not model fences. */
static inline void put_word(struct recorder_words *words, unsigned i, uint64_t value)
{
    atomic_store_explicit(&words->word[i], value, memory_order_release);
}

static inline void put(struct recorder_words *words, const union copy *copy, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        put_word(words, i, copy->word[i]);
}

static inline void begin_at(struct recorder_file *file, uint64_t slot, const struct recorder_plan *plan, const struct vmm_call *call)
{
    struct recorder_words *words = &file->entry[slot % RECORDER_CALLS];
    unsigned count = plan->call[call->id].count;
    union copy copy; /* the words after its arguments are unused */
    copy.entry.number = call->number;
    copy.entry.time = recorder_ticks();
    copy.entry.thread = thread_here();
    copy.entry.stack = call_stack(); /* captured once, however many objects the call makes or ends */
    copy.entry.result = RECORDER_PENDING;
    copy.entry.call = call->id;
    copy.entry.arguments = (uint16_t)count;
    copy.entry.took = 0;
    for (unsigned i = 0; i < count; i++)
        copy.entry.argument[i] = value_at((const char *)call + plan->call[call->id].offset[i], plan->call[call->id].size[i]);
    if (!take(words, slot))
        return;
    put(words, &copy, NUMBER, ARGUMENTS + count);
    atomic_store_explicit(&words->word[0], 2 * slot + 2, memory_order_release);
    if (copy.entry.stack)
        keep_stack(file, copy.entry.stack);
}

uint64_t recorder_begin(struct recorder_file *file, const struct recorder_plan *plan, const struct vmm_call *call)
{
    uint64_t slot = next_slot(file);
    begin_at(file, slot, plan, call);
    return slot;
}

/* A call that succeeded has read or written what its parameters point to. */
static uint64_t pointed_to(int out, const void *at)
{
    vmm_mem_access_desc desc;
    if (out == OUT_VALUE)
        return value_at(at, 8);
    memcpy(&desc, at, sizeof desc);
    return recorder_rights((uint32_t)desc.location.type, (uint32_t)desc.location.id, (uint32_t)desc.flags);
}

void recorder_end(struct recorder_file *file, uint64_t slot, const struct recorder_plan *plan, const struct vmm_call *call,
                  vmm_result result)
{
    struct recorder_words *words = &file->entry[slot % RECORDER_CALLS];
    unsigned count = plan->call[call->id].count;
    if (!retake(words, slot))
        return;
    union copy copy;
    copy.entry.result = (int32_t)result;
    copy.entry.call = call->id;
    copy.entry.arguments = (uint16_t)count;
    copy.entry.took = recorder_ticks() - atomic_load_explicit(&words->word[2], memory_order_relaxed);
    put(words, &copy, RESULT, ARGUMENTS);
    for (unsigned i = 0; result == VMM_SUCCESS && i < count; i++) {
        uint64_t at = plan->call[call->id].out[i] ? atomic_load_explicit(&words->word[ARGUMENTS + i], memory_order_relaxed) : 0;
        if (at)
            put_word(words, ARGUMENTS + i, pointed_to(plan->call[call->id].out[i], (const void *)(uintptr_t)at));
    }
    atomic_store_explicit(&words->word[0], 2 * slot + 2, memory_order_release);
}

void recorder_fault(struct recorder_file *file, uint64_t address)
{
    uint32_t none = 0;
    if (!atomic_compare_exchange_strong(&file->faulted, &none, 1))
        return;
    file->fault_head = atomic_load(&file->head);
    file->fault_address = address;
    for (unsigned i = 0; i < RECORDER_CALLS; i++)
        for (unsigned word = 0; word < RECORDER_WORDS; word++)
            atomic_store_explicit(&file->at_fault[i].word[word],
                                  atomic_load_explicit(&file->entry[i].word[word], memory_order_relaxed), memory_order_relaxed);
    atomic_store(&file->faulted, 2);
}

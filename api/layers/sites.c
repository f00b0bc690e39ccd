/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dladdr; before any header */
#include "sites.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#ifdef __ELF__
#include <link.h>
#endif
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "backend.h"
#include "findings_site.h"
#include "fnv.h"
#include "heap.h"
#include "lifecycle.h"
#include "os_environment.h"
#include "posix.h"
#include "thread.h"

struct sites {
    struct vmm_backend base;
    struct sites_file *file;
    size_t size; /* of the mapping */
    uint32_t process;
    _Atomic uint64_t seen[VMM_CALL_COUNT];
};

/* Maps a file of at least that size. NULL when it cannot be. */
static void *map(const char *path, size_t least, size_t *size)
{
    struct stat status;
    void *memory = MAP_FAILED;
    int fd = posix.open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (posix.fstat(fd, &status) == 0 && status.st_size >= (off_t)least) {
        *size = (size_t)status.st_size;
        memory = posix.mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    }
    close(fd);
    return memory == MAP_FAILED ? NULL : memory;
}

/* ---- the number of this process ---- */

static _Atomic uint32_t number;     /* 0: not asked for yet */
static _Atomic uint64_t numbered_at; /* the process that has it */

uint32_t sites_process(void)
{
    const char *path = os_environment("CUVMM_PROCESSES");
    uint64_t self = (uint64_t)getpid();
    size_t size = 0;
    if (!path || !path[0])
        return 0;
    if (atomic_load(&number) && atomic_load(&numbered_at) == self)
        return atomic_load(&number);
    _Atomic uint32_t *count = map(path, sizeof *count, &size);
    if (!count)
        return 0;
    atomic_store(&number, atomic_fetch_add(count, 1) + 1);
    atomic_store(&numbered_at, self);
    posix.munmap((void *)count, size);
    return atomic_load(&number);
}

/* ---- names ---- */

static uint64_t key_of(const char *text)
{
    return fnv1a(FNV1A, text, strlen(text)) | UINT64_C(1) << 63;
}

/* Its slot, or 0 if there is no room. If a path is too long its end is kept, because the end distinguishes it. */
static uint16_t name(struct sites_file *file, const char *text)
{
    size_t length = strlen(text);
    if (length >= SITES_TEXT)
        text += length - SITES_TEXT + 1;
    uint64_t key = key_of(text);
    for (unsigned i = 0; i < SITES_NAMES - 1; i++) {
        uint16_t at = (uint16_t)(1 + (key + i) % (SITES_NAMES - 1));
        uint64_t expected = 0;
        if (atomic_compare_exchange_strong(&file->name[at].key, &expected, key))
            memcpy(file->name[at].text, text, strlen(text) + 1);
        if (expected == 0 || expected == key)
            return at;
    }
    return 0;
}

/* ---- the layer ---- */

/* Is the file loaded at its link-time addresses, as programs are that are not position-independent? */
static bool is_at_its_own_addresses(const void *start)
{
#ifdef __ELF__
    return ((const ElfW(Ehdr) *)start)->e_type == ET_EXEC;
#else
    (void)start;
    return false;
#endif
}

/* The program's innermost frame, in neither this library nor the C library (which calls the exit handlers). */
static void place(struct sites_file *file, struct sites_call *record)
{
    void *frames[SITE_DEPTH];
    Dl_info info;
    int count = site_here(frames);
    /* The return address follows the call. */
    uintptr_t at = count ? (uintptr_t)frames[0] - 1 : 0;
    if (!count || !dladdr((void *)at, &info) || !info.dli_fname)
        return;
    record->module = name(file, info.dli_fname);
    record->offset = is_at_its_own_addresses(info.dli_fbase) ? at : at - (uintptr_t)info.dli_fbase;
}

static bool is_injected(vmm_result result)
{
    const vmm_detail *detail = vmm_last_detail();
    return result != VMM_SUCCESS && !detail->rule && strncmp(detail->note, "layer fault", strlen("layer fault")) == 0;
}

static void record(struct sites *sites, enum vmm_call_id kind, uint64_t nth, bool injected)
{
    int cancel = life_no_cancel(), before = errno;
    struct sites_file *file = sites->file;
    uint64_t at = atomic_fetch_add(&file->count, 1);
    if (at < file->room) {
        struct sites_call *call = &file->call[at];
        const char *function = vmm_reported_name(vmm_reported_call((uint16_t)kind));
        call->nth = nth;
        call->process = sites->process;
        call->kind = (uint16_t)kind;
        call->injected = injected;
        call->function = name(file, function);
        place(file, call);
        atomic_store(&call->complete, true);
    }
    errno = before;
    life_may_cancel(cancel);
}

static vmm_result sites_call(struct vmm_backend *self, struct vmm_call *call)
{
    struct sites *sites = (struct sites *)self;
    uint64_t nth = atomic_fetch_add_explicit(&sites->seen[call->id], 1, memory_order_relaxed) + 1;
    vmm_result result = vmm_backend_call(self->inner, call);
    bool injected = is_injected(result);
    if (sites->file->all || injected)
        record(sites, (enum vmm_call_id)call->id, nth, injected);
    return result;
}

static void sites_close(struct vmm_backend *self)
{
    struct sites *sites = (struct sites *)self;
    self->inner->ops->close(self->inner);
    posix.munmap(sites->file, sites->size);
    heap.free(self);
}

static const struct vmm_backend_ops sites_ops = {
    .size = sizeof(struct vmm_backend_ops),
    .name = "sites",
    .call =
        {
#define VMM_CALL(name, ...) [VMM_CALL_##name] = sites_call,
#include "calls.def"
        },
    .visit = vmm_layer_visit,
    .leaks = vmm_layer_leaks,
    .attach = vmm_layer_attach,
    .close = sites_close,
};

static bool fits(const struct sites_file *file, size_t size)
{
    return file->magic == SITES_MAGIC && file->room <= (size - sizeof *file) / sizeof file->call[0];
}

vmm_result vmm_sites_open(const char *args, struct vmm_backend *inner, struct vmm_backend **backend)
{
    void *frames[SITE_DEPTH];
    size_t size = 0;
    struct sites_file *file = map(args, sizeof *file, &size);
    if (!file || !fits(file, size)) {
        if (file)
            posix.munmap(file, size);
        return vmm_refuse_open(VMM_RULE_OPEN_ARGUMENT, "vmm_open", "sites: %.80s is not a file of `cuvmm exec --fault=each`", args);
    }
    struct sites *sites = heap.calloc(1, sizeof *sites);
    if (!sites) {
        posix.munmap(file, size);
        return vmm_refuse_open(VMM_RULE_SYSTEM_HOST_MEMORY, "vmm_open", "sites: the host's memory is exhausted");
    }
    site_here(frames); /* the first call loads a library, which had better happen now than when memory is short */
    sites->base = (struct vmm_backend){&sites_ops, inner};
    sites->file = file;
    sites->size = size;
    sites->process = sites_process();
    *backend = &sites->base;
    return VMM_SUCCESS;
}

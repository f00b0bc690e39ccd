/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_missing.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi_parts.h"
#include "heap.h"
#include "lifecycle.h"
#include "os.h"

/* The launches of a kernel. Once it has a number it outlives the kernel's image, because in-flight work refers to it. */
struct abi_skipped {
    char *name;
    vmm_kernel number; /* 0: never launched */
    atomic_uint_least64_t count;
    atomic_bool refused; /* which was reported */
    struct abi_skipped *next;
};

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static struct abi_skipped *launched;
static uint64_t said_at; /* 1 + the fork depth at the first; 0: nothing was skipped */

struct abi_kernel *abi_missing_new(const struct image_kernel *code)
{
    struct abi_kernel *kernel = abi_kernel_new(code->name, code->params);
    struct abi_skipped *skipped = heap.calloc(1, sizeof *skipped + strlen(code->name) + 1);
    if (!kernel || !skipped) {
        heap.free(kernel);
        heap.free(skipped);
        return NULL;
    }
    skipped->name = strcpy((char *)(skipped + 1), code->name);
    kernel->code = code;
    kernel->skipped = skipped;
    for (unsigned i = 0; i < code->params; i++) {
        size_t end = (size_t)code->param[i].offset + code->param[i].size;
        kernel->offset[i] = code->param[i].offset;
        kernel->size[i] = code->param[i].size;
        if (end > kernel->offset[code->params])
            kernel->offset[code->params] = end;
    }
    return kernel;
}

void abi_missing_free(struct abi_kernel *kernel)
{
    if (!kernel->skipped->number)
        heap.free(kernel->skipped);
    heap.free(kernel);
}

/* Replaces the kernel's code. */
static void skip(struct twin_memory *memory, const struct vmm_call_launch *call, void *user)
{
    (void)memory, (void)call;
    atomic_fetch_add(&((struct abi_skipped *)user)->count, 1);
}

/* Gives a kernel a number at its first launch. -1 if there are too many. *first is set if no kernel had one before. */
static vmm_kernel number_of(struct abi_skipped *skipped, bool *first)
{
    *first = false;
    life_acquire(&lock);
    vmm_kernel number = skipped->number ? skipped->number : kernels_register(skipped->name, skip, skipped);
    if (number > 0 && !skipped->number) {
        *first = !said_at;
        said_at = 1 + os_fork_depth();
        skipped->number = number;
        skipped->next = launched;
        launched = skipped;
    }
    life_release(&lock);
    return number;
}

/* Reported once for each kernel of an image even without CUVMM_EXPLAIN, because a program shows its user only the
 * result. */
static CUresult refuse(const char *function, const struct abi_kernel *kernel)
{
    const struct image_kernel *code = kernel->code;
    char why[256];
    if (kernel->why)
        snprintf(why, sizeof why, "%s", kernel->why);
    else
        snprintf(why, sizeof why, "only PTX runs here, and the image has none: compile with -gencode "
                                  "arch=compute_%d,code=compute_%d as well",
                 code->ptx, code->ptx);
    if (!atomic_exchange(&kernel->skipped->refused, true))
        abi_say("%s is refused (CUDA_ERROR_NOT_SUPPORTED): the %s for sm_%d that was loaded has the kernel %.400s, which cannot run "
                "here: %s. Or write the kernel as a plugin (docs/unmodified.md), or let such launches do nothing: kernels=skip in "
                "CUVMM_SIM or in cuvmm exec --machine=sim:h100,kernels=skip", function, code->binary ? "cubin" : "PTX",
                code->binary ? code->binary : code->ptx, kernel->name, why);
    return abi_refuse(VMM_RULE_LAUNCH_MISSING, function, "%.80s: %.150s", kernel->name, why);
}

CUresult abi_missing_launch(const vmm_system *sys, const char *function, const struct abi_kernel *kernel, vmm_kernel *number)
{
    bool first;
    if (!abi_query_skips(sys))
        return refuse(function, kernel);
    *number = number_of(kernel->skipped, &first);
    if (*number < 0)
        return abi_no_memory(function);
    if (first)
        abi_say("kernels=skip: launches of kernels without a plugin in CUVMM_KERNELS do nothing; %.200s is the first; they are "
                "counted at the end", kernel->name);
    return CUDA_SUCCESS;
}

/* ---- the end ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp((*(struct abi_skipped *const *)a)->name, (*(struct abi_skipped *const *)b)->name);
}

/* Adds up kernels with the same name, which several images may have; afterwards all names differ. */
static size_t join(struct abi_skipped **list, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept && by_name(&list[kept - 1], &list[i]) == 0)
            list[kept - 1]->count += list[i]->count;
        else
            list[kept++] = list[i];
    return kept;
}

static void say_all(struct abi_skipped **list, size_t count)
{
    unsigned long long all = 0;
    qsort(list, count, sizeof *list, by_name);
    count = join(list, count);
    for (size_t i = 0; i < count; i++)
        all += list[i]->count;
    abi_say("kernels=skip: %llu launch%s of %zu kernel%s skipped, and their results are missing:", all,
            all == 1 ? "" : "es", count, count == 1 ? " was" : "s were");
    for (size_t i = 0; i < count; i++)
        abi_say("%12llu %s", (unsigned long long)list[i]->count, list[i]->name);
}

void abi_missing_say(void)
{
    size_t count = 0;
    if (said_at != 1 + os_fork_depth())
        return;
    for (const struct abi_skipped *skipped = launched; skipped; skipped = skipped->next)
        count += skipped->count != 0; /* a launch may have been refused after all */
    struct abi_skipped **list = heap.malloc((count + 1) * sizeof *list);
    if (!list) {
        abi_say("kernels=skip: launches of %zu kernels were skipped; there is not enough memory to name them", count);
        return;
    }
    count = 0;
    for (struct abi_skipped *skipped = launched; skipped; skipped = skipped->next)
        if (skipped->count)
            list[count++] = skipped;
    say_all(list, count);
    heap.free(list);
    said_at = 0;
}

void abi_missing_close(void)
{
    while (launched) {
        struct abi_skipped *next = launched->next;
        heap.free(launched);
        launched = next;
    }
}

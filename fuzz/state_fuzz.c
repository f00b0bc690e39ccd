/* SPDX-License-Identifier: Apache-2.0 */
/* The shared state of a machine, forged between the calls of one process: each answer is by a rule, and at the end
 * nothing is left of the machine.
 *
 *   input   [ step | ... ] ...   a step is a call, or changes a word of the state until the end */
#include "fuzz.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>

#include "share_rig.h"
#include "share_state.h"

enum { STEPS = 48, FORGED = 8, HELD = 3 };

struct held {
    vmm_mem_generic_allocation_handle handle;
    vmm_deviceptr at;
    int fd;
};

struct forgery {
    _Atomic uint64_t *word;
    uint64_t old;
};

struct scene {
    vmm_system *own, *other;
    struct share_state *state;
    struct held held[HELD];
    struct forgery forged[FORGED];
    unsigned count;
};

static void begin(struct scene *scene)
{
    snprintf(rig_root, sizeof rig_root, "%s", fuzz_room());
    scene->own = rig_open("state");
    scene->other = rig_open("state");
    int file = open(rig_path("state", "state"), O_RDWR | O_CLOEXEC);
    void *at = mmap(NULL, sizeof(struct share_state), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (!scene->own || !scene->other || at == MAP_FAILED)
        tap_bail("no machine: %s", vmm_last_detail()->note);
    scene->state = at;
    for (unsigned i = 0; i < HELD; i++)
        scene->held[i].fd = -1;
}

/* Any word of the parts in use except the mutex: that belongs to the system, and a wrong one is indistinguishable from
 * a right one. */
static void forge(struct scene *scene, struct fuzz_bytes *in)
{
    struct share_state *state = scene->state;
    unsigned part = fuzz_byte(in), place = fuzz_byte(in);
    char *start[] = {(char *)state, (char *)&state->serials, (char *)&state->slot[part / 4 % 4],
                     (char *)&state->block[part / 4 % 6]};
    const size_t size[] = {offsetof(struct share_state, mutex),
                           offsetof(struct share_state, slot) - offsetof(struct share_state, serials),
                           sizeof state->slot[0], sizeof state->block[0]};
    _Atomic uint64_t *word = (_Atomic uint64_t *)(void *)(start[part % 4] + 8 * (place % (size[part % 4] / 8)));
    uint64_t value = fuzz_word(in), old = atomic_load(word);
    if (scene->count == FORGED)
        return;
    scene->forged[scene->count++] = (struct forgery){word, old};
    atomic_store(word, part & 64 ? old + value : value);
}

static void mend(struct scene *scene)
{
    while (scene->count) {
        const struct forgery *forgery = &scene->forged[--scene->count];
        atomic_store(forgery->word, forgery->old);
    }
}

static void import(vmm_system *sys, int fd)
{
    vmm_mem_generic_allocation_handle copy = 0;
    vmm_result result = rig_import(sys, fd, &copy);
    fuzz_answer(result, "import");
    if (result == VMM_SUCCESS) {
        vmm_deviceptr at = rig_map(sys, copy, RIG_G);
        if (at) {
            rig_byte(sys, at);
            rig_unmap(sys, at, RIG_G);
        }
        fuzz_answer(vmm_mem_release(sys, copy), "release of a copy");
    }
}

static void export(vmm_system *sys, struct held *held)
{
    int fd = -1;
    fuzz_answer(vmm_mem_export_to_shareable_handle(sys, &fd, held->handle, RIG_FD, 0), "export");
    if (held->fd >= 0)
        close(held->fd);
    held->fd = fd;
}

static void drop(vmm_system *sys, struct held *held)
{
    if (held->at)
        rig_unmap(sys, held->at, RIG_G);
    if (held->handle)
        fuzz_answer(vmm_mem_release(sys, held->handle), "release");
    if (held->fd >= 0)
        close(held->fd);
    *held = (struct held){.fd = -1};
}

static void step(struct scene *scene, struct fuzz_bytes *in)
{
    unsigned kind = fuzz_byte(in);
    struct held *held = &scene->held[kind / 8 % HELD];
    uint64_t bytes, total;
    switch (kind % 8) {
    case 0: fuzz_answer(vmm_mem_get_info(scene->own, &bytes, &total), "mem_get_info"); break;
    case 1:
        if (!held->handle)
            fuzz_answer(rig_create(scene->own, RIG_G, &held->handle), "create");
        else if (!held->at && (held->at = rig_map(scene->own, held->handle, RIG_G)) != 0)
            fuzz_answer(vmm_memset_d8(scene->own, held->at, 7, 4096), "memset");
        break;
    case 2:
        if (held->handle)
            export(scene->own, held);
        break;
    case 3:
        if (held->fd >= 0)
            import(kind & 64 ? scene->other : scene->own, held->fd);
        break;
    case 4: drop(scene->own, held); break;
    case 5: mend(scene); break;
    default: forge(scene, in);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct scene scene = {.own = NULL};
    struct fuzz_bytes in = {data, size};
    begin(&scene);
    for (unsigned i = 0; i < STEPS && in.left; i++)
        step(&scene, &in);
    mend(&scene);
    for (unsigned i = 0; i < HELD; i++)
        drop(scene.own, &scene.held[i]);
    rig_close(scene.other);
    rig_close(scene.own);
    munmap(scene.state, sizeof *scene.state);
    if (rig_machines()) {
        rig_close(rig_open("next")); /* sweeps what was left */
        if (rig_machines())
            fuzz_finding("%u machines are left", rig_machines());
    }
    return 0;
}

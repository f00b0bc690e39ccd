/* SPDX-License-Identifier: Apache-2.0 */
/* alias_model: random accesses compared with a reference model: one array for the memory, and one for the view of each mapping.
 * */
#include "alias_model.h"

#include <stdio.h>
#include <string.h>

#include "random.h"
#include "translate.h"
#include "system.h"
#include "tap.h"

#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define G (UINT64_C(2) << 20)

/* M0, M1, M2 of H1, M3 of H2: only H1 is mapped more than once. The test uses three spots of each mapping: its start, a spot
 * across a chunk boundary of block_data, and one far from both. */
enum { MAPPINGS = 4, SPOTS = 3, SPOT = 3072, BYTES = SPOTS * SPOT, WORDS = BYTES / 8 };
static const uint64_t spots[SPOTS] = {0, BLOCK_DATA_CHUNK - 1024, 5 * BLOCK_DATA_CHUNK};

struct rig {
    struct twin_memory memory; /* first: the accessor that the alias model wraps */
    vmm_system *sys;
    struct sim_process *process;
    vmm_deviceptr at[MAPPINGS];
    struct alias_model tested;
    unsigned char now[2][BYTES], view[MAPPINGS][BYTES]; /* the model */
    char chosen[MAPPINGS][WORDS];                       /* read since the last fence: 0 none, 'o' old, 'n' new */
    unsigned olds, news, wrong, fickle;
};

static unsigned memory_of(unsigned mapping)
{
    return mapping == 3;
}

static vmm_deviceptr address_of(const struct rig *rig, unsigned mapping, uint64_t i)
{
    return rig->at[mapping] + spots[i / SPOT] + i % SPOT;
}

static bool plain(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
                  unsigned char **bytes)
{
    struct rig *rig = (struct rig *)memory;
    struct translate_run there;
    if (!translate_may(rig->process, 0, address, width, *size, RW, &there))
        tap_bail("out of bounds");
    *size = there.length;
    if (use != TWIN_READ && !block_data_touch(&there.block->bytes, there.offset, *size))
        tap_bail("no memory");
    *bytes = block_data_run(&there.block->bytes, there.offset, size);
    return true;
}

static void need(vmm_result result, const char *what)
{
    if (result != VMM_SUCCESS)
        tap_bail("%s: %s", what, vmm_result_name(result));
}

static void rig_open(struct rig *rig, const char *spec)
{
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    vmm_mem_access_desc desc = {prop.location, RW};
    vmm_mem_generic_allocation_handle handle[2];
    memset(rig, 0, sizeof *rig);
    rig->memory.run = plain;
    need(vmm_open(spec, &rig->sys), "open");
    need(vmm_init(rig->sys, 0), "init");
    need(vmm_mem_address_reserve(rig->sys, &rig->at[0], MAPPINGS * G, 0, 0, 0), "reserve");
    for (int i = 0; i < 2; i++)
        need(vmm_mem_create(rig->sys, &handle[i], G, &prop, 0), "create");
    for (unsigned i = 0; i < MAPPINGS; i++) {
        rig->at[i] = rig->at[0] + i * G;
        need(vmm_mem_map(rig->sys, rig->at[i], G, 0, handle[memory_of(i)], 0), "map");
    }
    need(vmm_mem_set_access(rig->sys, rig->at[0], MAPPINGS * G, &desc, 1), "access");
    rig->process = (struct sim_process *)rig->sys->top;
}

/* Makes all views equal to the memory. */
static void model_fence(struct rig *rig)
{
    for (unsigned m = 0; m < MAPPINGS; m++)
        memcpy(rig->view[m], rig->now[memory_of(m)], BYTES);
    memset(rig->chosen, 0, sizeof rig->chosen);
}

static void model_write(struct rig *rig, unsigned mapping, uint64_t i, const void *bytes, uint64_t size)
{
    memcpy(rig->now[memory_of(mapping)] + i, bytes, size);
    memcpy(rig->view[mapping] + i, bytes, size);
}

/* Checks a part of a word that was read: the bytes are the memory's or the view's, and the choice is the same as before. */
static void judge(struct rig *rig, unsigned mapping, uint64_t i, const unsigned char *got, uint64_t size)
{
    const unsigned char *now = rig->now[memory_of(mapping)] + i, *old = rig->view[mapping] + i;
    char *chosen = &rig->chosen[mapping][i / 8];
    bool is_new = memcmp(got, now, size) == 0, is_old = memcmp(got, old, size) == 0;
    rig->wrong += !is_new && !is_old;
    if (is_new == is_old)
        return;
    rig->olds += is_old;
    rig->news += is_new;
    rig->fickle += *chosen && *chosen != (is_old ? 'o' : 'n');
    *chosen = is_old ? 'o' : 'n';
}

static void read_run(struct rig *rig, unsigned mapping, uint64_t i, uint64_t size)
{
    static const unsigned char zeros[BYTES];
    unsigned char *bytes;
    for (uint64_t done = 0, run; done < size; done += run) {
        run = size - done;
        rig->tested.memory.run(&rig->tested.memory, address_of(rig, mapping, i + done), 1, &run, TWIN_READ, &bytes);
        for (uint64_t b = 0, part; b < run; b += part) {
            part = 8 - (i + done + b) % 8;
            part = part < run - b ? part : run - b;
            judge(rig, mapping, i + done + b, bytes ? bytes + b : zeros, part);
        }
    }
}

static void write_run(struct rig *rig, unsigned mapping, uint64_t i, uint64_t size, uint64_t *seed)
{
    unsigned char *bytes;
    for (uint64_t done = 0, run; done < size; done += run) {
        run = size - done;
        rig->tested.memory.run(&rig->tested.memory, address_of(rig, mapping, i + done), 1, &run, TWIN_WRITE, &bytes);
        for (uint64_t b = 0; b < run; b++)
            bytes[b] = (unsigned char)random_next(seed);
        model_write(rig, mapping, i + done, bytes, run);
    }
}

static void element(struct rig *rig, unsigned mapping, uint64_t *seed)
{
    static const unsigned widths[] = {1, 4, 8};
    unsigned width = widths[random_below(seed, 3)];
    uint64_t i = random_below(seed, BYTES / width) * width, value = random_next(seed), sum;
    struct twin_memory *memory = &rig->tested.memory;
    vmm_deviceptr address = address_of(rig, mapping, i);
    switch (random_below(seed, 5)) {
    case 0:
        twin_store(memory, address, width, value);
        model_write(rig, mapping, i, &value, width);
        break;
    case 1:
        i -= i % 8;
        memcpy(&sum, rig->now[memory_of(mapping)] + i, 8);
        sum += value;
        twin_add(memory, address_of(rig, mapping, i), value);
        model_write(rig, mapping, i, &sum, 8);
        break;
    default:
        twin_load(memory, address, width, &value);
        judge(rig, mapping, i, (unsigned char *)&value, width);
    }
}

/* Reads or writes a random part of one spot. */
static void stretch(struct rig *rig, unsigned mapping, uint64_t *seed)
{
    uint64_t at = random_below(seed, SPOT), size = 1 + random_below(seed, SPOT - at);
    uint64_t i = random_below(seed, SPOTS) * SPOT + at;
    if (random_below(seed, 2))
        write_run(rig, mapping, i, size, seed);
    else
        read_run(rig, mapping, i, size);
}

static void one_launch(struct rig *rig, uint64_t launch, unsigned accesses, uint64_t *seed)
{
    sim_machine_lock(rig->process->machine);
    alias_model_open(&rig->tested, rig->process, &rig->memory, launch);
    model_fence(rig);
    for (unsigned n = 0; n < accesses; n++) {
        unsigned mapping = (unsigned)random_below(seed, MAPPINGS);
        uint64_t what = random_below(seed, 300);
        if (what == 0) {
            twin_fence(&rig->tested.memory);
            model_fence(rig);
        } else if (what < 30) {
            stretch(rig, mapping, seed);
        } else {
            element(rig, mapping, seed);
        }
    }
    bool closed = alias_model_close(&rig->tested);
    sim_machine_unlock(rig->process->machine);
    tap_ok(closed, "launch %u", (unsigned)launch);
}

/* Counts the bytes in memory that differ from the reference model, read without the alias model. */
static unsigned differing(struct rig *rig)
{
    static const unsigned char zero;
    unsigned count = 0;
    unsigned char *at;
    sim_machine_lock(rig->process->machine);
    for (unsigned m = 0; m < MAPPINGS; m++)
        for (uint64_t i = 0, one = 1; i < BYTES; i++, one = 1) {
            plain(&rig->memory, address_of(rig, m, i), 1, &one, TWIN_READ, &at);
            count += (at ? *at : zero) != rig->now[memory_of(m)][i];
        }
    sim_machine_unlock(rig->process->machine);
    return count;
}

static void against_a_model(uint64_t seed)
{
    static struct rig rig;
    rig_open(&rig, "sim:h100,alias=stale:11");
    for (uint64_t launch = 1; launch <= 6; launch++)
        one_launch(&rig, launch, 4000, &seed);
    tap_u64(rig.wrong, 0, "every word read equals the memory or the view of its mapping");
    tap_u64(rig.fickle, 0, "the choice for a word stays the same until the next fence");
    tap_u64(differing(&rig), 0, "the memory ends with every write and every addition");
    tap_ok(rig.olds > 300 && rig.news > 300 && rig.olds < 2 * rig.news && rig.news < 2 * rig.olds,
           "where memory and view differ, both are returned: %u old, %u new", rig.olds, rig.news);
    vmm_close(rig.sys);
}

/* Writes 64 words through M0 and reads them through M1. Returns a bit for each word that M1 reads as old. */
static uint64_t old_words(struct rig *rig, uint64_t launch, bool fenced)
{
    uint64_t bits = 0, value = 0;
    sim_machine_lock(rig->process->machine);
    alias_model_open(&rig->tested, rig->process, &rig->memory, launch);
    for (uint64_t i = 0; i < 64; i++)
        twin_store(&rig->tested.memory, rig->at[0] + 8 * i, 8, 2 * launch + fenced);
    if (fenced)
        twin_fence(&rig->tested.memory);
    for (uint64_t i = 0; i < 64; i++) {
        twin_load(&rig->tested.memory, rig->at[1] + 8 * i, 8, &value);
        bits |= (uint64_t)(value != 2 * launch + fenced) << i;
    }
    alias_model_close(&rig->tested);
    sim_machine_unlock(rig->process->machine);
    return bits;
}

static unsigned ones(uint64_t bits)
{
    unsigned count = 0;
    for (; bits; bits &= bits - 1)
        count++;
    return count;
}

static void answers_of_seeds(void)
{
    static struct rig rig;
    uint64_t last = 0, always = UINT64_MAX, ever = 0;
    unsigned alike = 0, fenced = 0, extreme = 0, repeated = 0;
    for (uint64_t seed = 0; seed < 40; seed++) {
        char spec[64];
        snprintf(spec, sizeof spec, "sim:h100,alias=stale:%" PRIu64, seed);
        rig_open(&rig, spec);
        uint64_t first = old_words(&rig, 7, false);
        fenced += old_words(&rig, 8, true) != 0;
        uint64_t other = old_words(&rig, 9, false);
        vmm_close(rig.sys);
        rig_open(&rig, spec);
        repeated += old_words(&rig, 7, false) == first;
        vmm_close(rig.sys);
        alike += first == last || first == other;
        extreme += ones(first) < 12 || ones(first) > 52;
        always &= first;
        ever |= first;
        last = first;
    }
    tap_u64(repeated, 40, "the same seed returns the same old words in every run");
    tap_u64(alike, 0, "another seed or another launch returns other old words");
    tap_u64(extreme, 0, "about half of the words are old");
    tap_ok(!always && ever == UINT64_MAX, "each word is old with some seeds and new with others");
    tap_u64(fenced, 0, "no word is old after a fence");
}

/* The only replica of M0's memory is that memory itself, so a multimem write goes to it past the alias model. */
static bool replica(struct twin_memory *memory, uint64_t address, unsigned width, enum twin_use use,
                    unsigned char *bytes[TWIN_REPLICAS], unsigned *count)
{
    uint64_t size = width;
    *count = 1;
    return plain(memory, address, width, &size, use, &bytes[0]);
}

/* A write of 1 through M0 is followed by a multimem write of 2: M0 then reads either value. */
static void behind_multimem(void)
{
    enum { LAUNCHES = 64 };
    static struct rig rig;
    unsigned olds = 0, news = 0;
    rig_open(&rig, "sim:h100,alias=stale:11");
    rig.memory.replicas = replica;
    for (uint64_t launch = 1; launch <= LAUNCHES; launch++) {
        uint64_t value = 0;
        sim_machine_lock(rig.process->machine);
        alias_model_open(&rig.tested, rig.process, &rig.memory, launch);
        twin_store(&rig.tested.memory, rig.at[0], 8, 1);
        twin_store_all(&rig.tested.memory, rig.at[0], 2);
        twin_load(&rig.tested.memory, rig.at[0], 8, &value);
        alias_model_close(&rig.tested);
        sim_machine_unlock(rig.process->machine);
        olds += value == 1;
        news += value == 2;
    }
    tap_ok(olds + news == LAUNCHES && olds > LAUNCHES / 4 && news > LAUNCHES / 4,
           "after a multimem write a mapping reads its own bytes %u times and the newer ones %u times", olds, news);
    vmm_close(rig.sys);
}

static unsigned passed_on;

static void note_end(struct twin_memory *memory, const struct twin_end *end)
{
    (void)memory;
    passed_on += end->failure == TWIN_TIMEOUT ? 1 : 0;
}

static void note_show(struct twin_memory *memory)
{
    (void)memory;
    passed_on += 2;
}

static bool note_pause(struct twin_memory *memory, uint64_t nanoseconds)
{
    (void)memory;
    passed_on += 4;
    return nanoseconds == 5;
}

/* Other requests of a kernel go to the accessor behind the model. */
static void other_requests(void)
{
    static struct rig rig;
    struct alias_model model;
    struct twin_memory inner = {.run = plain, .ended = note_end, .show = note_show, .pause = note_pause, .steps = 7};
    rig_open(&rig, "sim:h100,alias=stale:1");
    alias_model_open(&model, rig.process, &inner, 1);
    model.memory.ended(&model.memory, &(struct twin_end){.failure = TWIN_TIMEOUT});
    model.memory.show(&model.memory);
    tap_ok(model.memory.pause(&model.memory, 5) && !model.memory.pause(&model.memory, 6) && passed_on == 11 && model.memory.steps == 7,
           "ends, stores of the host and pauses are passed on");
    alias_model_close(&model);
    inner.pause = NULL;
    alias_model_open(&model, rig.process, &inner, 2);
    tap_ok(!model.memory.pause, "without an inner pause there is none");
    alias_model_close(&model);
    vmm_close(rig.sys);
}

int main(void)
{
    other_requests();
    uint64_t seed = random_seed(1);
    against_a_model(seed);
    against_a_model(seed + 1);
    answers_of_seeds();
    behind_multimem();
    return tap_done();
}

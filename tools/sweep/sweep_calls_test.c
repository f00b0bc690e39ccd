/* SPDX-License-Identifier: Apache-2.0 */
/* Which calls are to fail, and where they are made, of records that no program made. */
#include "sweep_calls.h"

#include <stdlib.h>
#include <string.h>

#include "call.h"
#include "tap.h"

enum { ROOM = 12000 };

static struct sites_file *make(void)
{
    static const char *const names[] = {"", "/opt/pool.so", "/usr/lib/libc.so.6", "/lib64/ld-linux-x86-64.so.2", "cuMemMap", "/opt/other.so"};
    struct sites_file *file = calloc(1, sizeof *file + ROOM * sizeof file->call[0]);
    if (!file)
        tap_bail("no memory");
    file->room = ROOM;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        memcpy(file->name[i].text, names[i], strlen(names[i]) + 1);
    return file;
}

static void add(struct sites_file *file, uint32_t process, enum vmm_call_id kind, uint16_t module, uint64_t offset)
{
    uint64_t nth = 1;
    for (uint64_t i = 0; i < file->count; i++)
        nth += file->call[i].process == process && file->call[i].kind == (uint16_t)kind;
    file->call[file->count] = (struct sites_call){
        .nth = nth, .offset = offset, .process = process, .kind = (uint16_t)kind, .module = module, .function = 4, .complete = true};
    file->count++;
}

static struct sites_file *usual(void)
{
    struct sites_file *file = make();
    add(file, 1, VMM_CALL_mem_map, 1, 0x20);
    add(file, 1, VMM_CALL_mem_create, 1, 0x10);
    add(file, 2, VMM_CALL_mem_map, 1, 0x20);
    add(file, 1, VMM_CALL_mem_map, 1, 0x20);
    add(file, 1, VMM_CALL_mem_map, 5, 0x20);
    add(file, 1, VMM_CALL_mem_unmap, 1, 0x30);
    add(file, 1, VMM_CALL_mem_create, 2, 0x40);
    add(file, 1, VMM_CALL_mem_create, 3, 0x40);
    add(file, 1, VMM_CALL_mem_create, 0, 0);
    file->call[file->count++] = (struct sites_call){.kind = VMM_CALL_mem_map, .module = 1}; /* begun, and killed */
    return file;
}

static void test_sites(void)
{
    struct sites_file *file = usual();
    struct sweep_calls calls;
    char fault[100];
    if (!sweep_calls_read(&calls, file, NULL))
        tap_bail("no memory");
    tap_ok(calls.sites == 3 && calls.count == 5, "three places made five calls");
    tap_ok(calls.site[0].count == 3 && calls.site[0].call->record->kind == VMM_CALL_mem_map && calls.site[1].count == 1 &&
               calls.site[1].call->record->kind == VMM_CALL_mem_create && calls.site[2].call->record->module == 5,
           "in the order in which they first made one");
    tap_ok(calls.given_back == 1 && calls.placeless == 3 && calls.processes == 2, "others are counted and left out");
    sweep_fault(&calls, &calls.site[0].call[1], NULL, fault, sizeof fault);
    tap_text(fault, "mem_map:2:process=1", "a fault of one of two processes");
    calls.processes = 1;
    sweep_fault(&calls, &calls.site[0].call[1], "UNKNOWN", fault, sizeof fault);
    tap_text(fault, "mem_map:2:UNKNOWN", "only one, with another result");
    tap_text(sweep_module(file, calls.site[0].call->record), "pool.so", "a module without its folder");
    sweep_calls_free(&calls);
    bool read = sweep_calls_read(&calls, file, "cuMemUnmap");
    tap_ok(read && calls.sites == 1 && calls.given_back == 0, "calls that release are there when they are asked for");
    sweep_calls_free(&calls);
    read = sweep_calls_read(&calls, file, "any");
    tap_ok(read && calls.sites == 3, "\"any\" is each kind");
    sweep_calls_free(&calls);
    free(file);
}

static void test_worst(void)
{
    struct sites_file *file = usual();
    struct sweep_calls calls;
    size_t runs, alike;
    bool read = sweep_calls_read(&calls, file, NULL);
    struct sweep_site *site = calls.site;
    tap_ok(read && !sweep_worst(site, &runs, &alike) && runs == 0, "no run, no outcome");
    site->call[0].outcome.class = SWEEP_LEAKED;
    site->call[2].outcome.class = SWEEP_LEAKED;
    tap_ok(sweep_worst(site, &runs, &alike) == &site->call[0] && runs == 2 && alike == 2, "the first of equals");
    site->call[1].outcome.class = SWEEP_CRASHED;
    tap_ok(sweep_worst(site, &runs, &alike) == &site->call[1] && runs == 3 && alike == 1, "the worst of all");
    sweep_calls_free(&calls);
    free(file);
}

static size_t chosen_of(const struct sweep_calls *calls, bool first_alone)
{
    size_t count = 0;
    for (size_t i = 0; i < calls->sites; i++)
        for (size_t k = 0; k < (first_alone ? 1 : calls->site[i].count); k++)
            count += calls->site[i].call[k].chosen;
    return count;
}

static void test_choice(void)
{
    struct sites_file *file = make();
    for (unsigned i = 0; i < 10000; i++) { /* add() looks at all before */
        file->call[i] = (struct sites_call){.nth = i + 1, .offset = i % 1000, .process = 1, .module = 1, .kind = VMM_CALL_mem_map, .complete = true};
        file->count++;
    }
    static const uint64_t most[] = {0, 1, 10, 999, 1000, 1001, 5000, 9999, 10000, UINT64_MAX};
    for (size_t i = 0; i < sizeof most / sizeof most[0]; i++) {
        struct sweep_calls calls;
        bool read = sweep_calls_read(&calls, file, NULL);
        uint64_t want = most[i] < 10000 ? most[i] : 10000;
        size_t got = sweep_calls_choose(&calls, most[i], 5);
        tap_ok(read && calls.sites == 1000 && got == want && chosen_of(&calls, false) == want && chosen_of(&calls, true) >= (want < 1000 ? want : 1000),
               "%" PRIu64 " of 10,000 calls at 1,000 places, each place first", want);
        sweep_calls_free(&calls);
    }
    struct sweep_calls one, same, other;
    bool read = sweep_calls_read(&one, file, NULL) && sweep_calls_read(&same, file, NULL) && sweep_calls_read(&other, file, NULL);
    sweep_calls_choose(&one, 1500, 5);
    sweep_calls_choose(&same, 1500, 5);
    sweep_calls_choose(&other, 1500, 6);
    unsigned like_same = 0, like_other = 0;
    for (size_t i = 0; i < one.count; i++) {
        like_same += one.call[i].chosen == same.call[i].chosen;
        like_other += one.call[i].chosen == other.call[i].chosen;
    }
    tap_ok(read && like_same == 10000 && like_other < 9500, "a seed is a choice");
    sweep_calls_free(&one);
    sweep_calls_free(&same);
    sweep_calls_free(&other);
    free(file);
}

static void test_equal(void)
{
    struct sites_file *one = usual(), *two = usual();
    tap_ok(sweep_calls_equal(one, two), "the same calls");
    struct sites_call swapped = one->call[0];
    one->call[0] = one->call[2];
    one->call[2] = swapped;
    tap_ok(sweep_calls_equal(one, two), "of two processes, in another order");
    two->call[1].offset = 0x11;
    tap_ok(!sweep_calls_equal(one, two), "at another place");
    two->call[1].offset = 0x10;
    memcpy(two->name[1].text, "/opt/more.so", sizeof "/opt/more.so");
    tap_ok(!sweep_calls_equal(one, two), "of another module");
    memcpy(two->name[1].text, "/opt/pool.so", sizeof "/opt/pool.so");
    add(two, 1, VMM_CALL_mem_map, 1, 0x20);
    tap_ok(!sweep_calls_equal(one, two), "one more");
    one->count = two->count = UINT64_MAX;
    one->room = two->room = 5;
    tap_ok(sweep_calls_equal(one, two), "as far as there was room");
    free(one);
    free(two);
}

static void test_words(void)
{
    tap_ok(sweep_gives_back(VMM_CALL_mem_address_free) && sweep_gives_back(VMM_CALL_mem_free_async) && sweep_gives_back(VMM_CALL_stream_destroy) &&
               sweep_gives_back(VMM_CALL_device_primary_ctx_reset) && !sweep_gives_back(VMM_CALL_mem_map) && !sweep_gives_back(VMM_CALL_mem_create) &&
               !sweep_gives_back(VMM_CALL_ctx_synchronize),
           "calls that release");
    for (int class = 0; class < SWEEP_CLASSES; class++)
        tap_ok(sweep_class_name((enum sweep_class)class)[0] != 0, "class %d has a name", class);
}

int main(void)
{
    test_sites();
    test_worst();
    test_choice();
    test_equal();
    test_words();
    return tap_done();
}

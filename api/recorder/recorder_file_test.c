/* SPDX-License-Identifier: Apache-2.0 */
/* The recorder's file on its own: where stacks are kept, entries that later calls have taken over, the first fault, files that
 * cannot be created. */
#define _GNU_SOURCE /* fallocate, before any header */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "posix.h"
#include "stacks.h"
#include "tap.h"

static struct posix faulty;

static unsigned made_frames(uint32_t stack, struct stacks_frame *frames, unsigned most);

#define posix faulty
#define stacks_frames made_frames
#include "recorder_file.c"
#undef posix
#undef stacks_frames

/* As many frames as the stack's number has units; every third is a Python frame without a function. */
static unsigned made_frames(uint32_t stack, struct stacks_frame *frames, unsigned most)
{
    static char lengthy[301];
    memset(lengthy, 'x', sizeof lengthy - 1);
    for (unsigned i = 0; i < most && i < stack % 10; i++)
        frames[i] = i % 3 == 1   ? (struct stacks_frame){.python = "pool.py", .line = stack, .function = "grow"}
                    : i % 3 == 2 ? (struct stacks_frame){.python = lengthy, .line = 1}
                                 : (struct stacks_frame){.module = "/opt/step", .offset = 0x10, .build = "5f3a"};
    return stack % 10 < most ? stack % 10 : most;
}

static struct recorder_file file;

static uint32_t first_slot(uint32_t stack)
{
    return (stack * UINT32_C(2654435761) >> 12) % RECORDER_STACKS;
}

static uint32_t id_at(uint32_t at)
{
    return atomic_load(&file.stack[at % RECORDER_STACKS].id);
}

static void put_id(uint32_t at, uint32_t id)
{
    atomic_store(&file.stack[at % RECORDER_STACKS].id, id);
}

/* ---- stacks ---- */

static void test_slots(void)
{
    const uint32_t stack = 1002, from = first_slot(stack);
    put_id(from, 77);
    put_id(from + 1, RECORDER_BUSY);
    keep_stack(&file, stack);
    tap_ok(id_at(from) == 77 && id_at(from + 1) == RECORDER_BUSY && id_at(from + 2) == stack,
           "a stack takes the first free slot of four");
    tap_text(file.stack[(from + 2) % RECORDER_STACKS].text, "/opt/step+0x10 5f3a\npool.py:1002 grow\n", "with its frames");
    file.stack[(from + 2) % RECORDER_STACKS].text[0] = 'X';
    keep_stack(&file, stack);
    tap_ok(file.stack[(from + 2) % RECORDER_STACKS].text[0] == 'X' && !id_at(from + 3), "and is written once");
    tap_u64(slot_for(&file, stack, from, 4), RECORDER_STACKS, "nor again where another thread has just kept it");
    for (uint32_t i = 0; i < 4; i++)
        put_id(from + i, 70 + i);
    keep_stack(&file, stack);
    tap_ok(id_at(from) == stack && id_at(from + 1) == 71, "where four others are, the first gives way");
    for (uint32_t i = 0; i < 4; i++)
        put_id(from + i, RECORDER_BUSY);
    keep_stack(&file, stack);
    tap_ok(id_at(from) == RECORDER_BUSY && id_at(from + 3) == RECORDER_BUSY && !id_at(from + 4),
           "a slot that is being written is skipped");
}

static void test_text(void)
{
    char text[100];
    memset(text, 'y', sizeof text);
    write_stack(7, text, sizeof text);
    tap_ok(strlen(text) == sizeof text - 1 && strncmp(text, "/opt/step+0x10 5f3a\npool.py:7 grow\nxxxx", 39) == 0,
           "frames that are too long are cut to the room: %s", text);
    char whole[400];
    write_stack(3, whole, sizeof whole);
    tap_ok(strcmp(whole + strlen(whole) - 6, "xx:1 \n") == 0, "a function that is unknown has no name");
}

/* ---- entries ---- */

static struct recorder_plan plan;
static const struct vmm_call_mem_unmap unmap = {{VMM_CALL_mem_unmap, 0}, 0x1000, 0x2000};

static void test_overtaken(void)
{
    struct recorder_entry entry;
    memset(&file, 0, sizeof file);
    uint64_t slot = recorder_begin(&file, &plan, &unmap.head);
    tap_ok(recorder_read(&file.entry[0], &entry) && entry.result == RECORDER_PENDING && entry.argument[1] == 0x2000,
           "a call in progress");
    tap_ok(!recorder_read(&file.entry[1], &entry), "a free entry does not count");
    for (int i = 0; i < RECORDER_CALLS; i++)
        recorder_begin(&file, &plan, &unmap.head);
    recorder_end(&file, slot, &plan, &unmap.head, VMM_ERROR_INVALID_VALUE);
    tap_ok(recorder_read(&file.entry[0], &entry) && entry.seq == 2 * (1 + (uint64_t)RECORDER_CALLS) &&
               entry.result == RECORDER_PENDING,
           "whose entry another one has taken meanwhile ends without it");
    recorder_end(&file, RECORDER_CALLS, &plan, &unmap.head, VMM_ERROR_INVALID_VALUE);
    tap_ok(recorder_read(&file.entry[0], &entry) && entry.result == VMM_ERROR_INVALID_VALUE, "the other one's end is kept");
    atomic_store(&file.entry[0].word[0], 2 * (uint64_t)RECORDER_CALLS + 1);
    tap_ok(!recorder_read(&file.entry[0], &entry), "one that is being written is not read");
}

/* A thread that stops with a slot in its hand is one that is called later. */
static void test_late(void)
{
    static const struct vmm_call_mem_unmap late = {{VMM_CALL_mem_unmap, 0}, 0x7000, 0x8000};
    struct recorder_entry entry;
    memset(&file, 0, sizeof file);
    uint64_t slot = next_slot(&file);
    for (int i = 0; i < RECORDER_CALLS; i++)
        recorder_begin(&file, &plan, &unmap.head);
    begin_at(&file, slot, &plan, &late.head);
    tap_ok(recorder_read(&file.entry[0], &entry) && entry.seq == 2 * (1 + (uint64_t)RECORDER_CALLS) && entry.argument[0] == 0x1000,
           "a call that comes to its entry after 4,096 later ones leaves it to the later one");
    recorder_end(&file, slot, &plan, &late.head, VMM_ERROR_INVALID_VALUE);
    tap_ok(recorder_read(&file.entry[0], &entry) && entry.result == RECORDER_PENDING, "and so it does at its end");
    atomic_store(&file.entry[1].word[0], 3); /* its thread stops while it writes */
    begin_at(&file, RECORDER_CALLS + 1, &plan, &late.head);
    recorder_end(&file, RECORDER_CALLS + 1, &plan, &late.head, VMM_ERROR_INVALID_VALUE);
    tap_ok(atomic_load(&file.entry[1].word[0]) == 3 && atomic_load(&file.entry[1].word[ARGUMENTS]) == 0x1000,
           "an entry that another thread is writing stays that thread's");
}

static void test_faults(void)
{
    memset(&file, 0, sizeof file);
    recorder_begin(&file, &plan, &unmap.head);
    recorder_fault(&file, 0x5000);
    recorder_begin(&file, &plan, &unmap.head);
    recorder_fault(&file, 0x6000);
    tap_ok(atomic_load(&file.faulted) == 2 && file.fault_address == 0x5000 && file.fault_head == 1 &&
               atomic_load(&file.at_fault[1].word[0]) == 0,
           "the first fault is the one that is kept");
}

/* ---- files ---- */

static unsigned opened;

static int exists(const char *path, int flags, ...)
{
    (void)path, (void)flags;
    opened++;
    errno = EEXIST;
    return -1;
}

static int no_limit(int resource, struct rlimit *is)
{
    (void)resource, (void)is;
    errno = EINVAL;
    return -1;
}

static ssize_t no_link(const char *path, char *target, size_t size)
{
    (void)path, (void)target, (void)size;
    errno = EACCES;
    return -1;
}

static void test_files(void)
{
    static char lengthy[5000];
    char folder[] = "/tmp/recorder_file.XXXXXX", path[100];
    memset(lengthy, 'x', sizeof lengthy - 1);
    errno = 0;
    tap_ok(!recorder_file_make(lengthy) && errno == ENAMETOOLONG, "a folder's name that is too long is refused");
    faulty.open = exists;
    tap_ok(!recorder_file_make("/tmp") && errno == EEXIST && opened == 10000, "so is a folder of 10,000 files of this process");
    faulty.open = posix.open;
    faulty.getrlimit = no_limit;
    faulty.readlink = no_link;
    if (!mkdtemp(folder))
        tap_bail("no folder");
    struct recorder_file *made = recorder_file_make(folder);
    tap_ok(made && made->magic == RECORDER_MAGIC && made->process == getpid() && !made->program[0],
           "without limits and a name of the system's there is a recording");
    if (made)
        recorder_file_unmap(made);
    faulty = posix;
    snprintf(path, sizeof path, "%s/%ld.0", folder, (long)getpid());
    tap_ok(unlink(path) == 0 && rmdir(folder) == 0, "it is the one file there");
}

int main(void)
{
    faulty = posix;
    recorder_plan_make(&plan);
    test_slots();
    test_text();
    test_overtaken();
    test_late();
    test_faults();
    test_files();
    return tap_done();
}

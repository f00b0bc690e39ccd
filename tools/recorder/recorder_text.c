/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder_text.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "call.h"
#include "module_symbols.h"
#include "recorder_ticks.h"
#include "units.h"

/* ---- reading ---- */

static bool wrong(char *why, size_t size, const char *path, const char *what)
{
    snprintf(why, size, "%s: %s", path, what);
    return false;
}

static bool map_file(struct recording *recording, const char *path, char *why, size_t size)
{
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool whole = fd >= 0 && fstat(fd, &status) == 0 && status.st_size == (off_t)sizeof *recording->file;
    void *memory = whole ? mmap(NULL, sizeof *recording->file, PROT_READ, MAP_SHARED, fd, 0) : MAP_FAILED;
    int error = errno;
    if (fd >= 0)
        close(fd);
    if (memory == MAP_FAILED)
        return wrong(why, size, path, fd >= 0 && !whole ? "not a whole file of the recorder" : strerror(error));
    recording->file = memory;
    if (recording->file->magic == RECORDER_MAGIC && recording->file->version == RECORDER_VERSION &&
        recording->file->calls == VMM_CALL_COUNT)
        return true;
    munmap(memory, sizeof *recording->file);
    recording->file = NULL;
    return wrong(why, size, path, "not a file of this cuvmm's recorder");
}

static int in_order(const void *left, const void *right)
{
    uint64_t a = ((const struct recorder_entry *)left)->seq, b = ((const struct recorder_entry *)right)->seq;
    return (a > b) - (a < b);
}

/* An entry that is whole and that names a call. */
static bool take(const struct recorder_words *words, struct recorder_entry *entry)
{
    return recorder_read(words, entry) && entry->call < VMM_CALL_COUNT && entry->arguments <= RECORDER_ARGUMENTS;
}

/* From the processor's clock to nanoseconds. */
static void read_times(struct recording *recording)
{
    uint64_t ticks = recorder_ticks() - recording->file->ticks, time = recorder_clock() - recording->file->clock;
    double rate = ticks ? (double)time / (double)ticks : 1;
    for (unsigned i = 0; i < recording->count; i++) {
        struct recorder_entry *entry = &recording->entry[i];
        entry->time = (uint64_t)((double)(entry->time - recording->file->ticks) * rate);
        entry->took = (uint64_t)((double)entry->took * rate);
    }
}

bool recording_open(struct recording *recording, const char *path, bool last, char *why, size_t size)
{
    *recording = (struct recording){.file = NULL};
    if (!map_file(recording, path, why, size))
        return false;
    recording->entry = malloc(RECORDER_CALLS * sizeof *recording->entry);
    if (!recording->entry) {
        recording_close(recording);
        return wrong(why, size, path, "out of memory");
    }
    recording->fault = !last && atomic_load(&recording->file->faulted) == 2;
    const struct recorder_words *from = recording->fault ? recording->file->at_fault : recording->file->entry;
    recording->calls = recording->fault ? recording->file->fault_head : atomic_load(&recording->file->head);
    recording->address = atomic_load(&recording->file->faulted) == 2 ? recording->file->fault_address : 0;
    for (unsigned i = 0; i < RECORDER_CALLS; i++)
        recording->count += take(&from[i], &recording->entry[recording->count]);
    qsort(recording->entry, recording->count, sizeof *recording->entry, in_order);
    read_times(recording);
    return true;
}

void recording_close(struct recording *recording)
{
    if (recording->file)
        munmap(recording->file, sizeof *recording->file);
    free(recording->entry);
    *recording = (struct recording){.file = NULL};
}

bool recording_is_inside(const struct recording *recording)
{
    for (unsigned i = 0; i < recording->count; i++)
        if (recording->entry[i].result == RECORDER_PENDING)
            return true;
    return false;
}

/* ---- one call ---- */

/* "dev0 rw" */
static const char *rights_text(uint64_t value, char text[40])
{
    static const char *const words[] = {"--", "r-", "?", "rw"};
    unsigned type = value >> 8 & 0xff, id = value >> 16 & 0xffff;
    if (type == VMM_MEM_LOCATION_TYPE_DEVICE)
        snprintf(text, 40, "dev%u %s", id, words[value & 3]);
    else
        snprintf(text, 40, "host %s", words[value & 3]);
    return text;
}

static void print_value(const struct vmm_param *param, uint64_t value, FILE *out)
{
    char units[40];
    if (param->kind == VMM_PARAM_DESCS && value >> 63)
        fprintf(out, "%s {%s}", param->name, rights_text(value, units));
    else if (param->kind == VMM_PARAM_INT)
        fprintf(out, "%s %d", param->name, (int32_t)value);
    else if (param->kind == VMM_PARAM_SIZE || param->kind == VMM_PARAM_OUT_SIZE)
        fprintf(out, "%s %s", param->name, units_text(value, units));
    else
        fprintf(out, value ? "%s 0x%" PRIx64 : "%s 0", param->name, value);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "/opt/app/step+0x17bd 5f3a..": the last plus divides, and the blank after it. False: a frame of Python. */
static bool cut_frame(char *line, const char **build, uint64_t *offset)
{
    char *plus = strrchr(line, '+'), *blank = plus ? strchr(plus, ' ') : NULL;
    if (!blank || strncmp(plus, "+0x", 3) != 0)
        return false;
    *plus = *blank = '\0';
    *build = blank + 1;
    *offset = strtoull(plus + 3, NULL, 16);
    return true;
}

static void print_frame(char *line, bool named, FILE *out)
{
    const char *build;
    const struct code_symbol *symbol = NULL;
    uint64_t offset;
    if (!cut_frame(line, &build, &offset)) {
        fputs(line, out);
        return;
    }
    unsigned count = named ? module_symbols_at(line, build, offset, &symbol) : 0;
    if (!count || !symbol[0].function[0])
        fprintf(out, "%s+0x%" PRIx64, base_name(line), offset);
    for (unsigned i = 0; i < count && symbol[i].function[0]; i++) {
        fprintf(out, "%s%s", i ? " < " : "", symbol[i].function);
        if (symbol[i].line)
            fprintf(out, " (%s:%u)", base_name(symbol[i].file), symbol[i].line);
    }
}

/* "grow (pool.c:31) < main (step.c:12)" */
static void print_stack(const struct recording *recording, uint32_t stack, FILE *out)
{
    char text[RECORDER_STACK_TEXT], *line = text;
    for (unsigned i = 0; stack && i < RECORDER_STACKS; i++) {
        _Atomic uint32_t *id = &recording->file->stack[i].id;
        if (atomic_load(id) != stack)
            continue;
        snprintf(text, sizeof text, "%.*s", (int)sizeof recording->file->stack[i].text, recording->file->stack[i].text);
        if (atomic_load(id) != stack || !text[0])
            return;
        fputs("                ", out);
        for (char *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
            *end = '\0';
            fputs(line == text ? "" : " < ", out);
            print_frame(line, recording->named, out);
        }
        fputc('\n', out);
        return;
    }
}

static void print_entry(const struct recording *recording, const struct recorder_entry *entry, uint64_t end, FILE *out)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)entry->call, &count);
    fprintf(out, "  %6" PRIu64 "  -%.3f ms  thread %" PRIu32 "  %s(", entry->number, (double)(end - entry->time) / 1e6,
            entry->thread, vmm_call_driver_name((enum vmm_call_id)entry->call));
    for (unsigned i = 0; i < entry->arguments && i < count; i++) {
        fputs(i ? ", " : "", out);
        print_value(&params[i], entry->argument[i], out);
    }
    if (entry->result == RECORDER_PENDING)
        fputs(") has not returned\n", out);
    else
        fprintf(out, ") -> %s, %.1f us\n", vmm_result_name((vmm_result)entry->result), (double)entry->took / 1e3);
    print_stack(recording, entry->stack, out);
}

void recording_print(const struct recording *recording, unsigned most, FILE *out)
{
    unsigned shown = recording->count < most ? recording->count : most;
    const struct recorder_file *file = recording->file;
    uint64_t end = recording->count ? recording->entry[recording->count - 1].time : 0;
    fprintf(out, "the last %u of %" PRIu64 " calls of process %" PRId64 " (%.*s)%s:\n", shown, recording->calls, file->process,
            (int)sizeof file->program, file->program, recording->fault ? " when it got its first ILLEGAL_ADDRESS" : "");
    for (unsigned i = 0; i < recording->count; i++)
        if (recording->entry[i].time > end)
            end = recording->entry[i].time;
    for (unsigned i = recording->count - shown; i < recording->count; i++)
        print_entry(recording, &recording->entry[i], end, out);
}

/* ---- the history of an address ---- */

/* What a call does to a range of addresses; NULL: nothing. */
static const char *deed(enum vmm_call_id id)
{
    switch (id) {
    case VMM_CALL_mem_address_reserve: return "reserved";
    case VMM_CALL_mem_address_free: return "freed the addresses";
    case VMM_CALL_mem_map: return "mapped";
    case VMM_CALL_mem_unmap: return "unmapped";
    case VMM_CALL_mem_set_access: return "set the rights of";
    case VMM_CALL_mem_alloc:
    case VMM_CALL_mem_alloc_async:
    case VMM_CALL_mem_alloc_from_pool_async: return "allocated";
    case VMM_CALL_mem_free:
    case VMM_CALL_mem_free_async: return "freed";
    default: return NULL;
    }
}

struct range {
    uint64_t start, size; /* size 0: not known, what is freed */
};

static bool range_of(const struct recorder_entry *entry, struct range *range)
{
    size_t count;
    const struct vmm_param *params = vmm_call_params((enum vmm_call_id)entry->call, &count);
    bool found = false;
    *range = (struct range){0, 0};
    for (unsigned i = 0; i < entry->arguments && i < count; i++)
        if (!found && (params[i].kind == VMM_PARAM_ADDRESS || params[i].kind == VMM_PARAM_OUT_ADDRESS)) {
            range->start = entry->argument[i];
            found = true;
        } else if (found && !range->size && params[i].kind == VMM_PARAM_SIZE) {
            range->size = entry->argument[i];
        }
    return found;
}

static bool holds(const struct range *range, uint64_t address)
{
    return address >= range->start && address - range->start < range->size;
}

static void print_deed(const struct recorder_entry *entry, const struct range *range, uint64_t address, FILE *out)
{
    char rights[40];
    fprintf(out, "  call %" PRIu64 " (thread %" PRIu32 ") %s [0x%" PRIx64 ", 0x%" PRIx64 ")", entry->number, entry->thread,
            deed((enum vmm_call_id)entry->call), range->start, range->start + range->size);
    if (entry->call == VMM_CALL_mem_set_access && entry->arguments > 2 && entry->argument[2] >> 63)
        fprintf(out, " to %s%s", rights_text(entry->argument[2], rights),
                entry->arguments > 3 && entry->argument[3] > 1 ? " and others" : "");
    if (address >= range->start)
        fprintf(out, ", 0x%" PRIx64 " bytes into it", address - range->start);
    fputs(entry->result == RECORDER_PENDING ? "; the call has not returned\n" : "\n", out);
}

/* Memory that was there, and ends nearest below the address; or begins nearest above it. */
static void print_nearest(const struct recording *recording, uint64_t address, FILE *out)
{
    const struct recorder_entry *below = NULL, *above = NULL;
    struct range range, under = {0, 0}, over = {0, 0};
    fputs("  no call that was kept has to do with it\n", out);
    for (unsigned i = 0; i < recording->count; i++) {
        const struct recorder_entry *entry = &recording->entry[i];
        const char *what = deed((enum vmm_call_id)entry->call);
        if (!what || (strcmp(what, "mapped") != 0 && strcmp(what, "allocated") != 0) || entry->result != VMM_SUCCESS ||
            !range_of(entry, &range))
            continue;
        if (range.start + range.size <= address && (!below || range.start + range.size >= under.start + under.size))
            below = entry, under = range;
        if (range.start > address && (!above || range.start <= over.start))
            above = entry, over = range;
    }
    if (below)
        fprintf(out, "  0x%" PRIx64 " bytes behind what call %" PRIu64 " %s, [0x%" PRIx64 ", 0x%" PRIx64 ")\n",
                address - (under.start + under.size), below->number, deed((enum vmm_call_id)below->call), under.start,
                under.start + under.size);
    if (above)
        fprintf(out, "  0x%" PRIx64 " bytes before what call %" PRIu64 " %s, [0x%" PRIx64 ", 0x%" PRIx64 ")\n",
                over.start - address, above->number, deed((enum vmm_call_id)above->call), over.start, over.start + over.size);
}

void recording_print_history(const struct recording *recording, uint64_t address, FILE *out)
{
    struct range last = {0, 0}, range;
    bool any = false;
    fprintf(out, "history of 0x%" PRIx64 ":\n", address);
    for (unsigned i = 0; i < recording->count; i++) {
        const struct recorder_entry *entry = &recording->entry[i];
        if (!deed((enum vmm_call_id)entry->call) || (entry->result != VMM_SUCCESS && entry->result != RECORDER_PENDING) ||
            !range_of(entry, &range))
            continue;
        bool frees = !range.size && range.start == last.start && last.size;
        if (frees)
            range.size = last.size;
        if (!holds(&range, address))
            continue;
        print_deed(entry, &range, address, out);
        last = range;
        any = true;
    }
    if (!any)
        print_nearest(recording, address, out);
}

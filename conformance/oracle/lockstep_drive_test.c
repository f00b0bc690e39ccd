/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_drive_test.c - a driver that differs is noticed, each kind of difference once; the simulator plays the
 * driver. CUVMM_TEST_SCALE is the percentage of the longest run's calls. */
#include "lockstep_drive.h"

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lockstep_child.h"
#include "lockstep_follow.h"
#include "tap.h"

static struct drive_options options_for(const char *spec)
{
    return (struct drive_options){.spec = spec, .seed = 5, .calls = 2000, .episode = 500, .check_every = 100, .mix = LOCKSTEP_MIX,
                                  .patience = 120, .shrinking = 3600}; /* no machine is that slow */
}

/* Whole episodes, and at least two. */
static uint64_t scaled(uint64_t calls)
{
    const char *scale = getenv("CUVMM_TEST_SCALE");
    uint64_t some = scale && *scale ? calls * strtoull(scale, NULL, 10) / 100 / 500 * 500 : calls;
    return some < 1000 ? 1000 : some;
}

static const struct table_row *happened(const struct drive_report *report)
{
    for (size_t i = 0; i < report->table.count; i++)
        if (report->table.row[i].times)
            return &report->table.row[i];
    return NULL;
}

static size_t lines(const char *text)
{
    size_t n = 0;
    for (; *text; text++)
        n += *text == '\n';
    return n;
}

/* ---- agreement ---- */

static void a_driver_as_predicted(void)
{
    struct drive_report *report = child_share(sizeof *report);
    const struct drive_options options = options_for("as-driver:sim:h100");
    drive_run(&options, report);
    tap_u64(report->made, 2000, "all calls were made or skipped");
    tap_u64(report->episodes, 4, "in four episodes");
    tap_ok(!happened(report), "and nothing differed");
    tap_ok(report->skipped > 0 && report->skipped < report->compared / 10, "some were skipped on the driver");
    tap_u64(report->strayed, 0, "reservations have the model's addresses");
    tap_ok(report->placed > 0, "and there were some");
}

/* ---- differences ---- */

static void a_difference_is_shrunk_and_counted(void)
{
    struct drive_report *report = child_share(sizeof *report);
    const struct drive_options options =
        options_for("as-driver:fault=mem_get_address_range:1:NOT_PERMITTED:forever|sim:h100");
    drive_run(&options, report);
    const struct table_row *row = happened(report);
    tap_ok(row && strstr(row->signature, "answered CUDA_ERROR_NOT_PERMITTED"), "the difference is found: %s",
           row ? row->signature : "no");
    tap_ok(row && lines(row->script) < 4, "few calls show it: %s", row ? row->script : "");
    tap_ok(row && row->times > 1, "it is counted when it recurs, and the run continues");
    tap_u64(report->made, options.calls, "to its end");
    tap_ok(table_show(&report->table) > 0, "and is a failure");
}

static void a_difference_is_left_as_it_is(void)
{
    struct drive_report *report = child_share(sizeof *report);
    struct drive_options options = options_for("as-driver:fault=mem_get_address_range:1:NOT_PERMITTED:forever|sim:h100");
    options.shrinking = 0;
    drive_run(&options, report);
    const struct table_row *row = happened(report);
    tap_ok(row && row->times > 1 && row->difference[0] && !row->script[0], "without time for it nothing is shrunk: %s", row ? row->difference : "no");
    tap_u64(report->made, options.calls, "and the run continues to its end");
}

static void what_is_explained_is_no_failure(void)
{
    char name[] = "/tmp/cuvmm-explained-XXXXXX", error[200] = "";
    struct drive_report *report = child_share(sizeof *report);
    const struct drive_options options = options_for("as-driver:fault=mem_free:1:NOT_SUPPORTED:forever|sim:h100");
    drive_run(&options, report);
    int fd = mkstemp(name);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        tap_bail("no temporary file");
    fputs("# kinds of differences\n", file);
    for (size_t i = 0; i < report->table.count; i++)
        fprintf(file, "%s\tmade on purpose\n", report->table.row[i].signature);
    fclose(file);
    tap_ok(report->table.count > 0, "memory that cannot be freed is noticed");
    struct drive_report *again = child_share(sizeof *again);
    tap_ok(table_explain(&again->table, name, error, sizeof error), "the list of explanations is read%s", error);
    drive_run(&options, again);
    const struct table_row *row = happened(again);
    tap_ok(row && !row->script[0], "an explained difference is counted and not shrunk");
    tap_u64(table_show(&again->table), 0, "and is not a failure");
    file = fopen(name, "w");
    fputs("no tab\n", file);
    fclose(file);
    tap_ok(!table_explain(&again->table, name, error, sizeof error) && strstr(error, "line 1: expected a signature"),
           "a line without a reason is rejected: %s", error);
    unlink(name);
}

/* A call that changes nothing where the model predicts a change, and the other way round. */
static void states_that_part(void)
{
    struct drive_report *report = child_share(sizeof *report);
    struct drive_options options = options_for("as-driver:fault=mem_set_access:9:OUT_OF_MEMORY|sim:h100");
    options.calls = 400; /* each kind of difference is shrunk, and there are many */
    drive_run(&options, report);
    const struct table_row *row = happened(report);
    tap_ok(row && !strncmp(row->signature, "mem_set_access: predicted", 25), "refused rights are noticed: %s",
           row ? row->signature : "no");
    tap_ok(report->made == options.calls && report->episodes > 4, "an episode ends there, and others follow");
}

/* ---- a call that ends the process ---- */

static void dies(void *user)
{
    *(int *)user = 7;
    raise(SIGKILL);
}

static void returns(void *user)
{
    ++*(int *)user;
}

static void children(void)
{
    int *page = child_share(sizeof *page);
    tap_u64((uint64_t)child_run(dies, page), SIGKILL, "the signal that ended a child is reported");
    tap_u64((uint64_t)*page, 7, "its earlier output is kept");
    tap_u64((uint64_t)child_run(returns, page), 0, "a child that finished is reported, too");
    tap_u64((uint64_t)*page, 8, "and shares the page");
}

/* ---- recordings ---- */

/* A temporary file that the run wrote through *to, at its start. */
static FILE *written(struct drive_options *options, FILE **to, struct drive_report *report)
{
    *to = tmpfile();
    if (!*to)
        tap_bail("no temporary file");
    drive_run(options, report);
    rewind(*to);
    return *to;
}

static void recordings(void)
{
    struct drive_report *report = child_share(sizeof *report);
    struct drive_options options = options_for("as-driver:sim:h100");
    uint64_t episodes, calls;
    written(&options, &options.record, report);
    tap_u64(report->recorded, 2000, "all calls are recorded");
    tap_u64(drive_replay("as-driver:sim:h100", options.record, UINT64_MAX, &episodes, &calls), 0,
            "and come out the same again");
    tap_ok(episodes == 4 && calls == 2000, "all of them");
    rewind(options.record);
    static const char other[] = "as-driver:fault=mem_map:10:INVALID_VALUE:forever|sim:h100";
    tap_u64(drive_replay(other, options.record, UINT64_MAX, &episodes, &calls), 4,
            "a system with different answers is noticed in every episode");
    fclose(options.record);
}

/* Checks of the whole state do not change later answers: a replay makes none. */
static void looks_change_nothing(void)
{
    struct drive_report *report = child_share(sizeof *report);
    struct drive_options options = options_for("as-driver:sim:h200x2");
    uint64_t episodes, calls;
    options.seed = 1;
    options.calls = scaled(8000);
    options.check_every = 50;
    written(&options, &options.record, report);
    tap_u64(drive_replay("as-driver:sim:h200x2", options.record, UINT64_MAX, &episodes, &calls), 0,
            "a run with many checks has the same answers without them");
    tap_u64(calls, options.calls, "to its end");
    fclose(options.record);
}

/* The same of the newest mix: streams and pools have the same names and addresses again. Hardly anything is left out. */
static void the_newest_mix(void)
{
    struct drive_report *report = child_share(sizeof *report);
    struct drive_options options = options_for("as-driver:sim:h200x2");
    uint64_t episodes, calls, left = 0;
    options.mix = LOCKSTEP_NEWEST_MIX;
    options.calls = 2000;
    options.check_every = 500;
    written(&options, &options.record, report);
    tap_ok(!happened(report), "pools and streams as predicted: %s", happened(report) ? happened(report)->signature : "");
    for (int call = 0; call < VMM_CALL_COUNT; call++)
        left += report->counts.made[call] - report->counts.left_out[call][LEFT_OUT_NOT];
    tap_ok(left <= 4, "%" PRIu64 " of 2000 random calls are left out", left);
    tap_u64(drive_replay("as-driver:sim:h200x2", options.record, UINT64_MAX, &episodes, &calls), 0, "and come out the same again");
    tap_ok(episodes == report->episodes && calls == options.calls, "%" PRIu64 " of them", calls);
    fclose(options.record);
}

/* A driver that refuses what it should not, and one that does what it should refuse. */
static void pools_that_differ(void)
{
    static const char *const faults[] = {"mem_alloc_async:1", "mem_pool_create:1", "stream_batch_mem_op:11", "event_record:1"};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char spec[96];
        struct drive_report *report = child_share(sizeof *report);
        snprintf(spec, sizeof spec, "as-driver:fault=%s|sim:h100", faults[i]);
        struct drive_options options = options_for(spec);
        options.mix = LOCKSTEP_NEWEST_MIX;
        options.calls = 600;
        options.shrinking = 0;
        drive_run(&options, report);
        const struct table_row *row = happened(report);
        tap_ok(row && !strncmp(row->signature, faults[i], strcspn(faults[i], ":")), "%s is noticed: %s", faults[i],
               row ? row->signature : "no");
    }
}

static enum left_out why(struct lockstep *pair, enum vmm_call_id call, const char *parameter, uint64_t value)
{
    struct step step = step_of(call);
    step_arg(&step, parameter)->add = value;
    return lockstep_foresee(pair, &step);
}

static bool makes(struct lockstep *pair, const char *line)
{
    struct step step;
    char error[200];
    return step_parse(line, lockstep_unit(pair), &step, error, sizeof error) && lockstep_step(pair, &step) && !pair->left_out;
}

/* What is known to break a driver's pools is not asked. */
static void what_a_driver_is_not_asked(void)
{
    struct lockstep pair;
    if (!lockstep_open(&pair, "as-driver:sim:h100"))
        tap_bail("%s", pair.difference);
    pair.mix = LOCKSTEP_NEWEST_MIX;
    struct step create = step_of(VMM_CALL_mem_pool_create), alloc = step_of(VMM_CALL_mem_alloc_from_pool_async);
    create.name = STEP_FIRST_NAME;
    create.word[0] = VMM_MEM_ALLOCATION_TYPE_PINNED;
    create.desc[0].location.type = VMM_MEM_LOCATION_TYPE_DEVICE;
    step_arg(&alloc, "bytesize")->add = 4096;
    step_arg(&alloc, "pool")->name = create.name;
    alloc.name = create.name + 1;
    tap_ok(lockstep_step(&pair, &create), "a pool %s", pair.difference);
    const uint64_t pool = pair.values[create.name];
    tap_u64(why(&pair, VMM_CALL_mem_pool_destroy, "pool", pool), LEFT_OUT_NOT, "may end as long as it is empty");
    tap_ok(lockstep_step(&pair, &alloc), "with an allocation %s", pair.difference);
    tap_u64(why(&pair, VMM_CALL_mem_pool_destroy, "pool", pool), LEFT_OUT_BREAKS, "it may not");
    create.word[1] = VMM_MEM_HANDLE_TYPE_FABRIC;
    tap_u64(lockstep_foresee(&pair, &create), LEFT_OUT_BREAKS, "nor is there one for a fabric");
    struct step reserve = step_of(VMM_CALL_mem_address_reserve);
    step_arg(&reserve, "size")->add = (uint64_t)2 << 20;
    step_arg(&reserve, "alignment")->add = (uint64_t)32 << 20;
    tap_u64(lockstep_foresee(&pair, &reserve), LEFT_OUT_NOT, "an alignment of a chunk is asked for");
    step_arg(&reserve, "alignment")->add = (uint64_t)64 << 20;
    tap_u64(lockstep_foresee(&pair, &reserve), LEFT_OUT_BREAKS, "a larger one is not");
    struct step set = step_of(VMM_CALL_mem_pool_set_attribute);
    step_arg(&set, "pool")->add = pool;
    step_arg(&set, "attr")->add = 4;
    step_arg(&set, "value")->add = 0;
    tap_u64(lockstep_foresee(&pair, &set), LEFT_OUT_CRASH, "nor an attribute from nowhere");
    struct step fill = step_of(VMM_CALL_memset_d8);
    step_arg(&fill, "dst")->add = pair.values[alloc.name] + 8;
    step_arg(&fill, "n")->add = UINT64_MAX - 4000;
    tap_u64(lockstep_foresee(&pair, &fill), LEFT_OUT_CRASH, "nor a fill past the end of all addresses");
    tap_ok(lockstep_close(&pair), "everything is freed");
}

static enum left_out foreseen(struct lockstep *pair, const char *line)
{
    struct step step;
    char error[200];
    if (!step_parse(line, lockstep_unit(pair), &step, error, sizeof error))
        tap_bail("%s: %s", line, error);
    return lockstep_foresee(pair, &step);
}

/* A copy from memory of the host that neither it nor the stream's device may read. */
static void copies_by_the_host(void)
{
    static const char *const before[] = {"r64 = mem_address_reserve ptr=out size=1G alignment=0 addr=0 flags=0",
                                         "h65 = mem_create handle=out size=1G prop={1 0 2:0 0 0 0 0 0.0.0.0} flags=0",
                                         "mem_map ptr=r64 size=1G offset=0 handle=h65 flags=0"};
    static const struct {
        const char *access, *stream;
        enum left_out want;
    } cases[] = {{"1:0=3 1:0=3 1:0=3", "s43", LEFT_OUT_CRASH},
                 {"1:0=3 1:0=3 1:0=3", "s40", LEFT_OUT_NOT},
                 {"1:0=3 1:0=3 1:1=1", "s43", LEFT_OUT_NOT},
                 {"1:0=3 1:1=0 2:0=1", "s43", LEFT_OUT_NOT}};
    struct lockstep pair;
    char line[200];
    if (!lockstep_open(&pair, "as-driver:sim:h200x2"))
        tap_bail("%s", pair.difference);
    pair.mix = LOCKSTEP_NEWEST_MIX;
    for (size_t i = 0; i < sizeof before / sizeof before[0]; i++)
        tap_ok(makes(&pair, before[i]), "%s %s", before[i], pair.difference);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        snprintf(line, sizeof line, "mem_set_access ptr=r64 size=1G desc=[%s] count=3", cases[i].access);
        tap_ok(makes(&pair, line), "%s %s", line, pair.difference);
        snprintf(line, sizeof line, "memcpy_dtoh_async dst=out src=r64 byte_count=8 stream=%s", cases[i].stream);
        tap_u64(foreseen(&pair, line), cases[i].want, "%s", line);
    }
    tap_u64(foreseen(&pair, "mem_map ptr=r64 size=2G offset=0 handle=h65 flags=0"), LEFT_OUT_FOREIGN, "nothing is mapped past a reservation");
    tap_ok(lockstep_close(&pair), "everything is freed");
}

/* Rights to a pool of the host that another device than the first has already. */
static void rights_given_again(void)
{
    static const char again[] = "mem_pool_set_access pool=p64 map=[1:1=3 1:0=3 1:0=3] count=2",
                      first[] = "mem_pool_set_access pool=p64 map=[1:0=3 1:0=3 1:1=0] count=3", twice[] = "mem_pool_set_access pool=p64 map=[1:1=3 1:1=3 1:0=3] count=2";
    struct lockstep pair;
    for (int host = 0; host < 2; host++) {
        if (!lockstep_open(&pair, "as-driver:sim:h200x2"))
            tap_bail("%s", pair.difference);
        pair.mix = LOCKSTEP_NEWEST_MIX;
        tap_ok(makes(&pair, host ? "p64 = mem_pool_create pool=out pool_props={1 0 2:0 0 0 0}" : "p64 = mem_pool_create pool=out pool_props={1 0 1:0 0 0 0}"),
               "a pool %s", pair.difference);
        tap_u64(foreseen(&pair, twice), host ? LEFT_OUT_BREAKS : LEFT_OUT_NOT, "rights twice in a call");
        tap_ok(makes(&pair, again), "given once %s", pair.difference);
        tap_u64(foreseen(&pair, again), host ? LEFT_OUT_BREAKS : LEFT_OUT_NOT, "given again");
        tap_u64(foreseen(&pair, first), LEFT_OUT_NOT, "the first device's, and taken away");
        pair.follows = true;
        tap_u64(foreseen(&pair, again), LEFT_OUT_NOT, "where a driver was asked");
        tap_ok(lockstep_close(&pair), "everything is freed");
    }
}

/* Where the model has nothing, a driver may have memory for instances of graphs. */
static void where_instances_may_be(void)
{
    static const enum vmm_call_id orders[] = {VMM_CALL_stream_write_value32, VMM_CALL_stream_write_value64, VMM_CALL_stream_wait_value32,
                                              VMM_CALL_stream_wait_value64};
    struct lockstep pair;
    struct step batch = step_of(VMM_CALL_stream_batch_mem_op);
    if (!lockstep_open(&pair, "as-driver:sim:h100"))
        tap_bail("%s", pair.difference);
    pair.mix = LOCKSTEP_NEWEST_MIX;
    tap_ok(makes(&pair, "init flags=0") && makes(&pair, "r64 = mem_address_reserve ptr=out size=1G alignment=0 addr=0 flags=0") &&
               makes(&pair, "mem_address_free ptr=r64 size=1G"), "addresses of nobody %s", pair.difference);
    const uint64_t at = pair.values[STEP_FIRST_NAME];
    step_arg(&batch, "count")->add = 1;
    batch.op[0] = (struct step_op){.operation = VMM_STREAM_MEM_OP_WAIT_VALUE_64, .address.add = at};
    for (int instances = 0; instances < 2; instances++) {
        const enum left_out want = instances ? LEFT_OUT_FOREIGN : LEFT_OUT_NOT;
        for (size_t i = 0; i < sizeof orders / sizeof orders[0]; i++)
            tap_u64(why(&pair, orders[i], "addr", at), want, "%s with %d instances", vmm_call_name(orders[i]), instances);
        tap_u64(lockstep_foresee(&pair, &batch), want, "and a batch");
        tap_u64(why(&pair, VMM_CALL_mem_free, "dptr", at), LEFT_OUT_NOT, "what is refused there is asked");
        tap_ok(instances || (makes(&pair, "g65 = graph_create graph=out flags=0") && makes(&pair, "x66 = graph_instantiate graph_exec=out graph=g65 flags=0")),
               "an instance %s", pair.difference);
    }
    tap_ok(lockstep_close(&pair), "everything is freed");
}

/* The transcript has every call with its answer. */
static void transcripts(void)
{
    struct drive_report *report = child_share(sizeof *report);
    struct drive_options options = options_for("as-driver:sim:h100");
    char line[600];
    unsigned rows = 0, answered = 0;
    options.calls = 500;
    written(&options, &options.transcript, report);
    for (; fgets(line, sizeof line, options.transcript); rows++)
        answered += strstr(line, "\tSUCCESS") || strstr(line, "\tINVALID_VALUE") || strstr(line, "\tnot made");
    tap_u64(rows, 501, "a line for each call, after the episode's seed");
    tap_ok(answered > 400, "with what it was answered: %u", answered);
    fclose(options.transcript);
}

/* What a transcript says is answered so again, and the one line that was changed is found. */
static void followed(void)
{
    struct drive_report *report = child_share(sizeof *report);
    struct drive_options options = options_for("as-driver:sim:h100");
    struct follow_report same = {0}, other = {0};
    char line[2048];
    bool changed = false;
    options.mix = LOCKSTEP_NEWEST_MIX;
    options.calls = 1500;
    written(&options, &options.transcript, report);
    follow_transcript("as-driver:sim:h100", options.transcript, NULL, &same);
    tap_u64(same.different, 0, "a transcript is answered so again");
    tap_ok(same.episodes == report->episodes && same.calls + same.left_out == options.calls, "all of it");
    FILE *copy = tmpfile();
    rewind(options.transcript);
    while (copy && fgets(line, sizeof line, options.transcript)) {
        char *answer = changed ? NULL : strstr(line, "\tINVALID_VALUE\n");
        fputs(answer ? (memcpy(answer, "\tINVALID_OTHER", 14), line) : line, copy);
        changed |= answer != NULL;
    }
    rewind(copy);
    follow_transcript("as-driver:sim:h100", copy, NULL, &other);
    tap_ok(changed && other.different == 1 && other.calls == same.calls, "a changed answer is found, and nothing else");
    fclose(copy);
    fclose(options.transcript);
}

int main(void)
{
    followed();
    a_driver_as_predicted();
    a_difference_is_shrunk_and_counted();
    a_difference_is_left_as_it_is();
    what_is_explained_is_no_failure();
    states_that_part();
    children();
    recordings();
    looks_change_nothing();
    the_newest_mix();
    pools_that_differ();
    what_a_driver_is_not_asked();
    copies_by_the_host();
    rights_given_again();
    where_instances_may_be();
    transcripts();
    return tap_done();
}

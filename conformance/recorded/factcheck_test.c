/* SPDX-License-Identifier: Apache-2.0 */
/* The replay must be able to fail: each kind of difference, made on purpose, turns it red. */
#include "factcheck.h"

#include "facts_calls.h"
#include "tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool agrees(const char *name, const char *recorded, const char *got)
{
    const char *reason;
    return fact_agrees(name, recorded, got, &reason);
}

static void relations(void)
{
    static const struct {
        const char *name, *recorded, *got;
        bool same;
    } cases[] = {
        {"map.full", "SUCCESS", "SUCCESS", true},
        {"map.full", "SUCCESS", "INVALID_VALUE", false},
        {"handle.v1", "=558980ce9480", "=8", true},
        {"handle.v1", "=558980ce9480", "=0", false},
        {"reserve.g", "SUCCESS p=7f8a33e00000 hint=0 ctz=21", "SUCCESS p=200000 hint=0 ctz=21", true},
        {"reserve.g", "SUCCESS p=7f8a33e00000 hint=0 ctz=21", "SUCCESS p=210000 hint=0 ctz=16", false},
        {"reserve.g", "SUCCESS p=7f8a33e00000 hint=0 ctz=21", "OUT_OF_MEMORY p=77 hint=0 ctz=0", false},
        {"reserve.h", "SUCCESS p=400000 hint=400000 ctz=22", "SUCCESS p=800000 hint=800000 ctz=23", true},
        {"reserve.h", "SUCCESS p=400000 hint=400000 ctz=22", "SUCCESS p=800000 hint=400000 ctz=23", false},
        {"reserve.h", "SUCCESS p=800000 hint=400000 ctz=23", "SUCCESS p=400000 hint=400000 ctz=22", false},
        {"reserve.0", "INVALID_VALUE p=77 hint=0 ctz=0", "INVALID_VALUE p=77 hint=0 ctz=0", true},
        {"reserve.0", "INVALID_VALUE p=77 hint=0 ctz=0", "INVALID_VALUE p=0 hint=0 ctz=0", false},
        {"reserve.seq", "=a=1 b=2 c=3 b-a=1", "=a=1000000 b=2000000 c=3000000 b-a=1000000", true},
        {"reserve.seq", "=a=1 b=2 c=3 b-a=1", "=a=1000000 b=1600000 c=3000000 b-a=600000", false},
        {"reserve.reuse", "=1 (7f 7f)", "=1 (2a 2a)", true},
        {"reserve.reuse", "=1 (7f 7f)", "=0 (2a 2b)", false},
        {"ptr.reserved.mapbase", "INVALID_VALUE off=12920553472", "INVALID_VALUE off=17592186044416", true},
        {"ptr.reserved.mapbase", "INVALID_VALUE off=12920553472", "SUCCESS off=17592186044416", false},
        {"ptr.reserved.mapbase", "INVALID_VALUE off=12920553472", "INVALID_VALUE off=17592186044417", false},
        {"ptr.mapped.mapbase", "SUCCESS off=2097157", "SUCCESS off=4194309", false},
        {"ptr.HOST.addrrange", "SUCCESS off=140231630127104 n/G=2", "SUCCESS off=17592186044416 n/G=2", true},
        {"ptr.HOST.addrrange", "SUCCESS off=140231630127104 n/G=2", "SUCCESS off=17592186044416 n/G=4", false},
        {"ptr.HOST.addrrange", "SUCCESS off=140231630127104 n/G=2", "SUCCESS off=0 n/G=2", false},
        {"t_hbad!", "SIGNAL 11", "INVALID_VALUE, by a rule that the driver crashes", true},
        {"t_hbad!", "SIGNAL 11", "INVALID_VALUE, by a rule that the driver does not crash", false},
        {"t_hbad!", "SIGNAL 11", "SUCCESS", false},
        {"G.hint.200000.size1G", "SUCCESS usual", "SUCCESS given", true},
        {"G.hint.200000.size1G", "SUCCESS usual", "OUT_OF_MEMORY", false},
        {"G.sequence", "size=1G at=7f92 from_last+37G", "size=1G at=1000 from_last+1G", true},
        {"G.sequence", "size=1G at=7f92 from_last+37G", "size=2G at=7f92 from_last+37G", false},
        {"I.rw.attr7", "SUCCESS bytes=8 =39f", "SUCCESS bytes=8 =6", true},
        {"I.rw.attr7", "SUCCESS bytes=8 =39f", "SUCCESS bytes=8 =0", false},
        {"I.rw.attr7", "SUCCESS bytes=8 =39f", "SUCCESS bytes=4 =6", false},
        {"I.identity.x", "cumemalloc=3d next=3e interior_same=1", "cumemalloc=4 next=5 interior_same=1", true},
        {"I.identity.x", "cumemalloc=3d next=3e interior_same=1", "cumemalloc=4 next=5 interior_same=0", false},
        {"I.identity.x", "value=32 same: interior=1", "value=1 same: interior=1", true},
        {"I.identity.x", "value=32 same: interior=1", "value=32 same: interior=0", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        tap_ok(agrees(cases[i].name, cases[i].recorded, cases[i].got) == cases[i].same, "%s: %s %s %s", cases[i].name,
               cases[i].recorded, cases[i].same ? "agrees with" : "differs from", cases[i].got);
}

static const struct fact_later_row some_later[] = {{"driver", "*", "driver version query"},
                                                   {"moon.*", "FULL", "tides"},
                                                   {NULL, NULL, NULL}};

static void later_rows(void)
{
    uint64_t used = 0;
    tap_ok(!fact_later(some_later, "map.full", "SUCCESS", &used) && used == 0, "a line that no row names waits for nothing");
    tap_ok(!fact_later(some_later, "moon.x", "NEW", &used) && used == 0, "nor does one with another value");
    tap_ok(!fact_later(NULL, "driver", "13000", &used) && used == 0, "nor any without rows");
    tap_text(fact_later_stale(some_later, used, 0), "driver", "no row was needed yet");
    tap_text(fact_later(some_later, "moon.x", "FULL", &used), "tides", "a line that a row names waits for it");
    tap_ok(used != 0, "its row is noted");
    tap_text(fact_later_stale(some_later, used, 0), "driver", "the other row is stale");
    tap_ok(!fact_later_stale(some_later, used, 1), "and no more");
}

/* One replay of a group against a made-up recording; the exit status says whether it was green. */
struct trial {
    const char *name, *recording, *exception;
    bool green;
};

static void facts_of(struct fact_book *book, char *text)
{
    book->facts = calloc(8, sizeof *book->facts);
    for (char *line = strtok(text, "\n"); line && book->facts; line = strtok(NULL, "\n")) {
        char *tab = strchr(line, '\t');
        *tab = 0;
        book->facts[book->count++] = (struct fact){line, tab + 1, FACT_OPEN};
    }
}

static int replay(const struct trial *trial)
{
    char text[512];
    struct fact_book book = {0};
    struct fact_exception row = {"trial", trial->exception, "made up", false};
    struct fact_exceptions exceptions = {.rows = &row, .count = trial->exception != NULL};
    struct facts_count count = {0};
    struct facts f = {
        .profile = "trial", .spec = "sim:h100", .book = &book, .exceptions = &exceptions, .later = some_later,
        .count = &count};
    snprintf(text, sizeof text, "%s", trial->recording);
    facts_of(&book, text);
    facts_replay(&f);
    facts_settle(&f);
    free(book.facts);
    return tap_done();
}

/* In a child whose output is discarded, because its points are not this test's. */
static void try(const struct trial *trial)
{
    int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stdout))
            _exit(2);
        _exit(replay(trial));
    }
    waitpid(pid, &status, 0);
    tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == !trial->green, "%s is %s", trial->name,
           trial->green ? "green" : "red");
}

#define HANDLE_ZERO "props.h0\tINVALID_VALUE\nrelease.h0\tINVALID_VALUE\nmap.h0\tINVALID_VALUE\n"

static void verdicts(void)
{
    static const struct trial trials[] = {
        {"a recording that is reproduced", HANDLE_ZERO, NULL, true},
        {"another answer", "props.h0\tINVALID_VALUE\nrelease.h0\tSUCCESS\nmap.h0\tINVALID_VALUE\n", NULL, false},
        {"another answer that is listed", "props.h0\tINVALID_VALUE\nrelease.h0\tSUCCESS\nmap.h0\tINVALID_VALUE\n",
         "release.h0", true},
        {"another answer where something else is listed",
         "props.h0\tINVALID_VALUE\nrelease.h0\tSUCCESS\nmap.h0\tINVALID_VALUE\n", "map.h0", false},
        {"a line that nobody replays", HANDLE_ZERO "map.unheard_of\tSUCCESS\n", NULL, false},
        {"a line that waits for a capability", HANDLE_ZERO "driver\t13000\n", NULL, true},
        {"a replayed line that was not recorded", "props.h0\tINVALID_VALUE\nrelease.h0\tINVALID_VALUE\n", NULL, false},
        {"a name more often than it is answered", HANDLE_ZERO "map.h0\tINVALID_VALUE\n", NULL, false},
        {"a crash that the rules know", "t_hbad!\tSIGNAL 11\nt_relbad!\tSIGNAL 11\nt_mapbad!\tSIGNAL 11\n", NULL,
         true},
        {"a crash where the simulator succeeds", "release.double\tSIGNAL 11\n", NULL, false},
    };
    for (size_t i = 0; i < sizeof trials / sizeof trials[0]; i++)
        try(&trials[i]);
}

/* An explanation is checked against the call that was made. */
static void explanations(void)
{
    struct facts f = {.profile = "trial", .spec = "sim:h100"};
    if (vmm_open(f.spec, &f.sys) != VMM_SUCCESS || vmm_init(f.sys, 0) != VMM_SUCCESS)
        tap_bail("%s cannot be opened", f.spec);
    vmm_result result = fc_unmap(&f, 0x1000, 0);
    tap_result(result, VMM_ERROR_INVALID_VALUE, "unmap of nothing is refused");
    tap_text(vmm_last_detail()->rule, "VMM-UNMAP-SIZE-ZERO", "by its rule");
    tap_text(facts_unexplained(&f, result, false), NULL, "and explained");
    tap_ok(facts_unexplained(&f, VMM_ERROR_NOT_SUPPORTED, false), "not as another result");
    tap_ok(facts_unexplained(&f, result, true), "not as a crash");
    f.call.args[1].value = 4096;
    tap_ok(facts_unexplained(&f, result, false), "not with another value of the argument");
    f.call.args[1].name = "length";
    tap_ok(facts_unexplained(&f, result, false), "not with another argument");
    fc_begin(&f, "cuMemMap");
    tap_ok(facts_unexplained(&f, result, false), "not as another call");
    vmm_close(f.sys);
}

static void reasons(void)
{
    tap_ok(fact_same_reason("Parameter size cannot be 0", "VMM-MAP-SIZE-ZERO"), "the same reason");
    tap_ok(!fact_same_reason("Parameter size cannot be 0", "VMM-MAP-SIZE-WHOLE"), "another reason");
    tap_ok(!fact_same_reason("Words never heard", "VMM-MAP-SIZE-ZERO"), "words that no row knows");
}

int main(void)
{
    reasons();
    relations();
    later_rows();
    verdicts();
    explanations();
    return tap_done();
}

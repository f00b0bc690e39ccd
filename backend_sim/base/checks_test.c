/* SPDX-License-Identifier: Apache-2.0 */
/* checks: sentences and object names, a report instead of abort(), and pool_check. */
#include "checks.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "breaks.h"
#include "pool.h"

static char reported[CHECK_ROOM];

static void keep(const char *said)
{
    snprintf(reported, sizeof reported, "%s", said);
}

static void test_sentences(void)
{
    char name[2 * CHECK_ROOM];
    tap_text(check_say("%d things", 3), "3 things", "a sentence");
    tap_text(check_in(check_say("%d things", 3), "map %d", 7), "map 7: 3 things",
             "check_in puts the object's name before the sentence");
    tap_ok(!check_in(NULL, "map %d", 7), "check_in keeps NULL");
    tap_text(check_in("3 things", "%s", ""), ": 3 things", "an object without a name");
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    tap_u64(strlen(check_in("said", "%s", name)), CHECK_ROOM - 1, "check_in truncates a sentence that is too long");
    tap_u64(strlen(check_in(name, "map %d", 7)), CHECK_ROOM - 1, "also behind a short name");
}

/* Without a report function, does a failed check print a message and abort the process? */
static void test_end(void)
{
    int status = 0, ends[2];
    char said[CHECK_ROOM] = "";
    fflush(stdout);
    if (pipe(ends))
        tap_bail("no pipe");
    pid_t child = fork();
    if (child == 0) {
        checks_report = NULL;
        if (dup2(ends[1], STDERR_FILENO) < 0)
            _exit(1);
        checks_failed("the count is 3");
        _exit(0);
    }
    tap_ok(child > 0 && waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT,
           "without a report function, a failed check ends the process by SIGABRT");
    close(ends[1]);
    tap_ok(read(ends[0], said, sizeof said - 1) > 0 && strstr(said, "cuvmm: a broken invariant: the count is 3\n"),
           "and is written to the standard error output");
    close(ends[0]);
}

static void test_report(void)
{
    void (*before)(const char *) = checks_report;
    checks_report = keep;
    checks_failed(NULL);
    tap_text(reported, "", "a passed check is not reported");
    checks_failed("the count is 3");
    tap_text(reported, "the count is 3", "a failed check is reported");
    checks_report = before;
}

static void test_pool(void)
{
    struct pool pool;
    void *out[9];
    pool_init(&pool, 64);
    check_holds(pool_check(&pool, 0), "an empty pool");
    for (int i = 0; i < 9; i++)
        out[i] = pool_alloc(&pool);
    pool_free(&pool, out[3]);
    pool_free(&pool, out[5]);
    check_holds(pool_check(&pool, 7), "a pool with seven things taken");
#ifdef POOL_PLAIN
    tap_skip("in this build each thing is a separate allocation", "the contents of the slabs");
#else
    check_breaks(pool_check(&pool, 8), "8 of 15 things are taken, but the pool counts 2 freed and 6 fresh ones");
    BREAKS(pool.left, 99, pool_check(&pool, 7), "99 fresh ones");
    BREAKS(pool.slab, 3, pool_check(&pool, 7), "15 things, and the next slab is set to 3; the existing slabs have 15, and 16 should follow");
    BREAKS(*(void **)out[3], out[5], pool_check(&pool, 7), "more than 15 freed");
#endif
    for (int i = 0; i < 9; i++)
        if (i != 3 && i != 5)
            pool_free(&pool, out[i]);
    pool_clear(&pool);
}

int main(void)
{
    test_sentences();
    test_report();
    test_end();
    test_pool();
    return tap_done();
}

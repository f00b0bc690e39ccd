/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm diff as a user runs it: what it prints and its exit status. It prints to the process's own standard output, so
 * each run is a child. */
#include "cuvmm.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tap.h"

static char said[65536];

/* Returns the exit status; the output is in `said`. */
static int diff(char *const *args)
{
    FILE *out = tmpfile();
    char *argv[20] = {(char *)(uintptr_t) "cuvmm", (char *)(uintptr_t) "diff"};
    int argc = 2, status = 0;
    if (!out)
        tap_bail("no temporary file");
    for (; *args; args++)
        argv[argc++] = *args;
    fflush(stdout);
    pid_t pid = fork();
    if (pid == 0) {
        if (dup2(fileno(out), STDOUT_FILENO) < 0)
            _exit(99);
        status = cuvmm_main(argc, argv, stdout, stderr);
        fflush(stdout);
        _exit(status);
    }
    if (pid < 0 || waitpid(pid, &status, 0) != pid)
        tap_bail("no child");
    rewind(out);
    size_t n = fread(said, 1, sizeof said - 1, out);
    said[n] = 0;
    fclose(out);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

#define DIFF(...) diff((char *const[]){__VA_ARGS__, NULL})
#define WORD(text) (char *)(uintptr_t)(text)

/* ---- campaigns ---- */

static void remove_shards(const char *folder, unsigned of)
{
    char path[100];
    for (unsigned i = 1; i <= of; i++) {
        snprintf(path, sizeof path, "%s/shard-%u-of-%u", folder, i, of);
        unlink(path);
    }
}

/* With inverted expectations, the shards of a campaign find differences that its merge then shrinks, each once. */
static void test_campaign(char *folder, const char *backend, bool driver, const char *shown)
{
    static char *const shards[] = {WORD("1/3"), WORD("2/3"), WORD("3/3")};
    char *flip = driver ? WORD("--as-driver") : WORD("--flip=30"), missing[100];
    for (unsigned i = 0; i < 3; i++)
        tap_u64((uint64_t)DIFF(WORD("--backend"), WORD(backend), WORD("--calls=4500"), WORD("--episode=1000"), flip, WORD("--shard"), shards[i],
                               WORD("--findings"), folder), 0, "shard %s ends with 0 regardless of its findings", shards[i]);
    tap_u64((uint64_t)DIFF(WORD("--merge"), folder), 1, "the merge has the verdict");
    tap_ok(strstr(said, " - all 3 shards are there") && !strstr(said, "missing:") && strstr(said, "4500 random calls in 3 shards") && strstr(said, shown), "with what was found, shrunk: %.1500s", said);
    snprintf(missing, sizeof missing, "%s/shard-2-of-3", folder);
    unlink(missing);
    tap_u64((uint64_t)DIFF(WORD("--merge"), folder), 1, "without a shard");
    tap_ok(strstr(said, "missing: cuvmm diff --backend ") && strstr(said, " --shard 2/3 --findings "), "it says how to run that one again");
    remove_shards(folder, 3);
}

static void test_same(char *folder)
{
    tap_u64((uint64_t)DIFF(WORD("--backend=sim:h100"), WORD("--calls=3000"), WORD("--shard=1/2"), WORD("--findings"), folder), 0, "a shard");
    tap_u64((uint64_t)DIFF(WORD("--backend=sim:h100"), WORD("--calls=3000"), WORD("--shard=2/2"), WORD("--findings"), folder), 0, "and another");
    tap_u64((uint64_t)DIFF(WORD("--merge"), folder), 0, "no difference: 0");
    tap_ok(strstr(said, " - sim:h100: system and model agree, 3000 random calls in 2 shards") != NULL, "with all calls: %.300s", said);
    remove_shards(folder, 2);
}

static void test_wrong_campaigns(char *folder)
{
    tap_u64((uint64_t)DIFF(WORD("--backend=sim:h100"), WORD("--shard=1/2")), 2, "a shard needs a folder");
    tap_u64((uint64_t)DIFF(WORD("--backend=sim:h100"), WORD("--findings"), folder), 2, "and a folder a shard");
    tap_u64((uint64_t)DIFF(WORD("--backend=sim:h100"), WORD("--shard=3/2"), WORD("--findings"), folder), 2, "there is no third of two");
    tap_u64((uint64_t)DIFF(WORD("--backend=sim:h100"), WORD("--shard=1/2"), WORD("--findings"), folder, WORD("--script=x")), 2, "a script is for a run of its own");
    tap_u64((uint64_t)DIFF(WORD("--merge"), folder), 2, "nothing to merge");
    tap_u64((uint64_t)DIFF(WORD("--merge"), folder, WORD("--seed=7")), 2, "a merge has the campaign's options");
    tap_u64((uint64_t)DIFF(WORD("--backend=sim:h100"), WORD("--calls=100"), WORD("--shard=1/1"), WORD("--findings=/nowhere")), 1,
            "a missing folder");
}

int main(void)
{
    char script[] = "/tmp/cuvmm-diff-XXXXXX", recording[] = "/tmp/cuvmm-diff-XXXXXX";
    int fd = mkstemp(script), other = mkstemp(recording);
    if (fd < 0 || other < 0)
        tap_bail("no temporary file");
    close(fd);
    close(other);

    tap_u64((uint64_t)DIFF(WORD("--backend"), WORD("sim:h100"), WORD("--calls"), WORD("4000")), 0, "no difference: 0");
    tap_ok(strstr(said, "ok 1 - sim:h100: system and model agree, --seed 1 --calls 4000") != NULL, "and the output is this: %.200s",
           said);
    tap_u64((uint64_t)DIFF(WORD("--backend=sim:h100"), WORD("--calls=4000"), WORD("--flip=30"), WORD("--script"), script),
            1, "an expectation that is turned round: 1");
    tap_ok(strstr(said, "shrunk with") && strstr(said, "again: cuvmm diff --replay"), "the script is shrunk and kept");
    tap_u64((uint64_t)DIFF(WORD("--replay"), script), 0, "the script runs again, without the turn");
    tap_u64((uint64_t)DIFF(WORD("--backend=shadow|sim:h100"), WORD("--as-driver"), WORD("--calls=4000"), WORD("--record"),
                           recording), 0, "as on a driver, with a simulator beside it");
    tap_ok(strstr(said, "4000 random calls in 2 episodes") != NULL, "with their number: %.200s", said);
    tap_u64((uint64_t)DIFF(WORD("--replay-recording"), recording), 0, "the replay returns the recorded results");
    tap_u64((uint64_t)DIFF(WORD("--replay-recording"), recording, WORD("--backend=sim:odd")), 1, "but not by another machine");
    tap_u64((uint64_t)DIFF(WORD("--backend=shadow|fault=mem_get_address_range:1:NOT_PERMITTED:forever|sim:h100"), WORD("--as-driver"),
                           WORD("--calls=4000")), 1, "a backend that answers otherwise is reported");
    tap_ok(strstr(said, "answered CUDA_ERROR_NOT_PERMITTED") != NULL, "with the kind of difference");
    unlink(script);
    unlink(recording);
    char folder[] = "/tmp/cuvmm-diff-XXXXXX";
    if (!mkdtemp(folder))
        tap_bail("no temporary folder");
    test_campaign(folder, "sim:h100", false, "shrunk with");
    test_campaign(folder, "shadow|fault=mem_get_address_range:1:NOT_PERMITTED:forever|sim:h100", true, "    | ");
    test_same(folder);
    test_wrong_campaigns(folder);
    rmdir(folder);
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
/* Which shard a process is, what shards write, and what a merge takes and refuses. */
#include "campaign.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tap.h"

static char said[2000];
static FILE *err;

static const char *errors(void)
{
    fflush(err);
    rewind(err);
    said[fread(said, 1, sizeof said - 1, err)] = '\0';
    rewind(err);
    if (ftruncate(fileno(err), 0) != 0)
        tap_bail("no temporary file");
    return said;
}

/* ---- which shard ---- */

static void is_place(const char *text, unsigned shard, unsigned of)
{
    struct campaign campaign = {0};
    tap_ok(campaign_place(&campaign, text, err) && campaign.shard == shard && campaign.of == of, "%s is shard %u of %u: %s", text, shard, of,
           errors());
}

static void is_no_place(const char *text, const char *why)
{
    struct campaign campaign = {0};
    tap_ok(!campaign_place(&campaign, text, err) && strstr(errors(), why), "--shard %s is refused: %s", text, said);
}

static void test_places(void)
{
    static const char *const wrong[] = {"", "0/3", "4/3", "3", "3/", "/3", "-1/3", "1/65537", "1/3x", "x1/3", "1 /3", "1/ 3", "1/-3",
                                        "18446744073709551617/18446744073709551618"};
    is_place("1/1", 1, 1);
    is_place("65536/65536", 65536, 65536);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        is_no_place(wrong[i], "expected I/N");
}

static void test_jobs(void)
{
    static const char *const names[][2] = {{"SLURM_PROCID", "SLURM_NTASKS"}, {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                                           {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}};
    for (size_t i = 0; i < 4; i++)
        unsetenv(names[i][0]), unsetenv(names[i][1]);
    is_no_place("auto", "SLURM_PROCID and SLURM_NTASKS");
    for (size_t i = 0; i < 4; i++) { /* each goes before those that are set already */
        char rank[2] = {(char)('0' + i), '\0'}, size[2] = {(char)('5' + i), '\0'};
        setenv(names[i][0], rank, 1);
        if (i)
            is_place("auto", (unsigned)i, (unsigned)i + 4); /* a rank without a size says nothing */
        else
            is_no_place("auto", "no rank in the environment");
        setenv(names[i][1], size, 1);
        is_place("auto", (unsigned)i + 1, (unsigned)i + 5);
    }
    setenv("PMI_RANK", "8", 1);
    is_no_place("auto", "PMI_RANK needs a number from 0 to 7");
    setenv("PMI_SIZE", "none", 1);
    is_no_place("auto", "PMI_SIZE needs a number");
    unsetenv("PMI_RANK");
    unsetenv("OMPI_COMM_WORLD_RANK");
    unsetenv("MV2_COMM_WORLD_RANK");
    unsetenv("SLURM_PROCID");
}

/* ---- files ---- */

static char folder[] = "/tmp/cuvmm-campaign-XXXXXX";

static void write_shard(unsigned shard, unsigned of, uint64_t seed, const char *option)
{
    struct campaign campaign = {.shard = shard, .of = of};
    bool good = campaign_option(&campaign, "--backend", "shadow | cuda") && campaign_option(&campaign, "--strict", NULL) &&
                campaign_option(&campaign, "--seed", option);
    campaign_made(&campaign, "a", 10 * shard);
    campaign_made(&campaign, "a", 1);
    campaign_made(&campaign, "b", shard);
    campaign_found(&campaign, "a", "", seed, 1, "map: 0x302000000 is\tnot 7, M12 is");
    campaign_found(&campaign, "a", "", seed + 1, 1, "map: 0x402000000 is\nnot 18, M12 is");
    campaign_found(&campaign, "a", "", seed, 1, "map: 0x302000000 is not 7, M13 is");
    campaign_found(&campaign, "b", "kind", seed, shard, "more");
    tap_ok(good && campaign_write(&campaign, folder, err), "shard %u of %u writes: %s", shard, of, errors());
    campaign_free(&campaign);
}

static char *path_of(const char *name)
{
    static char path[100];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static const struct campaign_finding *find(const struct campaign *campaign, const char *spec, const char *kind)
{
    for (size_t i = 0; i < campaign->findings; i++)
        if (!strcmp(campaign->finding[i].spec, spec) && !strcmp(campaign->finding[i].signature, kind))
            return &campaign->finding[i];
    return NULL;
}

static void test_merge(void)
{
    struct campaign campaign = {0};
    write_shard(4, 4, 7, "1");
    write_shard(2, 4, 5, "1");
    fclose(fopen(path_of("shard-02-of-4"), "w")); /* not the name of a shard's file */
    tap_ok(campaign_read(&campaign, folder, err), "two of four: %s", errors());
    tap_ok(campaign_next_missing(&campaign, 0) == 1 && campaign_next_missing(&campaign, 1) == 3 && !campaign_next_missing(&campaign, 3), "two are missing");
    tap_ok(campaign.options == 5 && !strcmp(campaign.option[1], "shadow | cuda") && !strcmp(campaign.option[4], "1"), "the options come back");
    tap_ok(campaign.specs == 2 && campaign.ran[0].calls == 62 && campaign.ran[1].calls == 6, "the calls are added");
    tap_u64(campaign.findings, 3, "kinds are those that differ by more than numbers");
    const struct campaign_finding *f = find(&campaign, "a", "map: # is not #, M12 is");
    tap_ok(f && f->times == 4 && f->seed == 5 && !strcmp(f->difference, "map: 0x302000000 is not 7, M12 is"), "the first seed is kept");
    f = find(&campaign, "b", "kind");
    tap_ok(f && f->times == 6 && f->seed == 5, "a kind that has a name keeps it");
    campaign_free(&campaign);
}

static void is_refused(const char *why)
{
    struct campaign campaign = {0};
    tap_ok(!campaign_read(&campaign, folder, err) && strstr(errors(), why), "refused: %s: %s", why, said);
    campaign_free(&campaign);
}

static void damaged(const char *text, const char *why)
{
    FILE *out = fopen(path_of("shard-1-of-4"), "w");
    fputs(text, out);
    fclose(out);
    is_refused(why);
}

static void test_wrong_files(void)
{
    write_shard(1, 4, 7, "2");
    is_refused("belongs to a different campaign");
    damaged("", "its end is missing");
    damaged("cuvmm-shard 2\n", "shard-1-of-4:1: not a line");
    damaged("cuvmm-shard 1\nran\ta\t1\nend\n", "shard-1-of-4:2: not a line");
#define HEAD "cuvmm-shard 1\noptions\t--backend\tshadow | cuda\t--strict\t--seed\t1\n"
    damaged(HEAD, "its end is missing");
    damaged(HEAD "ran\ta\t1x\nend\n", ":3: not a line");
    damaged(HEAD "ran\ta\nend\n", ":3: not a line");
    damaged(HEAD "found\ta\t1\t0\tkind\tmore\nend\n", ":3: not a line");
    damaged(HEAD "found\ta\tx\t1\tkind\tmore\nend\n", ":3: not a line");
    damaged(HEAD "found\ta\t1\t1\tkind\nend\n", ":3: not a line");
    damaged(HEAD "end", ":3: not a line");
    damaged(HEAD "what\n", ":3: not a line");
    unlink(path_of("shard-1-of-4"));
    write_shard(1, 3, 7, "1");
    is_refused("which belong to two campaigns");
    for (unsigned i = 1; i <= 4; i++) {
        char name[32];
        snprintf(name, sizeof name, "shard-%u-of-%u", i, i == 1 ? 3 : 4);
        unlink(path_of(name));
    }
    is_refused("there is no shard file");
    unlink(path_of("shard-02-of-4"));
    tap_ok(rmdir(folder) == 0, "nothing else is left in the folder");
    is_refused("No such file");
    struct campaign campaign = {.shard = 1, .of = 1};
    tap_ok(!campaign_write(&campaign, folder, err) && strstr(errors(), "No such file"), "a missing folder: %s", said);
    tap_ok(!campaign_option(&campaign, "--a\tb", NULL) && !campaign_option(&campaign, "--a", "\n"), "an option with a tab or newline is refused");
    campaign_free(&campaign);
}

int main(void)
{
    err = tmpfile();
    if (!err || !mkdtemp(folder))
        tap_bail("no temporary file");
    test_places();
    test_jobs();
    test_merge();
    test_wrong_files();
    fclose(err);
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "campaign.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "options.h"
#include "tap.h"

enum { LINE = 8192, FIELDS = 80 };
static const char first_line[] = "cuvmm-shard 1";

static void *grown(void *memory, size_t size)
{
    void *more = realloc(memory, size);
    if (!more)
        tap_bail("no memory for the findings of a campaign");
    return more;
}

/* ---- which shard ---- */

/* Those who start the ranks of a job, the inner one first: a job of Slurm may start an mpirun. */
static const struct {
    const char *rank, *size;
} starters[] = {{"PMI_RANK", "PMI_SIZE"}, /* MPICH, Intel MPI, srun --mpi=pmi2 */
                {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                {"MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE"},
                {"SLURM_PROCID", "SLURM_NTASKS"}};

static bool place_of_job(struct campaign *campaign, FILE *err)
{
    for (size_t i = 0; i < sizeof starters / sizeof starters[0]; i++) {
        uint64_t rank, size;
        const char *a = getenv(starters[i].rank), *b = getenv(starters[i].size);
        if (!a || !b)
            continue;
        if (!options_number(err, starters[i].size, b, 1, CAMPAIGN_SHARDS, &size) ||
            !options_number(err, starters[i].rank, a, 0, size - 1, &rank))
            return false;
        campaign->shard = (unsigned)rank + 1;
        campaign->of = (unsigned)size;
        return true;
    }
    fprintf(err, "--shard auto: no rank in the environment (");
    for (size_t i = 0; i < sizeof starters / sizeof starters[0]; i++)
        fprintf(err, "%s%s and %s", i ? "; " : "", starters[i].rank, starters[i].size);
    fprintf(err, "): start it with mpirun or srun, or write --shard 1/8\n");
    return false;
}

bool campaign_place(struct campaign *campaign, const char *text, FILE *err)
{
    char *end, *last;
    if (strcmp(text, "auto") == 0)
        return place_of_job(campaign, err);
    const unsigned long long shard = strtoull(text, &end, 10), of = *end == '/' ? strtoull(end + 1, &last, 10) : 0;
    const bool digits = text[0] >= '0' && text[0] <= '9' && *end == '/' && end[1] >= '0' && end[1] <= '9' && !*last;
    if (!digits || shard < 1 || shard > of || of > CAMPAIGN_SHARDS) {
        fprintf(err, "--shard %.60s: expected I/N with I from 1 to N, N at most %d, as in --shard 3/8; or auto\n", text, CAMPAIGN_SHARDS);
        return false;
    }
    campaign->shard = (unsigned)shard;
    campaign->of = (unsigned)of;
    return true;
}

/* ---- what it is to do, and has done ---- */

/* Splits text at tabs. Returns how many parts there are, at most most. */
static int split(char *text, char **part, int most)
{
    int count = 0;
    for (char *at = text; at && count < most; at = strchr(at, '\t')) {
        if (count)
            *at++ = '\0';
        part[count++] = at;
    }
    return count;
}

static bool add_word(struct campaign *campaign, const char *word)
{
    const size_t length = campaign->text ? strlen(campaign->text) : 0;
    if (strpbrk(word, "\t\n") || length + strlen(word) + 2 > LINE - 16 || campaign->options == CAMPAIGN_OPTIONS)
        return false;
    campaign->text = grown(campaign->text, length + strlen(word) + 2);
    sprintf(campaign->text + length, "%s%s", length ? "\t" : "", word);
    campaign->options++;
    return true;
}

bool campaign_option(struct campaign *campaign, const char *name, const char *value)
{
    return add_word(campaign, name) && (!value || add_word(campaign, value));
}

void campaign_made(struct campaign *campaign, const char *spec, uint64_t calls)
{
    size_t i = 0;
    while (i < campaign->specs && strcmp(campaign->ran[i].spec, spec) != 0)
        i++;
    if (i == campaign->specs) {
        if (i == CAMPAIGN_SPECS)
            tap_bail("a campaign can have at most %d backends", CAMPAIGN_SPECS);
        snprintf(campaign->ran[campaign->specs++].spec, sizeof campaign->ran->spec, "%s", spec);
    }
    campaign->ran[i].calls += calls;
}

/* The text of one line, with room for the digit that stands for any number. */
static void without_numbers(const char *text, char *kind, size_t size)
{
    size_t length = 0;
    while (*text && length + 1 < size) {
        const bool inside = length && (isalnum((unsigned char)kind[length - 1]) || kind[length - 1] == '_');
        if (isdigit((unsigned char)*text) && !inside) {
            text += strspn(text, "0123456789abcdefxABCDEF");
            kind[length++] = '#';
        } else {
            kind[length++] = *text++;
        }
    }
    kind[length] = '\0';
}

static void copy_plain(char *to, size_t size, const char *from)
{
    snprintf(to, size, "%s", from);
    for (; *to; to++)
        if (*to == '\t' || *to == '\n')
            *to = ' ';
}

void campaign_found(struct campaign *campaign, const char *spec, const char *signature, uint64_t seed, uint64_t times,
                    const char *difference)
{
    struct campaign_finding fresh = {.seed = seed, .times = times};
    char kind[sizeof fresh.signature];
    if (!signature[0])
        without_numbers(difference, kind, sizeof kind);
    copy_plain(fresh.spec, sizeof fresh.spec, spec);
    copy_plain(fresh.signature, sizeof fresh.signature, signature[0] ? signature : kind);
    copy_plain(fresh.difference, sizeof fresh.difference, difference);
    for (size_t i = 0; i < campaign->findings; i++) {
        struct campaign_finding *known = &campaign->finding[i];
        if (strcmp(known->spec, fresh.spec) != 0 || strcmp(known->signature, fresh.signature) != 0)
            continue;
        fresh.times += known->times;
        if (known->seed < seed)
            known->times = fresh.times;
        else
            *known = fresh;
        return;
    }
    if (campaign->findings == campaign->room)
        campaign->finding = grown(campaign->finding, (campaign->room = 2 * campaign->room + 16) * sizeof fresh);
    campaign->finding[campaign->findings++] = fresh;
}

/* ---- files ---- */

bool campaign_write(const struct campaign *campaign, const char *folder, FILE *err)
{
    char path[4096], beside[4128];
    snprintf(path, sizeof path, "%s/shard-%u-of-%u", folder, campaign->shard, campaign->of);
    snprintf(beside, sizeof beside, "%s.%ld", path, (long)getpid());
    FILE *out = fopen(beside, "w");
    if (!out) {
        fprintf(err, "--findings %s: %s\n", beside, strerror(errno));
        return false;
    }
    fprintf(out, "%s\noptions\t%s\n", first_line, campaign->text ? campaign->text : "");
    for (size_t i = 0; i < campaign->specs; i++)
        fprintf(out, "ran\t%s\t%" PRIu64 "\n", campaign->ran[i].spec, campaign->ran[i].calls);
    for (size_t i = 0; i < campaign->findings; i++) {
        const struct campaign_finding *f = &campaign->finding[i];
        fprintf(out, "found\t%s\t%" PRIu64 "\t%" PRIu64 "\t%s\t%s\n", f->spec, f->seed, f->times, f->signature, f->difference);
    }
    fputs("end\n", out);
    bool good = !ferror(out);
    good = fclose(out) == 0 && good && rename(beside, path) == 0;
    if (!good) {
        fprintf(err, "--findings %s: %s\n", path, strerror(errno));
        unlink(beside);
    }
    return good;
}

/* Takes a line of a file. False: it is not one. */
static bool take_line(struct campaign *campaign, char *line, bool *ended)
{
    char *part[FIELDS];
    const int parts = split(line, part, FIELDS);
    uint64_t a, b;
    char *end;
    if (strcmp(part[0], "end") == 0 && parts == 1)
        return *ended = true;
    if (strcmp(part[0], "ran") == 0 && parts == 3) {
        a = strtoull(part[2], &end, 10);
        campaign_made(campaign, part[1], a);
        return !*end;
    }
    if (strcmp(part[0], "found") != 0 || parts != 6)
        return false;
    a = strtoull(part[2], &end, 10);
    b = *end ? 0 : strtoull(part[3], &end, 10);
    if (*end || !b)
        return false;
    campaign_found(campaign, part[1], part[4], a, b, part[5]);
    return true;
}

/* The options have to be those of the files before. */
static bool take_options(struct campaign *campaign, const char *text, const char *path, FILE *err)
{
    if (!campaign->text) {
        campaign->text = grown(NULL, strlen(text) + 1);
        strcpy(campaign->text, text);
    }
    if (strcmp(campaign->text, text) == 0)
        return true;
    fprintf(err, "--merge: %s belongs to a different campaign than the files before it: its options are %s, theirs %s\n", path,
            text, campaign->text);
    return false;
}

static bool read_file(struct campaign *campaign, const char *path, FILE *err)
{
    char line[LINE];
    FILE *in = fopen(path, "r");
    bool good = in != NULL, ended = false;
    if (!in) {
        fprintf(err, "--merge: %s: %s\n", path, strerror(errno));
        return false;
    }
    for (int number = 1; good && !ended && fgets(line, sizeof line, in); number++) {
        const size_t length = strcspn(line, "\n");
        const bool whole = line[length] == '\n';
        line[length] = '\0';
        if (number == 2 && whole && strncmp(line, "options\t", 8) == 0) {
            if (!take_options(campaign, line + 8, path, err)) {
                fclose(in);
                return false;
            }
            continue;
        }
        good = whole && number != 2 && (number == 1 ? strcmp(line, first_line) == 0 : take_line(campaign, line, &ended));
        if (!good)
            fprintf(err, "--merge: %s:%d: not a line of a shard's file: %.60s\n", path, number, line);
    }
    if (good && !ended)
        fprintf(err, "--merge: %s: its end is missing\n", path);
    fclose(in);
    return good && ended;
}

/* The name of a shard's file, and of nothing else. */
static bool is_shard(const char *name, unsigned *shard, unsigned *of)
{
    char again[64];
    if (sscanf(name, "shard-%u-of-%u", shard, of) != 2)
        return false;
    snprintf(again, sizeof again, "shard-%u-of-%u", *shard, *of);
    return strcmp(again, name) == 0 && *shard >= 1 && *shard <= *of && *of <= CAMPAIGN_SHARDS;
}

static bool take_file(struct campaign *campaign, const char *folder, const char *name, FILE *err)
{
    char path[4096];
    unsigned shard, of;
    if (!is_shard(name, &shard, &of))
        return true;
    if (campaign->of && campaign->of != of) {
        fprintf(err, "--merge %s: it has shards I/%u and I/%u, which belong to two campaigns\n", folder, campaign->of, of);
        return false;
    }
    campaign->of = of;
    if (!campaign->there)
        campaign->there = memset(grown(NULL, of + 1), 0, of + 1);
    campaign->there[shard] = 1;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return read_file(campaign, path, err);
}

bool campaign_read(struct campaign *campaign, const char *folder, FILE *err)
{
    DIR *files = opendir(folder);
    const struct dirent *file;
    bool good = files != NULL;
    if (!files)
        fprintf(err, "--merge %s: %s\n", folder, strerror(errno));
    while (good && (file = readdir(files)) != NULL)
        good = take_file(campaign, folder, file->d_name, err);
    if (files)
        closedir(files);
    if (good && !campaign->of) {
        fprintf(err, "--merge %s: there is no shard file (such as shard-1-of-8) as cuvmm diff --shard 1/8 --findings %s writes "
                     "one\n", folder, folder);
        good = false;
    }
    if (good)
        campaign->options = split(campaign->text, campaign->option, CAMPAIGN_OPTIONS);
    return good;
}

unsigned campaign_next_missing(const struct campaign *campaign, unsigned after)
{
    for (unsigned shard = after + 1; shard <= campaign->of; shard++)
        if (!campaign->there[shard])
            return shard;
    return 0;
}

void campaign_free(struct campaign *campaign)
{
    free(campaign->text);
    free(campaign->finding);
    free(campaign->there);
    *campaign = (struct campaign){0};
}

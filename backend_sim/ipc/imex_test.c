/* SPDX-License-Identifier: Apache-2.0 */
/* imex: why a process has no channel. The tests of fabric memory (machine/fabric_test.c) have channels that it can use. */
#include "imex.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tap.h"

static void none(const char *folder, const char *reason)
{
    char why[IMEX_WHY] = "";
    struct sim_profile profile = {.imex = true};
    int lowest = imex_lowest(folder, &profile, why);
    tap_ok(lowest == IMEX_NONE && strstr(why, reason), "no channel: %s", why);
}

int main(void)
{
    char folder[] = "/tmp/cuvmm-imex-XXXXXX", channel[64];
    if (!mkdtemp(folder))
        tap_bail("no folder");
    snprintf(channel, sizeof channel, "%s/channel7", folder);
    none("/no/such/folder", "there is no folder imex=/no/such/folder");
    none(folder, "contains no file channelN");
    FILE *file = fopen(channel, "w");
    if (!file || fclose(file) || chmod(channel, 0))
        tap_bail("no channel");
    if (geteuid() == 0)
        tap_skip("root has access to every file", "a channel without access");
    else
        none(folder, "has 1 channel, but this process has access to none of them");
    remove(channel);
    rmdir(folder);
    char why[IMEX_WHY] = "";
    uint64_t domain = 0;
    const struct sim_profile profile = {.imex = true};
    tap_ok(!imex_domain("q", &profile, &domain, why) && strstr(why, "does not exist, or cannot be read: q"),
           "a folder with the shortest name is no domain: %s", why);
    return tap_done();
}

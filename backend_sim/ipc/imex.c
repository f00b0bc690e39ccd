/* SPDX-License-Identifier: Apache-2.0 */
#include "imex.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fnv.h"
#include "share_state.h"

enum { LOOKED_AT = 100000, DIGITS = 5 };

/* What a folder contains. */
struct found {
    const char *folder;
    int lowest; /* the lowest usable channel */
    unsigned channels;
};

/* "channel7" -> 7; IMEX_NONE for every other name. */
static int channel_of(const char *name)
{
    static const char before[] = "channel";
    int number = 0;
    if (strncmp(name, before, sizeof before - 1) != 0)
        return IMEX_NONE;
    name += sizeof before - 1;
    size_t digits = strspn(name, "0123456789");
    if (!digits || digits > DIGITS || name[digits] || (name[0] == '0' && digits > 1))
        return IMEX_NONE;
    for (; *name; name++)
        number = 10 * number + (*name - '0');
    return number < IMEX_CHANNELS ? number : IMEX_NONE;
}

static bool may_use(const char *folder, uint32_t channel)
{
    char path[2 * OS_PATH_MAX];
    snprintf(path, sizeof path, "%s/channel%" PRIu32, folder, channel);
    return os_file_may_be_used(path);
}

static void look_at(void *user, const char *name)
{
    struct found *found = user;
    int channel = channel_of(name);
    found->channels += channel != IMEX_NONE;
    if (channel != IMEX_NONE && (found->lowest == IMEX_NONE || channel < found->lowest) &&
        may_use(found->folder, (uint32_t)channel))
        found->lowest = channel;
}

static int of_profile(const struct sim_profile *profile, char why[IMEX_WHY])
{
    snprintf(why, IMEX_WHY, "the spec has no imex=DIR, and the profile has fabric.imex = no");
    return profile->imex ? 0 : IMEX_NONE;
}

int imex_lowest(const char *folder, const struct sim_profile *profile, char why[IMEX_WHY])
{
    struct found found = {folder, IMEX_NONE, 0};
    struct os_file_is is;
    if (!folder[0])
        return of_profile(profile, why);
    os_folder_each(folder, LOOKED_AT, look_at, &found);
    if (!os_folder_look(folder, &is))
        snprintf(why, IMEX_WHY, "there is no folder imex=%.100s", folder);
    else if (!found.channels)
        snprintf(why, IMEX_WHY, "imex=%.80s contains no file channelN", folder);
    else
        snprintf(why, IMEX_WHY, "imex=%.80s has %u channel%s, but this process has access to none of them", folder,
                 found.channels, found.channels == 1 ? "" : "s");
    return found.lowest;
}

int imex_usable(const char *folder, const struct sim_profile *profile, uint32_t channel, char why[IMEX_WHY])
{
    if (folder[0]) {
        snprintf(why, IMEX_WHY, "imex=%.80s: channel%" PRIu32 " does not exist, or this process has no access to it", folder,
                 channel);
        return channel < IMEX_CHANNELS && may_use(folder, channel) ? (int)channel : IMEX_NONE;
    }
    int own = of_profile(profile, why);
    if (own != IMEX_NONE)
        snprintf(why, IMEX_WHY, "without imex=DIR there is only channel 0, not channel %" PRIu32, channel);
    return own == (int)channel ? own : IMEX_NONE;
}

bool imex_domain(const char *folder, const struct sim_profile *profile, uint64_t *domain, char why[IMEX_WHY])
{
    char root[OS_PATH_MAX];
    struct os_file_is is;
    bool there = folder[0] ? os_folder_look(folder, &is) : !os_share_root(root) && os_folder_look(root, &is);
    snprintf(why, IMEX_WHY, "the folder does not exist, or cannot be read: %.100s", folder[0] ? folder : root);
    if (!there)
        return false;
    *domain = fnv1a_word(fnv1a_word(fnv1a_word(FNV1A, is.device), is.number), share_profile_number(profile)) | 1;
    return true;
}

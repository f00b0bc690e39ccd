/* SPDX-License-Identifier: Apache-2.0 */
/* imex.h - the channels through which a process may share memory over a fabric: files in a folder, as with a driver.
 *
 *   imex=DIR        DIR/channel0   DIR/channel1 ...   usable: this process can currently read and write the file
 *   without it      channel 0, if the profile has fabric.imex = yes
 *
 *   domain          [ node ][ node ][ node ]           machines with one profile and the same folder; without
 *                                                      imex=, this user's machines
 */
#ifndef SIM_IMEX_H
#define SIM_IMEX_H

#include "os_share.h"
#include "profile.h"

enum { IMEX_NONE = -1, IMEX_CHANNELS = 65536, IMEX_WHY = 200 };

/* The domain and channel of fabric memory. */
struct imex_place {
    uint64_t domain; /* 0: not for a fabric */
    uint32_t channel;
};

/* The lowest usable channel, or that channel if it is usable; folder: the value of imex=, "" for none. Returns IMEX_NONE,
 * with the reason in why, if there is no such channel. */
int imex_lowest(const char *folder, const struct sim_profile *profile, char why[IMEX_WHY]);
int imex_usable(const char *folder, const struct sim_profile *profile, uint32_t channel, char why[IMEX_WHY]);

/* Returns false, with the reason in why, if the folder does not exist. */
bool imex_domain(const char *folder, const struct sim_profile *profile, uint64_t *domain, char why[IMEX_WHY]);

#endif

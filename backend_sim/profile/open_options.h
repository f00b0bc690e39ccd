/* SPDX-License-Identifier: Apache-2.0 */
/* open_options.h - the options after the profile in the simulator's part of a spec.
 *
 *     sim:h100,strict,schedule=random:7
 *         |    |      |
 *         |    |      key=value: a row of the table in open_options.c
 *         |    a word: a row as well
 *         profile: a name, or a path, which may contain commas before its last '/' (but not ",imex=")
 *
 * A later option of the same kind wins.
 */
#ifndef SIM_OPEN_OPTIONS_H
#define SIM_OPEN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm.h"

/* Which host addresses back the device's addresses. */
enum host_window_choice {
    HOST_WINDOW_AUTO,    /* the profile's addresses, or others where those are taken (host_window.h) */
    HOST_WINDOW_PROFILE, /* the profile's addresses, backed as far as they are free */
    HOST_WINDOW_NONE     /* the profile's addresses, nothing backed */
};

/* When queued work is done; see in_flight.h. */
enum sim_schedule { SIM_LATE, SIM_EAGER, SIM_RANDOM, SIM_DEVICE };

/* Seconds of team_wait=: the default and the maximum. */
enum { TEAM_WAIT_SECONDS = 10, TEAM_WAIT_MOST = 3600 };

/* The longest name of a machine, the longest path of a folder of channels with its end, the longest list of ordinals. */
enum { SHARE_NAME_MAX = 40, IMEX_PATH_MAX = 200, VISIBLE_LIST_MAX = 96 };

struct sim_options {
    bool strict; /* also refuses what breaks a documented rule but the recorded driver accepts */
    enum sim_schedule schedule;
    uint64_t seed; /* of SIM_RANDOM */
    bool stale;    /* a read through an alias of the written address may return old bytes (alias_model.h) */
    uint64_t stale_seed;
    enum host_window_choice window;
    bool explain_faults; /* explain forbidden host accesses (host_fault.h) */
    char machine[SHARE_NAME_MAX + 1]; /* that processes share (share.h); "": a private one */
    unsigned team_wait;               /* seconds that a call waits for other processes' devices (team_wait.h) */
    char imex[IMEX_PATH_MAX];         /* the folder of channels (imex.h); "": not given */
    char visible[VISIBLE_LIST_MAX];   /* "": all devices; or "env", or a list (visible_devices.h) */
};

/* Cuts the options off the end of text, which keeps the profile. On INVALID_VALUE the message names the option, the given value
 * and the accepted values, and *options is incomplete. */
vmm_result sim_options_take(char *text, struct sim_options *options);

/* Is that a valid machine name: 1 to SHARE_NAME_MAX letters, digits, '-', '_' and '.', not starting with '.'? */
bool share_name_ok(const char *name);

#endif

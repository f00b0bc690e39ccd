/* SPDX-License-Identifier: Apache-2.0 */
/* open_options.h - the options after the profile in the simulator's part of a spec.
 *
 *     sim:h100,strict,schedule=random:7
 *         |    |      |
 *         |    |      key=value: a row of the table in open_options.c
 *         |    a word: also a row
 *         profile: a name, or a path, which may contain commas before its last '/' (but not ",imex=")
 *
 * A later option of the same kind wins.
 */
#ifndef SIM_OPEN_OPTIONS_H
#define SIM_OPEN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm.h"

/* The host addresses behind the device addresses. */
enum host_window_choice {
    HOST_WINDOW_AUTO,    /* the profile's addresses, or others if those are taken (host_window.h) */
    HOST_WINDOW_PROFILE, /* the profile's addresses, backed as far as they are free */
    HOST_WINDOW_NONE     /* the profile's addresses, without any backing */
};

/* When queued work runs; see in_flight.h. */
enum sim_schedule { SIM_LATE, SIM_EAGER, SIM_RANDOM, SIM_DEVICE };

/* The default of kernel_steps=: some minutes. */
#define KERNEL_STEPS (UINT64_C(1) << 34)

enum { KERNEL_THREADS_MOST = 256 };

/* Seconds of team_wait=: the default and the maximum. */
enum { TEAM_WAIT_SECONDS = 10, TEAM_WAIT_MOST = 3600 };

/* The limits for a machine's name, the path of a folder of channels with its terminator, and a list of ordinals. */
enum { SHARE_NAME_MAX = 40, IMEX_PATH_MAX = 200, VISIBLE_LIST_MAX = 96 };

struct sim_options {
    bool strict; /* also refuse calls that break a documented rule but are accepted by the recorded driver */
    enum sim_schedule schedule;
    uint64_t seed; /* the seed of SIM_RANDOM */
    bool stale;    /* a read through an alias of the written address may return old bytes (alias_model.h) */
    uint64_t stale_seed;
    enum host_window_choice window;
    bool explain_faults; /* explain forbidden host accesses (host_fault.h) */
    char machine[SHARE_NAME_MAX + 1]; /* the name of a shared machine (share.h); "": private */
    unsigned team_wait;               /* how many seconds a call waits for other processes' devices (team_wait.h) */
    char imex[IMEX_PATH_MAX];         /* the folder of channels (imex.h); "": not given */
    bool skip_kernels; /* launches of kernels without a plugin are skipped instead of refused (abi_skipped.h) */
    uint64_t kernel_steps; /* the maximum number of warp steps of a PTX kernel; 0: no limit */
    unsigned kernel_threads; /* host threads that run the blocks of such a kernel */
    bool order;     /* report accesses that nothing orders (order_feed.h) */
    bool unwritten; /* report reads of bytes that nothing wrote (order_feed.h) */
    char visible[VISIBLE_LIST_MAX];   /* "": all devices; or "env", or a list (visible_devices.h) */
};

/* Removes the options from the end of text, which keeps the profile. On INVALID_VALUE the message names the option, its value and
 * the accepted values, and *options is incomplete. */
vmm_result sim_options_take(char *text, struct sim_options *options);

/* Is it a valid machine name: 1 to SHARE_NAME_MAX letters, digits, '-', '_' and '.', not starting with '.'? */
bool share_name_ok(const char *name);

#endif

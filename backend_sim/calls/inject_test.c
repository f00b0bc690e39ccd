/* SPDX-License-Identifier: Apache-2.0 */
/* Every call of the API, with every request that it makes for memory or to the operating system failing once: the call
 * reports it and changes nothing, or goes on without and has its usual effect; and in the end nothing is left. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_arrays.h"
#include "inject_graphs.h"
#include "inject_pools.h"
#include "inject_shared.h"

/* ---- layers ---- */

static void layers(void)
{
    steps_all("a trace", life, "trace=/dev/null|sim:h100", 80);
    steps_all("a shadow", life, "shadow|sim:h100", 80);
    steps_all("faults by the spec", life, "fault=mem_alloc:99|sim:h100", 80);
}

static void channel_there(bool there)
{
    char path[160];
    snprintf(channels, sizeof channels, "%s.channels", rig_root);
    snprintf(path, sizeof path, "%s/channel0", channels);
    if (!there) {
        unlink(path);
        rmdir(channels);
        return;
    }
    setenv("CUVMM_IMEX", channels, 1);
    if (mkdir(channels, 0700) || close(open(path, O_CREAT | O_RDWR, 0600)))
        tap_bail("no channel can be made");
}

/* From some request on there is no memory at all: freeing needs none. */
static void for_good(void)
{
    inject_for_good = true;
    steps_all("no memory from then on", life, "sim:h100", 70);
    steps_all("no memory from then on, on a shared machine", share, "sim:h100,machine=inject,arena=none", 45);
    steps_all("no memory from then on, with a team", multicast, "sim:h200x2,machine=inject", 38);
    steps_all("no memory from then on, with a fabric", fabric, "sim:max,machine=one", 32);
    steps_all("no memory from then on, with old bytes", aliases, "sim:h100,alias=stale:1", 30);
}

static void every_call_was_made(void)
{
    for (unsigned id = 0; id < VMM_CALL_COUNT; id++)
        if (!steps.seen[id])
            tap_ok(false, "%s was made", vmm_call_name((enum vmm_call_id)id));
}

int main(void)
{
    rig_begin();
    tap_note("each request of each call fails once");
    steps_all("a life", life, "sim:h100", 80);
    steps_all("a life whose order is followed", life, "sim:h100,order=report,unwritten=report", 80);
    steps_all("memory pools", life_of_pools, "sim:h100", 20);
    steps_all("memory pools on a shared machine", life_of_pools, "sim:h100,machine=inject", 40);
    steps_all("shared memory pools", shared_pools, "sim:odd,machine=inject", 40);
    steps_all("captures and graphs", graphs, "sim:h100", 60);
    steps_all("arrays and managed memory", arrays, "sim:h100", 20);
    steps_all("a full memory pool", full_pool, "sim:h100", 20);
    steps_all("a life on a shared machine", life, "sim:h100,machine=inject", 86);
    steps_all("old bytes", aliases, "sim:h100,alias=stale:1", 30);
    steps_all("asking", only_ask, "sim:h200x2", 7);
    steps_all("a team", multicast, "sim:h200x2", 32);
    steps_all("a shared team", multicast, "sim:h200x2,machine=inject", 56);
    /* without an arena: the stack of the thread that enters records may take the memory that the previous run had there */
    steps_all("export and import", share, "sim:h100,arena=none", 50);
    steps_all("export and import on a shared machine", share, "sim:h100,machine=inject,arena=none", 75);
    layers();
    channel_there(true);
    steps_all("a fabric", fabric, "sim:max,machine=one", 58);
    every_call_was_made();
    for_good();
    channel_there(false);
    rig_end();
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "open_options.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

static vmm_result take(const char *text, struct sim_options *options, char *profile)
{
    snprintf(profile, 400, "%s", text);
    return sim_options_take(profile, options);
}

static void accepted(void)
{
    static const struct {
        const char *text, *profile;
        struct sim_options options;
        bool plain;
    } good[] = {
        {"", "", {.strict = false, .schedule = SIM_LATE, .seed = 0}, false},
        {"h100", "h100", {.strict = false, .schedule = SIM_LATE, .seed = 0}, false},
        {"h100,strict", "h100", {.strict = true, .schedule = SIM_LATE, .seed = 0}, false},
        {",strict", "", {.strict = true, .schedule = SIM_LATE, .seed = 0}, false},
        {"h100,strict,observed", "h100", {.strict = false, .schedule = SIM_LATE, .seed = 0}, false},
        {"h100,schedule=late", "h100", {.strict = false, .schedule = SIM_LATE, .seed = 0}, false},
        {"h100,schedule=eager,strict", "h100", {.strict = true, .schedule = SIM_EAGER, .seed = 0}, false},
        {"h100,schedule=device", "h100", {.strict = false, .schedule = SIM_DEVICE, .seed = 0}, false},
        {"odd,strict,schedule=random:7", "odd", {.strict = true, .schedule = SIM_RANDOM, .seed = 7}, false},
        {"odd,schedule=random:0xffffffffffffffff", "odd", {.strict = false, .schedule = SIM_RANDOM, .seed = UINT64_MAX}, false},
        {"a,b/c.profile", "a,b/c.profile", {.strict = false, .schedule = SIM_LATE, .seed = 0}, false},
        {"a,b/c.profile,schedule=eager", "a,b/c.profile", {.strict = false, .schedule = SIM_EAGER, .seed = 0}, false},
        {"h100,arena=profile", "h100", {.window = HOST_WINDOW_PROFILE}, false},
        {"h100,arena=none,arena=auto", "h100", {.window = HOST_WINDOW_AUTO}, false},
        {"h100,arena=none,faults=plain", "h100", {.window = HOST_WINDOW_NONE}, true},
        {"h100,faults=plain,faults=explained", "h100", {.window = HOST_WINDOW_AUTO}, false},
        {"h100,alias=fresh", "h100", {.stale = false}, false},
        {"h100,alias=stale:7", "h100", {.stale = true, .stale_seed = 7}, false},
        {"h100,schedule=random:3,alias=stale:0x10", "h100",
         {.schedule = SIM_RANDOM, .seed = 3, .stale = true, .stale_seed = 16}, false},
        {"h100,machine=ci-7_b.x", "h100", {.machine = "ci-7_b.x"}, false},
        {"h100,machine=a,strict,machine=b", "h100", {.strict = true, .machine = "b"}, false},
        {"h100,alias=stale:7,alias=fresh", "h100", {.stale = false, .stale_seed = 7}, false},
        {"h100,team_wait=0", "h100", {.team_wait = 0}, false},
        {"h100,team_wait=3600", "h100", {.team_wait = 3600}, false},
        {"h100,kernels=skip", "h100", {.skip_kernels = true}, false},
        {"h100,kernels=skip,kernels=refuse", "h100", {.skip_kernels = false}, false},
        {"h100,kernel_steps=0", "h100", {.kernel_steps = 0}, false},
        {"h100,kernel_steps=0x100000000", "h100", {.kernel_steps = UINT64_C(1) << 32}, false},
        {"h100,kernel_threads=1", "h100", {.kernel_threads = 1}, false},
        {"h100,kernel_threads=256", "h100", {.kernel_threads = 256}, false},
        {"h100,order=report", "h100", {.order = true}, false},
        {"h100,order=report,order=no,unwritten=report", "h100", {.unwritten = true}, false},
        {"h100,imex=/dev/channels", "h100", {.imex = "/dev/channels"}, false},
        {"h100,strict,imex=a/b,schedule=eager", "h100", {.strict = true, .schedule = SIM_EAGER, .imex = "a/b"}, false},
        {"a,b/c.profile,imex=/x,machine=m,imex=/y/z", "a,b/c.profile", {.machine = "m", .imex = "/y/z"}, false},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct sim_options options;
        char profile[400];
        bool ok = take(good[i].text, &options, profile) == VMM_SUCCESS && strcmp(profile, good[i].profile) == 0 &&
                  options.strict == good[i].options.strict && options.schedule == good[i].options.schedule &&
                  options.seed == good[i].options.seed && options.window == good[i].options.window &&
                  options.explain_faults != good[i].plain && options.stale == good[i].options.stale &&
                  options.stale_seed == good[i].options.stale_seed && options.order == good[i].options.order &&
                  options.unwritten == good[i].options.unwritten &&
                  (!strstr(good[i].text, "team_wait") ? options.team_wait == TEAM_WAIT_SECONDS
                                                      : options.team_wait == good[i].options.team_wait) &&
                  options.skip_kernels == good[i].options.skip_kernels &&
                  options.kernel_steps == (strstr(good[i].text, "kernel_steps") ? good[i].options.kernel_steps : KERNEL_STEPS) &&
                  options.kernel_threads == (strstr(good[i].text, "kernel_threads") ? good[i].options.kernel_threads : 1) &&
                  strcmp(options.machine, good[i].options.machine) == 0 &&
                  strcmp(options.imex, good[i].options.imex) == 0;
        tap_ok(ok, "\"%s\"", good[i].text);
    }
}

/* A path of 200 bytes. */
#define TEN "0123456789"
#define FIFTY TEN TEN TEN TEN TEN
#define LONG FIFTY FIFTY FIFTY FIFTY

static void refused(void)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"h100,lenient", "\"lenient\": expected strict or observed"},
        {"h100,", "\"\": expected strict or observed"},
        {"h100,strict=1", "strict with \"1\": expected the word alone"},
        {"h100,schedule", "schedule with \"\": expected late, eager, random:SEED"},
        {"h100,schedule=soon,strict", "schedule with \"soon\": expected late, eager, random:SEED"},
        {"h100,schedule=", "schedule with \"\""},
        {"h100,schedule=devices", "schedule with \"devices\""},
        {"h100,schedule=random", "schedule with \"random\""},
        {"h100,schedule=random:", "schedule with \"random:\""},
        {"h100,schedule=random:7x", "schedule with \"random:7x\""},
        {"h100,schedule=random:-1", "schedule with \"random:-1\""},
        {"h100,arena", "arena with \"\": expected auto, profile or none"},
        {"h100,arena=here", "arena with \"here\": expected auto, profile or none"},
        {"h100,faults=no", "faults with \"no\": expected explained or plain"},
        {"h100,schedule=random:99999999999999999999", "schedule with \"random:"},
        {"h100,alias", "alias with \"\": expected fresh or stale:SEED with a number"},
        {"h100,alias=", "alias with \"\": expected fresh or stale:SEED with a number"},
        {"h100,alias=warn", "alias with \"warn\": expected fresh or stale:SEED"},
        {"h100,alias=stale", "alias with \"stale\""},
        {"h100,alias=stale:", "alias with \"stale:\""},
        {"h100,alias=stale:-1", "alias with \"stale:-1\""},
        {"h100,alias=stale:7 ", "alias with \"stale:7 \""},
        {"h100,alias=stale:99999999999999999999", "alias with \"stale:"},
        {"h100,team_wait", "team_wait with \"\": expected seconds, from 0 to 3600"},
        {"h100,team_wait=", "team_wait with \"\": expected seconds, from 0 to 3600"},
        {"h100,team_wait=3601", "team_wait with \"3601\": expected seconds, from 0 to 3600"},
        {"h100,team_wait=-1", "team_wait with \"-1\": expected seconds"},
        {"h100,imex", "imex with \"\": expected a folder of channels"},
        {"h100,kernels", "option kernels with \"\": expected refuse or skip"},
        {"h100,kernels=skipped", "option kernels with \"skipped\": expected refuse or skip"},
        {"h100,kernel_steps", "kernel_steps with \"\": expected a number of steps"},
        {"h100,kernel_steps=many", "kernel_steps with \"many\": expected a number of steps, or 0"},
        {"h100,kernel_threads", "kernel_threads with \"\": expected a number of threads, from 1 to 256"},
        {"h100,kernel_threads=0", "kernel_threads with \"0\""},
        {"h100,kernel_threads=257", "kernel_threads with \"257\""},
        {"h100,kernel_threads=two", "kernel_threads with \"two\""},
        {"h100,imex=", "imex with \"\": expected a folder of channels"},
        {"h100,imex=/a,b", "\"b\": expected strict or observed"},
        {"h100,strict,imex=" LONG, "expected a folder of channels, its path without commas and shorter than 200 bytes"},
        {"h100,strict,imex=" LONG FIFTY, "expected a folder of channels, its path without commas and shorter than 200 bytes"},
        {"h100,a-name-that-is-forty-letters-long-or-longer", "imex=, kernels=, kernel_steps=, kernel_threads=, order=, unwritten=, visible= with a value"}, /* the message is complete */
        {"h100,machine", "machine with \"\": expected a name"},
        {"h100,machine=", "machine with \"\": expected a name"},
        {"h100,machine=a b", "machine with \"a b\": expected a name"},
        {"h100,visible", "visible with \"\": expected ordinals such as 1:0, none, or env"},
        {"h100,schedule=random:a", "schedule with \"random:a\""},
        {"h100,visible=" LONG, "visible with"},
        {"h100,visible=", "visible with \"\": expected ordinals such as 1:0"},
        {"h100,order", "order with \"\": expected report or no"},
        {"h100,order=yes", "order with \"yes\": expected report or no"},
        {"h100,unwritten=", "unwritten with \"\": expected report or no"},
        {"h100,machine=..", "machine with \"..\": expected a name"},
        {"h100,aliases=stale:7", "\"aliases\": expected strict or observed, or schedule=, arena=, faults=, alias="},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct sim_options options;
        char profile[400];
        vmm_result result = take(bad[i].text, &options, profile);
        tap_ok(result == VMM_ERROR_INVALID_VALUE && strstr(vmm_last_detail()->note, bad[i].says), "\"%s\": %s",
               bad[i].text, vmm_last_detail()->note);
    }
}

int main(void)
{
    accepted();
    refused();
    return tap_done();
}

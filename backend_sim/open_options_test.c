#include "open_options.h"

#include <stdio.h>
#include <string.h>

#include "tap.h"

static vmm_result take(const char *text, struct sim_options *options, char *profile)
{
    snprintf(profile, 100, "%s", text);
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
        {"odd,strict,schedule=random:7", "odd", {.strict = true, .schedule = SIM_RANDOM, .seed = 7}, false},
        {"odd,schedule=random:0xffffffffffffffff", "odd", {.strict = false, .schedule = SIM_RANDOM, .seed = UINT64_MAX}, false},
        {"a,b/c.profile", "a,b/c.profile", {.strict = false, .schedule = SIM_LATE, .seed = 0}, false},
        {"a,b/c.profile,schedule=eager", "a,b/c.profile", {.strict = false, .schedule = SIM_EAGER, .seed = 0}, false},
        {"h100,arena=profile", "h100", {.arena = ARENA_PROFILE}, false},
        {"h100,arena=none,arena=auto", "h100", {.arena = ARENA_AUTO}, false},
        {"h100,arena=none,faults=plain", "h100", {.arena = ARENA_NONE}, true},
        {"h100,faults=plain,faults=explained", "h100", {.arena = ARENA_AUTO}, false},
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct sim_options options;
        char profile[100];
        bool ok = take(good[i].text, &options, profile) == VMM_SUCCESS && strcmp(profile, good[i].profile) == 0 &&
                  options.strict == good[i].options.strict && options.schedule == good[i].options.schedule &&
                  options.seed == good[i].options.seed && options.arena == good[i].options.arena &&
                  options.explain_faults != good[i].plain;
        tap_ok(ok, "\"%s\"", good[i].text);
    }
}

static void refused(void)
{
    static const struct {
        const char *text, *says;
    } bad[] = {
        {"h100,lenient", "\"lenient\": expected strict or observed"},
        {"h100,", "\"\": expected strict or observed"},
        {"h100,strict=1", "strict with \"1\": expected the word alone"},
        {"h100,schedule", "schedule with \"\": expected late, eager or random:SEED"},
        {"h100,schedule=soon,strict", "schedule with \"soon\": expected late, eager or random:SEED"},
        {"h100,schedule=random", "schedule with \"random\""},
        {"h100,schedule=random:", "schedule with \"random:\""},
        {"h100,schedule=random:7x", "schedule with \"random:7x\""},
        {"h100,schedule=random:-1", "schedule with \"random:-1\""},
        {"h100,arena", "arena with \"\": expected auto, profile or none"},
        {"h100,arena=here", "arena with \"here\": expected auto, profile or none"},
        {"h100,faults=no", "faults with \"no\": expected explained or plain"},
        {"h100,schedule=random:99999999999999999999", "schedule with \"random:"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct sim_options options;
        char profile[100];
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

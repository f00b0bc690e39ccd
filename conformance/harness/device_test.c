/* SPDX-License-Identifier: Apache-2.0 */
/* The description of a simulated machine reproduces it: the profile opens, and describing that machine gives the same
 * text. */
#include "device.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

/* The profile of a simulated machine as text; free() it. */
static char *described(const char *spec)
{
    vmm_system *sys = NULL;
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    if (!out || vmm_open(spec, &sys) != VMM_SUCCESS || vmm_init(sys, 0) != VMM_SUCCESS)
        tap_bail("%s does not open: %s", spec, vmm_last_detail()->note);
    tap_result(device_profile(sys, "asked", "a test", out), VMM_SUCCESS, "%s describes itself", spec);
    tap_u64(vmm_leaks(sys, NULL, NULL), 0, "and leaves nothing allocated");
    vmm_close(sys);
    fclose(out);
    return text;
}

static void test_again(const char *name)
{
    struct sim_profile built_in, asked;
    struct sim_profile_error error = {0};
    char spec[80];
    snprintf(spec, sizeof spec, "sim:%s", name);
    char *text = described(spec);
    bool parsed = sim_profile_parse(text, strlen(text), &asked, &error);
    if (!tap_ok(parsed, "%s: its description is a profile", name))
        tap_note("line %d: %s\n%s", error.line, error.text, text);
    if (parsed && sim_profile_builtin(name, &built_in)) {
        tap_ok(asked.devices == built_in.devices && asked.device_memory == built_in.device_memory, "%s: devices", name);
        tap_text(asked.device_name, built_in.device_name, "%s: their name", name);
        tap_ok(memcmp(asked.peers, built_in.peers, sizeof asked.peers) == 0, "%s: peers", name);
        tap_ok(memcmp(asked.device_granularity, built_in.device_granularity, sizeof asked.device_granularity) == 0 &&
                   memcmp(asked.host_granularity, built_in.host_granularity, sizeof asked.host_granularity) == 0,
               "%s: granularities", name);
        tap_ok(asked.partial_map == built_in.partial_map && asked.imex == built_in.imex,
               "%s: properties found by trial", name);
        for (int i = 0; i < built_in.attributes; i++) {
            int value = -77;
            sim_profile_attribute(&asked, built_in.attribute[i].attribute, &value);
            if (value != built_in.attribute[i].value)
                tap_ok(false, "%s: attribute %d is %d", name, built_in.attribute[i].attribute, value);
        }
    }
    free(text);
}

static void test_nearest(void)
{
    bool same = false;
    tap_text(sim_profile_builtin_name(device_nearest("NVIDIA H100 80GB HBM3", 1, &same)), "h100", "the H100");
    tap_ok(same, "is the recorded kind");
    tap_text(sim_profile_builtin_name(device_nearest("NVIDIA H200", 2, &same)), "h200x2", "two H200s");
    tap_ok(same, "are the recorded kind");
    tap_text(sim_profile_builtin_name(device_nearest("NVIDIA H200", 1, &same)), "h200", "one H200");
    tap_ok(same, "is a recorded kind, too");
    tap_text(sim_profile_builtin_name(device_nearest("Another", 1, &same)), "h100", "one of another kind");
    tap_ok(!same, "is not the recorded kind");
}

int main(void)
{
    unsetenv("CUVMM_LAYERS");
    test_nearest();
    test_again("h100");
    test_again("h200x2");
    return tap_done();
}

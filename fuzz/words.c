/* SPDX-License-Identifier: Apache-2.0 */
/* words.c - the words in a target's inputs, as a dictionary for libFuzzer; from the tables where they exist.
 *
 *     fuzz/words profile       "device.memory" "granularity.device.minimum" ...
 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "call.h"
#include "profile_keys.h"
#include "ptx_words.h"
#include "script.h"

static void word(const char *text)
{
    if (text && text[0] && !strpbrk(text, "\"\\\n"))
        printf("\"%s\"\n", text);
}

static void words(const char *const *list)
{
    while (*list)
        word(*list++);
}

static void results(void)
{
    static const char *const names[] = {
#define VMM_RESULT(name, number, text) #name,
#include "results.def"
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        word(strncmp(names[i], "ERROR_", 6) ? names[i] : names[i] + 6);
}

static void rules(void)
{
    size_t count;
    const vmm_rule *rule = vmm_rules(&count);
    for (size_t i = 0; i < count; i++)
        word(rule[i].id);
}

static void calls(bool drivers, bool parameters)
{
    for (int id = 0; id < VMM_CALL_COUNT; id++) {
        size_t count;
        const struct vmm_param *param = vmm_call_params((enum vmm_call_id)id, &count);
        word(drivers ? vmm_call_driver_name((enum vmm_call_id)id) : vmm_call_name((enum vmm_call_id)id));
        for (size_t i = 0; parameters && i < count; i++)
            word(param[i].name);
    }
}

static void profiles(void)
{
    for (size_t i = 0; sim_profile_builtin_name(i); i++)
        word(sim_profile_builtin_name(i));
}

static void of_script(void)
{
    static const char *const more[] = {"expect ", "warning ", "gran", "hgran", "KiB", "MiB", "dev0", "dev1", "host", "numa0",
                                       "dev0:rw", ":r", ":none", "roundup(", ".size", ".end", "max", "null", "fd", "fabric",
                                       "pattern:1:64", "byte:1:64", "hex:00ff", "stream=", "handle=", "align=", "backend sim:",
                                       ",strict", ",alias=stale:1", ",schedule=eager", "@main", "1<<", NULL};
    words(more);
    for (size_t i = 0; script_command(i); i++)
        word(script_command(i)->name);
    for (size_t i = 0; script_check(i); i++)
        word(script_check(i)->name);
    rules();
    results();
    calls(true, false);
    profiles();
}

static void of_trace(void)
{
    static const char *const more[] = {"cuvmm-trace", "inner", "n", "thread", "call", "args", "names", "result", "code", "out",
                                       "severity", "rule", "argument", "value", "expected", "nearest", "note", "length", "hex",
                                       "fnv1a64", "device", "type", "id", "location", "flags", "closed", "fabric", "end", "calls",
                                       "R1", "H1", "C1", "S1", "E1", "A1", "D1", "0x200000", "null", NULL};
    words(more);
    calls(false, true);
}

static void of_profile(void)
{
    static const char *const more[] = {"base = ", "attribute.", "all", "none", "yes", "no", "KiB", "MiB", "GiB", "TiB", "1<<", "0x",
                                       " = ", "0-1", NULL};
    words(more);
    for (int i = 0; i < SIM_K_COUNT; i++)
        word(sim_keys[i].name);
    profiles();
}

static void of_spec(void)
{
    static const char *const more[] = {"sim", "sim:", "trace=", "fault=", "shadow", "shadow=nodes=", "|", ",strict", ",observed",
                                       ",schedule=", "late", "eager", "random:", "device", ",arena=", "auto", "profile", "none",
                                       ",faults=", "plain", "explained", ",alias=", "fresh", "stale:", ",machine=", ",team_wait=",
                                       ",imex=", "forever", "any", "custom.profile", NULL};
    words(more);
    profiles();
    results();
    calls(false, false);
}

static void of_steps(void)
{
    static const char *const more[] = {"spec ", "out", "prop={", "desc=[", "1:0=3", "r64", "h65", "4G", "2M", NULL};
    words(more);
    calls(false, true);
}

static void of_ptx(void)
{
    static const char *const more[] = {".version 8.0\n", ".target sm_90\n", ".address_size 64\n", ".entry ", ".func ", ".extern ", ".visible ", ".reg ", ".param ",
                                       ".shared ", ".local ", ".global ", ".const ", ".align 8 ", "%r<9>;", "%tid.x", "ret;", "@%p ", "[%rd1+8]", "{ ", " }",
                                       ".branchtargets ", ".callprototype ", ".calltargets ", ".alias ", "-1", "0f3F800000", "0d3FF0000000000000", "_", "|", NULL};
    words(more);
    for (unsigned i = 0; i < PTX_OPCODES; i++)
        word(ptx_opcode_text(i));
    for (unsigned i = 1; i < PTX_MODIFIERS; i++)
        word(ptx_modifier_text(i));
}

int main(int argc, char **argv)
{
    static const struct {
        const char *target;
        void (*print)(void);
    } tables[] = {{"script", of_script}, {"trace", of_trace}, {"profile", of_profile}, {"spec", of_spec}, {"steps", of_steps},
                  {"ptx", of_ptx}};
    for (size_t i = 0; argc == 2 && i < sizeof tables / sizeof tables[0]; i++)
        if (strcmp(argv[1], tables[i].target) == 0)
            tables[i].print();
    return argc == 2 ? 0 : 2; /* the other targets' inputs are not text, so they have no words */
}

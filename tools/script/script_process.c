/* SPDX-License-Identifier: Apache-2.0 */
/* `process`: several processes of one machine in one script, each with its own addresses, handles, contexts and
 * names.
 *
 *     main: [current]        process b         main: [parked ]
 *                                       ->     b:    [current]
 */
#include <string.h>

#include "script_state.h"

static void park(const struct script *script, struct script_process *slot)
{
    slot->sys = script->sys;
    slot->symbols = script->symbols;
    slot->granule[0] = script->granule[0];
    slot->granule[1] = script->granule[1];
    slot->calls = script->calls;
    slot->call_line = script->call_line;
    slot->call_room = script->call_room;
}

static void resume(struct script *script, const struct script_process *slot)
{
    script->sys = slot->sys;
    script->symbols = slot->symbols;
    script->granule[0] = slot->granule[0];
    script->granule[1] = slot->granule[1];
    script->calls = slot->calls;
    script->call_line = slot->call_line;
    script->call_room = slot->call_room;
}

void script_process_switch(struct script *script, size_t index)
{
    if (script->sys && index != script->current)
        park(script, &script->process[script->current]);
    if (!script->sys || index != script->current)
        resume(script, &script->process[index]);
    script->current = index;
}

static size_t find(const struct script *script, const char *name, size_t length)
{
    size_t i = 0;
    while (i < script->processes && (strlen(script->process[i].name) != length ||
                                     memcmp(script->process[i].name, name, length) != 0))
        i++;
    return i;
}

struct symbols *script_process_symbols(void *user, const char *name, size_t length)
{
    struct script *script = user;
    size_t index = find(script, name, length);
    if (index == script->processes)
        return script->processes == 0 && length == 4 && memcmp(name, "main", 4) == 0 ? &script->symbols : NULL;
    return index == script->current ? &script->symbols : &script->process[index].symbols;
}

static bool attach(struct script *script, const char *name)
{
    vmm_system *peer;
    vmm_result result = vmm_attach(script->sys, &peer);
    if (result != VMM_SUCCESS)
        return script_failed(script, "another process cannot be had on this backend: %s (%s)", vmm_result_text(result),
                             vmm_result_name(result));
    struct script_process *slot = &script->process[script->processes++];
    *slot = (struct script_process){.sys = peer};
    strcpy(slot->name, name);
    script_process_switch(script, script->processes - 1);
    return true;
}

bool script_run_process(struct script *script)
{
    const struct word *word = args_next(script, "NAME");
    if (!word || !args_done(script) || !script_system(script))
        return false;
    size_t length = strlen(word->text);
    if (!symbols_name_ok(word->text, length))
        return script_wrong(script, word->column, "\"%.40s\" cannot be the name of a process; the rules for names apply",
                            word->text);
    if (script->processes == 0) {
        script->processes = 1;
        script->current = 0;
        strcpy(script->process[0].name, "main");
    }
    size_t index = find(script, word->text, length);
    if (index < script->processes) {
        script_process_switch(script, index);
        return true;
    }
    if (script->processes == SCRIPT_PROCESSES)
        return script_wrong(script, word->column, "a script has at most %d processes", SCRIPT_PROCESSES);
    return attach(script, word->text);
}

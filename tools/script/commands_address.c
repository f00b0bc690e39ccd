/* SPDX-License-Identifier: Apache-2.0 */
/* Commands about addresses: reservations, mappings, rights. */
#include <string.h>

#include "script_state.h"

static bool run_reserve(struct script *script)
{
    struct vmm_call_mem_address_reserve *call =
        &script_step(script, VMM_CALL_mem_address_reserve)->call.mem_address_reserve;
    return args_number(script, "SIZE", &call->size) && args_option_number(script, "align", &call->alignment) &&
           args_option_number(script, "at", &call->addr) && args_option_number(script, "flags", &call->flags) &&
           script_make(script, NULL);
}

/* ADDRESS SIZE; SIZE may be omitted after the plain name of an object. */
static bool take_range(struct script *script, uint64_t *ptr, uint64_t *size)
{
    size_t at = script->next;
    if (!args_number(script, "ADDRESS", ptr))
        return false;
    if (args_more(script))
        return args_number(script, "SIZE", size);
    const char *name = script->words.word[at].text;
    const struct symbol *symbol = symbols_find(&script->symbols, name, strlen(name));
    if (symbol && symbol->size) {
        *size = symbol->size;
        return true;
    }
    return args_number(script, "SIZE", size);
}

static bool run_free(struct script *script)
{
    struct vmm_call_mem_address_free *call = &script_step(script, VMM_CALL_mem_address_free)->call.mem_address_free;
    return take_range(script, &call->ptr, &call->size) && script_make(script, NULL);
}

static bool run_map(struct script *script)
{
    struct vmm_call_mem_map *call = &script_step(script, VMM_CALL_mem_map)->call.mem_map;
    return args_number(script, "ADDRESS", &call->ptr) && args_number(script, "SIZE", &call->size) &&
           args_number(script, "HANDLE", &call->handle) && args_option_number(script, "offset", &call->offset) &&
           args_option_number(script, "flags", &call->flags) && script_make(script, NULL);
}

static bool run_unmap(struct script *script)
{
    struct vmm_call_mem_unmap *call = &script_step(script, VMM_CALL_mem_unmap)->call.mem_unmap;
    return take_range(script, &call->ptr, &call->size) && script_make(script, NULL);
}

static bool run_access(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_set_access);
    struct vmm_call_mem_set_access *call = &step->call.mem_set_access;
    struct words_error error;
    struct value_env env = script_env(script);
    size_t count = 0;
    if (!args_number(script, "ADDRESS", &call->ptr) || !args_number(script, "SIZE", &call->size))
        return false;
    const struct word *null = args_option(script, "desc");
    if (null && strcmp(null->text, "null") != 0)
        return script_wrong(script, null->column, "\"%.40s\" after desc=; only null can be said", null->text);
    for (; args_more(script); count++) {
        const struct word *word = args_next(script, "a grant");
        if (count == STEP_GRANTS)
            return script_wrong(script, word->column, "more grants than %d in one call", STEP_GRANTS);
        if (!value_grant(&env, word, &step->grants[count], &error))
            return script_wrong_at(script, &error);
    }
    call->count = count;
    if (null)
        call->desc = NULL;
    if (!args_option_number(script, "count", &call->count))
        return false;
    if (!null && call->count > STEP_GRANTS)
        return script_wrong(script, 1, "count=%llu, but memory has room for only %d grants",
                            (unsigned long long)call->count, STEP_GRANTS);
    return script_make(script, NULL);
}

static bool run_getaccess(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_get_access);
    struct vmm_call_mem_get_access *call = &step->call.mem_get_access;
    if (!args_number(script, "ADDRESS", &call->ptr))
        return false;
    if (script->next < script->words.count && strcmp(script->words.word[script->next].text, "null") == 0) {
        args_next(script, "LOCATION");
        call->location = NULL;
    } else if (!args_location(script, "LOCATION", &step->location)) {
        return false;
    }
    return script_make(script, NULL);
}

const struct script_command script_address_commands[] = {
    {"reserve", "SIZE [align=SIZE] [at=ADDRESS] [flags=N] [out=null]", "reserves a range of addresses; no memory yet",
     "cuMemAddressReserve", run_reserve, false},
    {"free", "ADDRESS [SIZE]", "frees a reservation; SIZE may be omitted after its name", "cuMemAddressFree",
     run_free, false},
    {"map", "ADDRESS SIZE HANDLE [offset=SIZE] [flags=N]", "maps physical memory at reserved addresses", "cuMemMap",
     run_map, false},
    {"unmap", "ADDRESS [SIZE]", "unmaps every mapping of the range", "cuMemUnmap", run_unmap, false},
    {"access", "ADDRESS SIZE [LOCATION:RIGHTS ...] [desc=null] [count=N]", "sets the access rights of locations to the mappings",
     "cuMemSetAccess", run_access, false},
    {"getaccess", "ADDRESS LOCATION|null [out=null]", "queries the rights of a location at an address", "cuMemGetAccess",
     run_getaccess, false},
    {0},
};

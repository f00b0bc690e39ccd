/* SPDX-License-Identifier: Apache-2.0 */
/* `check`: conditions that must hold at this line. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "script_state.h"

bool script_verdict(struct script *script, bool holds, const char *is, const char *wanted)
{
    if (holds) {
        if (!script->options.quiet)
            fprintf(script->options.out, "  ok: %s\n", is);
        return true;
    }
    return script_failed(script, "check failed: %s; expected %s", is, wanted);
}

static bool verdict_number(struct script *script, const char *what, uint64_t got, uint64_t wanted)
{
    char is[128], want[32];
    snprintf(is, sizeof is, "%s: %" PRIu64, what, got);
    snprintf(want, sizeof want, "%" PRIu64, wanted);
    return script_verdict(script, got == wanted, is, want);
}

/* The name if the number is an address, because addresses differ between machines. */
static void number_text(const struct script *script, uint64_t value, char buffer[64])
{
    struct step_names names = script_names(script);
    char size[TEXT_SIZE_ROOM];
    FILE *memory = value && symbols_at(&script->symbols, value) ? fmemopen(buffer, 64, "w") : NULL;
    if (memory) {
        step_print_address(memory, value, &names);
        fclose(memory);
        buffer[63] = 0;
    } else {
        snprintf(buffer, 64, "%s", text_size(value, size));
    }
}

/* check value A == B */
static bool check_value(struct script *script)
{
    static const char *const operators[] = {"==", "!=", "<", "<=", ">", ">="};
    uint64_t a, b;
    char left[64], right[64], is[160], wanted[64];
    if (!args_number(script, "A", &a))
        return false;
    const struct word *word = args_next(script, "a comparison");
    size_t op = 0;
    while (word && op < 6 && strcmp(word->text, operators[op]) != 0)
        op++;
    if (word && op == 6)
        return script_wrong(script, word->column, "\"%.20s\" is not a comparison; use ==, !=, <, <=, > or >=", word->text);
    if (!word || !args_number(script, "B", &b) || !args_done(script))
        return false;
    bool holds[] = {a == b, a != b, a < b, a <= b, a > b, a >= b};
    number_text(script, a, left);
    number_text(script, b, right);
    snprintf(is, sizeof is, "%s %s %s", left, holds[op] ? operators[op] : "against", right);
    snprintf(wanted, sizeof wanted, "%s", operators[op]);
    return script_verdict(script, holds[op], is, wanted);
}

/* check access ADDRESS LOCATION RIGHTS */
static bool check_access(struct script *script)
{
    struct step *step = script_step(script, VMM_CALL_mem_get_access);
    struct words_error error;
    struct value_env env = script_env(script);
    int wanted;
    char got_text[VALUE_ROOM], want_text[VALUE_ROOM], where[VALUE_ROOM], is[160];
    bool answered;
    if (!args_number(script, "ADDRESS", &step->call.mem_get_access.ptr) ||
        !args_location(script, "LOCATION", &step->location))
        return false;
    const struct word *word = args_next(script, "RIGHTS");
    if (!word)
        return false;
    if (!value_rights(&env, word, &wanted, &error))
        return script_wrong_at(script, &error);
    if (!script_make(script, &answered) || !answered)
        return false;
    uint64_t got = step->out[0].u64;
    snprintf(is, sizeof is, "%s may do: %s", value_location_text(step->location, where),
             value_rights_text(got, got_text));
    return script_verdict(script, got == (uint64_t)(int64_t)wanted, is, value_rights_text((uint64_t)wanted, want_text));
}

/* check bytes ADDRESS BYTES */
static bool check_bytes(struct script *script)
{
    struct words_error error;
    struct value_env env = script_env(script);
    uint64_t address, size;
    unsigned char *wanted = NULL;
    char is[160], want[64], number[TEXT_SIZE_ROOM];
    bool answered;
    if (!args_number(script, "ADDRESS", &address))
        return false;
    const struct word *word = args_next(script, "BYTES");
    if (!word)
        return false;
    if (!value_bytes(&env, word, &wanted, &size, &error))
        return script_wrong_at(script, &error);
    struct step *step = script_step(script, VMM_CALL_memcpy_dtoh);
    step->bytes = text_grow(NULL, (size_t)size);
    memset(step->bytes, 0, (size_t)size);
    step->call.memcpy_dtoh = (struct vmm_call_memcpy_dtoh){step->call.head, step->bytes, address, size};
    bool ok = script_make(script, &answered) && answered;
    uint64_t at = 0;
    while (ok && at < size && step->bytes[at] == wanted[at])
        at++;
    if (ok && at == size) {
        snprintf(is, sizeof is, "%s %s as expected", text_size(size, number), size < 1024 ? "bytes are" : "are");
        ok = script_verdict(script, true, is, "");
    } else if (ok) {
        snprintf(is, sizeof is, "byte +%s is 0x%02x", text_size(at, number), step->bytes[at]);
        snprintf(want, sizeof want, "0x%02x", wanted[at]);
        ok = script_verdict(script, false, is, want);
    }
    free(wanted);
    return ok;
}

/* check leaks N */
static bool check_leaks(struct script *script)
{
    uint64_t wanted;
    if (!args_number(script, "N", &wanted) || !args_done(script) || !script_system(script))
        return false;
    return verdict_number(script, "things still held", vmm_leaks(script->sys, NULL, NULL), wanted);
}

struct handle_search {
    uint64_t value;
    vmm_object found;
};

static void match_handle(void *user, const vmm_object *object)
{
    struct handle_search *search = user;
    if (object->kind == VMM_OBJECT_HANDLE && object->value == search->value)
        search->found = *object;
}

/* check refs HANDLE N, check maps HANDLE N */
static bool check_counts(struct script *script, bool maps)
{
    struct handle_search search = {0};
    uint64_t wanted;
    if (!args_number(script, "HANDLE", &search.value) || !args_number(script, "N", &wanted) || !args_done(script) ||
        !script_system(script))
        return false;
    if (vmm_visit(script->sys, match_handle, &search) != VMM_SUCCESS) {
        if (!script->options.quiet)
            fputs("  not checked: this backend does not show its objects\n", script->options.out);
        return true;
    }
    return verdict_number(script, maps ? "mappings" : "references",
                          maps ? search.found.mappings : search.found.references, wanted);
}

static bool check_refs(struct script *script)
{
    return check_counts(script, false);
}

static bool check_maps(struct script *script)
{
    return check_counts(script, true);
}

static const struct script_command checks[] = {
    {"check value", "A ==|!=|<|<=|>|>= B", "compares two numbers or names", "", check_value, false},
    {"check access", "ADDRESS LOCATION RIGHTS", "a location's rights at an address", "cuMemGetAccess", check_access,
     false},
    {"check bytes", "ADDRESS BYTES", "the bytes that the current context's device reads at an address", "cuMemcpyDtoH",
     check_bytes, false},
    {"check host", "ADDRESS RIGHTS", "what the host can do at an address; tries the accesses, without a call", "",
     script_check_host, false},
    {"check host-bytes", "ADDRESS BYTES", "the bytes that the host reads at an address, without a call", "",
     script_check_host_bytes, false},
    {"check leaks", "N", "the number of live objects", "", check_leaks, false},
    {"check refs", "HANDLE N", "the number of references of a handle", "", check_refs, false},
    {"check maps", "HANDLE N", "the number of mappings of a handle", "", check_maps, false},
};

const struct script_command *script_check(size_t index)
{
    return index < sizeof checks / sizeof checks[0] ? &checks[index] : NULL;
}

static bool run_check(struct script *script)
{
    const struct word *word = args_next(script, "what to check");
    const struct script_command *check;
    if (!word)
        return false;
    for (size_t i = 0; (check = script_check(i)); i++)
        if (strcmp(word->text, check->name + strlen("check ")) == 0) {
            script->command = check;
            return check->run(script);
        }
    return script_wrong(script, word->column,
                        "\"%.40s\" is not a check; use value, access, bytes, host, host-bytes, leaks, refs or maps",
                        word->text);
}

const struct script_command script_check_commands[] = {
    {"check", "value|access|bytes|host|host-bytes|leaks|refs|maps ...", "fails the script if the condition does not hold", "",
     run_check, false},
    {0},
};

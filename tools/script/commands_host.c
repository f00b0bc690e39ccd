/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses by the host without a call, like *(char *)address = 1 in a program.
 *
 *     access r 1hgran numa0:r       check host r r       a load gets the byte, a store ends in SIGSEGV, which is caught
 *
 * Only at addresses of the script: the others belong to the command itself. */
#include <stdlib.h>

#include "in_place.h"
#include "script_state.h"
#include "touch.h"

#define AMOUNT_ROOM (TEXT_SIZE_ROOM + 8)

static const char *amount(uint64_t size, char buffer[AMOUNT_ROOM])
{
    char number[TEXT_SIZE_ROOM];
    snprintf(buffer, AMOUNT_ROOM, "%s%s", text_size(size, number), size == 1 ? " byte" : size < 1024 ? " bytes" : "");
    return buffer;
}

static bool own_addresses(struct script *script, uint64_t address, uint64_t size)
{
    if (!script_system(script))
        return false;
    if (opens_without_arena(script->spec))
        return script_failed(script, "the host cannot access this system's addresses, which are not reserved in its "
                                     "address space; a backend with arena=auto (sim:h100,arena=auto) reserves them");
    char number[AMOUNT_ROOM];
    const struct symbol *range = symbols_at(&script->symbols, address);
    if (range && !range->ended && address >= range->value && address - range->value < range->size &&
        size <= range->size - (address - range->value))
        return true;
    return script_wrong(script, 1, "host accesses are possible only within one reservation or alloc of the script, and "
                                   "this one is %s outside", amount(size, number));
}

/* host-write ADDRESS BYTES, check host-bytes ADDRESS BYTES: the bytes are the caller's. */
static bool take_bytes(struct script *script, uint64_t *address, unsigned char **bytes, uint64_t *size)
{
    struct words_error error;
    struct value_env env = script_env(script);
    *bytes = NULL;
    if (!args_number(script, "ADDRESS", address))
        return false;
    const struct word *word = args_next(script, "BYTES");
    if (!word)
        return false;
    if (!value_bytes(&env, word, bytes, size, &error))
        return script_wrong_at(script, &error);
    return args_done(script) && own_addresses(script, *address, *size);
}

static bool run_host_write(struct script *script)
{
    uint64_t address, size = 0, at = 0;
    unsigned char *bytes;
    char number[AMOUNT_ROOM];
    bool ok = take_bytes(script, &address, &bytes, &size);
    touch_begin();
    while (ok && at < size && touch_write(address + at, bytes[at]))
        at++;
    touch_end();
    free(bytes);
    if (ok && at < size)
        return script_failed(script, "the host's store after %s is SIGSEGV: it has no right to write there; access "
                                     "ADDRESS SIZE numa0:rw grants it for host memory", amount(at, number));
    if (ok && !script->options.quiet)
        fprintf(script->options.out, "  the host stores %s\n", amount(size, number));
    return ok;
}

bool script_check_host(struct script *script)
{
    static const char *const what[] = {"none, a load is SIGSEGV", "r, a store is SIGSEGV", "", "rw"};
    struct words_error error;
    struct value_env env = script_env(script);
    uint64_t address;
    int wanted;
    unsigned char byte;
    char is[64], want[VALUE_ROOM];
    if (!args_number(script, "ADDRESS", &address))
        return false;
    const struct word *word = args_next(script, "RIGHTS");
    if (!word)
        return false;
    if (!value_rights(&env, word, &wanted, &error))
        return script_wrong_at(script, &error);
    if (!args_done(script) || !own_addresses(script, address, 1))
        return false;
    touch_begin();
    int can = !touch_read(address, &byte)       ? VMM_MEM_ACCESS_FLAGS_PROT_NONE
              : !touch_write(address, byte)     ? VMM_MEM_ACCESS_FLAGS_PROT_READ
                                                : VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    touch_end();
    snprintf(is, sizeof is, "the host itself can do: %s", what[can]);
    return script_verdict(script, can == wanted, is, value_rights_text((uint64_t)wanted, want));
}

bool script_check_host_bytes(struct script *script)
{
    uint64_t address, size = 0, at = 0;
    unsigned char *wanted, byte = 0;
    char is[96], want[16], number[AMOUNT_ROOM];
    bool ok = take_bytes(script, &address, &wanted, &size), read = true;
    touch_begin();
    while (ok && at < size && (read = touch_read(address + at, &byte)) && byte == wanted[at])
        at++;
    touch_end();
    snprintf(want, sizeof want, "0x%02x", ok && at < size ? wanted[at] : 0);
    free(wanted);
    if (!ok)
        return false;
    if (at == size)
        snprintf(is, sizeof is, "the host itself finds %s as expected", amount(size, number));
    else if (read)
        snprintf(is, sizeof is, "the host itself finds 0x%02x after %s", byte, amount(at, number));
    else
        snprintf(is, sizeof is, "the host's load after %s is SIGSEGV", amount(at, number));
    return script_verdict(script, at == size, is, want);
}

const struct script_command script_host_commands[] = {
    {"host-write", "ADDRESS BYTES", "the host stores bytes at an address, without a call", "", run_host_write, false},
    {0},
};

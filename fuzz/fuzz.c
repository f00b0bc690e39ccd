/* SPDX-License-Identifier: Apache-2.0 */
#include "fuzz.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"

/* The engine checks itself after each call that an input makes; a violation ends the target. */
__attribute__((constructor)) static void check_invariants(void)
{
    atomic_store(&checks_on, CHECKS_OWN);
}

void fuzz_finding(const char *format, ...)
{
    va_list args;
    fflush(stdout);
    fputs("# finding: ", stderr);
    va_start(args, format);
    vfprintf(stderr, format, args);
    va_end(args);
    fputs("\n", stderr);
    abort();
}

void fuzz_answer(vmm_result result, const char *what)
{
    const vmm_detail *detail = vmm_last_detail();
    const struct vmm_rule *rule = result && detail->rule ? vmm_rule_find(detail->rule) : NULL;
    if (result && (!rule || rule->result != result))
        fuzz_finding("%s: %s by %s", what, vmm_result_name(result), detail->rule ? detail->rule : "no rule");
}

uint8_t fuzz_byte(struct fuzz_bytes *bytes)
{
    if (!bytes->left)
        return 0;
    bytes->left--;
    return *bytes->at++;
}

uint64_t fuzz_word(struct fuzz_bytes *bytes)
{
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++)
        word |= (uint64_t)fuzz_byte(bytes) << 8 * i;
    return word;
}

char *fuzz_text(const uint8_t *data, size_t size)
{
    char *text = malloc(size + 1);
    if (!text)
        abort();
    for (size_t i = 0; i < size; i++)
        text[i] = data[i] ? (char)data[i] : ' ';
    text[size] = '\0';
    return text;
}

FILE *fuzz_reading(const uint8_t *data, size_t size)
{
    FILE *file = size ? fmemopen((void *)(uintptr_t)data, size, "rb") : NULL;
    if (size && !file)
        abort();
    return file;
}

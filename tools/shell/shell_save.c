/* SPDX-License-Identifier: Apache-2.0 */
/* `save` of the shell: the session as a script or as C. */
#include <string.h>

#include "save.h"
#include "shell.h"

struct wanted {
    const struct session *session;
    const char *path;
    bool c, force;
    bool api_said;
    enum program_api api;
};

static void write_wanted(FILE *out, void *user)
{
    const struct wanted *wanted = user;
    if (wanted->c)
        program_write(out, wanted->session->program, wanted->api, wanted->session->script->spec);
    else
        session_save_script(wanted->session, out);
}

static bool ends_with(const char *text, const char *end)
{
    /* analysers: clang-analyzer-core.NonNullParamChecker is wrong: a path was asked for before */
    size_t length = strlen(text), tail = strlen(end);
    return length > tail && strcmp(text + length - tail, end) == 0;
}

static bool take_api(struct shell *shell, const char *name, struct wanted *wanted)
{
    wanted->api_said = true;
    wanted->api = strcmp(name, "driver") == 0 ? PROGRAM_DRIVER : PROGRAM_VMM;
    return strcmp(name, "driver") == 0 || strcmp(name, "vmm") == 0 ||
           shell_wrong(shell, "--api=%.40s: a program is for the driver's cuda.h (--api=driver) or for vmm.h (--api=vmm)", name);
}

static bool take_words(struct shell *shell, const struct words *words, struct wanted *wanted)
{
    for (size_t i = 1; i < words->count; i++) {
        const struct word *word = &words->word[i];
        if (word->key && strcmp(word->key, "--api") == 0) {
            if (!take_api(shell, word->text, wanted))
                return false;
        } else if (!word->key && strncmp(word->text, "--api=", 6) == 0) {
            if (!take_api(shell, word->text + 6, wanted))
                return false;
        } else if (!word->key && strcmp(word->text, "--force") == 0) {
            wanted->force = true;
        } else if (word->key || word->text[0] == '-' || wanted->path) {
            return shell_wrong(shell, "save is: save FILE.vmm, or: save FILE.c [--api=driver|vmm] [--force]; \"%s%s%.60s\" "
                               "does not belong there", word->key ? word->key : "", word->key ? "=" : "", word->text);
        } else {
            wanted->path = word->text;
        }
    }
    return wanted->path || shell_wrong(shell, "a file name is missing; save FILE.vmm writes a script, save FILE.c a C program");
}

bool shell_save(struct shell *shell, const struct words *words)
{
    struct wanted wanted = {.session = &shell->session, .api = PROGRAM_DRIVER};
    if (!take_words(shell, words, &wanted))
        return false;
    wanted.c = ends_with(wanted.path, ".c");
    if (!wanted.c && !ends_with(wanted.path, ".vmm"))
        return shell_wrong(shell, "\"%.80s\" is neither FILE.vmm, which is a script, nor FILE.c, which is a C program",
                           wanted.path);
    if (!wanted.c && wanted.api_said)
        return shell_wrong(shell, "--api is for C programs; %.80s is a script", wanted.path);
    const char *refusal = wanted.c ? program_refusal(shell->session.program, wanted.api) : NULL;
    if (refusal)
        return shell_wrong(shell, "this is not to be had as C: %s", refusal);
    if (!save_file(wanted.path, wanted.force, write_wanted, &wanted, shell->out))
        return false;
    fprintf(shell->out, "  saved: %s, %zu line%s%s\n", wanted.path, shell->session.count, shell->session.count == 1 ? "" : "s",
            !wanted.c ? "; run it with cuvmm run" : wanted.api == PROGRAM_DRIVER ? "; a program for cuda.h, linked with -lcuda"
                                                                                : "; a program for vmm.h, linked with -lcuvmm");
    return true;
}

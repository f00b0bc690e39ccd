/* SPDX-License-Identifier: Apache-2.0 */
#include "exec_machine.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec_file.h"
#include "os_share.h"
#include "share.h"
#include "vmm.h"

struct answer {
    bool good;
    int number;
    char why[EXEC_WHY];
};

/* The child's complete answer: shorter than a pipe's atomic write. */
static bool read_answer(int fd, struct answer *answer)
{
    size_t got = 0;
    while (got < sizeof *answer) {
        ssize_t count = read(fd, (char *)answer + got, sizeof *answer - got);
        if (count <= 0 && !(count < 0 && errno == EINTR))
            break;
        got += count > 0 ? (size_t)count : 0;
    }
    return got == sizeof *answer;
}

static void ask(int fd, bool (*question)(void *user, char why[EXEC_WHY], int *number), void *user)
{
    struct answer answer;
    memset(&answer, 0, sizeof answer);
    answer.good = question(user, answer.why, &answer.number);
    bool wrote = write(fd, &answer, sizeof answer) == (ssize_t)sizeof answer;
    _exit(wrote ? 0 : 1);
}

bool exec_in_child(bool (*question)(void *user, char why[EXEC_WHY], int *number), void *user, char why[EXEC_WHY], int *number)
{
    int ends[2];
    struct answer answer;
    snprintf(why, EXEC_WHY, "no process can be started to ask for it");
    if (pipe(ends) != 0)
        return false;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0)
        ask(ends[1], question, user);
    close(ends[1]);
    bool told = child > 0 && read_answer(ends[0], &answer);
    close(ends[0]);
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
    if (!told)
        return false;
    snprintf(why, EXEC_WHY, "%s", answer.why);
    *number = answer.number;
    return answer.good;
}

/* ---- is there such a machine? ---- */

const char *exec_machine_of_environment(void)
{
    const char *own = getenv("CUVMM_SIM"), *shared = getenv("CUVMM_BACKEND");
    const char *last = shared ? strrchr(shared, '|') : NULL, *backend = last ? last + 1 + strspn(last + 1, " ") : shared;
    return own && own[0] ? own : backend && strncmp(backend, "sim", 3) == 0 ? shared : "sim:h100";
}

static bool count(const char *spec, int *number)
{
    vmm_system *sys;
    if (vmm_open(spec, &sys) != VMM_SUCCESS)
        return false;
    *number = 0;
    if (vmm_init(sys, 0) == VMM_SUCCESS)
        vmm_device_get_count(sys, number);
    vmm_close(sys);
    return true;
}

/* Variables that are for the program, not for this query: the machine that it joins, a trace among the layers. */
static const char *const hidden[] = {"CUVMM_MACHINE", "CUVMM_LAYERS"};
enum { HIDDEN = sizeof hidden / sizeof hidden[0] };

static int ask_here(const char *spec, char why[EXEC_WHY])
{
    char *value[HIDDEN];
    int devices = 0;
    for (int i = 0; i < HIDDEN; i++) {
        const char *old = getenv(hidden[i]);
        value[i] = old ? strdup(old) : NULL;
        if (value[i])
            unsetenv(hidden[i]);
    }
    const bool good = count(spec, &devices);
    snprintf(why, EXEC_WHY, "%s", good ? "" : vmm_last_detail()->note);
    for (int i = 0; i < HIDDEN; i++) {
        if (value[i])
            setenv(hidden[i], value[i], 1);
        free(value[i]);
    }
    return good ? devices : -1;
}

/* For a fault of a single process there is also a count of processes. */
static bool opens_with_layers(const char *spec, const char *layers)
{
    char path[4096];
    vmm_system *sys;
    setenv("CUVMM_LAYERS", layers, 1);
    if (exec_zeros(path, sizeof path, sizeof(uint64_t)))
        setenv("CUVMM_PROCESSES", path, 1);
    const bool good = vmm_open(spec, &sys) == VMM_SUCCESS;
    if (good)
        vmm_close(sys);
    if (path[0])
        unlink(path);
    return good;
}

static bool ask_with_layers(void *user, char why[EXEC_WHY], int *number)
{
    const char *const *asked = user;
    unsetenv("CUVMM_MACHINE");
    const bool good = opens_with_layers(asked[0], asked[1]) && (unsetenv("CUVMM_LAYERS"), count(asked[0], number));
    if (!good)
        snprintf(why, EXEC_WHY, "%s", vmm_last_detail()->note);
    return good;
}

int exec_machine_ask(const char *spec, const char *layers, char why[EXEC_WHY])
{
    const char *asked[] = {spec ? spec : exec_machine_of_environment(), layers};
    int devices = 0;
    if (!layers)
        return ask_here(asked[0], why);
    return exec_in_child(ask_with_layers, asked, why, &devices) ? devices : -1;
}

/* ---- its name ---- */

bool exec_machine_is_named(const char *spec)
{
    const char *name = getenv("CUVMM_MACHINE");
    return (name && name[0]) || strstr(spec ? spec : exec_machine_of_environment(), "machine=");
}

bool exec_machine_name(char name[EXEC_MACHINE_NAME])
{
    unsigned number;
    if (!os_random(&number, sizeof number))
        return false;
    snprintf(name, EXEC_MACHINE_NAME, "exec-%ld-%08x", (long)getpid(), number);
    return true;
}

/* Inspecting a machine that is not in use removes it afterwards. */
void exec_machine_remove(const char *name)
{
    char entry[EXEC_MACHINE_NAME + 2], why[SHARE_WHY];
    snprintf(entry, sizeof entry, "m-%s", name);
    struct share *share = share_open_there(entry, why);
    if (share)
        share_close(share);
}

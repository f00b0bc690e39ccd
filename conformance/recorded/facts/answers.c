/* SPDX-License-Identifier: Apache-2.0 */
/* The third recording program: every driver call that takes an address, with every kind of address, and the questions that the
 * first two left open. Its calls are tables: answers/calls.def, answers/scripts.def, and the kinds in answers/places.c.
 *
 * Prints "id<TAB>result" lines as edges.c does. Values that differ from run to run are printed symbolically: an address as its
 * distance from the place of the call, a handle as its name.
 *
 * Build: gcc -std=c11 -Wall -isystem /usr/local/cuda/include answers.c -o answers -lcuda -ldl
 * Use:   answers [letters of groups [PART/PARTS of the kinds of address]]
 *        D devices, C contexts, E events and streams, H sizes and flags, F functions, K captures, G invalid objects,
 *        N the same without a context, B before cuInit, Z zeros, M free memory, X the addresses; and only when named,
 *        for two devices: 1 to 3, X by device 0 on memory of device 1, by 1 on 0, by 1 on 1
 */
#include "recorder.h"

#include <dlfcn.h>
#include <sys/mman.h>

static bool keeps; /* later calls use what earlier ones created */
static char group[8];
static unsigned part, parts = 1;

#include "answers/ask.c"
#include "answers/places.c"
#include "answers/scripts.c"
#include "answers/matrix.c"
#include "answers/memory_info.c"

static bool asked(char letter)
{
    return !wanted[0] || strchr(wanted, letter);
}

static void every_group(void)
{
    if (asked('M'))
        child("M", memory_info);
    calls_without_addresses();
    zeros();
    if (asked('X'))
        matrix(0, 0);
    for (int pair = 1; pair < 4; pair++)
        if (strchr(wanted, '0' + pair))
            matrix(pair >> 1, pair & 1);
}

int main(int argc, char **argv)
{
    if (argc > 1)
        snprintf(wanted, sizeof wanted, "%s", argv[1]);
    if (argc > 2 && (sscanf(argv[2], "%u/%u", &part, &parts) != 2 || part >= parts))
        return 2;
    driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!driver)
        return 1;
    patience = 6;
    if (asked('M'))
        return record("answers.c", every_group);
    every_group();
    return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The second recording program, compiled as it stands against the simulator in the place of the driver. */
#include "facts_driver.h"

#ifdef __has_include
#if __has_include("facts/edges.c") && __has_include(<cuda.h>)
#include <cuda.h>
#endif
#endif

#ifdef CUVMM_REPLAYS_DRIVER

#include <stdio.h>
#include <unistd.h>

/* The program is the recording's, and kept as it was when it made it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wpedantic"
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define main edges_main
#include "facts/edges.c"
#undef main
#pragma GCC diagnostic pop

bool facts_edges_run(int out)
{
    char name[] = "edges", *argv[] = {name, NULL};
    fflush(stdout);
    if (dup2(out, STDOUT_FILENO) < 0)
        return false;
    bool done = edges_main(1, argv) == 0;
    fflush(stdout);
    return done;
}

#else

bool facts_edges_run(int out)
{
    (void)out;
    return false;
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* A recording program: memory and events that processes share by legacy IPC (cuIpc*).
 *
 * A case is a script of steps, each made by one of up to four processes, A to D, which are this program executed anew. The
 * process that reads the script makes no call of the driver. A line is a step and its answer:
 *
 *     M.child.07.B open 0 h0 1 <TAB> SUCCESS        the case M.child, its step 7
 *
 * ipc/actor.c lists the steps, ipc/scripts.c reads them, and the other parts are the cases.
 *
 * Build: gcc -std=c11 -isystem /usr/local/cuda/include ipc.c -o ipc -lcuda
 * Use:   ipc [letters of groups]
 */
#include "recorder.h"

#include <poll.h>
#include <stdatomic.h>
#include <sys/socket.h>

#include "ipc/actor.c"
#include "ipc/scripts.c"

#include "ipc/memory.c"
#include "ipc/events.c"

static void every_group(void)
{
    all_scripts();
}

int main(int argc, char **argv)
{
    if (argc > 2 && strcmp(argv[1], "--actor") == 0)
        return act(atoi(argv[2]));
    if (argc > 1)
        snprintf(wanted, sizeof wanted, "%s", argv[1]);
    return record("ipc.c", every_group);
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "child.h"

#include <stdio.h>
#include <unistd.h>

#include "passing.h"
#include "tap.h"

pid_t child_begin(int *socket, unsigned seconds)
{
    int ends[2];
    if (!passing_pair(ends))
        tap_bail("no sockets");
    fflush(NULL); /* or the child would write the buffered output, too */
    pid_t child = fork();
    if (child < 0)
        tap_bail("no child");
    if (child == 0)
        alarm(seconds);
    *socket = ends[child == 0];
    close(ends[child != 0]);
    return child;
}

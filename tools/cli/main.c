/* SPDX-License-Identifier: Apache-2.0 */
/* The cuvmm command; everything is in cuvmm.c, so that tests can call it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "columns.h"
#include "cuvmm.h"
#include "text.h"

int main(int argc, char **argv)
{
    if (columns_are_limited(STDOUT_FILENO))
        text_set_columns(columns_of(STDOUT_FILENO));
    text_set_coloured(columns_coloured(STDOUT_FILENO));
    int status = cuvmm_main(argc, argv, stdout, stderr);
    /* A full disk or a closed pipe must not count as success; if the error happened a while ago, the system is queried again. */
    errno = 0;
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (!errno && write(STDOUT_FILENO, "\n", 1) == 1)
        errno = 0;
    fprintf(stderr, "cuvmm: standard output: %s\n", errno ? strerror(errno) : "not all of it could be written");
    return status ? status : 2;
}

/* The cuvmm command; everything is in cuvmm.c, so that tests can call it. */
#include <stdio.h>

#include "cuvmm.h"

int main(int argc, char **argv)
{
    int status = cuvmm_main(argc, argv, stdout, stderr);
    /* A full disk or a closed pipe must not pass for success. */
    if (fflush(stdout) != 0 && status == 0)
        return 2;
    return status;
}

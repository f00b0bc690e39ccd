/* SPDX-License-Identifier: Apache-2.0 */
/* A recording program: NVML, every function that libnvidia-ml.so.1 of this project answers, right and wrong.
 *
 *     W.nvmlDeviceGetIndex(NULL, &out.u) <TAB> INVALID_ARGUMENT          a code without NVML_ERROR_; the name is the call
 *     W.nvmlDeviceGetName(one, out.text, 4) <TAB> INSUFFICIENT_SIZE written   a refused call wrote something
 *     V.nvmlDeviceGetBrand(one, &out.brand) <TAB> SUCCESS 14             with outputs
 *
 * After a crash the other cases of its group continue in another process. What differs from one machine of a kind to another
 * (UUIDs, addresses on the bus, sets of processors) is compared with what another call answers, and not printed.
 *
 * Build: gcc -std=c11 -Wall -isystem /usr/local/cuda/include nvml.c -o nvml -L/usr/local/cuda/lib64/stubs -lnvidia-ml -lcuda -ldl
 * Use:   nvml [letters of groups]
 */
#include "recorder.h"
#undef NULL /* lines of the recording name it as glibc writes it */
#define NULL ((void *)0)

#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>

#include "nvml/tools.c"

#include "nvml/b_before.c"
#include "nvml/w_wrong.c"
#include "nvml/v_values.c"
#include "nvml/m_memory.c"
#include "nvml/t_texts.c"

int main(int argc, char **argv)
{
    if (argc > 1)
        snprintf(wanted, sizeof wanted, "%s", argv[1]);
    setvbuf(stdout, NULL, _IOLBF, 0);
    about();
    group("B", nothing, before);
    group("W", begin, wrong);
    group("V", begin, values);
    group("M", begin, memory);
    group("T", nothing, texts);
    return 0;
}

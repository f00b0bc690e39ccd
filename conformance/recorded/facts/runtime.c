/* SPDX-License-Identifier: Apache-2.0 */
/* A recording program: the CUDA runtime, from devices to launches.
 *
 *     D.set.count(InvalidDevice) <TAB> InvalidDevice             a code without `cudaError`; in brackets, the one documented
 *     D.get.first(Success) <TAB> Success d=0                     with outputs
 *     S.query.busy <TAB> NotReady last=Success                   where the thread's last error is another than the answer
 *
 * Each group of cases is a file in runtime/, and each case a separate process, so that no other case can disturb it.
 * The last error is taken after each call, so that it is that call's. CUDART_VERSION tells 12 from 13 where a
 * signature differs.
 *
 * Build: gcc -std=c11 -Wall -isystem /usr/local/cuda/include runtime.c -o runtime -L/usr/local/cuda/lib64 -lcudart -lcuda -ldl -pthread
 * Use:   runtime [letters of groups | the beginning of a case's name]
 */
#include "recorder.h"

#include <cuda_runtime_api.h>
#include <dlfcn.h>
#include <pthread.h>

#include "runtime/tools.c"

#include "runtime/d_devices.c"
#include "runtime/m_memory.c"
#include "runtime/s_streams.c"
#include "runtime/g_graphs.c"
#include "runtime/c_code.c"
#include "runtime/a_arrays.c"
#include "runtime/u_managed.c"

/* A line for each group, so that they can be added side by side. */
static void every_group(void)
{
    group_d();
    group_m();
    group_s();
    group_g();
    group_c();
    group_a();
    group_u();
}

int main(int argc, char **argv)
{
    if (argc > 1)
        snprintf(wanted, sizeof wanted, "%s", argv[1]);
    return record("runtime.c", every_group);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* The program's kernels for libcuda.so.1 on the simulator, equal to the PTX in calls.c. */
#include "../answers/kernels.c"

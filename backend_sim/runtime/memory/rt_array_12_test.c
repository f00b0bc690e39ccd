/* SPDX-License-Identifier: Apache-2.0 */
/* The same as a program of CUDA 12. */
#include "rt_array_test.c"

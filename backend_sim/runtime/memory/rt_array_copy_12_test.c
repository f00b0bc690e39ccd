/* SPDX-License-Identifier: Apache-2.0 */
/* The same test, built as a CUDA 12 program. */
#include "rt_array_copy_test.c"

/* SPDX-License-Identifier: Apache-2.0 */
#pragma clang system_header
#ifndef CUVMM_WASM_STDLIB_H
#define CUVMM_WASM_STDLIB_H

#include_next <stdlib.h>

int mkstemp(char *pattern);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
#pragma clang system_header
#ifndef CUVMM_WASM_FCNTL_H
#define CUVMM_WASM_FCNTL_H

#include_next <fcntl.h>

#ifndef F_DUPFD_CLOEXEC
#define F_DUPFD_CLOEXEC 1030 /* refused: no descriptor is duplicated */
#endif

#endif

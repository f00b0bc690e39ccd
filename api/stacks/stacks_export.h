/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_export.h - a symbol that a loaded module exports, found in its own tables.
 *
 *     export_of(libpython, "PyCode_Type")   ->  0x7f2c..
 *
 * dlsym would take the loader's lock, and the libraries here replace it (backend_cuda/check). Reads only the module's
 * memory; returns 0 if absent.
 */
#ifndef CUVMM_STACKS_EXPORT_H
#define CUVMM_STACKS_EXPORT_H

#include <stdint.h>

#include "stacks_module.h"

uintptr_t export_of(const struct module *module, const char *name);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_export.h - a symbol that a loaded module exports, found in its own tables.
 *
 *     export_of(libpython, "PyCode_Type")   ->  0x7f2c..
 *
 * dlsym would take the loader's lock, and the libraries here stand in its place (backend_cuda/check). Reads memory of the module
 * alone; 0: absent.
 */
#ifndef CUVMM_STACKS_EXPORT_H
#define CUVMM_STACKS_EXPORT_H

#include <stdint.h>

#include "stacks_module.h"

uintptr_t export_of(const struct module *module, const char *name);

#endif

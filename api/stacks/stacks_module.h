/* SPDX-License-Identifier: Apache-2.0 */
/* stacks_module.h - the file that an address of code belongs to, as currently loaded.
 *
 *     0x7f31c2a011f5   ->  module 3: /srv/pool.so, build 5f3a.., loaded at 0x7f31c2a00000; its table of unwinding
 *     dlclose, and another plugin at the same addresses
 *     0x7f31c2a011f5   ->  module 7
 *
 * A module keeps its number for as long as the process lives, whether or not its file is still loaded.
 */
#ifndef CUVMM_STACKS_MODULE_H
#define CUVMM_STACKS_MODULE_H

#include <stdbool.h>
#include <stdint.h>

/* Numbers of modules: 0 is code without a file, and PYTHON stands for Python frames. */
enum { MODULE_NONE = 0, MODULE_MOST = 8192, MODULE_PYTHON = 0xFFFF };
enum { BUILD_MOST = 32 }; /* bytes of a build id; 20 is usual */

struct module {
    uintptr_t start, end;    /* where it is loaded */
    uintptr_t bias;          /* subtract it from an address to get the address in the file */
    uintptr_t identity;      /* of the loader's record */
    uintptr_t unwind;        /* .eh_frame_hdr; 0: none */
    uintptr_t build_at;      /* the build id in memory */
    uint32_t build_size;
    unsigned char build[BUILD_MOST];
    uint32_t number;
    uint32_t name, path, build_text; /* texts of the depot; the name is the loader's */
    bool is_ours, is_libc, is_program;
};

/* The module of an address; NULL if the code belongs to no file, or there is no room for another module. */
const struct module *module_of(uintptr_t address);

/* The path and build id of a module's number. */
bool module_names(uint32_t number, const char **path, const char **build);

#endif

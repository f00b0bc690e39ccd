/* SPDX-License-Identifier: Apache-2.0 */
/* rt_image.h - what compilers registered: fat binaries with their functions and variables.
 *
 *     image --> symbol, symbol, symbol ...       freed with it
 *     functions, variables: address -> symbol --> an older symbol of the same address, which another image registered
 */
#ifndef SIM_RUNTIME_RT_IMAGE_H
#define SIM_RUNTIME_RT_IMAGE_H

#include "rt.h"
#include "rt_table.h"

enum rt_kind { RT_FUNCTION, RT_VARIABLE, RT_MANAGED };

struct rt_image;
struct rt_symbol {
    enum rt_kind kind;
    const void *host;
    const char *name; /* the compiler's, which stays as long as the image */
    struct rt_image *image;
    struct rt_symbol *older; /* the same address, registered earlier */
    CUkernel _Atomic kernel; /* of a function; NULL: not looked up yet */
    const void *managed;     /* where a managed variable is; NULL: not looked up yet */
};

/* The symbol of an address, or NULL. */
struct rt_symbol *rt_symbol_find(enum rt_kind kind, const void *host);

/* The kernel of a function: looked up in its image, which is loaded where it was not. */
cudaError_t rt_symbol_kernel(struct rt_symbol *symbol, CUkernel *kernel);
/* The driver's library of an image, loaded where it was not. */
cudaError_t rt_image_library(struct rt_image *image, CUlibrary *library);

/* Remembers what address is behind a handle; forgets nothing when memory is out. */
void rt_symbol_note(const void *handle, const void *host);

#endif

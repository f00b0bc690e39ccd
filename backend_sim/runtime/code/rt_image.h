/* SPDX-License-Identifier: Apache-2.0 */
/* rt_image.h - registered fat binaries with their functions and variables.
 *
 *     image --> symbol, symbol, symbol ...       freed with it
 *     functions, variables: address -> symbol --> an older symbol with the same address, registered by another image
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
    const char *name; /* the compiler's text, which lives as long as the image */
    struct rt_image *image;
    struct rt_symbol *older; /* the same address, registered earlier */
    CUkernel _Atomic kernel; /* of a function; NULL: not looked up yet */
    const void *managed;     /* the address of a managed variable; NULL: not looked up yet */
};

/* The symbol of an address, or NULL. */
struct rt_symbol *rt_symbol_find(enum rt_kind kind, const void *host);

/* The kernel of a function: looked up in its image, which is loaded if necessary. */
cudaError_t rt_symbol_kernel(struct rt_symbol *symbol, CUkernel *kernel);
/* The driver's library of an image, loaded if necessary. */
cudaError_t rt_image_library(struct rt_image *image, CUlibrary *library);

/* Records the address for a handle; if memory is exhausted, existing records are kept. */
void rt_symbol_note(const void *handle, const void *host);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* image.h - the kernels and variables that device code holds: a cubin, PTX, or a fat binary of both.
 *
 *     fat binary [ sm_80 cubin | sm_90 cubin, zstd | compute_90 PTX ]
 *          image_new, device 9.0       ^  the entry that suits best, and    ^  the PTX: their bytes are copied as they are
 *          image_read                     unpacked at the first lookup  ->  [ kernels | variables ], and the text of the PTX
 *
 * What is not an image of these kinds, or has no entry for the device, or is damaged, holds nothing; image_why has the reason.
 */
#ifndef SIM_IMAGE_H
#define SIM_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct image_param {
    uint32_t offset, size;
};

struct image_kernel {
    const char *name;
    struct image_param *param;
    unsigned params;
    int threads;     /* the maximum per block; 0: the device's limit */
    int registers;   /* per thread; 0: unknown, because PTX is not compiled */
    int shared, local, constant; /* static bytes: per block, per thread, of the module */
    int ptx, binary; /* the architectures, 90 for 9.0; binary 0: the device's own, of PTX */
    int cluster[3];  /* the cluster size that it requires; 0: none */
};

struct image_variable {
    const char *name;
    uint64_t size;
    const unsigned char *initial; /* NULL: zeros */
};

/* Bytes as they lie in the image. */
struct image_packed {
    unsigned char *bytes; /* NULL: none */
    size_t size, unpacked;
    int packing;
};

struct image {
    struct image_kernel *kernel;
    struct image_variable *variable;
    unsigned kernels, variables;
    /* the following members belong to the reader */
    struct image_param *params;
    char *text; /* names, and the initial values */
    uint32_t *place;
    size_t places;
    struct image_packed code, ptx;
    int kind;
    bool alone; /* the loaded image is plain PTX, not a fat binary */
    bool read;
    char why[160];
};

/* The size to pass if only the image itself contains it. */
#define IMAGE_ANY_SIZE ((size_t)1 << 46)

/* Do the bytes begin such an image? */
bool image_is(const void *at, size_t size);

/* For an image in memory or read from a file; size is the number of readable bytes. Copies the entry for a device of that
 * capability (90 for 9.0). NULL: memory is out. */
struct image *image_new(const void *at, size_t size, int capability);

/* Unpacks and reads it, once. False: memory is out. Until then it holds nothing. */
bool image_read(struct image *image);

void image_free(struct image *image);

/* Was it loaded as PTX text, not within a fat binary? */
bool image_is_text(const struct image *image);

/* The text of its PTX, which is not terminated. NULL if there is none, or if it could not be unpacked. Of an image that was
 * read. */
const char *image_ptx(const struct image *image, size_t *size);
/* Frees the text. */
void image_drop_ptx(struct image *image);

/* The index of a kernel; -1 if it has none with that name. */
long image_kernel_named(const struct image *image, const char *name);
const struct image_variable *image_variable_named(const struct image *image, const char *name);

/* The reason why it contains nothing, or not everything; "" if there is none. Of an image that was read. */
const char *image_why(const struct image *image);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Device code that a program loads: a cubin, PTX or a fat binary of any bytes. Whatever is found can be looked up, and lies
 * within the bounds that the reader promises.
 *
 *   input   [ device | the image ] */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "image.h"

enum { MOST = 1 << 20 };

static void check_kernel(const struct image *image, const struct image_kernel *kernel)
{
    long index = image_kernel_named(image, kernel->name);
    if (index < 0 || strcmp(image->kernel[index].name, kernel->name) != 0)
        fuzz_finding("kernel %s is not found", kernel->name);
    if (kernel->shared < 0 || kernel->local < 0 || kernel->registers < 0 || kernel->threads < 0)
        fuzz_finding("kernel %s has less than nothing", kernel->name);
    for (unsigned i = 0; i < kernel->params; i++)
        if (kernel->param[i].offset > UINT16_MAX || kernel->param[i].size > UINT16_MAX)
            fuzz_finding("parameter %u of %s is too large", i, kernel->name);
}

static void check_variable(const struct image *image, const struct image_variable *variable)
{
    unsigned sum = 0;
    for (uint64_t i = 0; variable->initial && i < variable->size; i++)
        sum += variable->initial[i]; /* all of it can be read */
    const struct image_variable *found = image_variable_named(image, variable->name);
    if (!found || strcmp(found->name, variable->name) != 0 || sum > 255 * variable->size)
        fuzz_finding("variable %s is not found", variable->name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const int devices[] = {90, 100, 75, 0};
    struct fuzz_bytes in = {data, size};
    int capability = devices[fuzz_byte(&in) % 4];
    unsigned char *exact = malloc(in.left + !in.left); /* no byte after it may be read */
    if (!exact || in.left > MOST) {
        free(exact);
        return 0;
    }
    if (in.left)
        memcpy(exact, in.at, in.left);
    struct image *image = image_new(exact, in.left, capability);
    free(exact); /* it is copied */
    if (!image)
        return 0; /* memory is out */
    if (!image_read(image) || !image_read(image))
        fuzz_finding("memory is out");
    if (!image->kernels && !image->variables && !image_why(image)[0] && image->places < 4)
        fuzz_finding("nothing is found, and nothing said");
    for (unsigned i = 0; i < image->kernels; i++)
        check_kernel(image, &image->kernel[i]);
    for (unsigned i = 0; i < image->variables; i++)
        check_variable(image, &image->variable[i]);
    image_free(image);
    return 0;
}

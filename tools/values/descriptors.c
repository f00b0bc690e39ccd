/* SPDX-License-Identifier: Apache-2.0 */
#include "descriptors.h"

#include <stdlib.h>
#include <unistd.h>

#include "text.h"

void descriptors_keep(struct descriptors *descriptors, int fd)
{
    descriptors->fd = text_grow(descriptors->fd, (descriptors->count + 1) * sizeof *descriptors->fd);
    descriptors->fd[descriptors->count++] = fd;
}

static size_t place_of(const struct descriptors *descriptors, uint64_t number)
{
    size_t i = 0;
    while (i < descriptors->count && (uint64_t)descriptors->fd[i] != number)
        i++;
    return i;
}

bool descriptors_have(const struct descriptors *descriptors, uint64_t number)
{
    return descriptors && place_of(descriptors, number) < descriptors->count;
}

bool descriptors_close(struct descriptors *descriptors, uint64_t number)
{
    size_t i = place_of(descriptors, number);
    if (i == descriptors->count)
        return false;
    close(descriptors->fd[i]);
    descriptors->fd[i] = descriptors->fd[--descriptors->count];
    return true;
}

void descriptors_clear(struct descriptors *descriptors)
{
    while (descriptors->count > 0)
        close(descriptors->fd[--descriptors->count]);
    free(descriptors->fd);
    *descriptors = (struct descriptors){0};
}

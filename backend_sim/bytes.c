#include "bytes.h"

#include <stdlib.h>

static uint64_t chunks(const struct bytes *bytes)
{
    return (bytes->size - 1) / BYTES_CHUNK + 1;
}

void bytes_init(struct bytes *bytes, uint64_t size)
{
    bytes->size = size;
    bytes->chunk = NULL;
}

void bytes_clear(struct bytes *bytes)
{
    for (uint64_t i = 0; bytes->chunk && i < chunks(bytes); i++)
        free(bytes->chunk[i]);
    free(bytes->chunk);
    bytes->chunk = NULL;
}

bool bytes_touch(struct bytes *bytes, uint64_t offset, uint64_t length)
{
    if (!length)
        return true;
    if (!bytes->chunk)
        bytes->chunk = calloc(chunks(bytes), sizeof *bytes->chunk);
    if (!bytes->chunk)
        return false;
    for (uint64_t i = offset / BYTES_CHUNK; i <= (offset + length - 1) / BYTES_CHUNK; i++)
        if (!bytes->chunk[i] && !(bytes->chunk[i] = calloc(1, BYTES_CHUNK)))
            return false;
    return true;
}

unsigned char *bytes_run(const struct bytes *bytes, uint64_t offset, uint64_t *length)
{
    uint64_t within = offset % BYTES_CHUNK;
    if (*length > BYTES_CHUNK - within)
        *length = BYTES_CHUNK - within;
    if (!bytes->chunk || !bytes->chunk[offset / BYTES_CHUNK])
        return NULL;
    return bytes->chunk[offset / BYTES_CHUNK] + within;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* zstd by the system's library, which is loaded when the first packed entry is read: the engine itself needs only the C library,
 * and a decoder of this format would be larger than all readers here together. */
#include <dlfcn.h>
#include <stdatomic.h>

#include "image_parts.h"

typedef size_t (*zstd_decompress)(void *to, size_t room, const void *from, size_t size);
typedef unsigned (*zstd_is_error)(size_t code);

size_t zstd_unpack(const struct image_bytes *from, unsigned char *to, size_t room, bool *missing)
{
    static void *_Atomic library; /* never closed: other users of it do not notice */
    zstd_decompress decompress = NULL;
    zstd_is_error is_error = NULL;
    void *loaded = atomic_load(&library);
    if (!loaded) {
        loaded = dlopen("libzstd.so.1", RTLD_NOW | RTLD_LOCAL);
        atomic_store(&library, loaded);
    }
    void *found[2] = {NULL, NULL};
    if (loaded) { /* LCOV_EXCL_BR_LINE: systems have the library, since dpkg needs it */
        found[0] = dlsym(loaded, "ZSTD_decompress");
        found[1] = dlsym(loaded, "ZSTD_isError");
    }
    *missing = !found[0] || !found[1]; /* LCOV_EXCL_BR_LINE: the same */
    if (*missing)                      /* LCOV_EXCL_BR_LINE: the same */
        return SIZE_MAX;               /* LCOV_EXCL_LINE: the same */
    memcpy(&decompress, &found[0], sizeof decompress);
    memcpy(&is_error, &found[1], sizeof is_error);
    size_t size = decompress(to, room, from->at, from->size);
    return is_error(size) ? SIZE_MAX : size;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_code_parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "abi_parts.h"
#include "heap.h"
#include "image.h"
#include "lifecycle.h"
#include "os_share.h"
#include "posix.h"

enum { FIRST_PART = 1 << 16 };

static CUresult refuse_file(const char *function, const char *path)
{
    bool system = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO;
    return abi_refuse(system ? VMM_RULE_CODE_SYSTEM : VMM_RULE_CODE_FILE, function, "%.100s cannot be opened: %s", path,
                      strerror(errno));
}

/* The bytes of a file, if they can be an image; otherwise only the beginning. */
static CUresult read_file(const char *function, const char *path, FILE *file, struct abi_code_bytes *code)
{
    size_t room = FIRST_PART;
    unsigned char *bytes = heap.malloc(room);
    while (bytes) {
        code->bytes = bytes;
        code->size += fread(bytes + code->size, 1, room - code->size, file);
        if (code->size < room || !image_is(bytes, code->size))
            break;
        room *= 4;
        bytes = heap.realloc(bytes, room);
    }
    code->at = code->bytes;
    if (!bytes)
        return abi_no_memory(function);
    return ferror(file) ? refuse_file(function, path) : CUDA_SUCCESS;
}

/* The file must exist, but its contents are read at a lookup. Opening a pipe would block the caller. */
static CUresult look_at_file(const char *function, const char *path, struct abi_code_bytes *code)
{
    struct os_file_is is;
    if (!path)
        return abi_null(function, "fname");
    if (!os_path_look(path, &is))
        return refuse_file(function, path);
    if (is.folder || is.pipe)
        return abi_refuse(VMM_RULE_CODE_FILE, function, "%.100s is not a regular file, but a %s", path,
                          is.folder ? "folder" : "pipe");
    FILE *file = posix.fopen(path, "rb");
    if (!file)
        return refuse_file(function, path);
    CUresult result = read_file(function, path, file, code);
    fclose(file);
    return result;
}

/* The caller frees the bytes, also after a refusal. */
CUresult abi_code_take(const char *function, const char *path, struct abi_code_bytes *code)
{
    int cancel = life_no_cancel();
    CUresult result = look_at_file(function, path, code);
    life_may_cancel(cancel);
    return result;
}

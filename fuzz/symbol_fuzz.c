/* SPDX-License-Identifier: Apache-2.0 */
/* Programs in which `cuvmm check` looks functions up: the bytes are such a file.
 *
 *   input   [ offset, 8 bytes | the file ] */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "findings_site.h"

enum { MOST = 65536 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes in = {data, size};
    uint64_t offset = fuzz_word(&in);
    char name[64];
    fuzz_room();
    FILE *file = size > MOST ? NULL : fopen("program", "wb");
    if (!file)
        return 0;
    bool written = !in.left || fwrite(in.at, in.left, 1, file) == 1;
    if (fclose(file) || !written)
        fuzz_finding("the file cannot be written");
    memset(name, 'x', sizeof name);
    site_symbol("program", (size_t)offset, name, sizeof name);
    if (!memchr(name, '\0', sizeof name))
        fuzz_finding("a name without an end");
    return 0;
}

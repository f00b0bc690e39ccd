/* SPDX-License-Identifier: Apache-2.0 */
/* Scripts: the bytes are a script, run on a small machine. */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "script.h"

enum { MOST = 16384 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *out = NULL, *err = NULL, spec[FUZZ_SPEC], *text = fuzz_text(data, size);
    size_t out_size, err_size;
    if (size > MOST) {
        free(text);
        return 0;
    }
    fuzz_machine(text, spec);
    free(text);
    FILE *out_file = open_memstream(&out, &out_size), *err_file = open_memstream(&err, &err_size);
    FILE *in = fuzz_reading(data, size);
    struct script_options options = {.out = out_file, .err = err_file, .backend = spec, .keep_going = true};
    struct script *script = script_new(&options, "fuzz");
    if (in) {
        script_read(script, in);
        fclose(in);
    }
    enum script_status status = script_finish(script);
    fclose(out_file);
    fclose(err_file);
    if ((status == SCRIPT_OK) != (err_size == 0))
        fuzz_finding("status %d, and on standard error: %s", (int)status, err_size ? err : "nothing");
    if (err_size && strncmp(err, "fuzz:", 5) != 0 && strncmp(err, "cuvmm: ", 7) != 0)
        fuzz_finding("an error without its place: %s", err);
    free(out);
    free(err);
    return 0;
}

/* Traces: the bytes are one, made again on a small machine. Without jansson there is no replayer, and nothing to find. */
#include "fuzz.h"

#include <stdlib.h>

#include "replay.h"

enum { MOST = 65536 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *out = NULL, *err = NULL, spec[FUZZ_SPEC];
    size_t out_size, err_size;
    FILE *in = size > MOST ? NULL : fuzz_reading(data, size);
    if (!in)
        return 0;
    fuzz_machine("", spec);
    FILE *out_file = open_memstream(&out, &out_size), *err_file = open_memstream(&err, &err_size);
    int status = replay(in, "fuzz", spec, out_file, err_file);
    fclose(in);
    fclose(out_file);
    fclose(err_file);
    if (status < 0 || status > 2 || (status == 2) != (err_size != 0))
        fuzz_finding("status %d, and on standard error: %s", status, err_size ? err : "nothing");
    if (status < 2 && !out_size)
        fuzz_finding("status %d, and not a word", status);
    free(out);
    free(err);
    return 0;
}

/* bytes: zero until written, no room taken until then. */
#include "bytes.h"

#include <string.h>

#include "tap.h"

int main(void)
{
    struct bytes bytes;
    uint64_t length = 100;
    bytes_init(&bytes, UINT64_C(1) << 40);
    tap_ok(!bytes_run(&bytes, 5, &length) && length == 100, "untouched bytes are zeros without a place");
    length = BYTES_CHUNK;
    tap_ok(!bytes_run(&bytes, BYTES_CHUNK - 10, &length) && length == 10, "a run ends where its chunk ends");
    bytes_clear(&bytes);

    bytes_init(&bytes, 4 * BYTES_CHUNK);
    tap_ok(bytes_touch(&bytes, 7, 0) && !bytes.chunk, "touching nothing takes nothing");
    tap_ok(bytes_touch(&bytes, BYTES_CHUNK - 1, 2), "touched across two chunks");
    tap_ok(bytes.chunk[0] && bytes.chunk[1] && !bytes.chunk[2] && !bytes.chunk[3], "only what was touched has room");
    length = 1;
    unsigned char *at = bytes_run(&bytes, BYTES_CHUNK, &length);
    tap_ok(at && *at == 0, "new room reads as zero");
    *at = 42;
    tap_ok(bytes_touch(&bytes, BYTES_CHUNK, 1) && *at == 42, "touching again keeps the contents");
    tap_ok(bytes_touch(&bytes, 4 * BYTES_CHUNK - 1, 1) && bytes.chunk[3], "the last byte");
    bytes_clear(&bytes);
    tap_ok(!bytes.chunk, "cleared");
    return tap_done();
}

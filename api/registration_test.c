/* SPDX-License-Identifier: Apache-2.0 */
/* Which registrations end beyond their dma-buf. */
#define _GNU_SOURCE /* memfd_create */
#include "registration.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tap.h"

int main(void)
{
    vmm_detail detail = {0};
    int pipes[2], fd = memfd_create("dma-buf", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 8192) || pipe(pipes))
        tap_bail("no file");
    tap_ok(!registration_past_end(fd, 0, 8192, &detail) && !registration_past_end(fd, 4096, 4096, &detail) &&
               !registration_past_end(fd, 8192, 0, &detail) && !detail.rule,
           "all of it, its end, and nothing at its end");
    tap_ok(registration_past_end(fd, 4096, 4097, &detail), "one byte more");
    tap_text(detail.rule, "VMM-DMABUF-REGISTRATION", "the rule");
    tap_ok(strcmp(detail.function, "ibv_reg_dmabuf_mr") == 0 && detail.value == 4097 && detail.expected == 8192 &&
               strcmp(detail.note, "4097 bytes from offset 4096 on, and the dma-buf has 8192") == 0,
           "what it says: %s", detail.note);
    tap_ok(registration_past_end(fd, 8193, 0, &detail) && registration_past_end(fd, 4096, UINT64_MAX, &detail) &&
               registration_past_end(fd, UINT64_MAX, 2, &detail),
           "a start behind it, and sums that wrap");
    tap_ok(!registration_past_end(-1, 0, 1, &detail) && !registration_past_end(pipes[0], 0, 1, &detail),
           "a file whose size is not known is passed");
    close(pipes[0]);
    close(pipes[1]);
    close(fd);
    return tap_done();
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "registration.h"

#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>

#include "posix.h"
#include "rules.h"

bool registration_past_end(int fd, uint64_t offset, uint64_t length, vmm_detail *detail)
{
    struct stat is;
    if (posix.fstat(fd, &is) != 0 || is.st_size <= 0)
        return false;
    const uint64_t size = (uint64_t)is.st_size;
    if (offset <= size && length <= size - offset)
        return false;
    *detail = (vmm_detail){.severity = VMM_SEVERITY_WARNING,
                           .rule = vmm_rule_row(VMM_RULE_DMABUF_REGISTRATION)->id,
                           .function = "ibv_reg_dmabuf_mr",
                           .argument = "length",
                           .value = length,
                           .expected = size};
    snprintf(detail->note, sizeof detail->note, "%" PRIu64 " bytes from offset %" PRIu64 " on, and the dma-buf has %" PRIu64, length,
             offset, size);
    return true;
}

/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel_log.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tap.h"

#define FAULT                                                                                                                    \
    "4,1187,99,-;NVRM: Xid (PCI:0000:01:00): 31, pid=4711, name=step, Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS "   \
    "GPCCLIENT_T1_0 faulted @ 0x7f3a_c4000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ\n"

int main(void)
{
    uint64_t address = 0;
    tap_ok(kernel_log_fault(FAULT, 4711, &address) && address == 0x7f3ac4000000, "a fault of the process");
    tap_ok(!kernel_log_fault(FAULT, 471, &address) && !kernel_log_fault(FAULT, 47110, &address), "not that of another");
    tap_ok(kernel_log_fault("Xid (PCI:0000:01:00): 31, pid='4711', x faulted @ 0x0_00001000.", 4711, &address) &&
               address == 0x1000,
           "a quoted number");
    tap_ok(!kernel_log_fault("Xid (PCI:0000:01:00): 43, pid=4711, name=step, Ch 00000008", 4711, &address),
           "another event has no address");
    tap_ok(!kernel_log_fault("Xid (PCI): 31, pid=4711, faulted @ nowhere", 4711, &address) &&
               !kernel_log_fault("Xid (PCI): 31, pid=4711, faulted @ 0x.", 4711, &address) &&
               !kernel_log_fault("pid=4711 faulted @ 0x10", 4711, &address) && !kernel_log_fault("", 4711, &address),
           "nor have lines that are none");
    tap_ok(kernel_log_address("0x7f3ac4000000", &address) && address == 0x7f3ac4000000 && kernel_log_address("0x7f3a_c4000010", &address) &&
               address == 0x7f3ac4000010,
           "an address alone");
    tap_ok(kernel_log_address(FAULT, &address) && address == 0x7f3ac4000000, "that of a line of the log, of whichever process");
    tap_ok(kernel_log_address("=========     Address 0x7f3ac4000020 is out of bounds", &address) && address == 0x7f3ac4000020,
           "that of compute-sanitizer");
    tap_ok(!kernel_log_address("12", &address) && !kernel_log_address("0x", &address) && !kernel_log_address("0x12z", &address) &&
               !kernel_log_address("Address of 0x12", &address) && !kernel_log_address("0x12345678123456789", &address) &&
               !kernel_log_address("", &address),
           "nothing else");
    char path[] = "/tmp/kernel_log_test.XXXXXX";
    int fd = mkstemp(path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file || fprintf(file, "first\n%sXid (PCI:0): 31, pid=4711, faulted @ 0x1_00000020.\nlast\n", FAULT) < 0 || fclose(file))
        tap_bail("no file");
    tap_ok(kernel_log_find(path, 4711, &address) && address == 0x100000020, "the last one of a log counts");
    tap_ok(!kernel_log_find(path, 1, &address) && !kernel_log_find("/no/such/log", 4711, &address), "no log, or none in it");
    unlink(path);
    return tap_done();
}

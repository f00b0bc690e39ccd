/* SPDX-License-Identifier: Apache-2.0 */
/* two_devices.h - tests that need two devices with a link between them.
 *
 *     TEST_OF_TWO(TEST_KIND_BREAKS, "COPY_NO_READ", name) { ... }      on one device, or without a link, it is skipped
 */
#ifndef SUITE_TWO_DEVICES_H
#define SUITE_TWO_DEVICES_H

#include "test.h"

#define NONE VMM_MEM_ACCESS_FLAGS_PROT_NONE
#define READ VMM_MEM_ACCESS_FLAGS_PROT_READ
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE

/* On the simulator, the test makes two such devices. */
#define TEST_OF_TWO(kind, subject, function)                                                    \
    static void function##_body(struct fix *f);                                                 \
    TEST_DEFINE(kind, subject, function, "devices = 2\npeers = all", TEST_AS_GIVEN, 0)          \
    {                                                                                           \
        fix_need_link(f, true);                                                                 \
        function##_body(f);                                                                     \
    }                                                                                           \
    static void function##_body(struct fix *f)

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* Which descriptors are ours, and that each is closed once. */
#include <fcntl.h>
#include <unistd.h>

#include "descriptors.h"
#include "tap.h"

static int some(void)
{
    int fd = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (fd < 0)
        tap_bail("/dev/null cannot be opened");
    return fd;
}

static bool is_open(int fd)
{
    return fcntl(fd, F_GETFD) >= 0;
}

int main(void)
{
    struct descriptors ours = {0};
    int other = some(), first = some(), second = some();
    tap_ok(!descriptors_have(NULL, (uint64_t)first) && !descriptors_have(&ours, (uint64_t)first), "none is ours at first");
    tap_ok(!descriptors_close(&ours, (uint64_t)first) && is_open(first), "and one that is not is not closed");
    descriptors_keep(&ours, first);
    descriptors_keep(&ours, second);
    tap_ok(descriptors_have(&ours, (uint64_t)first) && descriptors_have(&ours, (uint64_t)second), "two that were kept are");
    tap_ok(!descriptors_have(&ours, (uint64_t)other), "one beside them that is open is not");
    tap_ok(!descriptors_have(&ours, (uint64_t)first + (UINT64_C(1) << 32)), "nor is a number that is one's in its lower half");
    tap_ok(descriptors_close(&ours, (uint64_t)first) && !is_open(first), "one is closed");
    tap_ok(!descriptors_have(&ours, (uint64_t)first) && !descriptors_close(&ours, (uint64_t)first), "once");
    tap_ok(descriptors_have(&ours, (uint64_t)second) && is_open(second), "the second stays");
    descriptors_clear(&ours);
    tap_ok(!is_open(second) && is_open(other) && ours.count == 0, "until all are closed, and no other");
    close(other);
    return tap_done();
}

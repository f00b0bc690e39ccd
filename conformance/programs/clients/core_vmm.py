# SPDX-License-Identifier: Apache-2.0
# explain: 1 error VMM-CTX-CURRENT
# explain: 1 error VMM-COPY-NO-WRITE
# explain: 1 error VMM-CREATE-MEMORY
# explain: 1 error VMM-FREE-PTR-ZERO
# explain: 2 error VMM-MAP-SIZE-WHOLE
# explain: 1 error VMM-RESERVE-SPACE
# explain: 7 error VMM-RETAIN-NOT-MAPPED
# explain: 1 error VMM-UNMAP-PARTIAL
# explain: 1 leak VMM-LEAK-HANDLE
"""cuda.core's VirtualMemoryResource: allocate, grow, close, and what cuda-core 1.2.2 does wrong there (docs/clients.md).

Each fault is a point that says what is left, gives it back by hand, and then finds all memory free: so it is this and nothing
else. When a later cuda-core mends one, its point fails; then requirements and points are to be changed together.
"""

from cuda.bindings import driver
from cuda.core import Device, VirtualMemoryResource, VirtualMemoryResourceOptions
from cuda.core._utils.cuda_utils import CUDAError

from client import equal, in_use, ok, point, read, refused, rights, unmap, write

MIB = 1 << 20
device = Device()
device.set_current()
resource = VirtualMemoryResource(device, VirtualMemoryResourceOptions(handle_type="posix_fd"))


def handle_at(address):
    return ok(driver.cuMemRetainAllocationHandle(address))


def references(handle, size):
    """Lets go of a handle, whose memory is mapped nowhere, until its memory is back; how often that took."""
    start = in_use()
    for n in range(1, 9):
        ok(driver.cuMemRelease(handle))
        if in_use() == start - size:
            return n
    return None


def allocate_and_close():
    before = in_use()
    buffer = resource.allocate(MIB)
    at = int(buffer.handle)
    equal(buffer.size, 2 * MIB, "a size is rounded up to the granularity")
    point(buffer.is_device_accessible and not buffer.is_host_accessible, "for the device alone")
    write(at, b"some bytes")
    equal(read(at, 10), b"some bytes", "bytes go in and out")
    handle = handle_at(at)
    buffer.close()
    point(driver.cuMemRetainAllocationHandle(at)[0] != driver.CUresult.CUDA_SUCCESS, "closed, nothing is mapped there")
    equal(references(handle, 2 * MIB), 2, "fault 1: close leaves the reference of cuMemCreate (and there was ours)")
    equal(in_use() - before, 0, "which is all that it leaves")


def grow():
    before = in_use()
    buffer = resource.allocate(4 * MIB)
    old = int(buffer.handle)
    write(old, b"kept")
    grown = resource.modify_allocation(buffer, 12 * MIB)
    at = int(grown.handle)
    equal((grown.size, read(at, 4)), (12 * MIB, b"kept"), "a grown buffer has its size and its bytes")
    write(at + 12 * MIB - 4, b"tail")
    equal(read(at + 12 * MIB - 4, 4), b"tail", "and room at its end")
    point(buffer.is_closed, "the buffer before is closed")
    first, second = handle_at(at), handle_at(at + 4 * MIB)
    grown.close()
    equal(in_use() - before, 12 * MIB, "closed, all of its memory is still taken")
    equal(references(first, 4 * MIB), 3, "fault 2: the slow path leaves its retain beside cuMemCreate's (and ours)")
    equal(references(second, 8 * MIB), 2, "and cuMemCreate's of the new part")
    equal(in_use() - before, 0, "which is all that it leaves")


def grow_in_place():
    """The range behind the buffer is given, as it was wished for, and not used: an address is compared with a number."""
    before = in_use()
    point(driver.CUdeviceptr(4096) != 4096, "fault 3: a CUdeviceptr equals no number")
    buffer = resource.allocate(64 * MIB)
    old = int(buffer.handle)
    behind = int(ok(driver.cuMemAddressReserve(64 * MIB, 0, old + 64 * MIB, 0)))
    ok(driver.cuMemAddressFree(behind, 64 * MIB))
    equal(behind, old + 64 * MIB, "the addresses behind the buffer are free")
    grown = resource.modify_allocation(buffer, 128 * MIB)
    at = int(grown.handle)
    point(at != old, "so growth in place never happens")
    first, second = handle_at(at), handle_at(at + 64 * MIB)
    grown.close()
    references(first, 64 * MIB), references(second, 64 * MIB)
    equal(in_use() - before, 0, "(tidied up)")


def grow_to_an_odd_size():
    before = in_use()
    grown = resource.modify_allocation(resource.allocate(2 * MIB), 5 * MIB)
    at = int(grown.handle)
    equal(grown.size, 5 * MIB, "fault 4: the size is what was asked for, though 6 MiB are mapped")
    first, second = handle_at(at), handle_at(at + 2 * MIB)
    grown.close()
    equal(read(at, 1), b"\0", "so close cannot unmap, reports that on standard error, and everything stays mapped")
    unmap(at, 6 * MIB)
    references(first, 2 * MIB), references(second, 4 * MIB)
    equal(in_use() - before, 0, "(tidied up)")


def grow_twice():
    before = in_use()
    grown = resource.modify_allocation(resource.allocate(2 * MIB), 4 * MIB)
    at = int(grown.handle)
    first, second = handle_at(at), handle_at(at + 2 * MIB)
    try:
        resource.modify_allocation(grown, 8 * MIB)
        point(False, "growing a second time fails")
    except CUDAError as error:
        point("CUDA_ERROR" in str(error), "fault 5: growing a second time takes two pieces for one, and fails")
    point(driver.cuMemRetainAllocationHandle(at)[0] != driver.CUresult.CUDA_SUCCESS,
          "the buffer before, which was to stay as it was, has lost its memory")
    ok(driver.cuMemAddressFree(at, 4 * MIB))
    references(first, 2 * MIB), references(second, 2 * MIB)
    grown.close()
    equal(in_use() - before, 0, "(tidied up)")


def grow_too_far():
    before = in_use()
    buffer = resource.allocate(2 * MIB)
    at = int(buffer.handle)
    write(at, b"kept")
    try:
        resource.modify_allocation(buffer, 1 << 37)
        point(False, "growing beyond the device fails")
    except CUDAError as error:
        point("OUT_OF_MEMORY" in str(error), "growing beyond the device is OUT_OF_MEMORY")
    try:
        resource.modify_allocation(buffer, 1 << 45)
        point(False, "growing beyond all addresses fails")
    except CUDAError as error:
        point("INVALID_VALUE" in str(error), "fault 7: where no addresses are left it frees address 0, and that is what is reported")
    handle = handle_at(at)
    refused(driver.cuMemsetD8(at, 1, 1), "INVALID_VALUE", "fault 6: the buffer is mapped again, but without its rights")
    ok(driver.cuMemSetAccess(at, 2 * MIB, [rights()], 1))
    equal(read(at, 4), b"kept", "which are all that it lacks")
    buffer.close()
    references(handle, 2 * MIB)
    equal(in_use() - before, 0, "(tidied up)")


def a_leak_as_the_library_tells_it():
    resource.allocate(2 * MIB).close()


allocate_and_close()
grow()
grow_in_place()
grow_to_an_odd_size()
grow_twice()
grow_too_far()
a_leak_as_the_library_tells_it()

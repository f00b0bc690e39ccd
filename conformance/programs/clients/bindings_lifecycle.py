# SPDX-License-Identifier: Apache-2.0
"""cuda.bindings: the whole life of memory of virtual memory management, and not a word from the library."""

from cuda.bindings import driver

from client import equal, in_use, map_new, ok, point, primary, properties, read, rights, unmap, write

A = driver.CUdevice_attribute
P = driver.CUpointer_attribute
context = primary()
before = in_use()
prop = properties()

point(ok(driver.cuDriverGetVersion()) >= 12000, "the driver has a version")
device = ok(driver.cuDeviceGet(0))
point(len(ok(driver.cuDeviceGetName(64, device)).rstrip(b"\0")) > 0, "and the device a name")
equal(ok(driver.cuDeviceGetAttribute(A.CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device)), 1,
      "virtual memory management is there")
least = ok(driver.cuMemGetAllocationGranularity(
    prop, driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM))
best = ok(driver.cuMemGetAllocationGranularity(
    prop, driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))
point(least > 0 and best % least == 0, "granularities fit each other")

# Two pieces in one range, next to each other.
size = 2 * best
start = int(ok(driver.cuMemAddressReserve(size, 0, 0, 0)))
pieces = [ok(driver.cuMemCreate(best, prop, 0)) for _ in range(2)]
equal(in_use() - before, size, "two pieces take their size")
for i, piece in enumerate(pieces):
    ok(driver.cuMemMap(start + i * best, best, 0, piece, 0))
ok(driver.cuMemSetAccess(start, size, [rights()], 1))
location = driver.CUmemLocation()
location.type, location.id = prop.location.type, 0
equal(int(ok(driver.cuMemGetAccess(location, start + best))),
      int(driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE), "rights are what was set")

# One fill over both, copies that cross the seam, an order on a stream.
ok(driver.cuMemsetD8(start, 0x5A, size))
equal(read(start + best - 2, 4), b"\x5a" * 4, "a fill goes over the seam")
write(start + best - 2, b"seam")
equal(read(start + best - 2, 4), b"seam", "and so does a copy")
stream = ok(driver.cuStreamCreate(driver.CUstream_flags.CU_STREAM_NON_BLOCKING))
ok(driver.cuMemsetD32Async(start, 0x01020304, 2, stream))
ok(driver.cuMemcpyDtoDAsync(start + best, start, 8, stream))
ok(driver.cuStreamSynchronize(stream))
equal(read(start + best, 8), b"\x04\x03\x02\x01" * 2, "work of a stream is done in its order")
ok(driver.cuStreamDestroy(stream))

# A second address for the first piece.
alias = map_new(pieces[0], best)
write(start, b"one memory")
equal(read(alias, 10), b"one memory", "two addresses, the same bytes")
again = ok(driver.cuMemRetainAllocationHandle(alias))
equal(int(again), int(pieces[0]), "the handle is found by the address")
found = ok(driver.cuMemGetAllocationPropertiesFromHandle(again))
equal((int(found.type), int(found.location.type), found.location.id),
      (int(prop.type), int(prop.location.type), 0), "and returns its properties")
ok(driver.cuMemRelease(again))
equal(int(ok(driver.cuPointerGetAttribute(P.CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, start + best))), start,
      "the range is the reservation")
base, length = ok(driver.cuMemGetAddressRange(start + best + 5))
equal((int(base), length), (start + best, best), "an address range is the mapping")
unmap(alias, best)

# Handles may go first: the mappings hold the memory.
for piece in pieces:
    ok(driver.cuMemRelease(piece))
equal(in_use() - before, size, "released handles are still held by their mappings")
equal(read(start, 3), b"one", "and so are the bytes")
unmap(start, size)
equal(in_use() - before, 0, "unmapped, all of it is back")
ok(driver.cuDevicePrimaryCtxRelease(0))

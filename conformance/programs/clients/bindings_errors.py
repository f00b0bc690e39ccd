# SPDX-License-Identifier: Apache-2.0
# explain: 1 error VMM-CREATE-SIZE-GRANULARITY
# explain: 1 error VMM-CREATE-MEMORY
# explain: 1 error VMM-CREATE-DEVICE-ID
# explain: 1 error VMM-ACCESS-NOT-MAPPED
# explain: 1 error VMM-MAP-OFFSET
# explain: 1 error VMM-MAP-OVERLAP
# explain: 1 error VMM-COPY-NO-WRITE
# explain: 1 error VMM-EXPORT-NOT-REQUESTED
# explain: 1 error VMM-UNMAP-PARTIAL
# explain: 1 error VMM-FREE-MAPPED
# explain: 1 error VMM-FREE-SIZE-MATCH
# explain: 1 error VMM-RETAIN-NOT-MAPPED
"""cuda.bindings: what a client does wrong is refused with the driver's code, and the library reports why, once each."""

from cuda.bindings import driver

from client import equal, in_use, ok, primary, properties, refused, rights, unmap

primary()
before = in_use()
prop = properties()
size = ok(driver.cuMemGetAllocationGranularity(
    prop, driver.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_RECOMMENDED))

refused(driver.cuMemCreate(size + 1, prop, 0), "INVALID_VALUE", "a size that is not a multiple of the granularity")
refused(driver.cuMemCreate(1 << 50, prop, 0), "OUT_OF_MEMORY", "more than there is")
nowhere = properties(device=99)
refused(driver.cuMemCreate(size, nowhere, 0), "INVALID_DEVICE", "a device that is not there")

handle = ok(driver.cuMemCreate(size, prop, 0))
at = int(ok(driver.cuMemAddressReserve(2 * size, 0, 0, 0)))
refused(driver.cuMemSetAccess(at, size, [rights()], 1), "INVALID_VALUE", "rights before the mapping")
refused(driver.cuMemMap(at, size, size, handle, 0), "NOT_SUPPORTED", "an offset")
ok(driver.cuMemMap(at, size, 0, handle, 0))
refused(driver.cuMemMap(at, size, 0, handle, 0), "INVALID_VALUE", "a mapping over a mapping")
refused(driver.cuMemsetD8(at, 1, 16), "INVALID_VALUE", "a fill without rights")
refused(driver.cuMemExportToShareableHandle(
    handle, driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), "INVALID_VALUE",
    "an export of what was not created for it")
refused(driver.cuMemUnmap(at, size // 2), "INVALID_VALUE", "half a mapping")
refused(driver.cuMemAddressFree(at, 2 * size), "INVALID_VALUE", "a range with a mapping in it")
refused(driver.cuMemAddressFree(at, size), "INVALID_VALUE", "half a reservation")
refused(driver.cuMemRetainAllocationHandle(at + size), "INVALID_VALUE", "the handle of an empty place")

ok(driver.cuMemRelease(handle))
ok(driver.cuMemUnmap(at, size))
ok(driver.cuMemAddressFree(at, 2 * size))
equal(in_use() - before, 0, "none of it left anything behind")
ok(driver.cuDevicePrimaryCtxRelease(0))

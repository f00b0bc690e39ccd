# SPDX-License-Identifier: Apache-2.0
"""A suite of cuda.bindings' driver API: each planted mistake has the comment "planted: RULE" on its line."""

import pytest
from cuda.bindings import driver as cuda

SIZE = 2 << 20


def check(answer):
    result, *values = answer
    assert result == cuda.CUresult.CUDA_SUCCESS, result
    return values[0] if len(values) == 1 else tuple(values)


@pytest.fixture(scope="session", autouse=True)
def context():
    check(cuda.cuInit(0))
    made = check(cuda.cuDevicePrimaryCtxRetain(0))
    check(cuda.cuCtxSetCurrent(made))
    yield made
    check(cuda.cuDevicePrimaryCtxRelease(0))


@pytest.fixture(scope="module")
def scratch():
    """Lives as long as the module: no test's leak. Behind a fault its end is refused."""
    at = check(cuda.cuMemAlloc(SIZE))
    yield at
    cuda.cuMemFree(at)


@pytest.fixture
def buffer():
    at = check(cuda.cuMemAlloc(SIZE))
    yield at
    check(cuda.cuMemFree(at))


def create():
    prop = cuda.CUmemAllocationProp()
    prop.type = cuda.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    prop.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    return check(cuda.cuMemCreate(SIZE, prop, 0))


def make(mapped=True):
    handle = create()
    at = check(cuda.cuMemAddressReserve(SIZE, 0, 0, 0))
    check(cuda.cuMemMap(at, SIZE, 0, handle, 0))
    access = cuda.CUmemAccessDesc()
    access.location.type = cuda.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    access.flags = cuda.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    check(cuda.cuMemSetAccess(at, SIZE, [access], 1))
    return at, handle


def give_back(at, handle):
    check(cuda.cuMemUnmap(at, SIZE))
    check(cuda.cuMemRelease(handle))
    check(cuda.cuMemAddressFree(at, SIZE))


def test_right(scratch, buffer):
    at, handle = make()
    check(cuda.cuMemsetD8(at, 1, SIZE))
    give_back(at, handle)


def test_leaks():
    create()  # planted: VMM-LEAK-HANDLE


def test_maps_twice():
    at, handle = make()
    assert cuda.cuMemMap(at, SIZE, 0, handle, 0)[0] != cuda.CUresult.CUDA_SUCCESS  # planted: VMM-MAP-OVERLAP
    give_back(at, handle)


def test_orders_nothing(scratch, buffer):
    first, second = check(cuda.cuStreamCreate(1)), check(cuda.cuStreamCreate(1))
    check(cuda.cuMemsetD8Async(buffer, 1, SIZE, first))
    check(cuda.cuMemcpyDtoDAsync(scratch, buffer, SIZE, second))  # planted: VMM-ORDER
    check(cuda.cuStreamSynchronize(first))
    check(cuda.cuStreamSynchronize(second))
    check(cuda.cuStreamDestroy(first))
    check(cuda.cuStreamDestroy(second))


@pytest.mark.cuvmm_expect("VMM-MAP-OVERLAP")
def test_expects():
    test_maps_twice()


@pytest.mark.cuvmm_expect("VMM-MAP-OVERLAP", "VMM-LEAK-*", always=False)
def test_may_happen():
    create()


@pytest.mark.cuvmm_expect("VMM-MAP-OVERLAP")
def test_fails_for_it_expects_in_vain():
    pass


def test_faults(scratch):
    at, handle = make()
    check(cuda.cuMemsetD8Async(at, 7, SIZE, 0))
    check(cuda.cuMemUnmap(at, SIZE))  # planted: VMM-UNMAP-IN-FLIGHT
    check(cuda.cuMemRelease(handle))
    check(cuda.cuMemAddressFree(at, SIZE))


def test_behind_the_fault(scratch):
    pass

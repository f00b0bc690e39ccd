# SPDX-License-Identifier: Apache-2.0
"""Pages of device memory as an inference server would keep them: by address, with a cache of free ones, and for other
processes."""
import ctypes
import os

from driver import DESCRIPTOR, READWRITE, Access, Location, Refused, address, byref, cu, device_memory, event, handle, new

BYTES = 1 << 14


def begin():
    cu.cuInit(0)
    cu.cuCtxSetCurrent(new(ctypes.c_void_p, cu.cuDevicePrimaryCtxRetain, 0))


def unit():
    return new(ctypes.c_size_t, cu.cuMemGetAllocationGranularity, byref(device_memory()), 1)


def rounded(size):
    return (size + unit() - 1) // unit() * unit()


class Page:
    """Memory mapped at a new address. With exact, the map has exactly the requested size."""

    def __init__(self, size=BYTES, exact=False, handles=0):
        self.size = rounded(size)
        self.at = new(address, cu.cuMemAddressReserve, self.size, 0, 0, 0)
        memory = device_memory(handles)
        self.memory = handle()
        cu.cuMemCreate(byref(self.memory), self.size, byref(memory), 0)  # finding: py_probe_keeps_its_handle VMM-LEAK-HANDLE
        try:
            # finding: py_mapped_as_asked VMM-MAP-SIZE-WHOLE
            cu.cuMemMap(self.at, size if exact else self.size, 0, self.memory, 0)
            access = Access(Location(1, 0), READWRITE)
            cu.cuMemSetAccess(self.at, self.size, byref(access), 1)
        except Refused:
            cu.cuMemRelease(self.memory)
            cu.cuMemAddressFree(self.at, self.size)
            raise

    def close(self):
        cu.cuMemUnmap(self.at, self.size)
        cu.cuMemRelease(self.memory)
        cu.cuMemAddressFree(self.at, self.size)

    def clear(self, stream=None, value=0, size=BYTES):
        # other: py_prefetch_unordered; other: py_wrong_event; finding: py_block_of_another_stream VMM-ORDER-STREAMS; other: py_block_of_another_stream
        cu.cuMemsetD8Async(self.at, value, size, stream)

    def read(self, size=BYTES):
        to = ctypes.create_string_buffer(size)
        # finding: py_wrong_event VMM-ORDER-HOST; finding: py_page_never_filled VMM-UNWRITTEN-READ
        cu.cuMemcpyDtoH(to, self.at, size)
        return to.raw


def is_virtual(where, release):
    """Whether an address is of virtual memory management, as libraries find out before they register it."""
    held = handle()
    try:
        cu.cuMemRetainAllocationHandle(byref(held), where)  # other: py_probe_keeps_its_handle
    except Refused:
        return False
    if release:
        cu.cuMemRelease(held)
    return True


def offer(page, keep):
    """A descriptor of the page for another process, sent as if over a socket."""
    descriptor = ctypes.c_int(-1)
    # finding: py_descriptor_kept VMM-LEAK-DESCRIPTOR
    cu.cuMemExportToShareableHandle(byref(descriptor), page.memory, DESCRIPTOR, 0)
    sent = os.dup(descriptor.value)
    os.close(sent)
    if not keep:
        os.close(descriptor.value)


class Cache:
    """Free pages, which the next user gets, on whatever stream; safe: after the work of the one before."""

    def __init__(self, safe):
        self.free, self.safe = [], safe

    def get(self, stream):
        if not self.free:
            return Page()
        page, done = self.free.pop()
        if self.safe:
            cu.cuStreamWaitEvent(stream, done, 0)
        cu.cuEventDestroy(done)
        return page

    def put(self, page, stream):
        done = new(event, cu.cuEventCreate, 2)
        cu.cuEventRecord(done, stream)
        self.free.append((page, done))

    def close(self):
        cu.cuCtxSynchronize()
        for page, done in self.free:
            cu.cuEventDestroy(done)
            page.close()

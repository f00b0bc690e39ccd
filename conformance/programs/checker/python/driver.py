# SPDX-License-Identifier: Apache-2.0
"""The driver's library by ctypes, without another package: the functions that pages.py and programs.py need."""
import ctypes
from ctypes import POINTER, Structure, byref, c_char_p, c_int, c_size_t, c_ubyte, c_uint, c_ushort, c_ulonglong, c_void_p

cu = ctypes.CDLL("libcuda.so.1")


class Location(Structure):
    _fields_ = [("type", c_int), ("id", c_int)]


class Prop(Structure):
    _fields_ = [("type", c_int), ("handles", c_int), ("location", Location), ("win32", c_void_p), ("compression", c_ubyte),
                ("rdma", c_ubyte), ("usage", c_ushort), ("reserved", c_ubyte * 4)]


class Access(Structure):
    _fields_ = [("location", Location), ("flags", c_int)]


class Refused(Exception):
    pass


def must(result, function, arguments):
    if result:
        raise Refused(f"{function.__name__} gives {result}")
    return result


HostFunction = ctypes.CFUNCTYPE(None, c_void_p)
NOT_READY = 600
NON_BLOCKING = 1
DESCRIPTOR = 1
READWRITE = 3

address, handle, stream, event = c_ulonglong, c_ulonglong, c_void_p, c_void_p
for name, symbol, arguments in [
        ("cuInit", "", [c_uint]),
        ("cuDevicePrimaryCtxRetain", "", [POINTER(c_void_p), c_int]),
        ("cuDevicePrimaryCtxRelease", "_v2", [c_int]),
        ("cuCtxSetCurrent", "", [c_void_p]),
        ("cuCtxSynchronize", "", []),
        ("cuMemGetAllocationGranularity", "", [POINTER(c_size_t), POINTER(Prop), c_int]),
        ("cuMemAddressReserve", "", [POINTER(address), c_size_t, c_size_t, address, c_ulonglong]),
        ("cuMemAddressFree", "", [address, c_size_t]),
        ("cuMemCreate", "", [POINTER(handle), c_size_t, POINTER(Prop), c_ulonglong]),
        ("cuMemRelease", "", [handle]),
        ("cuMemMap", "", [address, c_size_t, c_size_t, handle, c_ulonglong]),
        ("cuMemUnmap", "", [address, c_size_t]),
        ("cuMemSetAccess", "", [address, c_size_t, POINTER(Access), c_size_t]),
        ("cuMemRetainAllocationHandle", "", [POINTER(handle), c_void_p]),
        ("cuMemExportToShareableHandle", "", [c_void_p, handle, c_int, c_ulonglong]),
        ("cuMemHostAlloc", "", [POINTER(c_void_p), c_size_t, c_uint]),
        ("cuMemFreeHost", "", [c_void_p]),
        ("cuStreamCreate", "", [POINTER(stream), c_uint]),
        ("cuStreamDestroy", "_v2", [stream]),
        ("cuStreamSynchronize", "", [stream]),
        ("cuStreamQuery", "", [stream]),
        ("cuStreamWaitEvent", "", [stream, event, c_uint]),
        ("cuEventCreate", "", [POINTER(event), c_uint]),
        ("cuEventDestroy", "_v2", [event]),
        ("cuEventRecord", "", [event, stream]),
        ("cuEventSynchronize", "", [event]),
        ("cuLaunchHostFunc", "", [stream, HostFunction, c_void_p]),
        ("cuMemsetD8", "_v2", [address, c_ubyte, c_size_t]),
        ("cuMemsetD8Async", "", [address, c_ubyte, c_size_t, stream]),
        ("cuMemcpyHtoD", "_v2", [address, c_void_p, c_size_t]),
        ("cuMemcpyDtoH", "_v2", [c_void_p, address, c_size_t]),
        ("cuMemcpyHtoDAsync", "_v2", [address, c_void_p, c_size_t, stream]),
        ("cuMemcpyDtoDAsync", "_v2", [address, address, c_size_t, stream])]:
    function = getattr(cu, name + symbol)
    function.argtypes = arguments
    function.restype = c_int
    if name != "cuStreamQuery":
        function.errcheck = must
    setattr(cu, name, function)


def device_memory(handles=0):
    """The properties of memory of device 0."""
    return Prop(type=1, handles=handles, location=Location(1, 0))


def new(kind, function, *arguments):
    """What a function returns through its first parameter."""
    value = kind()
    function(byref(value), *arguments)
    return value.value

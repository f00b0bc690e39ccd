# SPDX-License-Identifier: Apache-2.0
"""What the client scripts share: points of a test, calls that must succeed, memory in use, a second process.

A script prints its points; ci/client counts them. What the library says of it with CUVMM_EXPLAIN=1 is compared with the
lines "# explain: COUNT KIND RULE" at the script's head: there is nothing else, and nothing is missing.
"""

import json
import os
import socket
import subprocess
import sys

from cuda.bindings import driver


def point(good, text):
    """One point. A script continues after a failed one."""
    print("ok -" if good else "not ok -", text, flush=True)


def equal(got, want, text):
    point(got == want, text if got == want else f"{text}: {got!r}, not {want!r}")


def ok(answer):
    """What a call of cuda.bindings gives besides its code, which must be SUCCESS."""
    code, *values = answer
    if code != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(code.name)
    return values[0] if len(values) == 1 else values


def refused(answer, name, text):
    """A point: the call answers CUDA_ERROR_name."""
    equal(answer[0].name, "CUDA_ERROR_" + name, text)


def in_use():
    """Bytes of the current device that are taken."""
    free, total = ok(driver.cuMemGetInfo())
    return total - free


def primary(device=0):
    """cuInit, and the device's primary context current."""
    ok(driver.cuInit(0))
    context = ok(driver.cuDevicePrimaryCtxRetain(device))
    ok(driver.cuCtxSetCurrent(context))
    return context


def properties(shared=False, device=0):
    prop = driver.CUmemAllocationProp()
    prop.type = driver.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    prop.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    prop.location.id = device
    if shared:
        prop.requestedHandleTypes = POSIX_FD
    return prop


def rights(device=0):
    access = driver.CUmemAccessDesc()
    access.location.type = driver.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE
    access.location.id = device
    access.flags = driver.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    return access


POSIX_FD = driver.CUmemAllocationHandleType.CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR


def map_new(handle, size):
    """Maps the handle at a new address, read-write for device 0."""
    at = ok(driver.cuMemAddressReserve(size, 0, 0, 0))
    ok(driver.cuMemMap(at, size, 0, handle, 0))
    ok(driver.cuMemSetAccess(at, size, [rights()], 1))
    return int(at)


def unmap(at, size):
    ok(driver.cuMemUnmap(at, size))
    ok(driver.cuMemAddressFree(at, size))


def read(at, size):
    """Bytes of the device, after all work on it."""
    ok(driver.cuCtxSynchronize())
    host = bytearray(size)
    ok(driver.cuMemcpyDtoH(host, at, size))
    return bytes(host)


def write(at, data):
    ok(driver.cuMemcpyHtoD(at, data, len(data)))


class Other:
    """The same script as a second process, which is connected by a socket.

    A driver does not live on in a forked child, so it is a new Python: `script --other FD`.
    """

    def __init__(self, script):
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.settimeout(30)
        self.process = subprocess.Popen([sys.executable, script, "--other", str(theirs.fileno())],
                                        pass_fds=[theirs.fileno()])
        theirs.close()

    def send(self, fds, **about):
        send(self.socket, fds, **about)

    def receive(self):
        return receive(self.socket)

    def end(self):
        """Its exit status."""
        self.socket.close()
        return self.process.wait(30)


def send(sock, fds=(), **about):
    socket.send_fds(sock, [json.dumps(about).encode()], list(fds))


def receive(sock):
    """What send sent: descriptors and a dict."""
    data, fds, _, _ = socket.recv_fds(sock, 65536, 16)
    if not data:
        raise EOFError("the other process is gone")
    return fds, json.loads(data)


def other_socket():
    """The socket to the first process, where this is the second; None in the first."""
    if len(sys.argv) == 3 and sys.argv[1] == "--other":
        return socket.socket(fileno=int(sys.argv[2]))
    return None


def open_descriptors():
    return len(os.listdir("/proc/self/fd"))

# SPDX-License-Identifier: Apache-2.0
# explain: 2 error VMM-CTX-CURRENT
# explain: 1 leak VMM-LEAK-HANDLE
"""cuda.core's VirtualMemoryResource between two processes.

cuda-core 1.2.2 creates memory that can be exported (handle_type "posix_fd") and offers no way to export it: the descriptors of
its buffers are those of memory pools. So the handle is asked for by the address, and exported and imported by
cuda.bindings; the other process looks at it as a Buffer of cuda.core.
"""

import os

from cuda.bindings import driver
from cuda.core import Buffer, Device, VirtualMemoryResource, VirtualMemoryResourceOptions

from client import POSIX_FD, Other, equal, in_use, map_new, ok, other_socket, point, read, receive, send, unmap, write

MIB = 1 << 20


def importing(sock):
    device = Device()
    device.set_current()
    fds, about = receive(sock)
    handle = ok(driver.cuMemImportFromShareableHandle(fds[0], POSIX_FD))
    os.close(fds[0])
    at = map_new(handle, about["size"])
    ok(driver.cuMemRelease(handle))
    stream = device.create_stream()
    shared = Buffer.from_handle(at, about["size"])
    mine = device.memory_resource.allocate(about["size"], stream=stream)
    shared.copy_to(mine, stream=stream)
    shared.fill(0x33, stream=stream)
    stream.sync()
    seen = read(int(mine.handle), 5)
    mine.close()
    stream.close()
    unmap(at, about["size"])
    send(sock, seen=seen.decode())


def exporting():
    device = Device()
    device.set_current()
    before = in_use()
    resource = VirtualMemoryResource(device, VirtualMemoryResourceOptions(handle_type="posix_fd"))
    buffer = resource.allocate(4 * MIB)
    write(int(buffer.handle), b"hello")
    try:
        buffer.ipc_descriptor
        point(False, "it offers no descriptor of its own")
    except (RuntimeError, TypeError, AttributeError, NotImplementedError) as error:
        point(True, "it offers no descriptor of its own")
    handle = ok(driver.cuMemRetainAllocationHandle(int(buffer.handle)))
    fd = int(ok(driver.cuMemExportToShareableHandle(handle, POSIX_FD, 0)))
    ok(driver.cuMemRelease(handle))

    other = Other(__file__)
    other.send([fd], size=buffer.size)
    os.close(fd)
    _, about = other.receive()
    equal(about["seen"], "hello", "the other process sees its bytes")
    equal(other.end(), 0, "it ends well")
    equal(read(int(buffer.handle) + 4 * MIB - 4, 4), b"3333", "and its fill is seen here")
    buffer.close()
    equal(in_use() - before, 4 * MIB, "closed, the memory is taken by cuMemCreate's reference alone (core_vmm.py, fault 1)")

    try:
        private = VirtualMemoryResource(device, VirtualMemoryResourceOptions(handle_type=None))
        point(not private.config.handle_type, "memory that is for this process alone can be asked for")
    except Exception as error:
        point(False, f"memory that is for this process alone can be asked for: {error}")


sock = other_socket()
if sock:
    importing(sock)
else:
    exporting()

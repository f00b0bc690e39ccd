# SPDX-License-Identifier: Apache-2.0
"""cuda.bindings: memory goes to this process and to another one as a descriptor, and comes back whole."""

import os

from cuda.bindings import driver

from client import (POSIX_FD, Other, equal, in_use, map_new, ok, open_descriptors, other_socket, point, primary,
                    properties, read, receive, send, unmap, write)

SIZE = 4 << 20


def importing(sock):
    """The other process: it reads what is there, writes its own, keeps the memory until a message ends it."""
    primary()
    fds, about = receive(sock)
    handle = ok(driver.cuMemImportFromShareableHandle(fds[0], POSIX_FD))
    os.close(fds[0])
    at = map_new(handle, about["size"])
    ok(driver.cuMemRelease(handle))
    seen = read(at, 5)
    ok(driver.cuMemsetD8(at, 0x42, about["size"]))
    ok(driver.cuCtxSynchronize())
    send(sock, seen=seen.decode(), in_use=in_use())
    receive(sock)
    end = read(at + about["size"] - 1, 1)
    unmap(at, about["size"])
    send(sock, end=end[0])
    ok(driver.cuDevicePrimaryCtxRelease(0))


def exporting():
    primary()
    before = in_use()
    handle = ok(driver.cuMemCreate(SIZE, properties(shared=True), 0))
    at = map_new(handle, SIZE)
    write(at, b"first")
    fd = int(ok(driver.cuMemExportToShareableHandle(handle, POSIX_FD, 0)))
    point(not os.get_inheritable(fd), "an exported descriptor is close-on-exec")

    copy = ok(driver.cuMemImportFromShareableHandle(fd, POSIX_FD))
    second = map_new(copy, SIZE)
    equal(read(second, 5), b"first", "imported in the same process: the same bytes")
    equal(in_use() - before, SIZE, "counted once")
    unmap(second, SIZE)
    ok(driver.cuMemRelease(copy))
    descriptors = open_descriptors() - 1

    other = Other(__file__)
    other.send([fd], size=SIZE)
    os.close(fd)
    _, about = other.receive()
    equal(about["seen"], "first", "the other process sees the bytes")
    equal(about["in_use"], SIZE, "and the memory counted once")
    equal(read(at + SIZE - 4, 4), b"BBBB", "its fill is seen here")
    write(at + SIZE - 1, b"!")
    unmap(at, SIZE)
    ok(driver.cuMemRelease(handle))
    equal(in_use() - before, SIZE, "the other process keeps it when this one lets go")
    other.send([], go=True)
    _, about = other.receive()
    equal(about["end"], ord("!"), "with the last byte that was written here")
    equal(other.end(), 0, "it ends well")
    equal(in_use() - before, 0, "then all of it is back")
    equal(open_descriptors(), descriptors, "and no descriptor is left")
    ok(driver.cuDevicePrimaryCtxRelease(0))


sock = other_socket()
if sock:
    importing(sock)
else:
    exporting()

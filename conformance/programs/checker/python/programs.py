# SPDX-License-Identifier: Apache-2.0
"""Programs in Python: programs.py NAME bug, or twin; programs.py --list. Their mistakes are marked here and in pages.py."""
import ctypes
import sys

import pages
from driver import DESCRIPTOR, NON_BLOCKING, NOT_READY, HostFunction, Refused, cu, event, new, stream
from pages import BYTES, Cache, Page

PROGRAMS = {}


def program(group, polls=False):
    def add(function):
        PROGRAMS[function.__name__] = (function, group, polls)
        return function
    return add


def stream_new():
    return new(stream, cu.cuStreamCreate, NON_BLOCKING)


def stream_end(*streams):
    for each in streams:
        cu.cuStreamSynchronize(each)
        cu.cuStreamDestroy(each)


@program("order")
def py_prefetch_unordered(bug):
    """The next layer is copied while its source is still being written."""
    load, compute = stream_new(), stream_new()
    source, layer = Page(), Page()
    source.clear(load, 7)  # caller: py_prefetch_unordered
    ready = new(event, cu.cuEventCreate, 2)
    if not bug:
        cu.cuEventRecord(ready, load)
    cu.cuStreamWaitEvent(compute, ready, 0)
    cu.cuMemcpyDtoDAsync(layer.at, source.at, BYTES, compute)  # finding: py_prefetch_unordered VMM-ORDER-STREAMS
    cu.cuEventDestroy(ready)
    stream_end(load, compute)
    source.close()
    layer.close()


@program("order", polls=True)
def py_wrong_event(bug):
    """Two results, and the host waits for the one that it does not read. The correct form queries the stream."""
    first, second = stream_new(), stream_new()
    one, two = Page(), Page()
    done = new(event, cu.cuEventCreate, 2)
    one.clear(first, 1)
    cu.cuEventRecord(done, first)
    two.clear(second, 2)
    cu.cuEventSynchronize(done)
    while not bug and cu.cuStreamQuery(second) == NOT_READY:
        pass
    two.read()  # caller: py_wrong_event
    cu.cuEventDestroy(done)
    stream_end(first, second)
    one.close()
    two.close()


@program("order")
def py_block_of_another_stream(bug):
    """A cached page goes to a stream while the one before still copies from it."""
    old, other = stream_new(), stream_new()
    cache, kept = Cache(safe=not bug), Page()
    page = cache.get(old)
    page.clear(old)
    cu.cuMemcpyDtoDAsync(kept.at, page.at, BYTES, old)  # other: py_block_of_another_stream
    cache.put(page, old)
    page = cache.get(other)
    page.clear(other, 1)  # caller: py_block_of_another_stream
    cache.put(page, other)
    cache.close()
    stream_end(old, other)
    kept.close()


@program("unwritten")
def py_page_never_filled(bug):
    """Pages of a conversation are saved, of which the last one was only reserved for what comes next."""
    conversation = [Page() for _ in range(3)]
    for page in conversation[:2 if bug else 3]:
        page.clear()
    cu.cuCtxSynchronize()
    for page in conversation:
        page.read()  # caller: py_page_never_filled
        page.close()


@program("unwritten")
def py_scale_not_set(bug):
    """A header of 64 bytes before the data. Others may have written what was exported, so the correct form is silent."""
    page = Page(handles=DESCRIPTOR)
    header = ctypes.create_string_buffer(64)
    cu.cuMemsetD8(page.at + 64, 1, BYTES - 64)
    cu.cuCtxSynchronize()
    if not bug:
        pages.offer(page, keep=False)
    cu.cuMemcpyDtoH(header, page.at, 64)  # finding: py_scale_not_set VMM-UNWRITTEN-READ
    page.close()


@program("other")
def py_mapped_as_asked(bug):
    """A page of 3 MB, for which 4 MiB are created."""
    try:
        page = Page(3000000, exact=bug)  # caller: py_mapped_as_asked
    except Refused as refused:
        print(refused)
        return
    page.clear(size=3000000)
    cu.cuCtxSynchronize()
    page.close()


@program("other")
def py_probe_keeps_its_handle(bug):
    """A registration finds out what kind of memory it is given."""
    page = Page()
    for _ in range(3):
        assert pages.is_virtual(page.at, release=not bug)  # caller: py_probe_keeps_its_handle
    page.close()


@program("other")
def py_descriptor_kept(bug):
    """What was sent stays open in the sender, too."""
    page = Page(handles=DESCRIPTOR)
    pages.offer(page, keep=bug)  # caller: py_descriptor_kept
    page.close()


@program("other")
def py_context_released_twice(bug):
    """Each worker retains the context and releases it; one of them releases what it did not retain."""
    workers = [new(ctypes.c_void_p, cu.cuDevicePrimaryCtxRetain, 0) for _ in range(2)]
    for _ in workers:
        cu.cuDevicePrimaryCtxRelease(0)
    cu.cuDevicePrimaryCtxRelease(0)  # the one of begin()
    if bug:
        try:
            cu.cuDevicePrimaryCtxRelease(0)  # finding: py_context_released_twice VMM-CTX-PRIMARY-UNUSED
        except Refused as refused:
            print(refused)


@program("other")
def py_driver_called_in_host_function(bug):
    """A host function frees the page. The correct form puts it on a list there."""
    work, page, finished = stream_new(), Page(), []

    def release(_):
        if bug:
            try:
                cu.cuMemUnmap(page.at, page.size)  # finding: py_driver_called_in_host_function VMM-HOSTFUNC-CALL
            except Refused as refused:
                print(refused)
        finished.append(page)

    function = HostFunction(release)
    page.clear(work)
    cu.cuLaunchHostFunc(work, function, None)
    stream_end(work)
    for each in finished:
        each.close()


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        for name, (_, group, polls) in PROGRAMS.items():
            print(f"{name}|{group}|1|{'polls' if polls else ''}|device||")
        sys.exit()
    pages.begin()
    PROGRAMS[sys.argv[1]][0](sys.argv[2] == "bug")

# SPDX-License-Identifier: Apache-2.0
# explain: 1 error VMM-CTX-CURRENT
# explain: 1 error VMM-CALL-VALUE
"""cuda.core: devices, streams, events, buffers, and a kernel that it launches; the kernel is a plugin's.

Two things are refused on the way, as they would be by a driver: it asks for the device of a context when there is none yet, and
counts a kernel's parameters by asking until there are no more.
"""

import ctypes

import numpy

from cuda.bindings import driver
from cuda.core import (Device, EventOptions, LaunchConfig, LegacyPinnedMemoryResource, ObjectCode, StreamOptions, launch)

from client import equal, in_use, ok, point, read, write

device = Device()
device.set_current()
before = in_use()
properties = device.properties
point(properties.virtual_memory_management_supported, "virtual memory management is there")
equal(properties.warp_size, 32, "properties are the device's")
# A property that cannot be had raises: none does.
names = [name for name in dir(properties) if not name.startswith("_")]
for name in names:
    getattr(properties, name)
point(len(names) > 90, f"all of {len(names)} properties can be read")
equal(tuple(device.compute_capability), (properties.compute_capability_major, properties.compute_capability_minor),
      "the compute capability both ways")
point(len(device.uuid) == 36, "a UUID")

stream = device.create_stream()
urgent = device.create_stream(options=StreamOptions(nonblocking=True, priority=-1))
equal((urgent.priority, urgent.is_nonblocking, urgent.device.device_id), (-1, True, 0), "a stream is as it was asked for")

# C = A + B by a kernel of the plugin, with 64-bit and 32-bit parameters.
count = 1000
row = 4 * count
memory = device.memory_resource
buffer = memory.allocate(3 * row, stream=stream)
a = int(buffer.handle)
numbers = numpy.arange(2 * count, dtype=numpy.float32)
write(a, numbers.tobytes())
kernel = ObjectCode.from_cubin(b"whatever a compiler made").get_kernel("VecAdd_kernel")
equal([(info.offset, info.size) for info in kernel.arguments_info], [(0, 8), (8, 8), (16, 8), (24, 4)],
      "a kernel lists its parameters")
room = kernel.occupancy.available_dynamic_shared_memory_per_block(4, 128)
point(kernel.occupancy.max_active_blocks_per_multiprocessor(128, room) >= 4, "and how many blocks fit")
first = stream.record(options=EventOptions(timing_enabled=True))
launch(stream, LaunchConfig(grid=8, block=128), kernel, a, a + row, a + 2 * row, numpy.int32(count))
last = stream.record(options=EventOptions(timing_enabled=True))
urgent.wait(last)
urgent.sync()
point(last - first >= 0 and last.is_done, "events measure a time")
sums = numpy.frombuffer(read(a + 2 * row, row), dtype=numpy.float32)
point(bool((sums == numbers[:count] + numbers[count:]).all()), f"{count} sums of a kernel that cuda.core launched")

buffer.fill(7, stream=stream)
copy = memory.allocate(3 * row, stream=stream)
buffer.copy_to(copy, stream=stream)
stream.sync()
equal(read(int(copy.handle) + 3 * row - 2, 2), b"\7\7", "fill and copy of buffers")
pinned = LegacyPinnedMemoryResource().allocate(64)
point(pinned.is_host_accessible and pinned.is_device_accessible, "pinned memory is for both")
ctypes.memset(int(pinned.handle), 9, 64)
small = memory.allocate(64, stream=stream)
pinned.copy_to(small, stream=stream)
stream.sync()
equal(read(int(small.handle), 64), b"\t" * 64, "and its bytes go to the device")
for each in (buffer, copy, pinned, small):
    each.close()
for each in (stream, urgent):
    each.close()
# cuda.core's memory is the device's pool, which it sets to keep what is freed.
equal(in_use() - before, 32 << 20, "closed, the pool keeps its one chunk")
pool = ok(driver.cuDeviceGetDefaultMemPool(0))
ok(driver.cuCtxSynchronize())
ok(driver.cuMemPoolTrimTo(pool, 0))
equal(in_use() - before, 0, "trimmed, all memory is back")
